//! Which resources were read and which prompts were fetched: what expectations ask about besides calls.

use mcproctor_proto::request::McpRequest;

use super::message::{Message, text_member};
use super::pairing::Answered;

/// Requests that are kept; an agent that asks for more has long shown what it asks for.
const REQUEST_CAP: usize = 1_000;
/// Characters of a name that are kept.
const NAME_CAP: usize = 2_000;

/// Collects the requests of one server, in the order in which their exchanges end.
#[derive(Debug)]
pub(super) struct Requests {
    server: String,
    kept: Vec<McpRequest>,
}

impl Requests {
    pub(super) fn new(server: String) -> Self {
        Self {
            server,
            kept: Vec::new(),
        }
    }

    /// The requests so far.
    pub(super) fn kept(&self) -> &[McpRequest] {
        &self.kept
    }

    /// The exchange of a request is over. `name` holds no secret any more.
    pub(super) fn note(&mut self, method: &str, name: String, ok: bool, turn: u32, started_at_unix_ms: i64) {
        if self.kept.len() < REQUEST_CAP {
            self.kept.push(McpRequest {
                server: self.server.clone(),
                method: method.to_owned(),
                name: match name.char_indices().nth(NAME_CAP) {
                    Some((end, _)) => name[..end].to_owned(),
                    None => name,
                },
                ok,
                turn,
                started_at_unix_ms,
            });
        }
    }
}

/// The method of a request and what it asks for, if it is one of those that are kept.
///
/// Source: MCP specification, server features, resources and prompts.
pub(super) fn name_of(request: &Message) -> Option<(&'static str, String)> {
    let (method, key) = match request.method.as_deref()? {
        "resources/read" => ("resources/read", "uri"),
        "prompts/get" => ("prompts/get", "name"),
        _ => return None,
    };
    Some((method, text_member(request.params.as_deref(), key).unwrap_or_default()))
}

/// Whether an answer is a result that nothing more has to follow.
pub(super) fn is_complete(answered: &Answered) -> bool {
    let result = answered.response.result.as_deref();
    let is_object = result.is_some_and(|result| result.get().starts_with('{'));
    // 2026-07-28, multi-round-trip requests: such a result asks the client for something and is followed by the request anew.
    let asks_back = text_member(result, "resultType").is_some_and(|kind| kind == "input_required");
    let http_error = answered.status.is_some_and(|status| status >= 400);
    is_object && answered.response.error.is_none() && !asks_back && !http_error
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::proxy::gather::Gathered;
    use crate::proxy::message;
    use crate::proxy::pairing::Sent;

    fn read(text: &str) -> Message {
        message::read(Gathered::Whole(text.as_bytes().to_vec()))
            .unwrap()
            .remove(0)
    }

    #[test]
    fn only_resources_and_prompts_are_kept_by_what_they_ask_for() {
        let name = |text: &str| name_of(&read(text));
        assert_eq!(
            name(r#"{"id":1,"method":"resources/read","params":{"uri":"a://b","name":"x"}}"#),
            Some(("resources/read", "a://b".to_owned()))
        );
        assert_eq!(
            name(r#"{"id":1,"method":"prompts/get","params":{"name":"greet"}}"#),
            Some(("prompts/get", "greet".to_owned()))
        );
        assert_eq!(name(r#"{"id":1,"method":"resources/list"}"#), None);
        assert_eq!(
            name(r#"{"id":1,"method":"prompts/get","params":{"name":7}}"#),
            Some(("prompts/get", String::new())),
            "the server says what is wrong with it"
        );
    }

    #[test]
    fn a_result_counts_and_everything_else_does_not() {
        let complete = |response: &str, status| {
            is_complete(&Answered {
                request: read(r#"{"id":1,"method":"prompts/get","params":{"name":"a"}}"#),
                response: read(response),
                status: Some(status),
                sent: Sent::default(),
                at_us: 0,
            })
        };
        assert!(complete(r#"{"id":1,"result":{"messages":[]}}"#, 200));
        assert!(!complete(r#"{"id":1,"result":{"messages":[]}}"#, 500));
        assert!(!complete(
            r#"{"id":1,"error":{"code":-32002,"message":"no such"}}"#,
            200
        ));
        assert!(!complete(r#"{"id":1,"result":null}"#, 200));
        assert!(!complete(r#"{"id":1,"result":{"resultType":"input_required"}}"#, 200));
    }

    #[test]
    fn their_number_and_their_names_are_bounded() {
        let mut requests = Requests::new("s".to_owned());
        for _ in 0..=REQUEST_CAP {
            requests.note("prompts/get", "ä".repeat(NAME_CAP + 1), true, 0, 0);
        }
        assert_eq!(requests.kept().len(), REQUEST_CAP);
        assert_eq!(requests.kept()[0].name.chars().count(), NAME_CAP);
    }
}
