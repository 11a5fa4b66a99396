//! The agent's model endpoint: holds the key, streams bytes, sees status and timing.
