//! Regular expressions of test cases.

use std::fmt;

use regex::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};

/// The most memory that a compiled expression may take, in bytes.
const MAX_BYTES: usize = 1024 * 1024;

/// A regular expression in the syntax of the `regex` crate: no look-around and no back-references, so that matching takes
/// time in proportion to the text, whatever the text is.
#[derive(Clone, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Expression(Regex);

impl Expression {
    /// Compiles it.
    ///
    /// # Errors
    /// Why it cannot be: not its syntax, or too large.
    pub fn new(text: &str) -> Result<Self, String> {
        RegexBuilder::new(text)
            .size_limit(MAX_BYTES)
            .dfa_size_limit(MAX_BYTES)
            .build()
            .map(Self)
            .map_err(|error| match error {
                regex::Error::CompiledTooBig(_) => "it is too large once compiled".to_owned(),
                // The crate draws the place over several lines; its last line says what is wrong.
                other => {
                    let text = other.to_string();
                    let last = text.lines().last().unwrap_or_default();
                    last.trim_start_matches("error: ").to_owned()
                }
            })
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Whether it is found anywhere in `text`.
    pub fn is_in(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Expression {}

impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl From<Expression> for String {
    fn from(expression: Expression) -> Self {
        expression.as_str().to_owned()
    }
}

impl TryFrom<String> for Expression {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::new(&text)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

    use super::*;

    #[test]
    fn it_is_found_anywhere_unless_it_is_anchored() {
        let found = |text: &str, within: &str| Expression::new(text).unwrap().is_in(within);
        assert!(found("ienn", "Vienna") && !found("^ienn", "Vienna") && found("(?i)^vienna$", "Vienna"));
    }

    #[test]
    fn what_cannot_be_compiled_is_refused_in_one_line() {
        for text in ["(", "a(?=b)", r"(a)\1", "a{1000}{1000}{1000}"] {
            let why = Expression::new(text).unwrap_err();
            assert!(!why.is_empty() && !why.contains('\n'), "{text}: {why}");
        }
    }
}
