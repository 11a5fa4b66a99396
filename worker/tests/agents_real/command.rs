//! Any command line.

use mcproctor_proto::agent::{AnswerFormat, CommandAgent, PromptInput};
use mcproctor_proto::turn::TurnEnding;

use super::*;

#[tokio::test]
async fn a_shell_script_is_an_agent_with_memory() {
    let script = "cat >> \"$HOME/{session}\"; printf '{\"answer\": \"%s\"}' \"$(cat \"$HOME/{session}\")\"";
    let args = vec!["-c".to_owned(), script.to_owned()];
    let mut seat = Seat::take(
        AgentKind::Command,
        "scenarios: [{when: x, steps: [{answer: y}]}]",
        |agent, _| {
            agent.args.clone_from(&args);
            agent.command = Some(CommandAgent {
                program: "sh".to_owned(),
                prompt: PromptInput::Stdin,
                answer: AnswerFormat::Json("/answer".to_owned()),
                resume_args: Some(args),
                model_api: None,
            });
        },
    )
    .await;
    assert_eq!(seat.turn(0, "one").await.reply, "one");
    let second = seat.turn(1, " two").await;
    assert_eq!(
        (second.ending, second.reply.as_str()),
        (TurnEnding::Completed, "one two")
    );
}
