//! A line of an agent's JSON output.

use serde::de::DeserializeOwned;

/// Reads a line as `Line`; `None` for an empty one and for one whose kind or shape is not known, which is none of ours.
///
/// # Errors
///
/// When it is no JSON at all: the output was cut, or something else was written into it.
pub(super) fn json_line<Line: DeserializeOwned>(line: &[u8]) -> Result<Option<Line>, String> {
    if line.trim_ascii().is_empty() {
        return Ok(None);
    }
    match serde_json::from_slice(line) {
        Ok(line) => Ok(Some(line)),
        Err(error) if error.is_data() => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}
