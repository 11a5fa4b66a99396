//! The one key an endpoint may insist on.

use std::fmt;

/// An API key of a scenario file. It compares, but it does not print.
#[derive(Clone)]
pub(crate) struct Key(String);

impl Key {
    pub(crate) fn new(key: String) -> Self {
        Self(key)
    }

    pub(crate) fn is(&self, offered: &str) -> bool {
        self.0 == offered
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Key(…)")
    }
}
