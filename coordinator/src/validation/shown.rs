//! Values in words, short enough for a line.

use crate::cut::start_of;
use crate::expectation::{Json, JsonType};

/// The longest value that is shown whole, in characters.
const MOST: usize = 120;

/// `"3" (string)`, `3 (number)`, `null`.
pub(super) fn typed(value: &Json) -> String {
    match value.json_type() {
        JsonType::Null => "null".to_owned(),
        kind => format!("{} ({})", shortened(&value.to_string()), kind.name()),
    }
}

/// `nothing`, or the value and its type.
pub(super) fn found(value: Option<&Json>) -> String {
    value.map_or_else(|| "nothing".to_owned(), typed)
}

/// The text, cut where it is long.
pub(super) fn shortened(text: &str) -> String {
    start_of(text, MOST)
}
