//! What the relay saw of the model.

use serde::{Deserialize, Serialize};

use crate::tokens::{ModelUsage, Tokens};

/// The model's side of an attempt, over all turns so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelTraffic {
    /// Whether the relay was in the path at all; without it nothing below says anything.
    pub observed: bool,
    /// Requests for a completion that the agent sent; counting tokens and listing models are not among them.
    pub requests: u32,
    /// Those that were answered with success, to the end of the stream.
    pub succeeded: u32,
    /// Milliseconds spent waiting for a model that refused, failed or stayed silent.
    pub waiting_ms: u64,
    /// The last refusal that no later success got over.
    pub refusal: Option<ModelRefusal>,
    /// Whether that was of something that the agent is not configured to ask, such as another model: it says nothing about what
    /// is.
    #[serde(default)]
    pub refusal_elsewhere: bool,
    /// The model that the API named in its last response.
    pub response_model: Option<String>,
    /// Names of the tools whose definitions the model was sent in requests that it answered: sorted, each once, as the model
    /// saw them, so with whatever the agent puts around a tool's own name. A namespace and the name in it are joined by a dot.
    #[serde(default)]
    pub tools_sent: Vec<String>,
    /// Names of the tools whose definitions were sent only to be searched for (`defer_loading`) in requests that the model
    /// answered: sorted, each once, as in `tools_sent`. One that was found and then shown is in both.
    #[serde(default)]
    pub tools_deferred: Vec<String>,
    /// What was used, by the model that answered, in the order of their names.
    #[serde(default)]
    pub usage: Vec<ModelUsage>,
    /// Requests that were sent and whose answers did not tell what was used, or not all, those that the agent gave up included: how
    /// much it was is unknown.
    #[serde(default)]
    pub requests_without_usage: u32,
    /// Requests that were refused on this side because the attempt had used up what was set aside for it.
    #[serde(default)]
    pub limited_requests: u32,
    /// Milliseconds for which requests were held back to keep to a rate; part of `waiting_ms`.
    #[serde(default)]
    pub held_ms: u64,
}

impl ModelTraffic {
    /// The standing refusal, if no request of any attempt with this agent's configuration can be expected to fare better.
    pub fn refused_for_good(&self) -> Option<&ModelRefusal> {
        let for_good = |kind| {
            matches!(
                kind,
                RefusalKind::Credential
                    | RefusalKind::NoSuchModel
                    | RefusalKind::Quota
                    | RefusalKind::Limit
                    | RefusalKind::Gateway
            )
        };
        let refusal = self.refusal.as_ref().filter(|_| !self.refusal_elsewhere)?;
        for_good(refusal.kind()).then_some(refusal)
    }

    /// What all models used together, as far as it was told.
    pub fn tokens(&self) -> Tokens {
        let mut sum = Tokens::default();
        for model in &self.usage {
            sum.add(&model.tokens);
        }
        sum
    }

    /// Whether [`ModelTraffic::tokens`] is all that was used: the agent's model was asked through the relay, and every answer
    /// told. What an earlier version recorded tells nothing.
    pub fn usage_is_known(&self) -> bool {
        let told = self.usage.iter().map(|model| u64::from(model.responses)).sum::<u64>();
        self.observed && self.requests > 0 && self.requests_without_usage == 0 && told >= u64::from(self.succeeded)
    }
}

/// The code of a refusal that a relay or gateway answers once the attempt has used up its allowance.
pub const ATTEMPT_LIMIT: &str = "attempt_limit_reached";

/// The code of a refusal that a gateway answers once all who share it have used up what it may.
pub const GATEWAY_LIMIT: &str = "gateway_limit_reached";

/// The code of a refusal that a gateway answers to a token that it does not take.
pub const TOKEN_REFUSED: &str = "lease_token_refused";

/// The code of a refusal that a gateway answers where the entry that a token names is not there, or speaks another API than the
/// one that was asked.
pub const ENTRY_REFUSED: &str = "gateway_entry_refused";

/// The code under which a relay notes that the gateway before the API could not be reached.
pub const GATEWAY_UNREACHABLE: &str = "gateway_unreachable";

/// The model API said no, or nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelRefusal {
    /// The HTTP status; 0 when the endpoint could not be reached, 200 when the stream of a response held an error.
    pub status: u16,
    /// The API's own error type or code.
    pub code: Option<String>,
    /// The API's own words, redacted and shortened.
    pub message: String,
    /// How long the API asks to wait, in milliseconds.
    pub retry_after_ms: Option<u64>,
}

