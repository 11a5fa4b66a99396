//! A tool as a server describes it.

use serde_json::Value;

use super::error::ProbeError;

/// A tool as the server describes it, right or wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// Its title for people.
    pub title: Option<String>,
    /// Its description for models.
    pub description: Option<String>,
    /// The schema of its arguments, unchecked; null when there is none.
    pub input_schema: Value,
    /// The schema of its structured result, unchecked.
    pub output_schema: Option<Value>,
    /// Its annotations as they are.
    pub annotations: Option<Value>,
}

impl Tool {
    /// Reads one entry of a `tools/list` result; `at` is its place, for the message.
    pub(super) fn read(entry: &Value, at: usize) -> Result<Self, ProbeError> {
        let text = |key: &str| entry.get(key).and_then(Value::as_str).map(str::to_owned);
        let name = text("name").ok_or_else(|| ProbeError::Protocol(format!("tool {at} of its list has no name")))?;
        Ok(Self {
            name,
            title: text("title"),
            description: text("description"),
            input_schema: entry.get("inputSchema").cloned().unwrap_or_default(),
            output_schema: entry.get("outputSchema").cloned(),
            annotations: entry.get("annotations").cloned(),
        })
    }
}
