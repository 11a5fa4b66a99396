//! The body of a request, and what of it an endpoint may not take.

use serde_json::{Value, json};

use crate::judge::prompt::{Message, Role};

/// Room for an answer and, with models that think first, for their thoughts.
const MOST_TOKENS: u32 = 8_192;

/// A parameter that helps and that some models refuse: models that think take no temperature and another name for the
/// limit of tokens, and some servers know only some formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parameter {
    Temperature,
    MaxTokens,
    ResponseFormat,
}

impl Parameter {
    const ALL: [Self; 3] = [Self::Temperature, Self::MaxTokens, Self::ResponseFormat];

    fn name(self) -> &'static str {
        match self {
            Self::Temperature => "temperature",
            Self::MaxTokens => "max_tokens",
            Self::ResponseFormat => "response_format",
        }
    }

    fn value(self) -> Value {
        match self {
            Self::Temperature => json!(0),
            Self::MaxTokens => json!(MOST_TOKENS),
            Self::ResponseFormat => json!({ "type": "json_object" }),
        }
    }
}

/// The parameters that are sent.
#[derive(Clone, Debug)]
pub(super) struct Parameters(Vec<Parameter>);

impl Default for Parameters {
    fn default() -> Self {
        Self(Parameter::ALL.to_vec())
    }
}

impl Parameters {
    /// The body of a request.
    pub(super) fn body(&self, model: &str, messages: &[Message]) -> Value {
        let messages: Vec<Value> = messages
            .iter()
            .map(|message| {
                let role = match message.role {
                    Role::System => "system",
                    Role::User => "user",
                    Role::Assistant => "assistant",
                };
                json!({ "role": role, "content": message.content })
            })
            .collect();
        let mut body = json!({ "model": model, "messages": messages });
        for parameter in &self.0 {
            body[parameter.name()] = parameter.value();
        }
        body
    }

    /// Leaves out the parameter that a refusal of a request with `sent` names. `false` when it names none, or one that was
    /// not sent.
    pub(super) fn drop_refused(&mut self, sent: &Self, named: Option<&str>, message: &str) -> bool {
        let by_name = |name: &str| sent.0.iter().copied().find(|it| name.starts_with(it.name()));
        // The field that the error names counts more than the words, which may name others as examples.
        let refused = named
            .and_then(by_name)
            .or_else(|| sent.0.iter().copied().find(|it| message.contains(it.name())));
        let Some(refused) = refused else { return false };
        // Another request may have dropped it meanwhile.
        self.0.retain(|parameter| *parameter != refused);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parameter_that_a_refusal_names_is_left_out_and_no_other() {
        for (named, message, left) in [
            (
                Some("temperature"),
                "Unsupported value: 'temperature' does not support 0 with this model.",
                vec!["max_tokens", "response_format"],
            ),
            (
                Some("max_tokens"),
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
                vec!["response_format", "temperature"],
            ),
            (
                None,
                "'response_format.type' must be 'json_schema' or 'text'",
                vec!["max_tokens", "temperature"],
            ),
            (Some("response_format.type"), "", vec!["max_tokens", "temperature"]),
        ] {
            let sent = Parameters::default();
            let mut parameters = sent.clone();
            assert!(parameters.drop_refused(&sent, named, message));
            let body = parameters.body("m", &[]);
            let mut keys: Vec<&str> = body
                .as_object()
                .into_iter()
                .flat_map(|body| body.keys())
                .map(String::as_str)
                .collect();
            keys.retain(|key| !["model", "messages"].contains(key));
            keys.sort_unstable();
            assert_eq!(keys, left, "{message}");
            assert!(
                !parameters.drop_refused(&parameters.clone(), named, message),
                "once is enough"
            );
            assert!(
                parameters.drop_refused(&sent, named, message),
                "a request sent before knew nothing of it"
            );
        }
        let sent = Parameters::default();
        assert!(!sent.clone().drop_refused(&sent, Some("messages"), "messages: too long"));
    }
}
