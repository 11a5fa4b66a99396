//! The recording proxy: bytes pass unchanged, a copy is recorded.
