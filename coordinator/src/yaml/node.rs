//! The tree that a document is read into.

use super::problem::Place;

/// One node. No `Debug`: after variables are filled in, texts hold secrets.
#[derive(Clone)]
pub(crate) struct Node {
    pub(crate) place: Place,
    pub(crate) value: Value,
}

/// What a node is.
#[derive(Clone)]
pub(crate) enum Value {
    Scalar(Scalar),
    Sequence(Vec<Node>),
    Mapping(Vec<Entry>),
}

/// One key of a mapping, in the order of the file.
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) place: Place,
    pub(crate) value: Node,
}

/// A text, a number, a boolean or nothing: which of them is decided by whoever asks.
#[derive(Clone)]
pub(crate) struct Scalar {
    /// The text: unquoted, folded, and with variables filled in.
    pub(crate) text: String,
    /// The text before variables were filled in, if it held any.
    pub(crate) written: Option<String>,
    /// Neither quoted nor a block, so that it may also be a number, a boolean or null.
    pub(crate) plain: bool,
    /// A problem with it was reported already; nothing that depends on its text is worth a second one.
    pub(crate) broken: bool,
}

impl Scalar {
    /// The text as it stands in the file: safe to show.
    pub(crate) fn shown(&self) -> &str {
        self.written.as_deref().unwrap_or(&self.text)
    }
}

impl Node {
    /// The value of `key`, if this is a mapping that has it.
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        match &self.value {
            Value::Mapping(entries) => entries.iter().find(|entry| entry.key == key).map(|entry| &entry.value),
            Value::Scalar(_) | Value::Sequence(_) => None,
        }
    }

    /// How much memory it takes, in the rough unit of one node or 16 bytes of text.
    pub(crate) fn weight(&self) -> usize {
        1 + match &self.value {
            Value::Scalar(scalar) => scalar.text.len() / 16,
            Value::Sequence(items) => items.iter().map(Self::weight).sum(),
            Value::Mapping(entries) => entries
                .iter()
                .map(|entry| entry.value.weight() + entry.key.len() / 16)
                .sum(),
        }
    }
}
