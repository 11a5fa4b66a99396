//! The two questions, and what the figures say to them.

use crate::stats::compare::{DifferenceRange, Verdict};
use crate::stats::suite::LikeThese;
use crate::stats::{Interval, Rate};
use crate::words::{counted, percent, percent_range};

use super::super::Comparison;
use super::super::figure::{difference, fraction, p_value, points, points_range};
use super::super::question::{LikeThesePrompts, SuiteFigures, ThesePrompts};
use super::words::{can_show, class};

/// A question with its answer.
pub(in super::super) struct QuestionView {
    pub(in super::super) title: &'static str,
    pub(in super::super) asks: &'static str,
    /// The words of the verdict.
    pub(in super::super) verdict: String,
    /// `shown`, `equivalent`, `open` or `none`.
    pub(in super::super) class: &'static str,
    pub(in super::super) sentences: Vec<String>,
    pub(in super::super) figures: Vec<FigureView>,
    /// The difference and its range, in percent of the scale from −100 to +100 points.
    pub(in super::super) bar: Option<Bar>,
}

/// A figure of both sides.
pub(in super::super) struct FigureView {
    pub(in super::super) what: &'static str,
    pub(in super::super) a: String,
    pub(in super::super) b: String,
    pub(in super::super) method: String,
}

/// Places on a scale from 0 to 100.
pub(in super::super) struct Bar {
    pub(in super::super) low: String,
    pub(in super::super) width: String,
    pub(in super::super) at: String,
}

impl Bar {
    pub(super) fn of(difference: &DifferenceRange) -> Self {
        let place = |value: f64| 50.0 + value * 50.0;
        Self {
            low: format!("{:.1}", place(difference.range.low)),
            width: format!("{:.1}", place(difference.range.high) - place(difference.range.low)),
            at: format!("{:.1}", place(difference.estimate)),
        }
    }
}

const THESE: &str = "These prompts";
const LIKE_THESE: &str = "Prompts like these";
const ASKS_THESE: &str = "Which side does exactly these test cases more reliably?";
const ASKS_LIKE_THESE: &str = "Which side may be expected to do prompts more reliably that were not tried?";

pub(super) fn questions(comparison: &Comparison, margin: f64, comparisons: usize) -> Vec<QuestionView> {
    let hindrance = comparison.invalid.hindrance.as_deref();
    let these = these(&comparison.these_prompts, hindrance, margin, comparisons);
    let like_these = match &comparison.like_these_prompts {
        Some(answer) => like_these(answer, hindrance, margin),
        None => QuestionView {
            title: LIKE_THESE,
            asks: ASKS_LIKE_THESE,
            verdict: "no verdict".to_owned(),
            class: "none",
            sentences: comparison
                .too_few_cases
                .iter()
                .map(|why| format!("{}.", capital(why)))
                .collect(),
            figures: Vec::new(),
            bar: None,
        },
    };
    vec![these, like_these]
}

fn these(answer: &ThesePrompts, hindrance: Option<&str>, margin: f64, comparisons: usize) -> QuestionView {
    let mut sentences = verdict_sentences(answer.verdict, &answer.difference, hindrance, margin);
    if answer.verdict == Some(Verdict::TooFewToTell) {
        let [a, b] = &answer.sides;
        sentences.push(match can_show(&answer.detectable) {
            Some(shown) => format!(
                "What N {} and N {} can show, 8 times in 10, from {} on side A: {shown}.",
                a.pooled.n,
                b.pooled.n,
                fraction(a.pooled.count, a.pooled.n)
            ),
            None => format!(
                "N {} and N {} cannot show a difference of any size.",
                a.pooled.n, b.pooled.n
            ),
        });
    }
    if comparisons > 1 {
        sentences.push(format!(
            "{} after Holm's procedure over the {comparisons} comparisons made at once.",
            capital(&p_value(answer.adjusted_p))
        ));
    }
    let [a, b] = &answer.sides;
    let mut figures = vec![
        FigureView {
            what: "suite",
            a: suite(a),
            b: suite(b),
            method: "mean over test cases, stratified Wilson".to_owned(),
        },
        figure("pooled", &a.pooled, &b.pooled, "all iterations as one count, Wilson"),
        figure("passed every time", &a.distinct, &b.distinct, "test cases, Wilson"),
    ];
    if a.with_invalid.is_some() || b.with_invalid.is_some() {
        let range = |range: Option<Interval>| range.map_or_else(|| "none invalid".to_owned(), percent_range);
        figures.push(FigureView {
            what: "with invalid ones",
            a: range(a.with_invalid),
            b: range(b.with_invalid),
            method: "pooled, all of them failed to all of them passed".to_owned(),
        });
    }
    figures.push(FigureView {
        what: "B − A",
        a: String::new(),
        b: difference(answer.difference),
        method: "Mantel-Haenszel, Klingenberg's interval".to_owned(),
    });
    figures.push(FigureView {
        what: "test",
        a: String::new(),
        b: p_value(answer.test.p),
        method: "exact conditional test stratified by test case".to_owned(),
    });
    QuestionView {
        title: THESE,
        asks: ASKS_THESE,
        verdict: words(answer.verdict, margin, "too few iterations to tell"),
        class: class(answer.verdict),
        sentences,
        figures,
        bar: Some(Bar::of(&answer.difference)),
    }
}

