#![allow(clippy::unwrap_used, clippy::panic)]
//! Each message and its exact effects.

use super::*;

fn message(text: &str) -> Message {
    Message::parse(Bytes::copy_from_slice(text.as_bytes())).unwrap()
}

/// Effects as short lines: `> …` to the child, `#1 …` on a stream, `#1 end`, `log …`.
fn shown(effects: Vec<Effect>) -> Vec<String> {
    let text = |pieces: Pieces| String::from_utf8(pieces.concat()).unwrap();
    effects
        .into_iter()
        .map(|effect| match effect {
            Effect::ToChild(line) => format!("> {}", text(line)),
            Effect::ToStream(stream, line) => format!("#{} {}", stream.0, text(line)),
            Effect::End(stream) => format!("#{} end", stream.0),
            Effect::Log(line) => format!("log {line}"),
        })
        .collect()
}

fn ask(router: &mut Router, session: &str, text: &str) -> (StreamId, Vec<String>) {
    let (stream, mut effects) = router.open_reply(Some(session), 1, true);
    effects.extend(router.client_sent(Some(stream), Some(session), message(text)));
    (stream, shown(effects))
}

fn child(router: &mut Router, text: &str) -> Vec<String> {
    shown(router.child_wrote(message(text)))
}

/// A router with sessions `a` and `b`.
fn router() -> Router {
    let mut router = Router::default();
    router.open_session("a".to_owned());
    router.open_session("b".to_owned());
    router
}

