//! For a terminal.

use std::fmt::Write;

use unicode_width::UnicodeWidthStr;

use super::Comparison;
use super::view::{ComparisonView, LEADS, QuestionView, Row, View};

/// The comparisons as plain text. Names and descriptions are made harmless for a terminal.
pub fn text(comparisons: &[Comparison], notices: &[String], margin: f64) -> String {
    let view = View::of(comparisons, notices, margin);
    let mut out = String::new();
    for comparison in &view.comparisons {
        if !out.is_empty() {
            out.push('\n');
        }
        write_comparison(&mut out, comparison);
    }
    if !view.notices.is_empty() {
        out.push('\n');
        for notice in &view.notices {
            line(&mut out, &format!("! {notice}"));
        }
    }
    out
}

fn write_comparison(out: &mut String, comparison: &ComparisonView) {
    for side in &comparison.sides {
        line(out, &format!("{}  {}", side.letter, side.name));
        line(out, &format!("   {}", side.facts));
    }
    if !comparison.warnings.is_empty() {
        out.push('\n');
        for warning in &comparison.warnings {
            line(out, &format!("! {warning}"));
        }
    }
    for question in &comparison.questions {
        write_question(out, question);
    }
    write_cases(out, comparison);
    for table in comparison.tables() {
        section(out, table.title, table.rows);
    }
    write_tools(out, comparison);
    if let Some(several) = &comparison.several {
        line(out, &format!("\n{several}"));
    }
}

fn write_question(out: &mut String, question: &QuestionView) {
    line(out, &format!("\n{}: {}", question.title, question.verdict));
    line(out, &format!("  {}", question.asks));
    for sentence in &question.sentences {
        line(out, &format!("  {sentence}"));
    }
    let rows = question.figures.iter().map(|figure| {
        vec![
            figure.what.to_owned(),
            figure.a.clone(),
            figure.b.clone(),
            figure.method.clone(),
        ]
    });
    if !question.figures.is_empty() {
        table(out, ["", "A", "B", "method"].map(str::to_owned).to_vec(), rows);
    }
}

fn write_cases(out: &mut String, comparison: &ComparisonView) {
    line(
        out,
        "\nTest cases (Wilson; Newcombe's interval; Fisher's exact test, adjusted by Holm with Tarone's correction)",
    );
    let header = ["", "A", "B", "B − A", "p", "verdict"].map(str::to_owned).to_vec();
    let rows = comparison.cases.iter().map(|case| {
        vec![
            case.name.clone(),
            case.a.clone(),
            case.b.clone(),
            case.difference.clone(),
            case.p.clone(),
            case.verdict_and_lead(),
        ]
    });
    table(out, header, rows);
    if comparison.any_lead() {
        line(out, &format!("  {LEADS}"));
    }
    for case in &comparison.left_out {
        line(out, &format!("  left out: {}: {}", case.name, case.why));
        write_fields(out, &case.fields);
    }
}

fn section(out: &mut String, title: &str, rows: &[Row]) {
    line(out, &format!("\n{title}"));
    let header = ["", "A", "B"].map(str::to_owned).to_vec();
    table(
        out,
        header,
        rows.iter()
            .map(|row| vec![row.what.clone(), row.a.clone(), row.b.clone()]),
    );
}

fn write_tools(out: &mut String, comparison: &ComparisonView) {
    if comparison.tools.is_empty() {
        return;
    }
    line(out, "\nTools (- on side A, + on side B)");
    for tool in &comparison.tools {
        line(out, &format!("  {}: {}", tool.name, tool.what));
        for described in &tool.lines {
            line(out, &format!("    {} {}", described.sign, described.text));
        }
        write_fields(out, &tool.fields);
    }
}

fn write_fields(out: &mut String, fields: &[[String; 3]]) {
    for [at, a, b] in fields {
        line(out, &format!("    {at}"));
        line(out, &format!("      - {a}"));
        line(out, &format!("      + {b}"));
    }
}

fn table(out: &mut String, header: Vec<String>, rows: impl Iterator<Item = Vec<String>>) {
    let rows: Vec<Vec<String>> = std::iter::once(header).chain(rows).collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            rows.iter()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.width())
                .max()
                .unwrap_or(0)
        })
        .collect();
    for row in &rows {
        let mut text = String::from(" ");
        for (cell, width) in row.iter().zip(&widths) {
            let _ = write!(text, " {cell}{}", " ".repeat(width.saturating_sub(cell.width()) + 1));
        }
        line(out, &text);
    }
}

fn line(out: &mut String, text: &str) {
    out.push_str(text.trim_end());
    out.push('\n');
}
