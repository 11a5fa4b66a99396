//! After each turn: send an answer or finish.
//!
//! One conversation belongs to one attempt. It keeps everything that was recorded so far, because every turn is judged
//! against the calls of the whole conversation.

use mcproctor_proto::assignment::{AttemptReport, Instruction, TurnReport};
use mcproctor_proto::call::ToolCall;
use mcproctor_proto::exposure::Exposure;
use mcproctor_proto::traffic::ModelTraffic;
use mcproctor_proto::turn::{Turn, TurnEnding};

use crate::record::{AttemptRecord, TestCaseRecord};
use crate::validation::{Observed, worth_talking_on};

/// What was said and recorded of one attempt so far.
#[derive(Clone, Debug, Default)]
pub struct Conversation {
    /// The turns, in order.
    pub turns: Vec<Turn>,
    /// The calls of all turns, in order.
    pub calls: Vec<ToolCall>,
    /// Every server in its last state.
    pub exposures: Vec<Exposure>,
    /// The model in its last state.
    pub traffic: ModelTraffic,
    /// What the relay counted as waiting before the last turn began, in milliseconds.
    pub waiting_ms_before_last_turn: u64,
    answers_sent: usize,
    last_word: Option<(u32, Instruction)>,
}

impl Conversation {
    /// Whether the agent was told all that it is to be told.
    pub fn is_over(&self) -> bool {
        matches!(self.last_word, Some((_, Instruction::Finish)))
    }

    /// A conversation that is over, as it was stored.
    pub fn of_record(record: &AttemptRecord) -> Self {
        Self {
            turns: record.turns.clone(),
            calls: record.calls.clone(),
            exposures: record.exposures.clone(),
            traffic: record.traffic.clone(),
            ..Self::default()
        }
    }

    /// What it would be, had it ended after that many turns. Servers and model are those of the whole.
    pub fn first_turns(&self, count: usize) -> Self {
        let mut shorter = self.clone();
        shorter.turns.truncate(count);
        let last = shorter.turns.last().map(|turn| turn.index);
        shorter.calls.retain(|call| last.is_some_and(|last| call.turn <= last));
        shorter
    }

    /// What expectations are checked against.
    pub fn observed(&self) -> Observed<'_> {
        Observed {
            calls: &self.calls,
            turns: &self.turns,
            traffic: &self.traffic,
            requests: &[],
        }
    }

    /// Whether nothing that was seen so far can stop or slow the run: the last turn came to its own end, no refusal of the
    /// model stands, and no server asked for a login.
    pub fn is_untroubled(&self) -> bool {
        let ended_well = self
            .turns
            .last()
            .is_some_and(|turn| turn.ending == TurnEnding::Completed);
        let login_required = self.exposures.iter().any(|exposure| exposure.login_required);
        ended_well && self.traffic.refusal.is_none() && !login_required
    }

    /// Takes in the last state of everything, once the attempt is over. A worker that failed knows less than its turns told,
    /// and then what they told stays.
    pub fn take_in(&mut self, report: &AttemptReport) {
        let failed = report.machinery_fault.is_some();
        if !(failed && report.calls.is_empty()) {
            self.calls.clone_from(&report.calls);
        }
        if !report.exposures.is_empty() {
            self.exposures.clone_from(&report.exposures);
        }
        if !failed || report.traffic.observed {
            self.traffic.clone_from(&report.traffic);
        }
    }

    /// Takes in a turn and says how to go on. The same turn again gets the same word and changes nothing.
    ///
    /// Answers are sent in their order, while an expectation is unmet that a further message may still meet and none is
    /// broken for good, answers remain, and the agent is able to go on.
    pub fn after_turn(&mut self, report: TurnReport, case: &TestCaseRecord) -> Instruction {
        let index = report.turn.index;
        if let Some((turn, word)) = &self.last_word
            && *turn >= index
        {
            return word.clone();
        }
        self.waiting_ms_before_last_turn = self.traffic.waiting_ms;
        let ended_well = report.turn.ending == TurnEnding::Completed;
        self.turns.push(report.turn);
        self.calls.extend(report.calls);
        self.exposures = report.exposures;
        self.traffic = report.traffic;

        let able = ended_well && self.traffic.refusal.is_none();
        let word = match case.answers.get(self.answers_sent) {
            Some(answer) if able && worth_talking_on(case, &self.observed()) => {
                self.answers_sent += 1;
                Instruction::Say(answer.clone())
            }
            _ => Instruction::Finish,
        };
        self.last_word = Some((index, word.clone()));
        word
    }
}

#[cfg(test)]
mod tests {
    use mcproctor_proto::call::CallState;
    use mcproctor_proto::traffic::ModelRefusal;

    use super::*;
    use crate::record::fixtures::{call, exposed, test_case, turn};

    fn report(index: u32, ending: TurnEnding, calls: Vec<ToolCall>) -> TurnReport {
        TurnReport {
            turn: turn(index, ending),
            calls,
            exposures: vec![exposed()],
            traffic: ModelTraffic::default(),
        }
    }

