//! Everything that is shown.

use crate::words::{count, dollars, duration, median_and_tail};

use super::super::figure::invalid;
use super::super::{Comparison, LeftOut, SideFacts};
use super::case::CaseView;
use super::clean::clean_line;
use super::question::{QuestionView, questions};
use super::tool::{ToolView, fields};

/// What is shown of all comparisons.
pub(in super::super) struct View {
    pub(in super::super) notices: Vec<String>,
    pub(in super::super) comparisons: Vec<ComparisonView>,
}

/// What is shown of one comparison.
pub(in super::super) struct ComparisonView {
    /// The agents.
    pub(in super::super) whom: String,
    /// For these prompts.
    pub(in super::super) verdict: String,
    pub(in super::super) sides: Vec<SideView>,
    pub(in super::super) warnings: Vec<String>,
    pub(in super::super) questions: Vec<QuestionView>,
    pub(in super::super) cases: Vec<CaseView>,
    pub(in super::super) left_out: Vec<LeftOutView>,
    pub(in super::super) failures: Vec<Row>,
    pub(in super::super) invalid: Vec<Row>,
    pub(in super::super) spreads: Vec<Row>,
    pub(in super::super) changes: Vec<Row>,
    pub(in super::super) tools: Vec<ToolView>,
    /// Why a difference cannot be put down to one thing.
    pub(in super::super) several: Option<String>,
}

/// A side.
pub(in super::super) struct SideView {
    pub(in super::super) letter: char,
    /// Run and agent.
    pub(in super::super) name: String,
    /// Versions and dates.
    pub(in super::super) facts: String,
}

/// A row per thing and a column per side.
pub(in super::super) struct Table<'a> {
    pub(in super::super) title: &'static str,
    pub(in super::super) rows: &'a [Row],
    /// Whether it shows words of servers and agents, and not only figures.
    pub(in super::super) said: bool,
}

/// Something of both sides.
pub(in super::super) struct Row {
    pub(in super::super) what: String,
    pub(in super::super) a: String,
    pub(in super::super) b: String,
}

impl Row {
    fn of(what: impl Into<String>, a: impl Into<String>, b: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            a: a.into(),
            b: b.into(),
        }
    }
}

impl View {
    pub(in super::super) fn of(comparisons: &[Comparison], notices: &[String], margin: f64) -> Self {
        Self {
            notices: notices.iter().map(|notice| clean_line(notice)).collect(),
            comparisons: comparisons
                .iter()
                .map(|comparison| ComparisonView::of(comparison, margin, comparisons.len()))
                .collect(),
        }
    }
}

impl ComparisonView {
    /// Whom, and the verdict for these prompts: `claude: difference shown`.
    pub(in super::super) fn title(&self) -> String {
        format!("{}: {}", self.whom, self.verdict)
    }

    /// Whether a test case is a lead.
    pub(in super::super) fn any_lead(&self) -> bool {
        self.cases.iter().any(|case| case.lead)
    }

    /// The tables with a row per thing and a column per side, with their titles; those without rows are left out.
    pub(in super::super) fn tables(&self) -> Vec<Table<'_>> {
        let table = |title, rows, said| Table { title, rows, said };
        let mut tables = vec![
            table("Failures by class", &self.failures, false),
            table("Invalid iterations", &self.invalid, false),
            table(
                "Median and 95th percentile, of those that passed or failed",
                &self.spreads,
                false,
            ),
            table("What else differs", &self.changes, true),
        ];
        tables.retain(|table| !table.rows.is_empty());
        tables
    }

    fn of(comparison: &Comparison, margin: f64, comparisons: usize) -> Self {
        let [valid_a, valid_b] = comparison.invalid.valid;
        let mut invalid_rows = vec![Row::of("invalid", invalid(valid_a), invalid(valid_b))];
        invalid_rows.extend(comparison.invalid.by_cause.iter().map(|row| {
            Row::of(
                format!("because of the {}", cause(row.what)),
                row.sides[0].to_string(),
                row.sides[1].to_string(),
            )
        }));
        let [attempts_a, attempts_b] = comparison.invalid.attempts;
        invalid_rows.push(Row::of(
            "attempts in all",
            attempts_a.to_string(),
            attempts_b.to_string(),
        ));
        let different = comparison.changes.len() + usize::from(!comparison.tools.is_empty());
        let questions = questions(comparison, margin, comparisons);
        Self {
            whom: whom(&comparison.sides),
            verdict: questions
                .first()
                .map(|question| question.verdict.clone())
                .unwrap_or_default(),
            sides: comparison
                .sides
                .iter()
                .zip(['A', 'B'])
                .map(|(facts, letter)| SideView::of(facts, letter))
                .collect(),
            warnings: comparison.warnings.iter().map(|warning| clean_line(warning)).collect(),
            questions,
            cases: comparison.cases.iter().map(|row| CaseView::of(row, margin)).collect(),
            left_out: comparison.left_out.iter().map(LeftOutView::of).collect(),
            failures: comparison
                .failures
                .iter()
                .map(|row| {
                    Row::of(
                        row.what.replace('_', " "),
                        row.sides[0].to_string(),
                        row.sides[1].to_string(),
                    )
                })
                .collect(),
            invalid: invalid_rows,
            spreads: comparison
                .spreads
                .iter()
                .map(|row| {
                    let (what, unit): (_, fn(f64) -> String) = match row.what {
                        "durationMs" => ("duration", duration),
                        "tokens" => ("tokens", count),
                        _ => ("cost", dollars),
                    };
                    let side = |index: usize| {
                        median_and_tail(row.sides[index], unit).unwrap_or_else(|| "not known".to_owned())
                    };
                    Row::of(what, side(0), side(1))
                })
                .collect(),
            changes: comparison
                .changes
                .iter()
                .map(|change| Row::of(clean_line(&change.what), clean_line(&change.a), clean_line(&change.b)))
                .collect(),
            tools: comparison.tools.iter().map(ToolView::of).collect(),
            several: (different > 1).then(|| {
                "More than one thing differs between the sides: a difference cannot be put down to one of them."
                    .to_owned()
            }),
        }
    }
}

/// A test case that is in no figure.
pub(in super::super) struct LeftOutView {
    pub(in super::super) name: String,
    pub(in super::super) why: String,
    /// Place, on side A, on side B.
    pub(in super::super) fields: Vec<[String; 3]>,
}

impl LeftOutView {
    fn of(left_out: &LeftOut) -> Self {
        Self {
            name: clean_line(&left_out.name),
            why: left_out.why.clone(),
            fields: fields(&left_out.differences),
        }
    }
}

impl SideView {
    fn of(facts: &SideFacts, letter: char) -> Self {
        let mut words = Vec::new();
        words.extend(facts.agent_version.as_ref().map(|version| format!("version {version}")));
        words.extend(facts.model.as_ref().map(|model| format!("model {model}")));
        words.push(format!("begun {}", facts.started_at));
        words.push(format!("mcproctor {}", facts.mcproctor_version));
        Self {
            letter,
            name: clean_line(&format!("{} in run {}", facts.agent, facts.run)),
            facts: clean_line(&words.join(", ")),
        }
    }
}

fn whom([a, b]: &[SideFacts; 2]) -> String {
    if a.agent == b.agent {
        clean_line(&a.agent)
    } else {
        clean_line(&format!("{} and {}", a.agent, b.agent))
    }
}

fn cause(name: &str) -> &str {
    match name {
        "exposure" => "tools never reaching the agent",
        other => other,
    }
}
