//! What the judge said, on the page.

use mcproctor_proto::turn::Usage;
use serde::Serialize;

use crate::cut::cut;
use crate::judge::{Agreement, JudgeVerdict, Opinion, ReplyChoice};
use crate::record::{AnswerChoice, RunRecord, TestCaseRecord};
use crate::report::{Figures, Iteration};

use super::headline::Tile;
use crate::words::{count, counted, dollars};

/// Reasons are cut here; they are short unless a model runs wild.
const MOST_REASONING_BYTES: usize = 4 * 1024;

/// The judge and its counts, in words.
pub(super) struct JudgePanel {
    pub(super) model: String,
    pub(super) base_url: String,
    pub(super) counts: Vec<String>,
    pub(super) usage: Option<String>,
}

impl JudgePanel {
    /// `None` for a run without a judge.
    pub(super) fn of(run: &RunRecord, figures: &Figures) -> Option<Self> {
        let judge = run.judge.as_ref()?;
        let (tally, missing) = (&figures.judge.total, figures.judge.not_judged);
        let mut counts = vec![
            format!("{} judged", counted(tally.judged(), "iteration")),
            format!("{} agree with the measured result", tally.agrees),
            format!("{} disagree", tally.disagrees),
        ];
        counts.extend(tally.further_words());
        if missing > 0 {
            counts.push(format!("{missing} not judged"));
        }
        Some(Self {
            model: judge.model.clone(),
            base_url: judge.base_url.clone(),
            counts,
            usage: usage(&tally.usage),
        })
    }
}

/// `12,345 tokens in, 678 out, $0.12`.
fn usage(usage: &Usage) -> Option<String> {
    let tokens = |n: Option<u64>, words: &str| n.map(|n| format!("{} {words}", number(n)));
    let parts: Vec<String> = [
        tokens(usage.input_tokens, "tokens in"),
        tokens(usage.output_tokens, "tokens out"),
        usage.cost_usd.filter(|cost| cost.is_finite()).map(dollars),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

#[expect(clippy::cast_precision_loss, reason = "tokens, shown rounded")]
fn number(n: u64) -> String {
    count(n as f64)
}

/// How often the two disagree, for the top of the page.
pub(super) fn tile(figures: &Figures) -> Option<Tile> {
    let judge = &figures.judge;
    let tally = &judge.total;
    judge.configured.then(|| Tile {
        status: "none",
        label: "judge disagrees",
        value: tally.disagrees.to_string(),
        detail: format!("{} agree, of {} judged", tally.agrees, tally.judged()),
    })
}

/// What a row is marked and filtered by: `agrees`, `disagrees`, `not_compared` or `error`; `None` when it is not judged.
pub(super) fn row(iteration: &Iteration) -> Option<&'static str> {
    let result = iteration.result.as_ref()?;
    let opinion = iteration.judgement.as_ref()?.opinion.as_ref()?;
    Some(match opinion.verdict {
        JudgeVerdict::Error => "error",
        verdict => Agreement::with(result, verdict).name(),
    })
}

/// What is left to the judge in a test case, in words.
pub(super) fn left_to_judge(case: &TestCaseRecord) -> Option<String> {
    let mut parts = Vec::new();
    if case.answer_choice == AnswerChoice::Judge {
        parts.push("the judge picks among the replies".to_owned());
    }
    if let Some(tone) = &case.tone {
        let gate = if tone.gate { " (gates)" } else { "" };
        parts.push(format!("tone{gate}: {}", cut(tone.rubric.trim(), MOST_REASONING_BYTES)));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// What was said of one iteration.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct JudgementView {
    opinion: Option<OpinionView>,
    /// In words.
    agreement: Option<&'static str>,
    disagrees: bool,
    tone: Option<OpinionView>,
    choices: Vec<ChoiceView>,
    usage: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OpinionView {
    verdict: &'static str,
    reasoning: String,
    model: String,
    duration_ms: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ChoiceView {
    after_turn: u32,
    /// From 1; `null` when none fitted.
    reply: Option<usize>,
    reasoning: String,
}

impl JudgementView {
    pub(super) fn of(iteration: &Iteration) -> Option<Self> {
        let judgement = iteration.judgement.as_ref().filter(|judgement| !judgement.is_empty())?;
        let result = iteration.result.as_ref()?;
        let verdict = judgement.opinion.as_ref().map(|opinion| opinion.verdict);
        let agreement = verdict.map(|verdict| Agreement::with(result, verdict));
        Some(Self {
            opinion: judgement.opinion.as_ref().map(OpinionView::of),
            agreement: agreement.map(Agreement::words),
            disagrees: agreement == Some(Agreement::Disagrees),
            tone: judgement.tone.as_ref().map(OpinionView::of),
            choices: judgement.choices.iter().map(ChoiceView::of).collect(),
            usage: usage(&judgement.usage()),
        })
    }
}

impl OpinionView {
    fn of(opinion: &Opinion) -> Self {
        Self {
            verdict: opinion.verdict.name(),
            reasoning: cut(&opinion.reasoning, MOST_REASONING_BYTES).into_owned(),
            model: opinion.model.clone(),
            duration_ms: opinion.duration_ms,
        }
    }
}

impl ChoiceView {
    fn of(choice: &ReplyChoice) -> Self {
        Self {
            after_turn: choice.after_turn,
            reply: choice.reply.map(|place| place + 1),
            reasoning: cut(&choice.reasoning, MOST_REASONING_BYTES).into_owned(),
        }
    }
}
