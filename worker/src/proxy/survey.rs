//! What was seen of a server besides its calls: was the agent shown its tools, and which.

use mcproctor_proto::exposure::{Exposure, ServerFault};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::message::{member, text_member};
use super::pairing::{Answered, revision_of};

/// Faults that are kept.
const FAULT_CAP: usize = 100;
/// Characters of a server's own words in a fault.
const WORDS_CAP: usize = 300;

/// Collects the proof of exposure.
#[derive(Debug)]
pub(super) struct Survey {
    exposure: Exposure,
    tools: Vec<Value>,
    list: Option<Vec<u8>>,
    /// Why the agent's last `initialize` or `server/discover` failed: a fault only while none succeeded, because
    /// clients try one and fall back to the other.
    greeting: Option<ServerFault>,
    /// The same of `tools/list`.
    listing: Option<ServerFault>,
}

impl Survey {
    pub(super) fn new(server: String) -> Self {
        Self {
            exposure: Exposure {
                server,
                ..Exposure::default()
            },
            tools: Vec::new(),
            list: None,
            greeting: None,
            listing: None,
        }
    }

    /// The state so far.
    pub(super) fn exposure(&self) -> Exposure {
        let mut exposure = self.exposure.clone();
        let greeting = self.greeting.iter().filter(|_| !exposure.initialized);
        let listing = self.listing.iter().filter(|_| !exposure.tools_listed);
        exposure.faults.extend(greeting.chain(listing).cloned());
        exposure
    }

    /// The canonical tool list as the agent saw it.
    pub(super) fn tool_list(&self) -> Option<&[u8]> {
        self.list.as_deref()
    }

    /// The server asked for a login.
    pub(super) fn login_required(&mut self) {
        self.exposure.login_required = true;
    }

    /// Something about the server that belongs to no call.
    pub(super) fn fault(&mut self, at_unix_ms: i64, what: String) {
        if self.exposure.faults.len() < FAULT_CAP {
            self.exposure.faults.push(ServerFault { what, at_unix_ms });
        }
    }

    /// A request got no answer, and `why`.
    pub(super) fn unanswered(&mut self, method: &str, status: Option<u16>, why: &str, at_unix_ms: i64) {
        let what = format!("{method}: {why}");
        if self.exposure.faults.iter().any(|fault| fault.what == what) {
            return;
        }
        match status {
            // Told as a login.
            Some(401) => {}
            Some(status) if status >= 300 => self.failed(method, what, at_unix_ms),
            _ => self.failed(method, format!("{method} was never answered: {why}"), at_unix_ms),
        }
    }

    fn failed(&mut self, method: &str, what: String, at_unix_ms: i64) {
        let slot = match method {
            "initialize" | "server/discover" => &mut self.greeting,
            "tools/list" => &mut self.listing,
            _ => return,
        };
        *slot = Some(ServerFault { what, at_unix_ms });
    }

    /// A request was answered. Gives back what is wrong with the answer.
    #[must_use]
    pub(super) fn answered(&mut self, answered: &Answered, at_unix_ms: i64) -> Option<String> {
        let method = answered.request.method.as_deref().unwrap_or_default();
        if let Some(why) = failure(answered) {
            if answered.status != Some(401) {
                self.failed(method, format!("{method}: {why}"), at_unix_ms);
            }
            return None;
        }
        let result = answered.response.result.as_deref();
        match method {
            "initialize" if !is_object(result) => {
                self.failed(method, format!("{method}: the result is no object"), at_unix_ms);
            }
            "initialize" => {
                self.exposure.initialized = true;
                self.exposure.protocol_version = text_member(result, "protocolVersion");
                self.server_info(member(result, "serverInfo"));
            }
            "server/discover" => {
                self.exposure.initialized = true;
                self.exposure.protocol_version = revision_of(&answered.request);
                let meta = member(member(result, "_meta"), "io.modelcontextprotocol/serverInfo");
                self.server_info(member(result, "serverInfo").or(meta));
            }
            "tools/list" => return self.tools_listed(answered),
            _ => {}
        }
        None
    }