    #[test]
    fn answers_are_sent_in_order_while_something_is_unmet() {
        let case = test_case(&["a"], &["one", "two"]);
        let mut conversation = Conversation::default();
        let say = |text: &str| Instruction::Say(text.to_owned());
        assert_eq!(
            conversation.after_turn(report(0, TurnEnding::Completed, vec![]), &case),
            say("one")
        );
        assert_eq!(
            conversation.after_turn(report(1, TurnEnding::Completed, vec![]), &case),
            say("two")
        );
        assert_eq!(
            conversation.after_turn(report(2, TurnEnding::Completed, vec![]), &case),
            Instruction::Finish
        );
    }

    #[test]
    fn what_may_stop_the_run_is_trouble() {
        let after = |change: &dyn Fn(&mut TurnReport)| {
            let mut report = report(0, TurnEnding::Completed, vec![]);
            change(&mut report);
            let mut conversation = Conversation::default();
            conversation.after_turn(report, &test_case(&[], &[]));
            conversation.is_untroubled()
        };
        assert!(after(&|_| {}));
        assert!(!after(&|report| report.turn.ending = TurnEnding::AgentError));
        assert!(!after(&|report| report.exposures[0].login_required = true));
        let refusal = ModelRefusal {
            status: 429,
            code: None,
            message: String::new(),
            retry_after_ms: None,
        };
        assert!(!after(&|report| report.traffic.refusal = Some(refusal.clone())));
        assert!(!Conversation::default().is_untroubled(), "nothing is known yet");
    }

    #[test]
    fn an_answer_that_is_not_needed_is_never_sent() {
        let mut conversation = Conversation::default();
        let done = report(0, TurnEnding::Completed, vec![call("a", CallState::Ok)]);
        assert_eq!(
            conversation.after_turn(done, &test_case(&["a"], &["one"])),
            Instruction::Finish
        );
    }

    #[test]
    fn once_something_is_broken_for_good_nothing_more_is_said() {
        let mut case = test_case(&["a"], &["one"]);
        case.expectations.forbidden_tools = vec!["pay".to_owned()];
        let after =
            |calls: Vec<ToolCall>| Conversation::default().after_turn(report(0, TurnEnding::Completed, calls), &case);
        assert_eq!(after(vec![]), Instruction::Say("one".to_owned()));
        assert_eq!(after(vec![call("pay", CallState::ToolError)]), Instruction::Finish);
    }

    #[test]
    fn calls_of_earlier_turns_count() {
        let case = test_case(&["a", "b"], &["one", "two"]);
        let mut conversation = Conversation::default();
        conversation.after_turn(report(0, TurnEnding::Completed, vec![call("a", CallState::Ok)]), &case);
        let second = report(1, TurnEnding::Completed, vec![call("b", CallState::Ok)]);
        assert_eq!(conversation.after_turn(second, &case), Instruction::Finish);
        assert_eq!(conversation.calls.len(), 2);
    }

    #[test]
    fn the_same_turn_again_gets_the_same_word_and_changes_nothing() {
        let case = test_case(&["a"], &["one", "two"]);
        let mut conversation = Conversation::default();
        let first = conversation.after_turn(report(0, TurnEnding::Completed, vec![]), &case);
        let again = conversation.after_turn(report(0, TurnEnding::Completed, vec![]), &case);
        assert_eq!(first, again);
        assert_eq!(conversation.turns.len(), 1);
    }

    #[test]
    fn an_agent_that_did_not_complete_its_turn_is_told_nothing_more() {
        for ending in [
            TurnEnding::AgentError,
            TurnEnding::TimedOut,
            TurnEnding::Unreadable,
            TurnEnding::Machinery,
        ] {
            let mut conversation = Conversation::default();
            let word = conversation.after_turn(report(0, ending, vec![]), &test_case(&["a"], &["one"]));
            assert_eq!(word, Instruction::Finish, "{ending:?}");
        }
    }

    #[test]
    fn a_worker_that_failed_does_not_take_back_what_its_turns_told() {
        let mut conversation = Conversation::default();
        let told = TurnReport {
            traffic: ModelTraffic {
                observed: true,
                requests: 3,
                ..ModelTraffic::default()
            },
            ..report(0, TurnEnding::Completed, vec![call("a", CallState::Ok)])
        };
        conversation.after_turn(told, &test_case(&["b"], &[]));
        conversation.take_in(&AttemptReport::fault("no space left"));
        assert_eq!((conversation.calls.len(), conversation.traffic.requests), (1, 3));
        assert!(conversation.exposures[0].tools_listed);

        let whole = AttemptReport {
            machinery_fault: None,
            ..AttemptReport::fault("")
        };
        conversation.take_in(&whole);
        assert!(conversation.calls.is_empty(), "a worker that did not fail knows best");
    }
}
