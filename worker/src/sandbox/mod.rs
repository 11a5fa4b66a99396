//! What holds an agent.
