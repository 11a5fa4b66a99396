//! What the terminal shows while a run goes on.
