//! What is wrong with a message.

/// A field of a message that is missing or is not what it has to be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("read the field `{field}` of a message: {problem}")]
pub struct Malformed {
    /// The field's name in the `.proto` file.
    pub field: &'static str,
    /// What is wrong with it.
    pub problem: String,
}

impl Malformed {
    pub(super) fn missing(field: &'static str) -> Self {
        Self {
            field,
            problem: "it is missing".to_owned(),
        }
    }

    pub(super) fn unknown(field: &'static str, value: impl std::fmt::Display) -> Self {
        Self {
            field,
            problem: format!("`{value}` is not known to this version"),
        }
    }
}

/// The message in `field`, which has to be there.
pub(super) fn required<T>(field: &'static str, value: Option<T>) -> Result<T, Malformed> {
    value.ok_or_else(|| Malformed::missing(field))
}

/// Text whose absence is written as the empty string.
pub(super) fn optional(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}
