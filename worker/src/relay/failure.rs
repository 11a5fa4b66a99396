//! What the API says when it refuses, in the forms that the dialects and their imitators have.

use serde_json::Value;

/// The length of a refusal's message, in characters.
const MESSAGE: usize = 300;

/// The API's own code and words.
pub(super) struct Failure {
    pub(super) code: Option<String>,
    pub(super) message: String,
}

/// Reads an `error` member; `None` when it is null.
pub(super) fn failure_of(error: &Value) -> Option<Failure> {
    match error {
        Value::Null => None,
        Value::String(message) => Some(Failure {
            code: None,
            message: message.clone(),
        }),
        error => Some(Failure {
            code: error
                .get("details")
                .and_then(|details| text(details, "error_code"))
                .or_else(|| text(error, "code"))
                .or_else(|| text(error, "type")),
            message: text(error, "message").unwrap_or_else(|| error.to_string()),
        }),
    }
}

/// Reads the body of a refusal, which may be anything.
pub(super) fn failure_of_body(body: &[u8]) -> Failure {
    let document = serde_json::from_slice::<Value>(body).unwrap_or_default();
    document.get("error").and_then(failure_of).unwrap_or_else(|| Failure {
        code: text(&document, "code"),
        message: text(&document, "message")
            .or_else(|| text(&document, "detail"))
            .unwrap_or_else(|| String::from_utf8_lossy(body).into_owned()),
    })
}

/// A string or number of a document, as text.
pub(super) fn text(document: &Value, key: &str) -> Option<String> {
    match document.get(key)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Cuts the API's words to a length for reports.
pub(super) fn shorten(message: &str) -> String {
    let message = message.trim();
    match message.char_indices().nth(MESSAGE) {
        Some(_) => message.chars().take(MESSAGE - 1).chain(['…']).collect(),
        None => message.to_owned(),
    }
}