    fn server_info(&mut self, info: Option<&RawValue>) {
        self.exposure.server_name = text_member(info, "name");
        self.exposure.server_version = text_member(info, "version");
    }

    /// One page; a page without a cursor starts the list anew.
    fn tools_listed(&mut self, answered: &Answered) -> Option<String> {
        let (params, result) = (answered.request.params.as_deref(), answered.response.result.as_deref());
        let page = member(result, "tools").and_then(|tools| serde_json::from_str::<Vec<Value>>(tools.get()).ok());
        let page = page.filter(|tools| tools.iter().all(Value::is_object));
        // Of a list beyond the cap nothing is known, but the agent has it.
        if page.is_none() && !(answered.response.oversize && result.is_some()) {
            return Some("its tool list cannot be read".to_owned());
        }
        self.exposure.tools_listed = true;
        if self.exposure.protocol_version.is_none() {
            self.exposure.protocol_version = revision_of(&answered.request);
        }
        let page = page.filter(|_| !answered.response.oversize)?;
        if member(params, "cursor").is_none() {
            self.tools.clear();
        }
        self.tools.extend(page.into_iter().map(canonical));
        let list = Value::Array(self.tools.clone()).to_string().into_bytes();
        self.exposure.tool_count = u32::try_from(self.tools.len()).unwrap_or(u32::MAX);
        self.exposure.tools_sha256 = hex::encode(Sha256::digest(&list));
        self.list = Some(list);
        None
    }
}

/// Why an answer is no success.
fn failure(answered: &Answered) -> Option<String> {
    let status = answered.status.filter(|status| *status >= 400);
    let status = status.map(|status| format!("HTTP {status}"));
    let error = answered.response.error.as_deref().map(|error| {
        let code = member(Some(error), "code").map_or("without a code", RawValue::get);
        let message = text_member(Some(error), "message").unwrap_or_default();
        let text: String = format!("error {code}: {message}").chars().take(WORDS_CAP).collect();
        text
    });
    match (status, error) {
        (Some(status), Some(error)) => Some(format!("{status}, {error}")),
        (status, error) => status.or(error),
    }
}

fn is_object(raw: Option<&RawValue>) -> bool {
    raw.is_some_and(|raw| raw.get().starts_with('{'))
}

