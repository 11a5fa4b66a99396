#![allow(clippy::unwrap_used, clippy::panic)]

use super::*;
use mcproctor_proto::agent::Credential;

fn end(status: u16, media_type: &str, body: &str) -> End {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, media_type.parse().unwrap());
    let mut reading = Reading::new(Dialect::OpenAi, status, &headers, Some(7));
    for piece in body.as_bytes().chunks(5) {
        reading.feed(piece);
    }
    reading
        .finish(&Key::new(Dialect::OpenAi, &Credential::ApiKey("sentinel".to_owned().into())).unwrap())
        .0
}

fn refusal(end: End) -> (u16, Option<String>, String) {
    match end {
        End::Refused(refusal) => (refusal.status, refusal.code, refusal.message),
        other => panic!("{other:?}"),
    }
}

fn succeeded(model: &str) -> End {
    End::Succeeded {
        model: Some(model.to_owned()),
    }
}

const SSE: &str = "text/event-stream; charset=utf-8";

#[test]
fn whole_streams_of_every_dialect_are_successes_and_name_their_model() {
    let messages = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"claude-x\"}}\n\n\
                    event: ping\ndata: {\"type\":\"ping\"}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
    let responses = "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"model\":\"gpt-x\"}}\n\n\
                     event: response.output_text.delta\ndata: {\"type\":\"error\"}\n\n\
                     event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"error\":null}}\n\n";
    let unnamed = "data: {\"type\":\"response.created\",\"response\":{\"model\":\"gpt-x\"}}\n\n\
                   data: {\"type\":\"response.completed\"}\n\n";
    let chat = "data: {\"object\":\"chat.completion.chunk\",\"model\":\"gpt-x\",\"choices\":[]}\n\n";
    assert_eq!(end(200, SSE, messages), succeeded("claude-x"));
    assert_eq!(end(200, SSE, responses), succeeded("gpt-x"));
    assert_eq!(end(200, SSE, unnamed), succeeded("gpt-x"));
    assert_eq!(end(200, SSE, chat), succeeded("gpt-x"));
    assert_eq!(end(200, SSE, &format!("{chat}data: [DONE]\n\n")), succeeded("gpt-x"));
    assert_eq!(
        end(200, "application/json", r#"{"model":"gpt-x","error":null}"#),
        succeeded("gpt-x")
    );
}

#[test]
fn an_error_inside_a_stream_of_status_200_is_a_refusal() {
    let start = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"claude-x\"}}\n\n";
    let overloaded = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n";
    assert_eq!(
        refusal(end(200, SSE, &format!("{start}{overloaded}"))),
        (200, Some("overloaded_error".into()), "Overloaded".into())
    );
    let failed = "event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\
                  \"rate_limit_exceeded\",\"message\":\"slow\"}}}\n\n";
    assert_eq!(
        refusal(end(200, SSE, failed)),
        (200, Some("rate_limit_exceeded".into()), "slow".into())
    );
    let flat =
        "event: error\ndata: {\"type\":\"error\",\"code\":\"server_error\",\"message\":\"bad\",\"param\":null}\n\n";
    assert_eq!(
        refusal(end(200, SSE, flat)),
        (200, Some("server_error".into()), "bad".into())
    );
    let chat = "data: {\"error\":{\"message\":\"rate limited\",\"code\":\"rate_limit_exceeded\"}}\n\n";
    assert_eq!(
        refusal(end(200, SSE, chat)),
        (200, Some("rate_limit_exceeded".into()), "rate limited".into())
    );
}

#[test]
fn a_stream_cut_cleanly_before_its_last_event_is_a_refusal() {
    let start = "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"model\":\"gpt-x\"}}\n\n";
    assert_eq!(refusal(end(200, SSE, start)).1.as_deref(), Some("stream_ended_early"));
    assert_eq!(refusal(end(200, SSE, "")).1.as_deref(), Some("stream_ended_early"));
}

#[test]
fn only_a_gateways_mark_makes_a_refusal_a_gateways() {
    for code in OURS {
        let body = format!(r#"{{"error":{{"message":"no","code":"{code}"}}}}"#);
        assert_eq!(refusal(end(400, "application/json", &body)), (400, None, "no".into()));
        let mark = Ours::of(&HeaderValue::from_static(code));
        let key = Key::new(Dialect::OpenAi, &Credential::None).unwrap();
        let reading = Reading::new(Dialect::OpenAi, 400, &HeaderMap::new(), None).by(mark);
        match (code, reading.finish(&key).0) {
            (ATTEMPT_LIMIT, End::Limited) => {}
            (_, end) => assert_eq!(refusal(end).1.as_deref(), Some(code)),
        }
    }
    assert_eq!(Ours::of(&HeaderValue::from_static("insufficient_quota")), None);
}

#[test]
fn refusals_keep_code_and_words_without_the_key_and_cut() {
    let spent = r#"{"type":"error","error":{"type":"rate_limit_error","message":"cap","details":{"error_code":"enforced_spend_limit_reached"}}}"#;
    assert_eq!(
        refusal(end(429, "application/json", spent)).1.as_deref(),
        Some("enforced_spend_limit_reached")
    );
    let wrong = r#"{"error":{"message":"wrong key sentinel","type":"invalid_request_error","code":"invalid_api_key"}}"#;
    assert_eq!(
        refusal(end(401, "application/json", wrong)),
        (401, Some("invalid_api_key".into()), "wrong key [redacted]".into())
    );
    assert_eq!(
        refusal(end(400, "application/json", r#"{"detail":"no"}"#)),
        (400, None, "no".into())
    );
    let html = format!("<html>{}", "ü".repeat(500));
    let (status, code, message) = refusal(end(503, "text/html", &html));
    assert_eq!((status, code, message.chars().count()), (503, None, 300));
    assert_eq!(refusal(end(500, "application/json", "")), (500, None, String::new()));
}
