//! Requests beside the conversation, and what is kept of all of them.

use super::client::Endpoint;
use axum::http::Method;
use scripted_model::{Dialect, Scenarios, ScriptedModel, StartError};
use serde_json::json;

#[tokio::test]
async fn requests_beside_the_conversation_take_no_step() {
    let endpoint = Endpoint::start("{models: [a, b], scenarios: [{name: s, when: hi, steps: [{answer: yes}]}]}").await;
    assert_eq!(endpoint.send(Method::HEAD, "/", &[], "").await.status, 200);
    let list = endpoint.send(Method::GET, "/v1/models", &[], "").await.json();
    assert_eq!((&list["object"], &list["data"][1]["id"]), (&json!("list"), &json!("b")));
    let version = [("anthropic-version", "2023-06-01")];
    let list = endpoint.send(Method::GET, "/v1/models", &version, "").await.json();
    assert_eq!(
        (&list["has_more"], &list["data"][0]["type"]),
        (&json!(false), &json!("model"))
    );
    let hi = json!([{"role": "user", "content": "hi"}]);
    let count = endpoint
        .post("/v1/messages/count_tokens", &[], &json!({"model": "m", "messages": hi}))
        .await
        .json();
    assert!(count["input_tokens"].as_u64().unwrap() > 0);
    endpoint
        .post(
            "/v1/messages",
            &[],
            &json!({"model": "m", "max_tokens": 1, "messages": hi}),
        )
        .await;
    let kind = [("x-codex-turn-metadata", r#"{"request_kind":"memory"}"#)];
    endpoint
        .post("/v1/responses", &kind, &json!({"model": "m", "input": "hi"}))
        .await;
    let turn = endpoint
        .post(
            "/v1/messages",
            &[],
            &json!({"model": "m", "max_tokens": 9, "messages": hi}),
        )
        .await
        .json();
    assert_eq!(turn["content"][0]["text"], "yes");
    let requests = endpoint.model.requests();
    assert_eq!(requests.iter().filter(|request| request.scenario.is_some()).count(), 1);
    assert_eq!(requests.last().unwrap().iteration, Some(1));
}

#[tokio::test]
async fn a_record_says_what_was_offered_and_never_holds_a_key() {
    let endpoint = Endpoint::start("scenarios: [{name: s, when: hi, steps: [{status: 529}]}]").await;
    let tools = json!([{"type": "namespace", "name": "mcp__w", "tools": [{"type": "function", "name": "t"}]}]);
    let body = json!({"model": "m", "stream": true, "input": "hi", "tools": tools});
    let headers = [("authorization", "Bearer sk-sentinel"), ("originator", "test")];
    endpoint.post("/v1/responses?x=1", &headers, &body).await;
    let requests = endpoint.model.requests();
    let [request] = requests.as_slice() else {
        panic!("one request: {requests:?}")
    };
    assert_eq!(
        (request.path.as_str(), request.dialect),
        ("/v1/responses?x=1", Some(Dialect::OpenaiResponses))
    );
    assert_eq!(request.tools, ["mcp__w.t"]);
    assert_eq!(request.auth_headers, ["authorization"]);
    assert_eq!(request.headers["originator"], "test");
    assert_eq!((request.outcome.as_str(), request.turn), ("529", Some(0)));
    assert!(!serde_json::to_string(request).unwrap().contains("sentinel"));
}

#[tokio::test]
async fn what_is_no_request_is_refused_in_the_terms_of_the_api() {
    let endpoint = Endpoint::start("scenarios: []").await;
    let broken = endpoint.send(Method::POST, "/v1/messages", &[], "{").await;
    assert_eq!(
        (broken.status.as_u16(), &broken.json()["error"]["type"]),
        (400, &json!("invalid_request_error"))
    );
    for odd in [
        "[]",
        "null",
        r#"{"messages": 3}"#,
        r#"{"messages": [{"role": "user"}], "tools": [7]}"#,
    ] {
        let answer = endpoint.send(Method::POST, "/v1/chat/completions", &[], odd).await;
        let content = &answer.json()["choices"][0]["message"]["content"];
        assert_eq!(content, "No scenario matches this conversation.", "{odd}");
    }
    assert_eq!(endpoint.send(Method::GET, "/v1/files", &[], "").await.status, 404);
}

#[tokio::test]
async fn only_loopback_is_listened_on() {
    let listener = tokio::net::TcpListener::bind("0.0.0.0:0").await.unwrap();
    let started = ScriptedModel::start(listener, Scenarios::demo().unwrap());
    assert!(matches!(started, Err(StartError::NotLoopback(_))));
}

#[tokio::test]
async fn a_dropped_endpoint_listens_no_more() {
    let endpoint = Endpoint::start("scenarios: []").await;
    let address = endpoint.model.base_url().trim_start_matches("http://").to_owned();
    drop(endpoint);
    let gone = async {
        while tokio::net::TcpStream::connect(&address).await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(10), gone)
        .await
        .expect("the port is closed");
}
