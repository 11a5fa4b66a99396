//! What an agent is configured to ask. Pure.

use super::asked::Asked;

/// What an agent is configured to ask. By default nothing is known of that, and whatever it asks may be it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meant {
    /// The model, by its name or by a short name that the agent makes one of.
    pub model: Option<String>,
    /// The endpoint, such as `/v1/messages`.
    pub endpoint: Option<&'static str>,
}

impl Meant {
    /// Whether a request is one of those that it is configured to send.
    pub(super) fn covers(&self, path: &str, asked: &Asked) -> bool {
        let endpoint = self.endpoint.is_none_or(|endpoint| endpoint == path);
        let model = match (&self.model, &asked.model) {
            (None, _) => true,
            (Some(meant), Some(asked)) => is_called(meant, asked),
            // One that the API refused before it was read may have named it.
            (Some(_), None) => !asked.delivered,
        };
        endpoint && model
    }
}

/// Whether a request for `asked` is one for `meant`.
fn is_called(meant: &str, asked: &str) -> bool {
    let (meant, asked) = (meant.to_ascii_lowercase(), asked.to_ascii_lowercase());
    // Claude Code takes the mark of a large window off before it asks.
    let meant = meant.strip_suffix("[1m]").unwrap_or(&meant);
    // `sonnet` and its like: which version that is only the agent knows.
    let short = !meant.contains(|c: char| c.is_ascii_digit() || c == '-');
    meant == asked || (short && asked.split('-').any(|word| word == meant))
}

#[cfg(test)]
mod tests {
    use super::super::asked::{Asking, Form};
    use super::*;

    fn covers(model: Option<&str>, path: &str, body: &str) -> bool {
        let meant = Meant {
            model: model.map(str::to_owned),
            endpoint: Some("/v1/messages"),
        };
        let mut asking = Asking::new(Form::Messages, 0);
        asking.feed(body.as_bytes());
        asking.delivered();
        meant.covers(path, asking.so_far())
    }

    #[test]
    fn what_an_agent_is_configured_to_ask_is_told_from_what_it_asks_of_its_own() {
        let asks = |meant, model: &str| covers(Some(meant), "/v1/messages", &format!(r#"{{"model":"{model}"}}"#));
        assert!(asks("claude-sonnet-4-5", "claude-sonnet-4-5"));
        assert!(asks("claude-sonnet-4-5[1m]", "claude-sonnet-4-5"));
        assert!(asks("sonnet", "claude-sonnet-4-5-20250929"));
        assert!(!asks("claude-sonnet-4-5", "claude-sonnet-4-5-nonesuch"));
        assert!(!asks("gpt-5", "gpt-nonesuch"));
        assert!(!asks("sonnet", "claude-haiku-4-5"));
        assert!(!covers(Some("gpt-5"), "/v1/messages", "{}"));
        assert!(covers(None, "/v1/messages", r#"{"model":"any"}"#));
        assert!(!covers(None, "/v1/responses", r#"{"model":"any"}"#));
        assert!(Meant::default().covers("/v1/responses", &Asked::default()));
    }
}