/// What a refusal means for the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RefusalKind {
    /// Rate limits, overload, 5xx, 408, a stream that broke, an endpoint that could not be reached: worth another try.
    Transient,
    /// The key or token is missing, wrong or not allowed.
    Credential,
    /// The model does not exist, or not for this key.
    NoSuchModel,
    /// Paid for no more: credit, quota or a spending limit is used up.
    Quota,
    /// A tool's definition was refused; see [`refused_schema`].
    Schema,
    /// A gateway before the API has used up its own limit.
    Limit,
    /// A gateway before the API does not let the attempt through to it.
    Gateway,
    /// Any other refusal, such as a request that is too long.
    Other,
}

impl ModelRefusal {
    /// What this refusal means for the run.
    ///
    /// The API's own code goes before the status, because both providers use one status for several things and report
    /// errors inside streams whose status is 200. Sources: <https://platform.claude.com/docs/en/api/errors> and
    /// <https://platform.openai.com/docs/guides/error-codes>.
    pub fn kind(&self) -> RefusalKind {
        let message = self.message.to_ascii_lowercase();
        let code = self.code.as_deref().unwrap_or_default();
        match code {
            GATEWAY_LIMIT => return RefusalKind::Limit,
            TOKEN_REFUSED | ENTRY_REFUSED => return RefusalKind::Gateway,
            GATEWAY_UNREACHABLE => return RefusalKind::Transient,
            _ => {}
        }
        if self.status == 402 || QUOTA_CODES.contains(&code) || contains_any(&message, &QUOTA_WORDS) {
            return RefusalKind::Quota;
        }
        if matches!(self.status, 401 | 403) || CREDENTIAL_CODES.contains(&code) {
            return RefusalKind::Credential;
        }
        if refused_schema(self) {
            return RefusalKind::Schema;
        }
        if self.status == 404
            || matches!(code, "model_not_found" | "not_found_error")
            || (message.contains("model") && contains_any(&message, &NO_MODEL_WORDS))
        {
            return RefusalKind::NoSuchModel;
        }
        match self.status {
            0 | 408 | 409 | 425 | 429 | 500..=599 => RefusalKind::Transient,
            // Inside a stream whose status was 200 only the code tells; what is not known to be the request's fault passes.
            200..=299
                if !matches!(
                    code,
                    "invalid_request_error" | "invalid_prompt" | "context_length_exceeded"
                ) =>
            {
                RefusalKind::Transient
            }
            _ => RefusalKind::Other,
        }
    }
}

/// Whether the provider refused the request because of a tool's definition, which is the MCP server's doing.
///
/// Neither provider has a code of its own for every such case, so the messages are recognised: Anthropic names the
/// path (`tools.3.custom.input_schema: …`), OpenAI the function or the parameter (`Invalid 'tools[3].name': …`).
pub fn refused_schema(refusal: &ModelRefusal) -> bool {
    if !matches!(refusal.status, 200 | 400 | 422) {
        return false;
    }
    if refusal.code.as_deref() == Some("invalid_function_parameters") {
        return true;
    }
    let message = refusal.message.to_ascii_lowercase();
    contains_any(&message, &SCHEMA_WORDS) || names_a_tool_of_a_request(&message)
}

const QUOTA_CODES: [&str; 8] = [
    "insufficient_quota",
    "billing_error",
    "billing_not_active",
    "billing_hard_limit_reached",
    "enforced_spend_limit_reached",
    "usage_limit_reached",
    "usage_not_included",
    "credit_balance_too_low",
];

const QUOTA_WORDS: [&str; 5] = [
    "credit balance is too low",
    "exceeded your current quota",
    "reached your specified api usage limits",
    "spend limit",
    "billing hard limit",
];

const CREDENTIAL_CODES: [&str; 4] = [
    "authentication_error",
    "permission_error",
    "invalid_api_key",
    "token_expired",
];

const NO_MODEL_WORDS: [&str; 3] = ["does not exist", "is not supported when", "model not found"];

const SCHEMA_WORDS: [&str; 6] = [
    "input_schema",
    "invalid schema for function",
    "tool names must be unique",
    "tool_reference.tool_name",
    "invalid 'tools': array too long",
    "duplicate function name",
];

/// `tools.3.custom.name: …` (Anthropic) or `Invalid 'tools[3].function.name': …` (OpenAI).
fn names_a_tool_of_a_request(message: &str) -> bool {
    let anthropic = message
        .strip_prefix("tools.")
        .map(|rest| rest.split(':').next().unwrap_or_default());
    let openai = ["invalid 'tools[", "invalid 'functions["]
        .iter()
        .find_map(|start| message.split_once(start))
        .map(|(_, rest)| rest.split('\'').next().unwrap_or_default());
    anthropic.or(openai).is_some_and(|path| {
        [".name", ".description", ".parameters"]
            .iter()
            .any(|end| path.ends_with(end))
    })
}

