//! A conversation with a call, in every dialect, whole and as a stream.

use super::client::Endpoint;
use serde_json::{Value, json};

const SCENARIOS: &str = "
scenarios:
  - name: vienna
    when: weather in Vienna
    steps:
      - say: Let me look.
        call: {tool: get_current_weather, arguments: {city: Vienna}}
      - answer: 'It says {result}.'
  - {name: no, when: harm, steps: [{refuse: I will not.}]}
";
const QUESTION: &str = "What is the weather in Vienna?";

#[tokio::test]
async fn chat_completions_whole() {
    let endpoint = Endpoint::start(SCENARIOS).await;
    let question = json!({"role": "user", "content": QUESTION});
    let tools = json!([{"type": "function", "function": {"name": "get_current_weather", "parameters": {}}}]);
    let first = json!({"model": "m", "messages": [question], "tools": tools});
    let first = endpoint.post("/v1/chat/completions", &[], &first).await.json();
    let choice = &first["choices"][0];
    assert_eq!(choice["finish_reason"], "tool_calls");
    assert_eq!(choice["message"]["content"], "Let me look.");
    let call = &choice["message"]["tool_calls"][0];
    assert_eq!(
        call["function"],
        json!({"name": "get_current_weather", "arguments": "{\"city\":\"Vienna\"}"})
    );
    let result = json!({"role": "tool", "tool_call_id": call["id"], "content": "sunny"});
    let second = json!({"model": "m", "messages": [question, choice["message"], result], "tools": tools});
    let second = endpoint.post("/v1/chat/completions", &[], &second).await.json();
    assert_eq!(second["choices"][0]["message"]["content"], "It says sunny.");
    assert_eq!(second["choices"][0]["finish_reason"], "stop");
    assert!(
        second["usage"]["prompt_tokens_details"]["cached_tokens"]
            .as_u64()
            .unwrap()
            > 0
    );
}

#[tokio::test]
async fn chat_completions_as_a_stream() {
    let endpoint = Endpoint::start(SCENARIOS).await;
    let request = json!({
        "model": "m", "stream": true, "stream_options": {"include_usage": true},
        "messages": [{"role": "user", "content": QUESTION}],
        "tools": [{"type": "function", "function": {"name": "w__get_current_weather"}}],
    });
    let answer = endpoint.post("/v1/chat/completions", &[], &request).await;
    assert_eq!(answer.headers["content-type"], "text/event-stream");
    assert!(answer.text.ends_with("data: [DONE]\n\n"));
    let events = answer.events();
    let deltas = || events.iter().map(|event| &event["choices"][0]["delta"]);
    let text: String = deltas().filter_map(|delta| delta["content"].as_str()).collect();
    assert_eq!(text, "Let me look.");
    let calls: Vec<&Value> = deltas()
        .map(|delta| &delta["tool_calls"][0])
        .filter(|call| !call.is_null())
        .collect();
    assert_eq!(calls[0]["function"]["name"], "w__get_current_weather");
    let arguments: String = calls
        .iter()
        .filter_map(|call| call["function"]["arguments"].as_str())
        .collect();
    assert_eq!(arguments, r#"{"city":"Vienna"}"#);
    assert!(events.last().unwrap()["usage"]["total_tokens"].as_u64().unwrap() > 0);
}

#[tokio::test]
async fn messages_whole() {
    let endpoint = Endpoint::start(SCENARIOS).await;
    let reminder = json!({"type": "text", "text": "<system-reminder>harm</system-reminder>"});
    let question = json!({"role": "user", "content": [reminder, {"type": "text", "text": QUESTION}]});
    let tools = json!([{"name": "mcp__weather__get_current_weather", "input_schema": {"type": "object"}}]);
    let first = json!({"model": "m", "max_tokens": 100, "messages": [question], "tools": tools});
    let first = endpoint.post("/v1/messages?beta=true", &[], &first).await.json();
    assert_eq!(first["stop_reason"], "tool_use");
    let call = &first["content"][1];
    assert_eq!(call["name"], "mcp__weather__get_current_weather");
    assert_eq!(call["input"], json!({"city": "Vienna"}));
    let result =
        json!({"type": "tool_result", "tool_use_id": call["id"], "content": [{"type": "text", "text": "sunny"}]});
    let messages = json!([
        question,
        {"role": "assistant", "content": first["content"]},
        {"role": "user", "content": [result]},
    ]);
    let second = json!({"model": "m", "max_tokens": 100, "messages": messages, "tools": tools});
    let second = endpoint.post("/v1/messages", &[], &second).await.json();
    assert_eq!(second["content"], json!([{"type": "text", "text": "It says sunny."}]));
    assert_eq!(second["stop_reason"], "end_turn");
    let usage = &second["usage"];
    let input = usage["input_tokens"].as_u64().unwrap() - usage["cache_read_input_tokens"].as_u64().unwrap();
    assert!(input <= 1, "half of the input is cached: {usage}");
}

#[tokio::test]
async fn messages_as_a_stream() {
    let endpoint = Endpoint::start(SCENARIOS).await;
    let request = json!({
        "model": "m", "max_tokens": 100, "stream": true,
        "messages": [{"role": "user", "content": QUESTION}],
        "tools": [{"name": "get_current_weather", "input_schema": {"type": "object"}}],
    });
    let events = endpoint.post("/v1/messages", &[], &request).await.events();
    let kinds: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(
        (kinds[0], kinds[kinds.len() - 2], kinds[kinds.len() - 1]),
        ("message_start", "message_delta", "message_stop")
    );
    let json: String = events
        .iter()
        .filter_map(|event| event["delta"]["partial_json"].as_str())
        .collect();
    assert_eq!(json, r#"{"city":"Vienna"}"#);
    assert_eq!(events[events.len() - 2]["delta"]["stop_reason"], "tool_use");
    let refused = json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "do harm"}]});
    let refused = endpoint.post("/v1/messages", &[], &refused).await.json();
    assert_eq!(refused["stop_reason"], "refusal");
}

