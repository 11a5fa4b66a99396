//! Where an attempt stands: pure, messages in, the next step out.

use mcproctor_proto::assignment::Instruction;
use mcproctor_proto::turn::TurnEnding;

/// What an attempt waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Life {
    /// The agent is at work; its turn ends by itself, by a limit or by a cancellation.
    InTurn(u32),
    /// The turn is reported; the coordinator says how to go on.
    AwaitingWord(u32),
    /// Nothing more is said to the agent; the attempt closes.
    Closing,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Send the agent this message, as the turn with this index.
    RunTurn(u32, String),
    /// Wait for the coordinator's word.
    Wait,
    /// End the attempt.
    Close,
}

impl Life {
    /// The first step of an attempt.
    pub(super) fn begin(prompt: &str) -> (Self, Step) {
        (Self::InTurn(0), Step::RunTurn(0, prompt.to_owned()))
    }

    /// The running turn is over and was reported.
    pub(super) fn turn_over(&mut self, ending: TurnEnding) -> Step {
        match (&self, ending) {
            (Self::InTurn(_), TurnEnding::Cancelled) => {
                *self = Self::Closing;
                Step::Close
            }
            (Self::InTurn(turn), _) => {
                *self = Self::AwaitingWord(*turn);
                Step::Wait
            }
            (Self::AwaitingWord(_), _) => Step::Wait,
            (Self::Closing, _) => Step::Close,
        }
    }

    /// The coordinator's word after a turn. One for another turn than the awaited is an echo of an older message.
    pub(super) fn word(&mut self, after_turn: u32, instruction: Instruction, max_turns: u32) -> Step {
        match (&self, instruction) {
            (Self::AwaitingWord(turn), Instruction::Say(text)) if *turn == after_turn && turn + 1 < max_turns => {
                let next = turn + 1;
                *self = Self::InTurn(next);
                Step::RunTurn(next, text)
            }
            (Self::AwaitingWord(turn), _) if *turn == after_turn => {
                *self = Self::Closing;
                Step::Close
            }
            (Self::Closing, _) => Step::Close,
            _ => Step::Wait,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn say(text: &str) -> Instruction {
        Instruction::Say(text.to_owned())
    }

    #[test]
    fn turns_follow_words_until_finish() {
        let (mut life, first) = Life::begin("hello");
        assert_eq!(first, Step::RunTurn(0, "hello".to_owned()));
        assert_eq!(life.turn_over(TurnEnding::Completed), Step::Wait);
        assert_eq!(life.word(0, say("more"), 3), Step::RunTurn(1, "more".to_owned()));
        assert_eq!(life.turn_over(TurnEnding::AgentError), Step::Wait);
        assert_eq!(life.word(1, Instruction::Finish, 3), Step::Close);
    }

    #[test]
    fn a_repeated_word_is_an_echo() {
        let (mut life, _) = Life::begin("hello");
        assert_eq!(life.word(0, say("too early"), 3), Step::Wait);
        life.turn_over(TurnEnding::Completed);
        life.word(0, say("more"), 3);
        assert_eq!(
            life.word(0, say("more"), 3),
            Step::Wait,
            "the turn is under way already"
        );
        life.turn_over(TurnEnding::Completed);
        assert_eq!(life.word(0, Instruction::Finish, 3), Step::Wait);
    }

    #[test]
    fn more_turns_than_the_conversation_can_take_are_not_run() {
        let (mut life, _) = Life::begin("hello");
        life.turn_over(TurnEnding::Completed);
        assert_eq!(life.word(0, say("more"), 1), Step::Close);
    }

    #[test]
    fn a_cancelled_turn_closes_without_a_word() {
        let (mut life, _) = Life::begin("hello");
        assert_eq!(life.turn_over(TurnEnding::Cancelled), Step::Close);
    }
}