/// The same value with every object's keys in order, so that equal lists have equal hashes.
fn canonical(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut sorted: Vec<(String, Value)> =
                fields.into_iter().map(|(key, field)| (key, canonical(field))).collect();
            sorted.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(Map::from_iter(sorted))
        }
        Value::Array(items) => Value::Array(items.into_iter().map(canonical).collect()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::proxy::gather::Gathered;
    use crate::proxy::message;
    use crate::proxy::pairing::Sent;

    fn answered(request: &str, response: &str) -> Answered {
        let read = |text: &str| {
            message::read(Gathered::Whole(text.as_bytes().to_vec()))
                .unwrap()
                .remove(0)
        };
        Answered {
            request: read(request),
            response: read(response),
            status: Some(200),
            sent: Sent::default(),
            at_us: 0,
        }
    }

    #[test]
    fn pages_are_merged_and_a_new_list_replaces_the_old_one() {
        let mut survey = Survey::new("s".to_owned());
        let first = answered(
            r#"{"id":1,"method":"tools/list"}"#,
            r#"{"id":1,"result":{"tools":[{"name":"a","inputSchema":{"b":1,"a":2}}],"nextCursor":"x"}}"#,
        );
        let second = answered(
            r#"{"id":2,"method":"tools/list","params":{"cursor":"x"}}"#,
            r#"{"id":2,"result":{"tools":[{"name":"b"}]}}"#,
        );
        for _ in 0..2 {
            assert_eq!(survey.answered(&first, 0), None);
            assert_eq!(survey.answered(&second, 0), None);
            assert_eq!(survey.exposure().tool_count, 2);
        }
        let expected = br#"[{"inputSchema":{"a":2,"b":1},"name":"a"},{"name":"b"}]"#;
        assert_eq!(survey.tool_list().unwrap(), expected);
        assert_eq!(survey.exposure().tools_sha256, hex::encode(Sha256::digest(expected)));
    }

    #[test]
    fn an_error_is_no_proof() {
        let mut survey = Survey::new("s".to_owned());
        for method in ["initialize", "server/discover", "tools/list"] {
            let request = format!(r#"{{"id":1,"method":"{method}"}}"#);
            let answer = answered(&request, r#"{"id":1,"error":{"code":-32601,"message":"no"}}"#);
            assert_eq!(survey.answered(&answer, 0), None);
        }
        let exposure = survey.exposure();
        assert!(!exposure.initialized && !exposure.tools_listed);
        let faults: Vec<&str> = exposure.faults.iter().map(|fault| fault.what.as_str()).collect();
        assert_eq!(
            faults,
            ["server/discover: error -32601: no", "tools/list: error -32601: no"]
        );
    }

    #[test]
    fn a_failed_greeting_is_a_fault_until_one_succeeds() {
        let mut survey = Survey::new("s".to_owned());
        survey.unanswered("server/discover", Some(404), "HTTP 404", 0);
        assert_eq!(survey.exposure().faults[0].what, "server/discover: HTTP 404");
        survey.unanswered("initialize", None, "the client left after 1.0 s", 0);
        assert_eq!(
            survey.exposure().faults[0].what,
            "initialize was never answered: the client left after 1.0 s"
        );
        survey.unanswered("initialize", Some(401), "HTTP 401", 0);
        let null = answered(r#"{"id":1,"method":"initialize"}"#, r#"{"id":1,"result":null}"#);
        assert_eq!(survey.answered(&null, 0), None);
        assert_eq!(survey.exposure().faults[0].what, "initialize: the result is no object");
        let welcome = answered(r#"{"id":1,"method":"initialize"}"#, r#"{"id":1,"result":{}}"#);
        assert_eq!(survey.answered(&welcome, 0), None);
        assert!(survey.exposure().initialized && survey.exposure().faults.is_empty());
    }

    #[test]
    fn a_tool_list_that_cannot_be_read_is_no_list() {
        for result in [
            "null",
            "[]",
            "{}",
            r#"{"tools":null}"#,
            r#"{"tools":{}}"#,
            r#"{"tools":["a"]}"#,
        ] {
            let mut survey = Survey::new("s".to_owned());
            let answer = answered(
                r#"{"id":1,"method":"tools/list"}"#,
                &format!(r#"{{"id":1,"result":{result}}}"#),
            );
            let fault = survey.answered(&answer, 0);
            assert_eq!(fault.as_deref(), Some("its tool list cannot be read"), "{result}");
            assert!(!survey.exposure().tools_listed, "{result}");
        }
        let mut survey = Survey::new("s".to_owned());
        let none = answered(r#"{"id":1,"method":"tools/list"}"#, r#"{"id":1,"result":{"tools":[]}}"#);
        assert_eq!(survey.answered(&none, 0), None);
        assert!(survey.exposure().tools_listed, "a server may have no tools");
    }

    #[test]
    fn who_the_server_is_comes_from_its_first_answer() {
        let mut survey = Survey::new("s".to_owned());
        let answer = answered(
            r#"{"id":0,"method":"initialize"}"#,
            r#"{"id":0,"result":{"protocolVersion":"2025-06-18","serverInfo":{"name":"n","version":"1"}}}"#,
        );
        assert_eq!(survey.answered(&answer, 0), None);
        let exposure = survey.exposure();
        assert_eq!(exposure.server_name.as_deref(), Some("n"));
        assert_eq!(exposure.protocol_version.as_deref(), Some("2025-06-18"));
    }
}
