//! What was used, read from whole conversations of bytes between agent and API.

use std::collections::BTreeMap;

use http::HeaderMap;
use http::header::CONTENT_TYPE;
use mcproctor_proto::tokens::{ModelUsage, Tokens};
use tokio::io::AsyncWriteExt;

use super::super::Dialect;
use super::super::ledger::Told;
use super::super::verdict::Reading;
use super::{connect, exchange, post, read_to_end, read_until, relay, reply, settled, upstream};

const SSE: &str = "text/event-stream";

/// Shapes of the APIs' documentation: Messages with a cache and thinking, the stream that says the input twice.
const MESSAGES: &str = "event: message_start\n\
data: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-x-1\",\
\"content\":[],\"stop_reason\":null,\"usage\":{\"input_tokens\":25,\"cache_creation_input_tokens\":300,\
\"cache_read_input_tokens\":1000,\"cache_creation\":{\"ephemeral_5m_input_tokens\":100,\"ephemeral_1h_input_tokens\":200},\
\"output_tokens\":1}}}\n\n\
event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n\
event: ping\ndata: {\"type\": \"ping\"}\n\n\
event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Grüße\"}}\n\n\
event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n\
event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},\
\"usage\":{\"output_tokens\":150}}\n\n\
event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

const RESPONSES: &str = "event: response.created\n\
data: {\"type\":\"response.created\",\"sequence_number\":0,\"response\":{\"id\":\"resp_1\",\"model\":\"gpt-x-2025-08-07\",\
\"status\":\"in_progress\",\"usage\":null}}\n\n\
event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"{\\\"usage\\\":{\\\"input_tokens\\\":9}}\"}\n\n\
event: response.completed\n\
data: {\"type\":\"response.completed\",\"response\":{\"id\":\"resp_1\",\"model\":\"gpt-x-2025-08-07\",\"status\":\"completed\",\
\"error\":null,\"usage\":{\"input_tokens\":1200,\"input_tokens_details\":{\"cached_tokens\":1024},\"output_tokens\":80,\
\"output_tokens_details\":{\"reasoning_tokens\":64},\"total_tokens\":1280}}}\n\n";

const CHAT: &str = "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"model\":\"gpt-y\",\"choices\":[{\"index\":0,\
\"delta\":{\"content\":\"hi\"}}],\"usage\":null}\n\n\
data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"model\":\"gpt-y\",\"choices\":[],\
\"usage\":{\"prompt_tokens\":90,\"completion_tokens\":7,\"total_tokens\":97,\"prompt_tokens_details\":{\"cached_tokens\":64}}}\n\n\
data: [DONE]\n\n";

fn tokens(input: u64, cached: u64, write: u64, write_1h: u64, output: u64) -> Tokens {
    Tokens {
        input_tokens: input,
        cached_input_tokens: cached,
        cache_write_tokens: write,
        cache_write_1h_tokens: write_1h,
        output_tokens: output,
    }
}

fn reading(dialect: Dialect, media_type: &str, pieces: &[&[u8]]) -> Told {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, media_type.parse().unwrap());
    let mut reading = Reading::new(dialect, 200, &headers, None);
    pieces.iter().for_each(|piece| reading.feed(piece));
    reading.told()
}

#[test]
fn streams_of_every_dialect_are_read_wherever_they_are_cut() {
    for (dialect, stream, model, used) in [
        (
            Dialect::Anthropic,
            MESSAGES,
            "claude-x-1",
            tokens(1325, 1000, 300, 200, 150),
        ),
        (
            Dialect::OpenAi,
            RESPONSES,
            "gpt-x-2025-08-07",
            tokens(1200, 1024, 0, 0, 80),
        ),
        (Dialect::OpenAi, CHAT, "gpt-y", tokens(90, 64, 0, 0, 7)),
    ] {
        let bytes = stream.as_bytes();
        let whole = Told {
            model: Some(model.to_owned()),
            tokens: Some(used),
            whole: true,
            bytes: stream.len() as u64,
        };
        for at in 0..=bytes.len() {
            let (first, second) = bytes.split_at(at);
            assert_eq!(reading(dialect, SSE, &[first, second]), whole, "{model} cut at {at}");
        }
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(reading(dialect, SSE, &single), whole, "{model} byte by byte");
    }
}

