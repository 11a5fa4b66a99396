//! What one attempt has asked of the judge, and what that means for its verdict. Pure.

use mcproctor_proto::assignment::AttemptReport;
use mcproctor_proto::id::Lease;

use crate::judge::{JudgeVerdict, Judgement};
use crate::record::ExpectationResult;

/// What one attempt has asked of the judge.
#[derive(Debug, Default)]
pub(super) struct Asked {
    /// What the judge has said so far; of the tone only where the test case gates on it.
    pub(super) said: Judgement,
    /// The last turn after which a choice was asked for.
    choice_after: Option<u32>,
    /// What the attempt is concluded with once the judge has answered about its tone; `None` unless that is awaited.
    pub(super) awaiting: Option<Box<LastWord>>,
}

/// What a worker says last of an attempt.
#[derive(Debug)]
pub(super) struct LastWord {
    pub(super) worker: String,
    pub(super) lease: Lease,
    pub(super) report: AttemptReport,
    /// The evidence of its calls, where an expectation needs it.
    pub(super) calls_in_full: Option<Vec<u8>>,
}

impl Asked {
    /// Whether a choice is to be asked for after this turn: a turn that is told again asks nothing.
    pub(super) fn begin_choice(&mut self, after_turn: u32) -> bool {
        self.choice_after.replace(after_turn) != Some(after_turn)
    }

    pub(super) fn awaits_tone(&self) -> bool {
        self.awaiting.is_some()
    }

    /// Adds what the judge said of a tone that gates to what was expected. A judge that failed leaves the attempt without a
    /// verdict, and this gives the cause; unless something else is unmet, which settles it.
    pub(super) fn add_tone(&self, expectations: &mut Vec<ExpectationResult>) -> Option<String> {
        let opinion = self.said.tone.as_ref()?;
        if opinion.verdict == JudgeVerdict::Error {
            let settled = expectations.iter().any(|expectation| !expectation.met);
            return (!settled).then(|| format!("the judge did not judge the tone: {}", opinion.reasoning));
        }
        expectations.push(opinion.tone_result());
        None
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use mcproctor_proto::turn::Usage;

    use super::*;
    use crate::judge::Opinion;
    use crate::record::Family;

    fn asked(verdict: JudgeVerdict) -> Asked {
        let opinion = Opinion {
            verdict,
            reasoning: "it shouts".to_owned(),
            model: "m".to_owned(),
            usage: Usage::default(),
            duration_ms: 1,
            at_unix_ms: 0,
        };
        Asked {
            said: Judgement {
                tone: Some(opinion),
                ..Judgement::default()
            },
            ..Asked::default()
        }
    }

    fn other(met: bool) -> ExpectationResult {
        ExpectationResult {
            met,
            family: Family::Tools,
            what: "a called".to_owned(),
            ..asked(JudgeVerdict::Pass).said.tone.unwrap().tone_result()
        }
    }

    #[test]
    fn the_gate_opens_for_a_pass_alone() {
        for (verdict, met, why) in [
            (JudgeVerdict::Pass, true, ""),
            (JudgeVerdict::Fail, false, "it shouts"),
            (JudgeVerdict::Uncertain, false, "the judge could not tell: it shouts"),
        ] {
            let mut expectations = vec![other(true)];
            assert_eq!(asked(verdict).add_tone(&mut expectations), None);
            let tone = expectations.pop().unwrap();
            assert_eq!((tone.family, tone.met, tone.why.as_str()), (Family::Tone, met, why));
        }
    }

    #[test]
    fn a_judge_that_failed_is_the_cause_unless_something_else_is_unmet() {
        let mut expectations = vec![other(true)];
        assert_eq!(
            asked(JudgeVerdict::Error).add_tone(&mut expectations).as_deref(),
            Some("the judge did not judge the tone: it shouts")
        );
        let mut expectations = vec![other(false)];
        assert_eq!(asked(JudgeVerdict::Error).add_tone(&mut expectations), None);
        assert_eq!(expectations.len(), 1);
    }

    #[test]
    fn a_turn_that_is_told_again_asks_for_no_second_choice() {
        let mut asked = Asked::default();
        assert!(asked.begin_choice(0));
        assert!(!asked.begin_choice(0));
        assert!(asked.begin_choice(1));
    }
}