fn contains_any(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(status: u16, code: &str, message: &str) -> ModelRefusal {
        ModelRefusal {
            status,
            code: (!code.is_empty()).then(|| code.to_owned()),
            message: message.to_owned(),
            retry_after_ms: None,
        }
    }

    #[test]
    fn refused_tool_definitions_are_told_from_other_bad_requests() {
        // As the providers word it: anthropics/claude-code #5319, #955, #19882; ComposioHQ/composio #1829.
        for (code, message) in [
            (
                "invalid_request_error",
                "tools.106.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level",
            ),
            (
                "invalid_request_error",
                "tools.4.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12 \
                 (https://json-schema.org/draft/2020-12).",
            ),
            (
                "invalid_request_error",
                "tools.48.custom.name: String should have at most 64 characters",
            ),
            (
                "invalid_request_error",
                "tools.2.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
            ),
            ("invalid_request_error", "tools: Tool names must be unique."),
            (
                "invalid_request_error",
                "messages.6.content.0.tool_result.content.0.tool_reference.tool_name: String should have at most 64 \
                 characters",
            ),
            (
                "invalid_function_parameters",
                "Invalid schema for function 'GMAIL_CREATE_EMAIL_DRAFT': schema must be a JSON Schema of 'type: \
                 \"object\"', got 'type: \"None\"'.",
            ),
            (
                "",
                "Invalid schema for function 'sendEmailTool': schema must be a JSON Schema of 'type: \"object\"'.",
            ),
            (
                "string_above_max_length",
                "Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64, but got \
                 a string with length 69 instead.",
            ),
            (
                "invalid_value",
                "Invalid 'tools[3].name': string does not match pattern. Expected a string that matches the pattern \
                 '^[a-zA-Z0-9_-]+$'.",
            ),
            (
                "array_above_max_length",
                "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with \
                 length 139 instead.",
            ),
        ] {
            assert_eq!(refusal(400, code, message).kind(), RefusalKind::Schema, "{message}");
        }
        for (code, message) in [
            (
                "invalid_request_error",
                "prompt is too long: 214315 tokens > 200000 maximum",
            ),
            (
                "invalid_request_error",
                "max_tokens: 64001 > 64000, which is the maximum allowed",
            ),
            (
                "invalid_request_error",
                "tools.3.custom.defer_loading: Extra inputs are not permitted",
            ),
            (
                "invalid_request_error",
                "messages.1: `tool_use` ids were found without `tool_result` blocks",
            ),
            ("unknown_parameter", "Unknown parameter: 'tools[0].strict'."),
            (
                "context_length_exceeded",
                "Your input exceeds the context window of this model.",
            ),
        ] {
            assert_eq!(refusal(400, code, message).kind(), RefusalKind::Other, "{message}");
        }
    }

    #[test]
    fn what_will_not_pass_is_told_from_what_will() {
        use RefusalKind::{Credential, NoSuchModel, Other, Quota, Transient};
        for (status, code, message, kind) in [
            (0, "", "connection refused", Transient),
            (
                429,
                "rate_limit_error",
                "This request would exceed your organization's rate limit",
                Transient,
            ),
            (
                429,
                "rate_limit_exceeded",
                "Rate limit reached for gpt-5 in organization",
                Transient,
            ),
            (529, "overloaded_error", "Overloaded", Transient),
            (500, "api_error", "Internal server error", Transient),
            (503, "", "<html>upstream connect error</html>", Transient),
            (408, "", "Request timed out", Transient),
            (200, "overloaded_error", "Overloaded", Transient),
            (
                200,
                "server_error",
                "The server had an error while processing your request",
                Transient,
            ),
            (
                200,
                "stream_ended_early",
                "the stream ended before the response did",
                Transient,
            ),
            (
                200,
                "context_length_exceeded",
                "Your input exceeds the context window of this model.",
                Other,
            ),
            (
                429,
                "insufficient_quota",
                "You exceeded your current quota, please check your plan",
                Quota,
            ),
            (
                429,
                "enforced_spend_limit_reached",
                "You have reached your monthly limit",
                Quota,
            ),
            (
                400,
                "invalid_request_error",
                "Your credit balance is too low to access the Anthropic API.",
                Quota,
            ),
            (402, "billing_error", "Payment required", Quota),
            (429, "usage_limit_reached", "The usage limit has been reached", Quota),
            (401, "authentication_error", "invalid x-api-key", Credential),
            (401, "invalid_api_key", "Incorrect API key provided", Credential),
            (
                403,
                "permission_error",
                "Your API key does not have permission",
                Credential,
            ),
            (404, "not_found_error", "model: claude-nonesuch", NoSuchModel),
            (
                404,
                "model_not_found",
                "The model `gpt-nonesuch` does not exist",
                NoSuchModel,
            ),
            (
                400,
                "invalid_request_error",
                "The requested model 'gpt-nonesuch' does not exist.",
                NoSuchModel,
            ),
            (413, "request_too_large", "Request exceeds the maximum size", Other),
        ] {
            assert_eq!(refusal(status, code, message).kind(), kind, "{status} {code} {message}");
        }
    }
}