#[test]
fn a_stream_that_breaks_off_anywhere_tells_what_had_been_told() {
    let start = Some(tokens(1325, 1000, 300, 200, 1));
    let mut seen = Vec::new();
    for at in 0..=MESSAGES.len() {
        let told = reading(Dialect::Anthropic, SSE, &[&MESSAGES.as_bytes()[..at]]).tokens;
        if seen.last() != Some(&told) {
            seen.push(told);
        }
    }
    assert_eq!(seen, [None, start, Some(tokens(1325, 1000, 300, 200, 150))]);
    let before_the_end = RESPONSES.len() - 3;
    let told = reading(Dialect::OpenAi, SSE, &[&RESPONSES.as_bytes()[..before_the_end]]);
    assert_eq!((told.model.as_deref(), told.tokens), (Some("gpt-x-2025-08-07"), None));
}

#[tokio::test]
async fn what_was_used_adds_up_by_the_model_that_answered_and_unknown_is_not_zero() {
    let (listener, url) = upstream().await;
    let relay = relay(Dialect::Anthropic, &url).await;
    let json = "content-type: application/json\r\n";
    let document = |model: &str, usage: &str| format!(r#"{{"model":"{model}","content":[],"usage":{usage}}}"#);
    let usage = r#"{"input_tokens":10,"output_tokens":2,"cache_read_input_tokens":5}"#;
    for body in [document("b", usage), document("a", usage), document("b", usage)] {
        let ok = reply("200 OK", json, body.as_bytes());
        exchange(&relay, &listener, "/v1/messages", &ok).await;
    }
    let count = reply("200 OK", json, br#"{"input_tokens":999}"#);
    exchange(&relay, &listener, "/v1/messages/count_tokens", &count).await;
    let refused = reply(
        "429 Too Many Requests",
        json,
        br#"{"error":{"message":"slow"},"usage":{"input_tokens":9}}"#,
    );
    exchange(&relay, &listener, "/v1/messages", &refused).await;
    let traffic = settled(&relay).await;
    let used = |model: &str, responses: u32, tokens| ModelUsage {
        model: Some(model.to_owned()),
        responses,
        tokens,
    };
    assert_eq!(
        traffic.usage,
        [
            used("a", 1, tokens(15, 5, 0, 0, 2)),
            used("b", 2, tokens(30, 10, 0, 0, 4))
        ]
    );
    assert_eq!(traffic.tokens(), tokens(45, 15, 0, 0, 6));
    assert!(traffic.usage_is_known());

    let silent = reply("200 OK", json, br#"{"model":"a","content":[]}"#);
    exchange(&relay, &listener, "/v1/messages", &silent).await;
    let traffic = relay.stop().await;
    assert_eq!(traffic.requests_without_usage, 1);
    assert!(!traffic.usage_is_known());
    assert_eq!(traffic.tokens(), tokens(45, 15, 0, 0, 6), "what was told stays");
}

#[tokio::test]
async fn a_response_that_the_agent_cuts_off_keeps_what_was_told() {
    let (listener, url) = upstream().await;
    let relay = relay(Dialect::Anthropic, &url).await;
    let mut agent = connect(&relay).await;
    agent.write_all(post("/v1/messages", "{}").as_bytes()).await.unwrap();
    let (mut api, _) = listener.accept().await.unwrap();
    read_until(&mut api, "{}").await;
    let cut = MESSAGES.find("event: content_block_stop").unwrap();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    api.write_all(format!("{head}{}", &MESSAGES[..cut]).as_bytes())
        .await
        .unwrap();
    read_until(&mut agent, "Grüße").await;
    drop(agent);
    assert_eq!(read_to_end(&mut api).await, b"");
    let traffic = settled(&relay).await;
    assert_eq!(traffic.tokens(), tokens(1325, 1000, 300, 200, 1));
    assert_eq!((traffic.succeeded, traffic.requests_without_usage), (0, 1));
    assert!(!traffic.usage_is_known(), "what came after that nobody knows");
}

#[tokio::test]
async fn every_byte_of_a_stream_passes_as_it_was_sent_and_its_usage_is_known() {
    let (listener, url) = upstream().await;
    let relay = relay(Dialect::OpenAi, &format!("{url}/v1")).await;
    for (path, stream) in [("/v1/responses", RESPONSES), ("/v1/chat/completions", CHAT)] {
        let sent = reply("200 OK", "content-type: text/event-stream\r\n", stream.as_bytes());
        let (_, answer) = exchange(&relay, &listener, path, &sent).await;
        assert!(answer.ends_with(stream.as_bytes()), "{path}");
    }
    let traffic = relay.stop().await;
    let by_model: BTreeMap<_, _> = traffic
        .usage
        .iter()
        .map(|used| (used.model.as_deref().unwrap(), used.tokens.total()))
        .collect();
    assert_eq!(by_model, [("gpt-x-2025-08-07", 1280), ("gpt-y", 97)].into());
    assert_eq!((traffic.succeeded, traffic.requests_without_usage), (2, 0));
}
