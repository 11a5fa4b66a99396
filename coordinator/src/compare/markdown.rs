//! For a pull request or a CI summary.

use super::Comparison;
use super::view::{CaseView, ComparisonView, LEADS, LeftOutView, QuestionView, Row, Table, ToolView, View};
use crate::markdown::{Document, Section, code, head, row};

/// Names are cut here.
const NAME: usize = 80;

/// Values, facts and lines of a description are cut here.
const VALUE: usize = 200;

/// Warnings and notices are cut here.
const MESSAGE: usize = 300;

/// Lines of a description that are shown at most.
const MOST_LINES: usize = 40;

/// Places in which a tool or a test case differs that are shown at most.
const MOST_FIELDS: usize = 20;

/// The comparisons as Markdown (GitHub's flavour), under 65,000 characters. Whatever servers, agents or test cases say
/// stays text.
pub fn markdown(comparisons: &[Comparison], notices: &[String], margin: f64) -> String {
    let view = View::of(comparisons, notices, margin);
    let mut document = Document::new("", "in the page and in the JSON");
    if !view.notices.is_empty() {
        document.add(&Section {
            rows: quoted("", &view.notices),
            most_rows: 20,
            ..Section::default()
        });
    }
    // One of many comparisons does not take the room of the others.
    let share = |most: usize| (most / view.comparisons.len().max(1)).max(3);
    for comparison in &view.comparisons {
        document.add(&about(comparison));
        for question in &comparison.questions {
            document.add(&answer(question));
        }
        document.add(&cases(comparison, share(100)));
        if !comparison.left_out.is_empty() {
            document.add(&left_out(&comparison.left_out, share(30)));
        }
        for table in comparison.tables() {
            document.add(&both_sides(&table, share(50)));
        }
        if !comparison.tools.is_empty() {
            document.add(&tools(&comparison.tools, share(30)));
        }
    }
    document.finish()
}

/// Whom is compared, and what has to be known first.
fn about(comparison: &ComparisonView) -> Section {
    let mut intro = String::new();
    for side in &comparison.sides {
        intro += &format!(
            "- **{}**: {}, {}\n",
            side.letter,
            code(&side.name, VALUE),
            code(&side.facts, VALUE)
        );
    }
    if let Some(several) = &comparison.several {
        intro += &format!("\n{several}\n");
    }
    if !comparison.warnings.is_empty() {
        intro.push('\n');
    }
    Section {
        heading: format!("## {}: {}", code(&comparison.whom, NAME), own(&comparison.verdict)),
        intro,
        rows: quoted("⚠ ", &comparison.warnings),
        most_rows: 20,
        left_out: 0,
    }
}

/// A paragraph for each.
fn quoted(mark: &str, messages: &[String]) -> Vec<String> {
    let last = messages.len().saturating_sub(1);
    let end = |index: usize| if index < last { "\n" } else { "" };
    messages
        .iter()
        .enumerate()
        .map(|(index, message)| format!("> {mark}{}{}", code(message, MESSAGE), end(index)))
        .collect()
}

fn answer(question: &QuestionView) -> Section {
    let mut intro = format!("{} {}\n", question.asks, own(&question.sentences.join(" ")));
    if !question.figures.is_empty() {
        intro += &format!("\n{}", head(&["", "A", "B", "method"], 4));
    }
    let rows = question
        .figures
        .iter()
        .map(|figure| row(&[figure.what, &figure.a, &figure.b, &figure.method].map(own)));
    Section {
        heading: format!("### {}: {}", question.title, own(&question.verdict)),
        intro,
        rows: rows.collect(),
        most_rows: 20,
        left_out: 0,
    }
}

fn cases(comparison: &ComparisonView, most_rows: usize) -> Section {
    let lead = if comparison.any_lead() {
        format!(" {LEADS}")
    } else {
        String::new()
    };
    let line = |case: &CaseView| {
        row(&[
            code(&case.name, NAME),
            own(&case.a),
            own(&case.b),
            own(&case.difference),
            own(&case.p),
            own(&case.verdict_and_lead()),
        ])
    };
    Section {
        heading: "### Test cases".to_owned(),
        intro: format!(
            "Wilson's ranges; Newcombe's interval; Fisher's exact test, adjusted by Holm with Tarone's correction.{lead}\n\n{}",
            head(&["", "A", "B", "B − A", "p", "verdict"], 6)
        ),
        rows: comparison.cases.iter().map(line).collect(),
        most_rows,
        left_out: 0,
    }
}

fn left_out(cases: &[LeftOutView], most_rows: usize) -> Section {
    let line = |case: &LeftOutView| {
        let mut text = format!("- {}: {}", code(&case.name, NAME), own(&case.why));
        push_fields(&mut text, "\n  - ", &case.fields);
        text
    };
    Section {
        heading: "### Left out".to_owned(),
        intro: String::new(),
        rows: cases.iter().map(line).collect(),
        most_rows,
        left_out: 0,
    }
}

fn both_sides(table: &Table<'_>, most_rows: usize) -> Section {
    let cell = |text: &String| if table.said { code(text, VALUE) } else { own(text) };
    let line = |it: &Row| row(&[cell(&it.what), cell(&it.a), cell(&it.b)]);
    Section {
        heading: format!("### {}", table.title),
        intro: head(&["", "A", "B"], 3),
        rows: table.rows.iter().map(line).collect(),
        most_rows,
        left_out: 0,
    }
}

fn tools(tools: &[ToolView], most_rows: usize) -> Section {
    let line = |tool: &ToolView| {
        let mut text = format!("- {}: {}", code(&tool.name, NAME), tool.what);
        for line in tool.lines.iter().take(MOST_LINES) {
            text += &format!("\n  - {}: {}", line.letter(), code(&line.text, VALUE));
        }
        let more = tool.lines.len().saturating_sub(MOST_LINES);
        if more > 0 {
            text += &format!("\n  - {more} more lines");
        }
        push_fields(&mut text, "\n  - ", &tool.fields);
        text
    };
    Section {
        heading: "### Tools".to_owned(),
        intro: String::new(),
        rows: tools.iter().map(line).collect(),
        most_rows,
        left_out: 0,
    }
}

/// Where two things differ, an item each that begins with `item`.
fn push_fields(text: &mut String, item: &str, fields: &[[String; 3]]) {
    for [at, a, b] in fields.iter().take(MOST_FIELDS) {
        *text += &format!("{item}{}: {} → {}", code(at, NAME), code(a, VALUE), code(b, VALUE));
    }
    let more = fields.len().saturating_sub(MOST_FIELDS);
    if more > 0 {
        *text += &format!("{item}{more} more places");
    }
}

/// Words and figures of this program: `<.001` begins no tag, and `$0.01` no formula.
fn own(text: &str) -> String {
    text.replace('<', "&lt;").replace('$', "\\$")
}
