//! What people and programs read after a run.
