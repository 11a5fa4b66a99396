//! The life of one attempt.
