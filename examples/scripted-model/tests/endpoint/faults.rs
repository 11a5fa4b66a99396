//! What happens instead of an answer.

use super::client::Endpoint;
use serde_json::{Value, json};
use std::time::Duration;

fn chat(text: &str, stream: bool) -> Value {
    json!({"model": "gpt-x", "stream": stream, "messages": [{"role": "user", "content": text}]})
}

fn scenarios(steps: &str) -> String {
    format!("scenarios: [{{name: a, when: hi, steps: [{steps}]}}]")
}

#[tokio::test]
async fn two_refusals_with_retry_after_and_then_the_answer() {
    let endpoint = Endpoint::start(&scenarios("{status: 429, times: 2, retryAfter: 7}, {answer: yes}")).await;
    for _ in 0..2 {
        let answer = endpoint.post("/v1/chat/completions", &[], &chat("hi", false)).await;
        assert_eq!(
            (answer.status.as_u16(), answer.headers["retry-after"].to_str().unwrap()),
            (429, "7")
        );
        assert_eq!(answer.json()["error"]["code"], "rate_limit_exceeded");
    }
    let answer = endpoint.post("/v1/chat/completions", &[], &chat("hi", false)).await;
    assert_eq!(answer.json()["choices"][0]["message"]["content"], "yes");
    let iterations: Vec<_> = endpoint
        .model
        .requests()
        .iter()
        .map(|request| request.iteration)
        .collect();
    assert_eq!(iterations, [Some(1); 3], "a retry is no new iteration");
}

#[tokio::test]
async fn every_dialect_has_its_own_error_bodies() {
    let endpoint = Endpoint::start(&scenarios("{status: 404}")).await;
    let body = json!({"model": "big", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}], "input": "hi"});
    let anthropic = endpoint.post("/v1/messages", &[], &body).await;
    assert_eq!(
        anthropic.json()["error"],
        json!({"type": "not_found_error", "message": "model: big"})
    );
    let openai = endpoint.post("/v1/responses", &[], &body).await;
    assert_eq!(
        (openai.status.as_u16(), &openai.json()["error"]["code"]),
        (404, &json!("model_not_found"))
    );
}

#[tokio::test]
async fn an_error_event_ends_a_stream_that_began_well() {
    let endpoint = Endpoint::start(&scenarios("{errorEvent: Overloaded}")).await;
    let body = json!({"model": "m", "max_tokens": 9, "stream": true, "messages": [{"role": "user", "content": "hi"}]});
    let answer = endpoint.post("/v1/messages", &[], &body).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.events()[1]["error"]["type"], "overloaded_error");
}

#[tokio::test]
async fn a_cut_ends_the_connection_in_the_middle() {
    let endpoint = Endpoint::start(&scenarios(
        "{cut: midway}, {answer: 'a sentence of several pieces, so that it has a middle'}",
    ))
    .await;
    for stream in [true, false] {
        let answer = endpoint.post("/v1/chat/completions", &[], &chat("hi", stream)).await;
        assert!(
            !answer.complete && !answer.text.is_empty(),
            "stream {stream}: {}",
            answer.text
        );
        assert!(!answer.text.contains("[DONE]"));
    }
}

#[tokio::test]
async fn silence_lasts_until_the_endpoint_stops() {
    let mut endpoint = Endpoint::start(
        "
scenarios:
  - {name: a, when: silent, steps: [{hang: at-once}]}
  - {name: b, when: half, steps: [{hang: midway}, {answer: 'a sentence of several pieces, so that it has a middle'}]}",
    )
    .await;
    let replacement = Endpoint::start("scenarios: []").await;
    let model = std::mem::replace(&mut endpoint.model, replacement.model);
    let url = format!("{}/v1/chat/completions", model.base_url());
    let send = |text: &str| {
        let request = axum::http::Request::post(&url).body(http_body_util::Full::from(chat(text, true).to_string()));
        endpoint.client.request(request.unwrap())
    };
    let silent = send("silent");
    tokio::pin!(silent);
    assert!(
        tokio::time::timeout(Duration::from_millis(100), &mut silent)
            .await
            .is_err(),
        "no answer"
    );
    let half = send("half").await.unwrap();
    let half = http_body_util::BodyExt::collect(half.into_body());
    tokio::pin!(half);
    assert!(
        tokio::time::timeout(Duration::from_millis(100), &mut half)
            .await
            .is_err(),
        "no end"
    );
    drop(model);
    let ended = tokio::time::timeout(Duration::from_secs(10), half).await;
    assert!(ended.unwrap().is_err(), "a body that never ended is no complete one");
}

#[tokio::test]
async fn malformed_arguments_reach_the_agent_as_written() {
    let endpoint = Endpoint::start(&scenarios(r#"{call: {tool: t, rawArguments: '{"a": ', force: true}}"#)).await;
    let answer = endpoint
        .post("/v1/chat/completions", &[], &chat("hi", false))
        .await
        .json();
    assert_eq!(
        answer["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"],
        "{\"a\": "
    );
}

#[tokio::test]
async fn a_required_key_is_asked_for_in_either_header() {
    let endpoint = Endpoint::start(&format!("requireKey: right\n{}", scenarios("{answer: yes}"))).await;
    let status = async |headers: &[(&str, &str)]| {
        endpoint
            .post("/v1/chat/completions", headers, &chat("hi", false))
            .await
            .status
            .as_u16()
    };
    assert_eq!(status(&[]).await, 401);
    assert_eq!(status(&[("authorization", "Bearer wrong")]).await, 401);
    assert_eq!(status(&[("authorization", "Bearer right")]).await, 200);
    assert_eq!(status(&[("x-api-key", "right")]).await, 200);
}
