//! Codex.

use mcproctor_proto::turn::TurnEnding;

use super::*;

const KIND: AgentKind = AgentKind::Codex;

/// Codex gives it one tool, `exec`, for scripts that call the others.
const SCRIPTING_MODEL: &str = "gpt-6-sol";

#[tokio::test]
async fn codex_holds_two_turns_in_one_thread_with_the_servers_tools_only() {
    both::two_turns(KIND, SandboxLevel::Process).await;
}

#[tokio::test]
async fn codex_takes_long_and_dashed_prompts() {
    both::prompts(KIND).await;
}

#[tokio::test]
async fn codex_waits_for_a_server_that_takes_three_seconds() {
    both::slow_server(KIND).await;
}

#[tokio::test]
async fn codex_tells_of_a_refused_key() {
    both::refused_key(KIND).await;
}

#[tokio::test]
async fn codex_leaves_a_trace_when_it_uses_its_shell() {
    both::shell(KIND).await;
}

#[tokio::test]
async fn codex_is_killed_whole_while_the_model_is_silent() {
    both::killed(KIND, SandboxLevel::Process).await;
}

#[tokio::test]
async fn codex_tells_of_a_server_that_is_not_there() {
    both::missing_server(KIND).await;
}

#[tokio::test]
async fn codex_gets_over_a_lost_connection_and_the_turn_is_complete() {
    let scenario = "scenarios: [{when: hi, steps: [{cut: midway, times: 1}, {answer: hello}]}]";
    let mut seat = Seat::take(KIND, scenario, |_, _| ()).await;
    let reading = seat.turn(0, "hi").await;
    assert!(
        seat.transcript().contains("\"type\":\"error\""),
        "{}",
        seat.transcript()
    );
    assert_eq!(
        (reading.ending, reading.reply.as_str()),
        (TurnEnding::Completed, "hello")
    );
}

/// Plays one call with a model of this name, to which the tool `how` is offered in place of `hidden`.
async fn another_model(name: &str, how: &str, hidden: &str) {
    let scenario = "scenarios: [{when: cities, steps: [{call: list_cities}, {answer: 'Found: {result}'}]}]";
    let mut seat = Seat::take(KIND, scenario, |agent, _| agent.model = Some(name.to_owned())).await;
    let reading = seat.turn(0, "Which cities?").await;
    let offered = seat.offered(0);
    assert!(offered.contains(&how.to_owned()), "{offered:?}");
    assert!(!offered.iter().any(|tool| tool.contains(hidden)), "{offered:?}");
    assert!(reading.reply.contains("Vienna"), "{}", seat.transcript());
    assert_eq!(
        (reading.reported_calls, reading.escapes.len()),
        (Some(1), 0),
        "{}",
        seat.transcript()
    );
}

#[tokio::test]
async fn codex_with_a_model_that_calls_tools_from_scripts_is_read_the_same() {
    another_model(SCRIPTING_MODEL, "functions.exec", "agent").await;
}

#[tokio::test]
async fn codex_with_a_model_that_searches_for_tools_is_read_the_same() {
    another_model("gpt-5.5", "tool_search", "weather").await;
}

#[tokio::test]
async fn several_agents_run_side_by_side_without_meeting() {
    let scenario = "
scenarios:
  - when: cities
    steps: [{call: list_cities}, {answer: 'Found: {result}'}]
";
    let turn = || async {
        let mut seat = Seat::take(KIND, scenario, |_, _| ()).await;
        seat.turn(0, "Which cities?").await
    };
    let (one, two, three) = tokio::join!(turn(), turn(), turn());
    for reading in [one, two, three] {
        assert_eq!(
            (reading.ending, reading.reported_calls),
            (TurnEnding::Completed, Some(1))
        );
    }
}
