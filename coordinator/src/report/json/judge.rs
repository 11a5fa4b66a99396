//! What the judge said.

use mcproctor_proto::turn::Usage;
use serde::Serialize;

use crate::judge::{Agreement, JudgeVerdict, Opinion, ReplyChoice};
use crate::report::{Figures, Iteration};

/// Counts over the run.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct JudgeCountsView {
    judged: u64,
    agrees: u64,
    disagrees: u64,
    not_compared: u64,
    errors: u64,
    not_judged: u64,
    usage: Usage,
}

impl JudgeCountsView {
    /// `None` for a run without a judge.
    pub(super) fn of(figures: &Figures) -> Option<Self> {
        let judge = &figures.judge;
        let tally = &judge.total;
        judge.configured.then(|| Self {
            judged: tally.judged(),
            agrees: tally.agrees,
            disagrees: tally.disagrees,
            not_compared: tally.not_compared,
            errors: tally.errors,
            not_judged: judge.not_judged,
            usage: tally.usage,
        })
    }
}

/// What was said of one iteration. Without an opinion, verdict, agreement and what belongs to them are `null`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct JudgementView<'a> {
    verdict: Option<JudgeVerdict>,
    agreement: Option<Agreement>,
    reasoning: Option<&'a str>,
    model: Option<&'a str>,
    duration_ms: Option<u64>,
    /// Of everything that was asked about the attempt.
    usage: Usage,
    tone: Option<ToneView<'a>>,
    choices: Vec<ChoiceView<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToneView<'a> {
    verdict: JudgeVerdict,
    reasoning: &'a str,
    model: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ChoiceView<'a> {
    after_turn: u32,
    reply: Option<usize>,
    reasoning: &'a str,
    model: &'a str,
}

impl<'a> JudgementView<'a> {
    pub(super) fn of(iteration: &'a Iteration) -> Option<Self> {
        let judgement = iteration.judgement.as_ref().filter(|judgement| !judgement.is_empty())?;
        let result = iteration.result.as_ref()?;
        let opinion = judgement.opinion.as_ref();
        Some(Self {
            verdict: opinion.map(|opinion| opinion.verdict),
            agreement: opinion.map(|opinion| Agreement::with(result, opinion.verdict)),
            reasoning: opinion.map(|opinion| opinion.reasoning.as_str()),
            model: opinion.map(|opinion| opinion.model.as_str()),
            duration_ms: opinion.map(|opinion| opinion.duration_ms),
            usage: judgement.usage(),
            tone: judgement.tone.as_ref().map(ToneView::of),
            choices: judgement.choices.iter().map(ChoiceView::of).collect(),
        })
    }
}

impl<'a> ToneView<'a> {
    fn of(opinion: &'a Opinion) -> Self {
        Self {
            verdict: opinion.verdict,
            reasoning: &opinion.reasoning,
            model: &opinion.model,
        }
    }
}

impl<'a> ChoiceView<'a> {
    fn of(choice: &'a ReplyChoice) -> Self {
        Self {
            after_turn: choice.after_turn,
            reply: choice.reply,
            reasoning: &choice.reasoning,
            model: &choice.model,
        }
    }
}
