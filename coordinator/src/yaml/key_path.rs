//! Where in a document a value stands: `run.agents[1].model`.

use std::fmt;

/// A key path. The empty one is the document itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeyPath(String);

impl KeyPath {
    /// The document itself.
    pub(crate) fn root() -> Self {
        Self::default()
    }

    /// One key further in. Keys that are not plain words are quoted.
    pub(crate) fn key(&self, key: &str) -> Self {
        let plain = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
        match (plain, self.0.is_empty()) {
            (true, true) => Self(key.to_owned()),
            (true, false) => Self(format!("{}.{key}", self.0)),
            (false, _) => Self(format!("{}[{key:?}]", self.0)),
        }
    }

    /// One list item further in, counted from 0.
    pub(crate) fn index(&self, index: usize) -> Self {
        Self(format!("{}[{index}]", self.0))
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
