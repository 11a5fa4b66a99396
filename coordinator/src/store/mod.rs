//! What is durable: attempts in SQLite, evidence by content hash.
