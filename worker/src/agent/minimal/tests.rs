#![allow(clippy::unwrap_used)]

use scripted_model::{Scenarios, ScriptedModel};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::*;

struct Table {
    model: ScriptedModel,
    folder: TempDir,
    _server: DropGuard,
}

impl Table {
    async fn set(scenario: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}{}", listener.local_addr().unwrap(), weather_server::MCP_PATH);
        let stop = CancellationToken::new();
        tokio::spawn(weather_server::serve(listener, stop.clone().cancelled_owned()));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let model = ScriptedModel::start(listener, Scenarios::from_yaml(scenario).unwrap()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let config = json!({ "mcpServers": { "weather": { "type": "http", "url": url } } });
        fs::write(folder.path().join("mcp.json"), config.to_string()).unwrap();
        Self {
            model,
            folder,
            _server: stop.drop_guard(),
        }
    }

    fn args(&self) -> MinimalArgs {
        MinimalArgs {
            mcp_config: self.folder.path().join("mcp.json"),
            model_url: format!("{}/v1", self.model.base_url()),
            model: "scripted-1".to_owned(),
            session: Some(self.folder.path().join("session.json")),
            max_steps: 3,
        }
    }
}

#[tokio::test]
async fn calls_tools_side_by_side_and_answers_with_their_results() {
    let table = Table::set(
        "
scenarios:
  - when: Compare
    steps:
      - call: [list_cities, {tool: get_current_weather, arguments: {city: Graz}}]
      - answer: 'Found: {result}'
",
    )
    .await;
    let answer = turn(&table.args(), "Compare the cities".to_owned()).await.unwrap();
    assert!(answer.answer.contains("Graz"), "{}", answer.answer);
    assert!(answer.usage.input_tokens > 0);
    assert_eq!(table.model.requests()[0].tools.len(), 3);
}

#[tokio::test]
async fn a_later_turn_goes_on_with_the_conversation() {
    let table = Table::set(
        "
scenarios:
  - when: weather
    steps:
      - ask: Which city?
      - call: {tool: get_current_weather, arguments: {city: Graz}}
      - answer: 'It is {result}'
",
    )
    .await;
    let args = table.args();
    assert_eq!(
        turn(&args, "How is the weather?".to_owned()).await.unwrap().answer,
        "Which city?"
    );
    assert!(
        turn(&args, "Graz".to_owned())
            .await
            .unwrap()
            .answer
            .starts_with("It is")
    );
    assert_eq!(table.model.requests().last().unwrap().iteration, Some(1));
}

#[tokio::test]
async fn a_model_that_never_answers_is_given_up_on() {
    let table = Table::set(
        "
scenarios:
  - when: weather
    steps:
      - call: list_cities
      - call: list_cities
      - call: list_cities
      - answer: done
",
    )
    .await;
    let error = turn(&table.args(), "weather".to_owned()).await.err().unwrap();
    assert_eq!(error.to_string(), "finish in 3 requests to the model");
}

#[tokio::test]
async fn a_refusal_that_passes_is_got_over_and_one_that_does_not_is_told() {
    let table = Table::set(
        "
scenarios:
  - when: busy
    steps:
      - {status: 429, retryAfter: 0, times: 2}
      - answer: done
  - when: locked
    steps:
      - {status: 401, message: bad key}
",
    )
    .await;
    let args = MinimalArgs {
        session: None,
        ..table.args()
    };
    assert_eq!(turn(&args, "busy".to_owned()).await.unwrap().answer, "done");
    let error = turn(&args, "locked".to_owned()).await.err().unwrap();
    assert_eq!(error.to_string(), "ask the model: it answered with status 401: bad key");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named() {
    let table = Table::set("scenarios: [{when: x, steps: [{answer: y}]}]").await;
    let args = table.args();
    fs::write(
        &args.mcp_config,
        r#"{"mcpServers": {"gone": {"url": "http://127.0.0.1:1/mcp"}}}"#,
    )
    .unwrap();
    let error = turn(&args, "x".to_owned()).await.err().unwrap();
    assert!(
        error
            .to_string()
            .starts_with("use MCP server `gone`: reach http://127.0.0.1:1/mcp"),
        "{error}"
    );
}
