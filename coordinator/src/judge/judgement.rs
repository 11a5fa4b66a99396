//! What the judge said of one attempt, and how that compares with what was measured.

use mcproctor_proto::turn::Usage;
use serde::{Deserialize, Serialize};

use crate::outcome::Outcome;
use crate::record::{AttemptRecord, ExpectationResult, Family};

/// What the judge came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JudgeVerdict {
    /// The user got what was asked for.
    Pass,
    /// The user did not.
    Fail,
    /// The judge could not tell.
    Uncertain,
    /// The judge itself failed; the reasoning holds the cause. It says nothing about the agent.
    Error,
}

impl JudgeVerdict {
    /// The name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Uncertain => "uncertain",
            Self::Error => "error",
        }
    }
}

/// How the judge's verdict stands to what was measured. Neither overrides the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Agreement {
    /// Both say passed, or both say failed.
    Agrees,
    /// One says passed, the other failed: the iterations worth reading.
    Disagrees,
    /// There is no clear verdict, or nothing to compare it with: the judge's own verdict on a tone is no measurement.
    NotCompared,
}

impl Agreement {
    /// Compares an outcome with a verdict. Only passed and failed are compared with only pass and fail.
    pub fn between(outcome: Outcome, verdict: JudgeVerdict) -> Self {
        match (outcome, verdict) {
            (Outcome::Passed, JudgeVerdict::Pass) | (Outcome::Failed(_), JudgeVerdict::Fail) => Self::Agrees,
            (Outcome::Passed, JudgeVerdict::Fail) | (Outcome::Failed(_), JudgeVerdict::Pass) => Self::Disagrees,
            (_, JudgeVerdict::Uncertain | JudgeVerdict::Error) | (Outcome::Invalid(_) | Outcome::Aborted, _) => {
                Self::NotCompared
            }
        }
    }

    /// Compares what an attempt came to with a verdict. What the judge alone decided, by a tone that gates, is not measured
    /// and compared with nothing.
    pub fn with(attempt: &AttemptRecord, verdict: JudgeVerdict) -> Self {
        if attempt.decided_by_tone() {
            Self::NotCompared
        } else {
            Self::between(attempt.outcome, verdict)
        }
    }

    /// The name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Disagrees => "disagrees",
            Self::NotCompared => "not_compared",
        }
    }

    /// For readers, so that a missing mark is never taken for an oversight.
    pub fn words(self) -> &'static str {
        match self {
            Self::Agrees => "agrees with the measured result",
            Self::Disagrees => "disagrees with the measured result",
            Self::NotCompared => "not compared: there is no clear verdict, or the tone alone decided the result",
        }
    }
}

/// One answer of the judge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Opinion {
    /// What it came to.
    pub verdict: JudgeVerdict,
    /// Why, in its own words; the cause when the judge failed.
    pub reasoning: String,
    /// The model that answered, as the endpoint names it; the configured one when it does not.
    pub model: String,
    /// Tokens and money of every request that it took, as far as the endpoint reports them.
    pub usage: Usage,
    /// From the first request to the answer, pauses included, in milliseconds.
    pub duration_ms: u64,
    /// When it was given, in milliseconds of Unix time.
    pub at_unix_ms: i64,
}

impl Opinion {
    /// Whether the judge came to anything at all.
    pub fn is_clear(&self) -> bool {
        self.verdict != JudgeVerdict::Error
    }

    /// An opinion of a tone that gates, as an expectation. The gate opens only for a pass: a judge that cannot tell has not
    /// said that the tone was kept to.
    pub fn tone_result(&self) -> ExpectationResult {
        let met = self.verdict == JudgeVerdict::Pass;
        let why = match self.verdict {
            JudgeVerdict::Uncertain => format!("the judge could not tell: {}", self.reasoning),
            _ => self.reasoning.clone(),
        };
        ExpectationResult {
            family: Family::Tone,
            what: "the tone is kept to".to_owned(),
            met,
            why: if met { String::new() } else { why },
            ..ExpectationResult::default()
        }
    }
}

/// A reply that the judge picked after a turn, or did not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplyChoice {
    /// The turn after which it was asked, from 0.
    pub after_turn: u32,
    /// The place of the reply in the test case, from 0; `None` when none fits.
    pub reply: Option<usize>,
    /// Why, in its own words.
    pub reasoning: String,
    /// The model that answered.
    pub model: String,
    /// Tokens and money.
    pub usage: Usage,
    /// Milliseconds.
    pub duration_ms: u64,
}

/// Why no reply was picked.
#[derive(Clone, Debug, PartialEq)]
pub struct NotChosen {
    /// In words.
    pub cause: String,
    /// Tokens and money that it took all the same.
    pub usage: Usage,
}

/// Everything that the judge said of one attempt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Judgement {
    /// Whether the user got what was asked for; `None` while that is not judged.
    #[serde(default)]
    pub opinion: Option<Opinion>,
    /// Whether the agent kept to the tone that the test case describes, if it describes one.
    #[serde(default)]
    pub tone: Option<Opinion>,
    /// The replies it picked.
    #[serde(default)]
    pub choices: Vec<ReplyChoice>,
    /// Tokens and money of questions that brought no answer which is kept here.
    #[serde(default)]
    pub for_nothing: Usage,
}

