//! After each turn: send an answer or finish.
//!
//! One conversation belongs to one attempt. It keeps everything that was recorded so far, because every turn is judged
//! against the calls of the whole conversation.

use mcproctor_proto::assignment::{AttemptReport, Instruction, TurnReport};
use mcproctor_proto::call::ToolCall;
use mcproctor_proto::exposure::Exposure;
use mcproctor_proto::request::McpRequest;
use mcproctor_proto::traffic::ModelTraffic;
use mcproctor_proto::turn::{Turn, TurnEnding};

use crate::record::{AnswerChoice, AttemptRecord, TestCaseRecord};
use crate::validation::{Observed, worth_talking_on};

/// What was said and recorded of one attempt so far.
#[derive(Clone, Debug, Default)]
pub struct Conversation {
    /// The turns, in order.
    pub turns: Vec<Turn>,
    /// The calls of all turns, in order.
    pub calls: Vec<ToolCall>,
    /// The requests of all turns that are no calls, as far as expectations ask about them.
    pub requests: Vec<McpRequest>,
    /// Every server in its last state.
    pub exposures: Vec<Exposure>,
    /// The model in its last state.
    pub traffic: ModelTraffic,
    /// US dollars that the traffic came to, as whoever knows the run's prices says; `None` when that is not known.
    pub cost_usd: Option<f64>,
    /// What the relay counted as waiting before the last turn began, in milliseconds.
    pub waiting_ms_before_last_turn: u64,
    /// Why the judge did not pick a reply, where it had to: the conversation then ends, and not for anything the agent did.
    pub judge_fault: Option<String>,
    /// Places of the replies that were sent.
    sent: Vec<usize>,
    last_word: Option<(u32, Word)>,
}

/// What follows a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// The worker is told this.
    Tell(Instruction),
    /// The judge picks among the replies with these places, each of which was not sent yet; then comes
    /// [`Conversation::picked`].
    AwaitChoice(Vec<usize>),
}

impl Conversation {
    /// Whether the agent was told all that it is to be told.
    pub fn is_over(&self) -> bool {
        matches!(self.last_word, Some((_, Word::Tell(Instruction::Finish))))
    }

    /// A conversation that is over, as it was stored.
    pub fn of_record(record: &AttemptRecord) -> Self {
        Self {
            turns: record.turns.clone(),
            calls: record.calls.clone(),
            requests: record.requests.clone(),
            exposures: record.exposures.clone(),
            traffic: record.traffic.clone(),
            cost_usd: record.cost_usd,
            ..Self::default()
        }
    }

    /// What it would be, had it ended after that many turns. Servers and model are those of the whole, without what it used, which
    /// nobody counted by turns.
    pub fn first_turns(&self, count: usize) -> Self {
        let mut shorter = self.clone();
        if count < shorter.turns.len() {
            shorter.traffic.usage.clear();
            shorter.cost_usd = None;
        }
        shorter.turns.truncate(count);
        let last = shorter.turns.last().map(|turn| turn.index);
        let said = |turn: u32| last.is_some_and(|last| turn <= last);
        shorter.calls.retain(|call| said(call.turn));
        shorter.requests.retain(|request| said(request.turn));
        shorter
    }

