//! Each message, and exactly what it changes.

#![allow(clippy::unwrap_used, clippy::panic)]

use mcproctor_proto::call::{CallState, ToolCall};

use super::super::gather::Gathered;
use super::super::message::{self, Message};
use super::super::tap::Ending;
use super::{Change, Opening, Pairing, ReplyKind};

const STATELESS: &str = "2026-07-28";

struct Bench {
    pairing: Pairing,
    now: u64,
    ended: Vec<ToolCall>,
    started: usize,
    faults: Vec<String>,
}

fn read(text: &str) -> Vec<Message> {
    message::read(Gathered::Whole(text.as_bytes().to_vec())).unwrap()
}

impl Bench {
    fn new() -> Self {
        let pairing = Pairing::new("s".to_owned(), 1_000_000);
        Self {
            pairing,
            now: 0,
            ended: Vec::new(),
            started: 0,
            faults: Vec::new(),
        }
    }

    fn collect(&mut self) {
        for change in self.pairing.changes() {
            match change {
                Change::Started { .. } => self.started += 1,
                Change::Ended { call, .. } => self.ended.push(*call),
                Change::Fault { what, .. } => self.faults.push(what),
                _ => {}
            }
        }
    }

    fn open(&mut self, exchange: u64, opening: Opening) {
        self.now += 100_000;
        self.pairing.opened(
            exchange,
            Opening {
                at_us: self.now,
                ..opening
            },
        );
    }

    fn post(&mut self, exchange: u64, body: &str) {
        self.open(
            exchange,
            Opening {
                target: "/mcp".to_owned(),
                session: Some("a".to_owned()),
                ..Opening::default()
            },
        );
        self.send(exchange, body);
    }

    fn post_stateless(&mut self, exchange: u64, body: &str) {
        let revision = Some(STATELESS.to_owned());
        self.open(
            exchange,
            Opening {
                target: "/mcp".to_owned(),
                revision,
                ..Opening::default()
            },
        );
        self.send(exchange, body);
    }

    fn get(&mut self, exchange: u64, target: &str, last_event_id: Option<&str>) {
        self.open(
            exchange,
            Opening {
                is_get: true,
                target: target.to_owned(),
                session: Some("a".to_owned()),
                last_event_id: last_event_id.map(str::to_owned),
                ..Opening::default()
            },
        );
        self.pairing.replied(exchange, self.now, 200, ReplyKind::Events);
    }

    fn send(&mut self, exchange: u64, body: &str) {
        read(body)
            .into_iter()
            .for_each(|message| self.pairing.sent(exchange, message));
        self.collect();
    }

    fn events(&mut self, exchange: u64) {
        self.pairing.replied(exchange, self.now, 200, ReplyKind::Events);
    }

    fn hear(&mut self, exchange: u64, body: &str) {
        self.now += 100_000;
        read(body)
            .into_iter()
            .for_each(|message| self.pairing.received(exchange, self.now, message));
        self.collect();
    }

    fn end(&mut self, exchange: u64, ending: Ending) {
        self.now += 100_000;
        self.pairing.ended(exchange, self.now, &ending);
        self.collect();
    }

    /// A whole JSON exchange.
    fn json(&mut self, exchange: u64, request: &str, status: u16, response: &str) {
        self.post(exchange, request);
        self.pairing.replied(exchange, self.now, status, ReplyKind::Json);
        self.hear(exchange, response);
        self.end(exchange, Ending::Complete);
    }

    fn finish(&mut self) {
        self.pairing.finish(self.now);
        self.collect();
    }

    /// The states of the ended calls, in the order of their ends.
    fn states(&self) -> Vec<CallState> {
        self.ended.iter().map(|call| call.state).collect()
    }

    fn open_states(&self) -> Vec<CallState> {
        self.pairing.open().map(|(_, call)| call.state).collect()
    }
}