impl Judgement {
    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.opinion.is_none() && self.tone.is_none() && self.choices.is_empty() && self.for_nothing == Usage::default()
    }

    /// Whether nothing in it has to be asked again when a run is resumed: there is an opinion of the attempt, and neither that
    /// nor the one of its tone failed.
    pub fn is_settled(&self) -> bool {
        self.opinion.as_ref().is_some_and(Opinion::is_clear) && self.tone.as_ref().is_none_or(Opinion::is_clear)
    }

    /// Takes in the opinion of the attempt and of its tone, in place of earlier ones on which the judge failed. What those
    /// took stays counted; one that is the same as before was not asked for again and counts once.
    pub fn take_in(&mut self, opinion: Opinion, tone: Option<Opinion>) {
        for (kept, now) in [(&mut self.opinion, Some(opinion)), (&mut self.tone, tone)] {
            if *kept == now {
                continue;
            }
            if let Some(earlier) = std::mem::replace(kept, now) {
                self.for_nothing.add(&earlier.usage);
            }
        }
    }

    /// Tokens and money of all of it.
    pub fn usage(&self) -> Usage {
        let mut usage = self.for_nothing;
        for opinion in self.opinion.iter().chain(&self.tone) {
            usage.add(&opinion.usage);
        }
        for choice in &self.choices {
            usage.add(&choice.usage);
        }
        usage
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::outcome::{FailureClass, InvalidCause};

    #[test]
    fn what_failed_and_was_asked_again_stays_counted() {
        let opinion = |verdict, tokens| Opinion {
            verdict,
            reasoning: String::new(),
            model: "m".to_owned(),
            usage: Usage {
                input_tokens: Some(tokens),
                ..Usage::default()
            },
            duration_ms: 1,
            at_unix_ms: 0,
        };
        let tone = opinion(JudgeVerdict::Pass, 1_000);
        let mut judgement = Judgement {
            opinion: Some(opinion(JudgeVerdict::Error, 1)),
            tone: Some(tone.clone()),
            ..Judgement::default()
        };
        judgement.take_in(opinion(JudgeVerdict::Pass, 10), Some(tone));
        assert_eq!(judgement.usage().input_tokens, Some(1_011));
        judgement.tone = Some(opinion(JudgeVerdict::Error, 100));
        judgement.take_in(
            opinion(JudgeVerdict::Pass, 10_000),
            Some(opinion(JudgeVerdict::Pass, 100_000)),
        );
        assert_eq!(judgement.usage().input_tokens, Some(110_111));
        let (kept, tone) = (
            judgement.opinion.clone().unwrap(),
            opinion(JudgeVerdict::Fail, 1_000_000),
        );
        judgement.take_in(kept, Some(tone));
        assert_eq!(
            judgement.usage().input_tokens,
            Some(1_110_111),
            "what is kept counts once"
        );
    }

    #[test]
    fn a_judgement_is_settled_when_neither_opinion_failed() {
        let opinion = |verdict| Opinion {
            verdict,
            reasoning: String::new(),
            model: "m".to_owned(),
            usage: Usage::default(),
            duration_ms: 1,
            at_unix_ms: 0,
        };
        use JudgeVerdict::{Error, Fail, Pass, Uncertain};
        for (said, tone, settled) in [
            (Some(Pass), None, true),
            (Some(Fail), Some(Uncertain), true),
            (Some(Pass), Some(Error), false),
            (Some(Error), Some(Pass), false),
            (None, Some(Pass), false),
        ] {
            let judgement = Judgement {
                opinion: said.map(opinion),
                tone: tone.map(opinion),
                ..Judgement::default()
            };
            assert_eq!(judgement.is_settled(), settled, "{said:?} {tone:?}");
        }
    }

    #[test]
    fn only_clear_verdicts_are_compared_and_only_with_what_says_something_about_the_agent() {
        use Agreement::{Agrees, Disagrees, NotCompared};
        use JudgeVerdict::{Error, Fail, Pass, Uncertain};
        let failed = Outcome::Failed(FailureClass::WrongTool);
        for (outcome, verdict, expected) in [
            (Outcome::Passed, Pass, Agrees),
            (Outcome::Passed, Fail, Disagrees),
            (Outcome::Passed, Uncertain, NotCompared),
            (Outcome::Passed, Error, NotCompared),
            (failed, Pass, Disagrees),
            (failed, Fail, Agrees),
            (failed, Uncertain, NotCompared),
            (failed, Error, NotCompared),
            (Outcome::Invalid(InvalidCause::Server), Pass, NotCompared),
            (Outcome::Aborted, Fail, NotCompared),
        ] {
            assert_eq!(Agreement::between(outcome, verdict), expected, "{outcome} {verdict:?}");
        }
    }
}