    /// What expectations are checked against.
    pub fn observed(&self) -> Observed<'_> {
        Observed {
            calls: &self.calls,
            turns: &self.turns,
            traffic: &self.traffic,
            cost_usd: self.cost_usd,
            requests: &self.requests,
        }
    }

    /// Whether the model would answer once more, as far as is known.
    pub fn model_answers(&self) -> bool {
        self.traffic.refusal.is_none() && self.traffic.limited_requests == 0
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
        if !(failed && report.requests.is_empty()) {
            self.requests.clone_from(&report.requests);
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
    /// A reply is sent, the next one or the one that the judge picks, while an expectation is unmet that a further message may
    /// still meet and none is broken for good, replies are left, and the agent is able to go on.
    pub fn after_turn(&mut self, report: TurnReport, case: &TestCaseRecord) -> Word {
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
        self.requests.extend(report.requests);
        self.exposures = report.exposures;
        self.traffic = report.traffic;

        let goes_on = ended_well && self.model_answers() && worth_talking_on(case, &self.observed());
        let left: Vec<usize> = (0..case.answers.len())
            .filter(|place| !self.sent.contains(place))
            .collect();
        let word = match (left.first(), case.answer_choice) {
            (Some(next), AnswerChoice::InOrder) if goes_on => Word::Tell(self.send(*next, case)),
            (Some(_), AnswerChoice::Judge) if goes_on => Word::AwaitChoice(left),
            _ => Word::Tell(Instruction::Finish),
        };
        self.last_word = Some((index, word.clone()));
        word
    }

    /// The judge has picked, or has not been able to: what the worker is told. `None` when nobody waits for it, or the reply
    /// was sent before.
    pub fn picked(
        &mut self,
        after_turn: u32,
        choice: Result<Option<usize>, String>,
        case: &TestCaseRecord,
    ) -> Option<Instruction> {
        let Some((turn, Word::AwaitChoice(left))) = &self.last_word else {
            return None;
        };
        if *turn != after_turn {
            return None;
        }
        let instruction = match choice {
            Ok(Some(place)) if left.contains(&place) => self.send(place, case),
            Ok(_) => Instruction::Finish,
            Err(cause) => {
                self.judge_fault = Some(format!("the judge did not pick a reply: {cause}"));
                Instruction::Finish
            }
        };
        self.last_word = Some((after_turn, Word::Tell(instruction.clone())));
        Some(instruction)
    }

    fn send(&mut self, place: usize, case: &TestCaseRecord) -> Instruction {
        self.sent.push(place);
        let answer = case.answers.get(place).cloned();
        answer.map_or(Instruction::Finish, Instruction::Say)
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
            requests: Vec::new(),
            exposures: vec![exposed()],
            traffic: ModelTraffic::default(),
        }
    }

    const FINISH: Word = Word::Tell(Instruction::Finish);

    fn picking(expected_tools: &[&str], answers: &[&str]) -> TestCaseRecord {
        TestCaseRecord {
            answer_choice: AnswerChoice::Judge,
            ..test_case(expected_tools, answers)
        }
    }

    fn request() -> McpRequest {
        McpRequest {
            server: "s".to_owned(),
            method: "prompts/get".to_owned(),
            name: "greet".to_owned(),
            ok: true,
            turn: 0,
            started_at_unix_ms: 0,
        }
    }

    #[test]
    fn answers_are_sent_in_order_while_something_is_unmet() {
        let case = test_case(&["a"], &["one", "two"]);
        let mut conversation = Conversation::default();
        let say = |text: &str| Word::Tell(Instruction::Say(text.to_owned()));
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
            FINISH
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
        assert_eq!(conversation.after_turn(done, &test_case(&["a"], &["one"])), FINISH);
    }

    #[test]
    fn once_something_is_broken_for_good_nothing_more_is_said() {
        let mut case = test_case(&["a"], &["one"]);
        case.expectations.forbidden_tools = vec!["pay".to_owned()];
        let after =
            |calls: Vec<ToolCall>| Conversation::default().after_turn(report(0, TurnEnding::Completed, calls), &case);
        assert_eq!(after(vec![]), Word::Tell(Instruction::Say("one".to_owned())));
        assert_eq!(after(vec![call("pay", CallState::ToolError)]), FINISH);
    }

    #[test]
    fn calls_of_earlier_turns_count() {
        let case = test_case(&["a", "b"], &["one", "two"]);
        let mut conversation = Conversation::default();
        conversation.after_turn(report(0, TurnEnding::Completed, vec![call("a", CallState::Ok)]), &case);
        let second = report(1, TurnEnding::Completed, vec![call("b", CallState::Ok)]);
        assert_eq!(conversation.after_turn(second, &case), FINISH);
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
    fn each_reply_is_picked_once_at_most_and_none_ends_the_conversation() {
        let case = picking(&["a"], &["one", "two"]);
        let say = |text: &str| Some(Instruction::Say(text.to_owned()));
        let mut conversation = Conversation::default();
        let turn = |index| report(index, TurnEnding::Completed, vec![]);
        assert_eq!(conversation.after_turn(turn(0), &case), Word::AwaitChoice(vec![0, 1]));
        assert_eq!(conversation.picked(0, Ok(Some(1)), &case), say("two"));
        assert_eq!(conversation.after_turn(turn(1), &case), Word::AwaitChoice(vec![0]));
        let mut other = conversation.clone();
        assert_eq!(other.picked(1, Ok(None), &case), Some(Instruction::Finish));
        assert!(other.is_over());
        assert_eq!(conversation.picked(1, Ok(Some(0)), &case), say("one"));
        assert_eq!(conversation.after_turn(turn(2), &case), FINISH, "all are used");
    }

    #[test]
    fn a_choice_that_nobody_waits_for_changes_nothing() {
        let case = picking(&["a"], &["one"]);
        let mut conversation = Conversation::default();
        assert_eq!(conversation.picked(0, Ok(Some(0)), &case), None);
        let turn = || report(0, TurnEnding::Completed, vec![]);
        let awaited = Word::AwaitChoice(vec![0]);
        assert_eq!(conversation.after_turn(turn(), &case), awaited);
        assert_eq!(conversation.after_turn(turn(), &case), awaited, "the same turn again");
        assert_eq!(conversation.picked(1, Ok(Some(0)), &case), None, "another turn");
        let first = conversation.picked(0, Ok(Some(0)), &case);
        assert_eq!(first, Some(Instruction::Say("one".to_owned())));
        assert_eq!(conversation.picked(0, Ok(None), &case), None, "it was picked already");
        let again = conversation.after_turn(turn(), &case);
        assert_eq!(Some(again), first.map(Word::Tell));
        assert_eq!(conversation.turns.len(), 1);
    }

    #[test]
    fn nothing_is_picked_once_everything_is_met() {
        let mut conversation = Conversation::default();
        let done = report(0, TurnEnding::Completed, vec![call("a", CallState::Ok)]);
        assert_eq!(conversation.after_turn(done, &picking(&["a"], &["one"])), FINISH);
    }

    #[test]
    fn a_judge_that_cannot_pick_ends_the_conversation_with_its_cause() {
        let mut conversation = Conversation::default();
        let case = picking(&["a"], &["one"]);
        conversation.after_turn(report(0, TurnEnding::Completed, vec![]), &case);
        let told = conversation.picked(0, Err("no answer within 60 s".to_owned()), &case);
        assert_eq!(told, Some(Instruction::Finish));
        assert_eq!(
            conversation.judge_fault.as_deref(),
            Some("the judge did not pick a reply: no answer within 60 s")
        );
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
            assert_eq!(word, FINISH, "{ending:?}");
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
            requests: vec![request()],
            ..report(0, TurnEnding::Completed, vec![call("a", CallState::Ok)])
        };
        conversation.after_turn(told, &test_case(&["b"], &[]));
        conversation.take_in(&AttemptReport::fault("no space left"));
        assert_eq!((conversation.calls.len(), conversation.traffic.requests), (1, 3));
        assert!(conversation.exposures[0].tools_listed);
        assert_eq!(conversation.requests, [request()]);

        let whole = AttemptReport {
            machinery_fault: None,
            ..AttemptReport::fault("")
        };
        conversation.take_in(&whole);
        assert!(conversation.requests.is_empty());
        assert!(conversation.calls.is_empty(), "a worker that did not fail knows best");
    }
}
