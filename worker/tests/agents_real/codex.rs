//! Codex.

use mcproctor_proto::turn::TurnEnding;

use super::*;

const KIND: AgentKind = AgentKind::Codex;

#[tokio::test]
async fn codex_holds_two_turns_in_one_thread_with_the_servers_tools_only() {
    both::two_turns(KIND).await;
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
    both::killed(KIND).await;
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
