//! Error bodies as the real APIs send them.

use serde_json::{Value, json};

/// See the error reference of the Anthropic API.
pub(super) fn anthropic(status: u16, code: Option<&str>, message: Option<&str>, model: &str) -> Value {
    let (kind, text) = match status {
        400 => (
            "invalid_request_error",
            "tools.0.custom.input_schema: JSON schema is invalid".to_owned(),
        ),
        401 => ("authentication_error", "invalid x-api-key".to_owned()),
        403 => (
            "permission_error",
            "Your API key does not have permission to use this model".to_owned(),
        ),
        404 => ("not_found_error", format!("model: {model}")),
        413 => ("request_too_large", "Request exceeds the maximum size".to_owned()),
        429 => (
            "rate_limit_error",
            "This request would exceed your rate limit".to_owned(),
        ),
        529 => ("overloaded_error", "Overloaded".to_owned()),
        _ => ("api_error", "Internal server error".to_owned()),
    };
    let error = json!({"type": code.unwrap_or(kind), "message": message.unwrap_or(&text)});
    json!({"type": "error", "error": error, "request_id": "req_scripted"})
}

/// See the error codes of the OpenAI API.
pub(super) fn openai(status: u16, code: Option<&str>, message: Option<&str>, model: &str) -> Value {
    let (kind, default_code, text) = match status {
        400 => (
            "invalid_request_error",
            "invalid_function_parameters",
            "Invalid schema for function: schema must be a JSON Schema of 'type: \"object\"'".to_owned(),
        ),
        401 => (
            "invalid_request_error",
            "invalid_api_key",
            "Incorrect API key provided".to_owned(),
        ),
        403 => (
            "invalid_request_error",
            "permission_denied",
            "You are not allowed to use this model".to_owned(),
        ),
        404 => {
            let text = format!("The model `{model}` does not exist or you do not have access to it.");
            ("invalid_request_error", "model_not_found", text)
        }
        429 => (
            "requests",
            "rate_limit_exceeded",
            "Rate limit reached for requests".to_owned(),
        ),
        503 | 529 => (
            "server_error",
            "server_is_overloaded",
            "The server is currently overloaded".to_owned(),
        ),
        _ => (
            "server_error",
            "server_error",
            "The server had an error processing your request".to_owned(),
        ),
    };
    let param = if status == 400 {
        json!("tools[0].parameters")
    } else {
        Value::Null
    };
    let (message, code) = (message.unwrap_or(&text), code.unwrap_or(default_code));
    json!({"error": {"message": message, "type": kind, "param": param, "code": code}})
}
