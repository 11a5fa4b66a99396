//! Claude Code.

use mcproctor_proto::agent::ToolLoading;
use mcproctor_proto::turn::TurnEnding;

use super::*;

const KIND: AgentKind = AgentKind::Claude;

#[tokio::test]
async fn claude_holds_two_turns_in_one_session_with_the_servers_tools_only() {
    both::two_turns(KIND, SandboxLevel::Process).await;
}

#[tokio::test]
async fn claude_takes_long_and_dashed_prompts() {
    both::prompts(KIND).await;
}

#[tokio::test]
async fn claude_waits_for_a_server_that_takes_three_seconds() {
    both::slow_server(KIND).await;
}

#[tokio::test]
async fn claude_tells_of_a_refused_key() {
    both::refused_key(KIND).await;
}

#[tokio::test]
async fn claude_leaves_a_trace_when_it_uses_its_shell() {
    both::shell(KIND).await;
}

#[tokio::test]
async fn claude_is_killed_whole_while_the_model_is_silent() {
    both::killed(KIND, SandboxLevel::Process).await;
}

#[tokio::test]
async fn claude_tells_of_a_server_that_is_not_there() {
    both::missing_server(KIND).await;
}

#[tokio::test]
async fn claude_finds_deferred_tools_through_its_search() {
    let scenario = "
scenarios:
  - when: cities
    steps: [{call: list_cities}, {answer: 'Found: {result}'}]
";
    let mut seat = Seat::take(KIND, scenario, |agent, _| {
        agent.tool_loading = Some(ToolLoading::Deferred)
    })
    .await;
    let reading = seat.turn(0, "Which cities?").await;
    assert_eq!(seat.offered(0), ["ToolSearch"]);
    assert_eq!(reading.ending, TurnEnding::Completed, "{}", seat.transcript());
    assert!(reading.reply.contains("Vienna"), "{}", seat.transcript());
    assert_eq!((reading.reported_calls, reading.escapes.len()), (Some(1), 0));
}

#[tokio::test]
async fn claude_with_its_own_tools_defers_those_of_servers_as_without_a_relay() {
    let scenario = "scenarios: [{when: cities, steps: [{call: list_cities}, {answer: 'Found: {result}'}]}]";
    let mut seat = Seat::take(KIND, scenario, |agent, _| agent.builtin_tools = BuiltinTools::Default).await;
    let reading = seat.turn(0, "Which cities?").await;
    let offered = seat.offered(0);
    for tool in ["ToolSearch", "Bash", "Edit"] {
        assert!(offered.contains(&tool.to_owned()), "{offered:?}");
    }
    assert!(!offered.iter().any(|tool| tool.starts_with("mcp__")), "{offered:?}");
    assert!(reading.reply.contains("Vienna"), "{}", seat.transcript());
}

#[tokio::test]
async fn claude_shows_a_token_where_it_has_one() {
    let scenario = "scenarios: [{when: hi, steps: [{answer: hello}]}]";
    let mut seat = Seat::take(KIND, scenario, |agent, _| {
        agent.credential = Credential::OauthToken(SecretString::from("real"));
    })
    .await;
    assert_eq!(seat.turn(0, "hi").await.reply, "hello", "{}", seat.transcript());
    let requests = seat.model.requests();
    let asked = requests.iter().find(|request| request.scenario.is_some()).unwrap();
    assert_eq!(asked.auth_headers, ["authorization"]);
    assert!(asked.headers["anthropic-beta"].contains("oauth"));
}