fn responses_request(input: Value, stream: bool) -> Value {
    let function = json!({"type": "function", "name": "get_current_weather", "parameters": {}});
    let tools = json!([{"type": "namespace", "name": "mcp__weather", "tools": [function]}]);
    json!({"model": "m", "stream": stream, "input": input, "tools": tools})
}

#[tokio::test]
async fn responses_whole_with_a_tool_in_a_namespace() {
    let endpoint = Endpoint::start(SCENARIOS).await;
    let question = json!({"role": "user", "content": [{"type": "input_text", "text": QUESTION}]});
    let first = endpoint
        .post("/v1/responses", &[], &responses_request(json!([question]), false))
        .await
        .json();
    assert_eq!(first["status"], "completed");
    let call = &first["output"][1];
    assert_eq!(
        (&call["namespace"], &call["name"]),
        (&json!("mcp__weather"), &json!("get_current_weather"))
    );
    let result = json!({"type": "function_call_output", "call_id": call["call_id"], "output": "sunny"});
    let input = json!([question, first["output"][0], call, result]);
    let second = endpoint
        .post("/v1/responses", &[], &responses_request(input, false))
        .await
        .json();
    assert_eq!(second["output"][0]["content"][0]["text"], "It says sunny.");
}

#[tokio::test]
async fn responses_as_a_stream() {
    let endpoint = Endpoint::start(SCENARIOS).await;
    let events = endpoint
        .post("/v1/responses", &[], &responses_request(json!(QUESTION), true))
        .await
        .events();
    for (number, event) in events.iter().enumerate() {
        assert_eq!(event["sequence_number"], number);
    }
    let of = |kind: &str| {
        events
            .iter()
            .filter(move |event| event["type"] == kind)
            .collect::<Vec<_>>()
    };
    let arguments = of("response.function_call_arguments.delta");
    let arguments: String = arguments.iter().filter_map(|event| event["delta"].as_str()).collect();
    assert_eq!(arguments, r#"{"city":"Vienna"}"#);
    let done = of("response.output_item.done");
    assert_eq!(done[1]["item"]["arguments"], arguments);
    assert_eq!(of("response.completed")[0]["response"]["output"][1], done[1]["item"]);
}

#[tokio::test]
async fn responses_call_through_the_javascript_tool_where_there_is_one() {
    let endpoint = Endpoint::start(SCENARIOS).await;
    let exec = json!({"type": "custom", "name": "exec", "description": "Run JavaScript"});
    let tools = json!([{"type": "namespace", "name": "functions", "tools": [exec]}]);
    let input = json!([
        {"type": "additional_tools", "role": "developer", "tools": tools},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": QUESTION}]},
    ]);
    let answer = endpoint
        .post("/v1/responses", &[], &json!({"model": "m", "input": input}))
        .await
        .json();
    let call = &answer["output"][1];
    assert_eq!(
        (&call["type"], &call["namespace"]),
        (&json!("custom_tool_call"), &json!("functions"))
    );
    assert!(
        call["input"]
            .as_str()
            .unwrap()
            .contains(r#"[["get_current_weather",{"city":"Vienna"}]]"#),
        "{call}"
    );
}

#[tokio::test]
async fn responses_search_for_a_tool_that_is_held_back_and_then_call_it() {
    let endpoint = Endpoint::start(SCENARIOS).await;
    let question = json!({"role": "user", "content": QUESTION});
    let request = |input: Value| json!({"model": "m", "input": input, "tools": [{"type": "tool_search"}]});
    let first = endpoint
        .post("/v1/responses", &[], &request(json!([question])))
        .await
        .json();
    let search = &first["output"][0];
    assert_eq!(search["type"], "tool_search_call");
    assert_eq!(search["arguments"]["query"], "get_current_weather");
    let found = |tools: Value| json!({"type": "tool_search_output", "call_id": search["call_id"], "tools": tools});
    let function = json!({"type": "function", "name": "get_current_weather"});
    let tools = json!([{"type": "namespace", "name": "mcp__weather", "tools": [function]}]);
    let second = endpoint
        .post("/v1/responses", &[], &request(json!([question, search, found(tools)])))
        .await
        .json();
    assert_eq!(second["output"][1]["name"], "get_current_weather");
    let in_vain = endpoint
        .post(
            "/v1/responses",
            &[],
            &request(json!([question, search, found(json!([]))])),
        )
        .await
        .json();
    assert_eq!(
        in_vain["output"][0]["content"][0]["text"],
        "I cannot call get_current_weather: it is not offered to me."
    );
}