fn call(id: &str) -> String {
    format!(r#"{{"id":{id},"method":"tools/call","params":{{"name":"t","arguments":{{"a":1}}}}}}"#)
}

fn result(id: &str) -> String {
    format!(r#"{{"id":{id},"result":{{"content":[]}}}}"#)
}

#[test]
fn ids_of_different_types_and_sizes_are_different_calls() {
    let mut bench = Bench::new();
    bench.post(
        1,
        &format!("[{},{},{}]", call("1"), call("\"1\""), call("9007199254740993")),
    );
    bench.events(1);
    bench.hear(1, &result("9007199254740992"));
    assert_eq!(bench.states(), []);
    bench.hear(1, &format!("[{},{}]", result("\"1\""), result("9007199254740993")));
    assert_eq!(
        bench.ended.iter().map(|call| call.id.as_str()).collect::<Vec<_>>(),
        ["s-2", "s-3"]
    );
    bench.end(1, Ending::Complete);
    assert_eq!(bench.states(), [CallState::Ok, CallState::Ok, CallState::TransportLost]);
}

#[test]
fn one_id_on_two_exchanges_is_two_calls() {
    let mut bench = Bench::new();
    bench.post(1, &call("1"));
    bench.post(2, &call("1"));
    bench.events(1);
    bench.events(2);
    bench.hear(
        2,
        r#"{"id":1,"result":{"isError":true,"content":[{"type":"text","text":"two"}]}}"#,
    );
    assert_eq!(bench.ended[0].id, "s-2");
    assert_eq!(bench.ended[0].error.as_deref(), Some("two"));
    bench.hear(1, &result("1"));
    assert_eq!(bench.states(), [CallState::ToolError, CallState::Ok]);
}

#[test]
fn times_are_the_requests_and_the_answers() {
    let mut bench = Bench::new();
    bench.json(1, &call("1"), 200, &result("1"));
    assert_eq!(
        (bench.ended[0].started_at_unix_ms, bench.ended[0].duration_ms),
        (1_000_100, 100)
    );
    assert_eq!(bench.ended[0].bytes, result("1").len() as u64);
}

#[test]
fn the_servers_own_requests_and_notifications_are_no_answers() {
    let mut bench = Bench::new();
    bench.post(1, &call("1"));
    bench.events(1);
    bench.hear(1, r#"{"id":1,"method":"sampling/createMessage","params":{}}"#);
    bench.hear(1, r#"{"method":"notifications/progress","params":{"progressToken":1}}"#);
    assert_eq!(bench.states(), []);
    bench.hear(1, &result("1"));
    assert_eq!(bench.states(), [CallState::Ok]);
}

#[test]
fn progress_finds_its_call_by_token() {
    let mut bench = Bench::new();
    bench.post(
        1,
        r#"{"id":1,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":"7"}}}"#,
    );
    bench.post(
        2,
        r#"{"id":2,"method":"tools/call","params":{"name":"b","_meta":{"progressToken":7}}}"#,
    );
    bench.events(1);
    read(r#"{"method":"notifications/progress","params":{"progressToken":"7","progress":1}}"#)
        .into_iter()
        .for_each(|message| bench.pairing.received(1, 0, message));
    let changes = bench.pairing.changes();
    let [Change::Progress { call: Some(call), .. }] = changes.as_slice() else {
        panic!("{changes:?}")
    };
    assert_eq!(call, "s-1");
}

#[test]
fn an_error_without_an_id_belongs_to_its_exchange() {
    let mut bench = Bench::new();
    bench.post(9, &call("1"));
    bench.json(
        1,
        &call("1"),
        400,
        r#"{"id":null,"error":{"code":-32700,"message":"no"}}"#,
    );
    assert_eq!(
        (bench.states(), bench.ended[0].id.as_str()),
        (vec![CallState::HttpError], "s-2")
    );
    bench.json(2, &call("1"), 200, r#"{"error":{"code":-32700,"message":"no"}}"#);
    assert_eq!(bench.states()[1], CallState::ProtocolError);
    assert_eq!(bench.open_states().len(), 1);
}

#[test]
fn a_5xx_is_the_servers_fault_even_with_a_proper_error() {
    let mut bench = Bench::new();
    bench.json(
        1,
        &call("1"),
        503,
        r#"{"id":1,"error":{"code":-32000,"message":"overloaded"}}"#,
    );
    assert_eq!(bench.states(), [CallState::HttpError]);
    assert!(bench.ended[0].server_fault());
    bench.json(
        2,
        r#"{"id":1,"method":"initialize"}"#,
        404,
        r#"{"id":1,"error":{"code":-32601,"message":"no"}}"#,
    );
    bench.post(3, r#"{"id":1,"method":"tools/list"}"#);
    bench.pairing.replied(3, 0, 500, ReplyKind::None);
    bench.end(3, Ending::Complete);
    assert_eq!(
        bench.faults,
        ["the server lost the session (404)", "tools/list: HTTP 500"]
    );
}

#[test]
fn a_result_that_is_no_object_is_a_broken_reply() {
    let mut bench = Bench::new();
    for result in ["null", "[]", "\"text\"", "1", "true"] {
        bench.json(1, &call("1"), 200, &format!(r#"{{"id":1,"result":{result}}}"#));
        let ended = bench.ended.pop().unwrap();
        assert_eq!(ended.state, CallState::TransportLost, "{result}");
        assert_eq!(ended.error.as_deref(), Some("the result is no object"));
        assert!(ended.server_fault());
    }
}

#[test]
fn an_error_flag_that_is_no_boolean_is_read_as_a_lenient_client_would() {
    let mut bench = Bench::new();
    for (flag, state) in [
        ("true", CallState::ToolError),
        ("1", CallState::ToolError),
        ("\"true\"", CallState::ToolError),
        ("{}", CallState::ToolError),
        ("false", CallState::Ok),
        ("0", CallState::Ok),
        ("-0.0", CallState::Ok),
        ("null", CallState::Ok),
        ("\"\"", CallState::Ok),
    ] {
        let answer = format!(r#"{{"id":1,"result":{{"content":[],"isError":{flag}}}}}"#);
        bench.json(1, &call("1"), 200, &answer);
        assert_eq!(bench.ended.pop().unwrap().state, state, "{flag}");
    }
}

#[test]
fn a_cancellation_ends_the_youngest_call_of_that_id_on_its_session() {
    let mut bench = Bench::new();
    bench.post(1, &call("1"));
    bench.post(2, &call("1"));
    bench.open(
        3,
        Opening {
            session: Some("other".to_owned()),
            ..Opening::default()
        },
    );
    bench.send(3, &call("1"));
    bench.post(
        4,
        r#"{"method":"notifications/cancelled","params":{"requestId":1,"reason":"timeout"}}"#,
    );
    assert_eq!(
        (bench.states(), bench.ended[0].id.as_str()),
        (vec![CallState::Cancelled], "s-2")
    );
    assert_eq!(
        bench.ended[0].error.as_deref(),
        Some("cancelled by client at 0.2 s: timeout")
    );
    // A late answer changes nothing.
    bench.events(2);
    bench.hear(2, &result("1"));
    assert_eq!(bench.states(), [CallState::Cancelled]);
    bench.post(5, r#"{"method":"notifications/cancelled","params":{"requestId":"1"}}"#);
    assert_eq!(bench.states(), [CallState::Cancelled]);
}

#[test]
fn leaving_is_the_clients_own_doing_and_being_stopped_is_not() {
    let mut bench = Bench::new();
    bench.post(1, &call("1"));
    bench.events(1);
    bench.end(1, Ending::ClientLeft);
    bench.post_stateless(2, &call("1"));
    bench.events(2);
    bench.end(2, Ending::ClientLeft);
    let with_meta = call("1").replace(
        r#""name""#,
        r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"},"name""#,
    );
    bench.post(3, &with_meta);
    bench.end(3, Ending::ClientLeft);
    bench.post_stateless(4, &call("1"));
    bench.end(4, Ending::Stopped);
    assert_eq!(
        bench.states(),
        [
            CallState::Cancelled,
            CallState::Cancelled,
            CallState::Cancelled,
            CallState::NeverFinished,
        ]
    );
    assert_eq!(bench.ended[0].error.as_deref(), Some("the client left after 0.1 s"));
    assert_eq!(bench.ended[1].error.as_deref(), Some("cancelled by client at 0.1 s"));
}

#[test]
fn a_stream_with_an_event_id_is_suspended_and_resumed_as_often_as_it_takes() {
    let mut bench = Bench::new();
    bench.post(1, &call("1"));
    bench.events(1);
    bench.pairing.event_id(1, "e1".to_owned());
    bench.end(1, Ending::Complete);
    assert_eq!(bench.open_states(), [CallState::Suspended]);
    bench.get(2, "/mcp", Some("e1"));
    bench.pairing.event_id(2, "e2".to_owned());
    bench.end(2, Ending::UpstreamLost("reset".to_owned()));
    assert_eq!(bench.open_states(), [CallState::Suspended]);
    bench.get(3, "/mcp", Some("unknown"));
    bench.end(3, Ending::Complete);
    bench.get(4, "/mcp", Some("e2"));
    bench.hear(4, &result("1"));
    assert_eq!(bench.states(), [CallState::Ok]);
    bench.end(4, Ending::Complete);
    assert_eq!(bench.started, 1);
}

#[test]
fn a_suspended_call_that_nobody_resumes_ends_as_whoever_broke_it_off() {
    let mut bench = Bench::new();
    for (exchange, ending) in [(1, Ending::Complete), (2, Ending::ClientLeft)] {
        bench.post(exchange, &call("1"));
        bench.events(exchange);
        bench.pairing.event_id(exchange, format!("e{exchange}"));
        bench.end(exchange, ending);
    }
    bench.finish();
    assert_eq!(bench.states(), [CallState::NeverFinished, CallState::Cancelled]);
    assert_eq!(
        bench.ended[1].error.as_deref(),
        Some("the client left after 0.1 s and did not resume the stream")
    );
}

#[test]
fn in_the_stateless_revision_nothing_is_resumed() {
    let mut bench = Bench::new();
    bench.post_stateless(1, &call("1"));
    bench.events(1);
    bench.pairing.event_id(1, "e1".to_owned());
    bench.end(1, Ending::Complete);
    assert_eq!(bench.states(), [CallState::TransportLost]);
}

#[test]
fn legacy_answers_come_on_the_stream_that_announced_the_endpoint() {
    let mut bench = Bench::new();
    for (stream, endpoint) in [(1, "/m?s=1"), (2, "/m?s=2")] {
        bench.get(stream, "/sse", None);
        bench.pairing.endpoint(stream, endpoint.to_owned());
    }
    for (post, endpoint) in [(3, "/m?s=1"), (4, "/m?s=2")] {
        bench.open(
            post,
            Opening {
                target: endpoint.to_owned(),
                ..Opening::default()
            },
        );
        bench.send(post, &call("1"));
        bench
            .pairing
            .replied(post, bench.now, 202, ReplyKind::Other("text/plain".to_owned()));
        bench.end(post, Ending::Complete);
    }
    bench.hear(2, &result("1"));
    assert_eq!(
        (bench.states(), bench.ended[0].id.as_str()),
        (vec![CallState::Ok], "s-2")
    );
    bench.end(1, Ending::Complete);
    assert_eq!(bench.states(), [CallState::Ok, CallState::TransportLost]);
}

#[test]
fn a_task_of_2025_11_25_ends_with_its_result() {
    let mut bench = Bench::new();
    let request = call("1").replace(r#""name""#, r#""task":{"ttl":1},"name""#);
    bench.json(
        1,
        &request,
        200,
        r#"{"id":1,"result":{"task":{"taskId":"T","status":"working"}}}"#,
    );
    bench.json(
        2,
        r#"{"id":2,"method":"tasks/get","params":{"taskId":"T"}}"#,
        200,
        r#"{"id":2,"result":{"taskId":"T","status":"completed"}}"#,
    );
    assert_eq!(bench.states(), []);
    for id in ["3", "4"] {
        let request = format!(r#"{{"id":{id},"method":"tasks/result","params":{{"taskId":"T"}}}}"#);
        bench.json(
            3,
            &request,
            200,
            &format!(r#"{{"id":{id},"result":{{"content":[],"isError":true}}}}"#),
        );
    }
    assert_eq!(bench.states(), [CallState::ToolError]);
    assert_eq!(bench.ended[0].duration_ms, 700);
}

#[test]
fn a_task_in_a_result_that_nobody_asked_for_is_part_of_the_result() {
    let mut bench = Bench::new();
    let answer = r#"{"id":1,"result":{"content":[],"task":{"taskId":"T","status":"working"}}}"#;
    bench.json(1, &call("1"), 200, answer);
    assert_eq!(bench.states(), [CallState::Ok]);
}

#[test]
fn a_task_of_the_extension_ends_where_its_state_is_seen() {
    let mut bench = Bench::new();
    let created = |id: &str, task: &str| {
        format!(r#"{{"id":{id},"result":{{"resultType":"task","taskId":"{task}","status":"working"}}}}"#)
    };
    for (exchange, task) in [(1, "A"), (2, "B"), (3, "C"), (4, "D")] {
        bench.json(exchange, &call("1"), 200, &created("1", task));
    }
    let get = r#"{"id":9,"method":"tasks/get","params":{"taskId":"A"}}"#;
    bench.json(
        5,
        get,
        200,
        r#"{"id":9,"result":{"taskId":"A","status":"completed","result":{"content":[],"isError":true}}}"#,
    );
    bench.get(6, "/mcp", None);
    bench.hear(6, r#"{"method":"notifications/tasks","params":{"taskId":"B","status":"failed","error":{"code":-1,"message":"m"}}}"#);
    bench.hear(
        6,
        r#"{"method":"notifications/tasks/status","params":{"taskId":"C","status":"cancelled"}}"#,
    );
    bench.finish();
    assert_eq!(
        bench.states(),
        [
            CallState::ToolError,
            CallState::ProtocolError,
            CallState::Cancelled,
            CallState::NeverFinished,
        ]
    );
    assert_eq!(bench.ended[3].error.as_deref(), Some("the task's result never came"));
}

#[test]
fn the_legs_of_one_call_are_one_record() {
    let mut bench = Bench::new();
    let asks = |state: &str| {
        format!(
            r#"{{"id":1,"result":{{"resultType":"input_required","inputRequests":{{}},"requestState":"{state}"}}}}"#
        )
    };
    let retry = |id: &str, state: &str| {
        call(id).replace(
            r#""name""#,
            &format!(r#""inputResponses":{{}},"requestState":"{state}","name""#),
        )
    };
    bench.json(1, &call("1"), 200, &asks("x"));
    bench.json(2, &call("1"), 200, &asks("y"));
    bench.json(3, &retry("7", "x"), 200, &result("7"));
    assert_eq!(bench.open_states(), [CallState::Suspended]);
    assert_eq!(
        (bench.ended[0].id.as_str(), bench.ended[0].legs, bench.started),
        ("s-1", 2, 2)
    );
    bench.finish();
    assert_eq!(bench.states(), [CallState::Ok, CallState::Cancelled]);
}

#[test]
fn a_broken_event_is_the_reason_when_no_answer_follows() {
    let mut bench = Bench::new();
    bench.post(1, &call("1"));
    bench.events(1);
    bench
        .pairing
        .unreadable(1, "an event holds no JSON-RPC message: x".to_owned());
    bench.hear(1, &result("1"));
    bench.post(2, &call("1"));
    bench.events(2);
    bench
        .pairing
        .unreadable(2, "an event holds no JSON-RPC message: x".to_owned());
    bench.end(2, Ending::Complete);
    assert_eq!(bench.states(), [CallState::Ok, CallState::TransportLost]);
    assert_eq!(
        bench.ended[1].error.as_deref(),
        Some("an event holds no JSON-RPC message: x")
    );
}

#[test]
fn what_lingers_is_bounded() {
    let mut bench = Bench::new();
    for exchange in 0..6_000 {
        bench.post(exchange, &call("1"));
        bench.pairing.replied(exchange, 0, 202, ReplyKind::None);
        bench.end(exchange, Ending::Complete);
    }
    assert!(bench.pairing.open_count() < 4_200);
    bench.finish();
    assert_eq!(bench.ended.len(), 6_000);
}
