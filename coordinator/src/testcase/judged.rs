//! What a test case leaves to the judge: `tone`, and the choice among `answers`.

use crate::record::{AnswerChoice, Tone};
use crate::yaml::{Item, Problems, Value};

/// Replies and who picks among them: a list is sent in its order, `{choose: judge, from: […]}` is left to the judge.
pub(super) fn read_answers(item: &Item<'_>, problems: &mut Problems) -> Option<(AnswerChoice, Vec<String>)> {
    if !matches!(item.node.value, Value::Mapping(_)) {
        return Some((AnswerChoice::InOrder, item.filled_texts(problems)?));
    }
    let mut fields = item.fields(problems)?;
    let choice = fields
        .require("choose", problems)
        .and_then(|item| item.word(&[("judge", AnswerChoice::Judge)], &[], problems));
    let replies = fields.require("from", problems).and_then(|item| {
        let replies = item.filled_texts(problems)?;
        if replies.is_empty() {
            let problem = item.problem(problems, "there is nothing to choose from");
            problems.add(problem.accepted("a list of at least one text"));
            return None;
        }
        Some(replies)
    });
    fields.finish(problems);
    Some((choice?, replies?))
}

/// A rubric, or a mapping with it and whether the test case gates on it.
pub(super) fn read_tone(item: &Item<'_>, problems: &mut Problems) -> Option<Tone> {
    if !matches!(item.node.value, Value::Mapping(_)) {
        let rubric = item.filled_text(problems)?.value;
        return Some(Tone { rubric, gate: false });
    }
    let mut fields = item.fields(problems)?;
    let rubric = fields
        .require("rubric", problems)
        .and_then(|item| item.filled_text(problems));
    let gate = match fields.get("gate") {
        Some(item) => item.word(&[("true", true), ("false", false)], &[], problems),
        None => Some(false),
    };
    fields.finish(problems);
    Some(Tone {
        rubric: rubric?.value,
        gate: gate?,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::source::MemorySource;
    use crate::testcase::{TestCase, TestCaseErrors, fingerprint, load};

    fn one(rest: &str) -> Result<TestCase, TestCaseErrors> {
        let text = format!("prompt: x\nexpectedTools: [a]\n{rest}\n");
        let source = MemorySource::new([("case.yaml", text.as_str())]);
        load(&source).map(|mut cases| cases.remove(0))
    }

    #[test]
    fn replies_are_sent_in_order_or_chosen_by_the_judge() {
        assert_eq!(one("answers: [one]").unwrap().answer_choice, AnswerChoice::InOrder);
        let chosen = one("answers: {choose: judge, from: [one, two]}").unwrap();
        assert_eq!(chosen.answer_choice, AnswerChoice::Judge);
        assert_eq!(chosen.answers, ["one", "two"]);
        assert_eq!(chosen.needs_judge(), Some("answers.choose"));
    }

    #[test]
    fn a_tone_is_advisory_unless_it_gates() {
        let tone = |rest: &str| one(rest).unwrap().tone.unwrap();
        assert!(!tone("tone: Kind and short.").gate);
        assert!(!tone("tone: {rubric: Kind.}").gate);
        let gated = tone("tone: {rubric: Kind., gate: true}");
        assert_eq!((gated.rubric.as_str(), gated.gate), ("Kind.", true));
        assert_eq!(one("tone: Kind.").unwrap().needs_judge(), Some("tone"));
        assert_eq!(one("").unwrap().needs_judge(), None);
    }

    #[test]
    fn what_is_left_to_the_judge_is_part_of_what_a_test_case_is() {
        let prints: std::collections::BTreeSet<String> = [
            "",
            "answers: [one]",
            "answers: {choose: judge, from: [one]}",
            "tone: Kind.",
            "tone: {rubric: Kind., gate: true}",
        ]
        .into_iter()
        .map(|rest| fingerprint(&[one(rest).unwrap()]))
        .collect();
        assert_eq!(prints.len(), 5);
    }

    #[test]
    fn mistakes_are_told_with_their_place() {
        let told = |rest: &str| one(rest).unwrap_err().to_string();
        assert!(told("answers: {choose: coin, from: [one]}").contains("answers.choose"));
        assert!(told("answers: {choose: judge, from: []}").contains("nothing to choose from"));
        assert!(told("answers: {choose: judge}").contains("answers.from"));
        assert!(told("tone: {gate: true}").contains("tone.rubric"));
        assert!(told("tone: {rubric: Kind., gate: maybe}").contains("tone.gate"));
        assert!(told("tone: {rubric: Kind., gat: true}").contains("did you mean `gate`"));
    }
}