fn like_these(answer: &LikeThesePrompts, hindrance: Option<&str>, margin: f64) -> QuestionView {
    let test = &answer.per_case.test;
    let mut sentences = verdict_sentences(answer.verdict, &answer.per_case.difference, hindrance, margin);
    if test.smallest_p > 0.05 {
        sentences.push(format!(
            "Test cases that differ between the sides: {}. The smallest p that so few can give is {}, so no difference can be shown.",
            test.differing,
            p_value(test.smallest_p).trim_start_matches("p ")
        ));
    } else if answer.verdict == Some(Verdict::TooFewToTell) {
        sentences.push("More iterations do not help here; more test cases do.".to_owned());
    }
    let [a, b] = &answer.sides;
    QuestionView {
        title: LIKE_THESE,
        asks: ASKS_LIKE_THESE,
        verdict: words(answer.verdict, margin, "too few test cases to tell"),
        class: class(answer.verdict),
        sentences,
        figures: vec![
            FigureView {
                what: "suite",
                a: suite_like(a),
                b: suite_like(b),
                method: "Wilson on the effective sample size, t quantile".to_owned(),
            },
            FigureView {
                what: "B − A",
                a: String::new(),
                b: difference(answer.per_case.difference),
                method: format!("mean over {}, t interval", counted(answer.per_case.cases, "test case")),
            },
            FigureView {
                what: "test",
                a: String::new(),
                b: p_value(test.p),
                method: format!("sign-flip test, {} of them differ", test.differing),
            },
        ],
        bar: Some(Bar::of(&answer.per_case.difference)),
    }
}

/// The words of a verdict; `too_few` are those for too little data.
fn words(verdict: Option<Verdict>, margin: f64, too_few: &str) -> String {
    match verdict {
        Some(Verdict::TooFewToTell) => too_few.to_owned(),
        Some(verdict) => verdict.words(margin),
        None => "no verdict".to_owned(),
    }
}

fn verdict_sentences(
    verdict: Option<Verdict>,
    difference: &DifferenceRange,
    hindrance: Option<&str>,
    margin: f64,
) -> Vec<String> {
    match verdict {
        Some(Verdict::DifferenceShown) => {
            let (more, size) = if difference.estimate > 0.0 {
                ("more", difference.estimate)
            } else {
                ("less", -difference.estimate)
            };
            vec![format!(
                "B passes {} points {more} often than A, with a 95% range of {}.",
                points(size).trim_start_matches('+'),
                points_range(difference.range)
            )]
        }
        Some(Verdict::Equivalent) => vec![format!(
            "The 95% range of the difference, {}, lies inside ±{} points.",
            points_range(difference.range),
            (margin * 10_000.0).round() / 100.0
        )],
        Some(Verdict::TooFewToTell) => vec![format!(
            "The 95% range of the difference is {}: neither a difference nor its absence is shown.",
            points_range(difference.range)
        )],
        None => hindrance
            .map(|why| format!("{}: what is missing may be what differs.", capital(why)))
            .into_iter()
            .collect(),
    }
}

fn suite(side: &SuiteFigures) -> String {
    let rate = side
        .suite
        .rate
        .map(|rate| format!("{} ", percent(rate)))
        .unwrap_or_default();
    format!(
        "{rate}({}), N {} in {}",
        percent_range(side.suite.range),
        side.suite.n,
        counted(side.suite.cases, "test case")
    )
}

fn suite_like(side: &LikeThese) -> String {
    format!(
        "{} ({}), {}, N {}, effective N {}",
        percent(side.rate),
        percent_range(side.range),
        counted(side.cases, "test case"),
        side.n,
        (side.effective_n * 10.0).round() / 10.0
    )
}

fn figure(what: &'static str, a: &Rate, b: &Rate, method: &str) -> FigureView {
    FigureView {
        what,
        a: rate(a),
        b: rate(b),
        method: method.to_owned(),
    }
}

/// `34/40, 85% (71–93%)`.
pub(super) fn rate(rate: &Rate) -> String {
    let share = rate.rate.map(|rate| format!(", {}", percent(rate))).unwrap_or_default();
    let range = rate
        .range
        .map(|range| format!(" ({})", percent_range(range)))
        .unwrap_or_default();
    format!("{}{share}{range}", fraction(rate.count, rate.n))
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