#[test]
fn equal_ids_of_two_clients_find_their_way_back_exactly() {
    let mut router = router();
    let (_, sent) = ask(&mut router, "a", r#"{"id":1,"method":"x"}"#);
    assert_eq!(sent, [r#"> {"id":1,"method":"x"}"#]);
    let (_, sent) = ask(&mut router, "b", r#"{"id":"1","method":"x"}"#);
    assert_eq!(sent, [r#"> {"id":3,"method":"x"}"#]);
    assert_eq!(
        child(&mut router, r#"{"result":{},"id":3}"#),
        [r##"#2 {"result":{},"id":"1"}"##, "#2 end"]
    );
    assert_eq!(
        child(&mut router, r#"{"result":{},"id":1}"#),
        [r##"#0 {"result":{},"id":1}"##, "#0 end"]
    );
    assert_eq!(
        child(&mut router, r#"{"result":{},"id":1}"#),
        ["log the server answered a request that nobody made"]
    );
}

#[test]
fn equal_progress_tokens_of_two_clients_are_kept_apart() {
    let mut router = router();
    let call = r#"{"id":5,"method":"tools/call","params":{"_meta":{"progressToken":"p"}}}"#;
    ask(&mut router, "a", call);
    let (_, sent) = ask(&mut router, "b", call);
    assert_eq!(
        sent,
        [r#"> {"id":3,"method":"tools/call","params":{"_meta":{"progressToken":3}}}"#]
    );
    let progress = r#"{"method":"notifications/progress","params":{"progressToken":1,"progress":0.50}}"#;
    assert_eq!(
        child(&mut router, progress),
        [r##"#0 {"method":"notifications/progress","params":{"progressToken":"p","progress":0.50}}"##]
    );
}

#[test]
fn the_child_is_initialized_once() {
    let mut router = router();
    let (_, first) = ask(&mut router, "a", r#"{"id":0,"method":"initialize","params":{"v":1}}"#);
    assert_eq!(first, [r#"> {"id":1,"method":"initialize","params":{"v":1}}"#]);
    let (_, early) = ask(&mut router, "b", r#"{"id":"early","method":"initialize"}"#);
    assert_eq!(early, [""; 0], "it waits for the first answer");
    assert_eq!(
        child(&mut router, r#"{"id":1,"result":{"p":"2025-06-18"}}"#),
        [
            r##"#0 {"id":0,"result":{"p":"2025-06-18"}}"##,
            "#0 end",
            r##"#2 {"id":"early","result":{"p":"2025-06-18"}}"##,
            "#2 end",
        ]
    );
    let (_, late) = ask(&mut router, "b", r#"{"id":9,"method":"initialize"}"#);
    assert_eq!(late, [r##"#3 {"id":9,"result":{"p":"2025-06-18"}}"##, "#3 end"]);
    let initialized = r#"{"method":"notifications/initialized"}"#;
    assert_eq!(
        shown(router.client_sent(None, Some("a"), message(initialized))),
        [format!("> {initialized}")]
    );
    assert_eq!(
        shown(router.client_sent(None, Some("b"), message(initialized))),
        [""; 0]
    );
}

#[test]
fn a_refused_initialize_leaves_the_next_one_to_the_child() {
    let mut router = router();
    ask(&mut router, "a", r#"{"id":0,"method":"initialize"}"#);
    ask(&mut router, "b", r#"{"id":7,"method":"initialize"}"#);
    assert_eq!(
        child(&mut router, r#"{"id":1,"error":{"code":-32602}}"#),
        [
            r##"#0 {"id":0,"error":{"code":-32602}}"##,
            "#0 end",
            r#"> {"id":3,"method":"initialize"}"#
        ]
    );
    assert_eq!(
        child(&mut router, r#"{"id":3,"result":{}}"#),
        [r##"#2 {"id":7,"result":{}}"##, "#2 end"]
    );
}

#[test]
fn the_childs_own_requests_go_to_the_open_call_and_only_its_client_answers() {
    let mut router = router();
    let (listening, _) = router.open_listen("b");
    let (_, _) = ask(&mut router, "a", r#"{"id":1,"method":"tools/call"}"#);
    let elicit = r#"{"id":"s1","method":"elicitation/create"}"#;
    assert_eq!(child(&mut router, elicit), [format!("#1 {elicit}")]);
    let answer = r#"{"id":"s1","result":{"action":"accept"}}"#;
    assert_eq!(
        shown(router.client_sent(None, Some("b"), message(answer))),
        ["log a client answered a request that was put to another"]
    );
    assert_eq!(
        shown(router.client_sent(None, Some("a"), message(answer))),
        [format!("> {answer}")]
    );
    assert_eq!(
        shown(router.client_sent(None, Some("a"), message(answer))),
        ["log a client answered a request that the server did not make"]
    );
    child(&mut router, r#"{"id":2,"result":{}}"#);
    let changed = r#"{"method":"notifications/tools/list_changed"}"#;
    assert_eq!(
        child(&mut router, changed),
        [format!("#{} {changed}", listening.0)],
        "no call is open"
    );
}

#[test]
fn what_the_child_says_to_nobody_waits_for_the_next_stream() {
    let mut router = router();
    let changed = r#"{"method":"notifications/tools/list_changed"}"#;
    assert_eq!(child(&mut router, changed), [""; 0]);
    let (_, effects) = router.open_reply(Some("a"), 1, false);
    assert_eq!(shown(effects), [""; 0], "a JSON reply takes no more than its answers");
    let (stream, effects) = router.open_listen("a");
    assert_eq!(shown(effects), [format!("#{} {changed}", stream.0)]);
    router.closed(stream);
    for _ in 0..BACKLOG {
        child(&mut router, changed);
    }
    assert_eq!(
        child(&mut router, changed),
        ["log no client took a message of the server"]
    );
}

#[test]
fn a_second_get_of_a_session_takes_the_place_of_the_first() {
    let mut router = router();
    let (first, _) = router.open_listen("a");
    let (second, effects) = router.open_listen("a");
    assert_eq!(shown(effects), [format!("#{} end", first.0)]);
    router.closed(first);
    let note = r#"{"method":"n"}"#;
    assert_eq!(child(&mut router, note), [format!("#{} {note}", second.0)]);
}

#[test]
fn cancelling_names_the_request_as_the_child_knows_it() {
    let mut router = router();
    ask(&mut router, "a", r#"{"id":1,"method":"tools/call"}"#);
    ask(&mut router, "b", r#"{"id":1,"method":"tools/call"}"#);
    let cancel = r#"{"method":"notifications/cancelled","params":{"requestId":1,"reason":"r"}}"#;
    assert_eq!(
        shown(router.client_sent(None, Some("b"), message(cancel))),
        [r#"> {"method":"notifications/cancelled","params":{"requestId":3,"reason":"r"}}"#]
    );
    child(&mut router, r#"{"id":3,"result":{}}"#);
    assert_eq!(
        shown(router.client_sent(None, Some("b"), message(cancel))),
        ["log a client cancelled a request that is not open"]
    );
}

#[test]
fn leaving_cancels_a_stateless_request_and_no_other() {
    let mut router = router();
    let (with_session, _) = ask(&mut router, "a", r#"{"id":1,"method":"tools/call"}"#);
    assert_eq!(shown(router.closed(with_session)), [""; 0]);
    assert_eq!(
        child(&mut router, r#"{"id":1,"result":{}}"#),
        [""; 0],
        "the answer finds nobody"
    );
    let (stateless, _) = router.open_reply(None, 1, true);
    router.client_sent(Some(stateless), None, message(r#"{"id":1,"method":"tools/call"}"#));
    assert_eq!(
        shown(router.closed(stateless)),
        [r#"> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}"#]
    );
}

#[test]
fn a_subscription_keeps_the_id_that_its_client_gave_it() {
    let mut router = router();
    let (stream, _) = router.open_reply(None, 1, true);
    router.client_sent(
        Some(stream),
        None,
        message(r#"{"id":"sub","method":"subscriptions/listen"}"#),
    );
    for id in ["1", r#""1""#] {
        let told =
            format!(r#"{{"method":"n","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}}}"#);
        assert_eq!(
            child(&mut router, &told),
            [r##"#0 {"method":"n","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"sub"}}}"##]
        );
    }
}

#[test]
fn when_the_child_is_gone_everything_open_fails_at_once() {
    let mut router = router();
    ask(&mut router, "a", r#"{"id":"i","method":"initialize"}"#);
    ask(&mut router, "b", r#"{"id":7,"method":"initialize"}"#);
    ask(&mut router, "b", r#"{"id":8,"method":"tools/call"}"#);
    let (listening, _) = router.open_listen("a");
    let error = r#""error":{"code":-32098,"message":"server exited with status 3"}}"#;
    assert_eq!(
        shown(router.child_gone("server exited with status 3".to_owned())),
        [
            format!(r##"#0 {{"jsonrpc":"2.0","id":"i",{error}"##),
            "#0 end".to_owned(),
            format!(r##"#3 {{"jsonrpc":"2.0","id":8,{error}"##),
            "#3 end".to_owned(),
            format!(r##"#2 {{"jsonrpc":"2.0","id":7,{error}"##),
            "#2 end".to_owned(),
            format!("#{} end", listening.0),
        ]
    );
    let (stream, sent) = ask(&mut router, "b", r#"{"id":9,"method":"tools/call"}"#);
    assert_eq!(sent[0], format!(r##"#{} {{"jsonrpc":"2.0","id":9,{error}"##, stream.0));
}

#[test]
fn ending_a_session_ends_its_streams_only() {
    let mut router = router();
    let (call, _) = ask(&mut router, "a", r#"{"id":1,"method":"tools/call"}"#);
    let (listening, _) = router.open_listen("a");
    ask(&mut router, "b", r#"{"id":1,"method":"tools/call"}"#);
    assert_eq!(
        shown(router.end_session("a")),
        [format!("#{} end", call.0), format!("#{} end", listening.0)]
    );
    assert!(!router.has_session("a") && router.has_session("b"));
}

#[test]
fn what_the_child_asked_a_client_that_leaves_is_answered_with_an_error() {
    let mut router = router();
    let (listening, _) = router.open_listen("a");
    child(&mut router, r#"{"id":"r1","method":"roots/list"}"#);
    assert_eq!(
        shown(router.end_session("a")),
        [
            r#"> {"jsonrpc":"2.0","id":"r1","error":{"code":-32000,"message":"the client left"}}"#.to_owned(),
            format!("#{} end", listening.0),
        ]
    );
}
