//! For a pull request or a CI summary.

use super::Comparison;
use super::view::{ComparisonView, QuestionView, Row, View};

/// Lines of a description that are shown at most.
const MOST_LINES: usize = 40;

/// The comparisons as Markdown (GitHub's flavour). Whatever servers, agents or test cases say stays text.
pub fn markdown(comparisons: &[Comparison], notices: &[String], margin: f64) -> String {
    let view = View::of(comparisons, notices, margin);
    let mut out = Vec::new();
    for comparison in &view.comparisons {
        write_comparison(&mut out, comparison);
    }
    out.extend(view.notices.iter().map(|notice| format!("> {}", escaped(notice))));
    let mut text = out.join("\n");
    text.push('\n');
    text
}

fn write_comparison(out: &mut Vec<String>, comparison: &ComparisonView) {
    out.push(format!("## {}\n", escaped(&comparison.title)));
    for side in &comparison.sides {
        out.push(format!(
            "- **{}**: {}, {}",
            side.letter,
            escaped(&side.name),
            escaped(&side.facts)
        ));
    }
    out.push(String::new());
    for warning in &comparison.warnings {
        out.push(format!("> ⚠ {}\n", escaped(warning)));
    }
    for question in &comparison.questions {
        write_question(out, question);
    }
    write_cases(out, comparison);
    for (title, rows) in comparison.tables() {
        section(out, title, rows);
    }
    write_tools(out, comparison);
    if let Some(several) = &comparison.several {
        out.push(format!("{several}\n"));
    }
}

fn write_question(out: &mut Vec<String>, question: &QuestionView) {
    out.push(format!("### {}: {}\n", question.title, question.verdict));
    out.push(format!("{} {}\n", question.asks, question.sentences.join(" ")));
    if question.figures.is_empty() {
        return;
    }
    head(out, &["", "A", "B", "method"]);
    for figure in &question.figures {
        out.push(row(&[figure.what, &figure.a, &figure.b, &figure.method]));
    }
    out.push(String::new());
}

fn write_cases(out: &mut Vec<String>, comparison: &ComparisonView) {
    out.push("### Test cases\n".to_owned());
    head(out, &["", "A", "B", "B − A", "p", "verdict"]);
    for case in &comparison.cases {
        let verdict = if case.lead {
            format!("{}; a lead", case.verdict)
        } else {
            case.verdict.clone()
        };
        out.push(row(&[
            &case.name,
            &case.a,
            &case.b,
            &case.difference,
            &case.p,
            &verdict,
        ]));
    }
    out.push(
        "\nWilson's ranges; Newcombe's interval; Fisher's exact test, adjusted by Holm with Tarone's correction."
            .to_owned(),
    );
    if comparison.any_lead() {
        out.push(
            "A lead (Benjamini-Hochberg, q up to .10) is where to look next; one in ten is there by chance.".to_owned(),
        );
    }
    out.push(String::new());
    if !comparison.left_out.is_empty() {
        out.push("Left out:\n".to_owned());
        for case in &comparison.left_out {
            out.push(format!("- {}: {}", escaped(&case.name), escaped(&case.why)));
            out.extend(
                case.fields
                    .iter()
                    .map(|[at, a, b]| format!("  - {}: {} → {}", escaped(at), escaped(a), escaped(b))),
            );
        }
        out.push(String::new());
    }
}

fn section(out: &mut Vec<String>, title: &str, rows: &[Row]) {
    out.push(format!("### {title}\n"));
    head(out, &["", "A", "B"]);
    out.extend(rows.iter().map(|line| row(&[&line.what, &line.a, &line.b])));
    out.push(String::new());
}

fn write_tools(out: &mut Vec<String>, comparison: &ComparisonView) {
    if comparison.tools.is_empty() {
        return;
    }
    out.push("### Tools\n".to_owned());
    for tool in &comparison.tools {
        out.push(format!("**{}**: {}\n", escaped(&tool.name), tool.what));
        if !tool.lines.is_empty() {
            let fence = fence(tool.lines.iter().map(|line| line.text.as_str()));
            out.push(format!("{fence}diff"));
            out.extend(
                tool.lines
                    .iter()
                    .take(MOST_LINES)
                    .map(|line| format!("{} {}", line.sign, line.text)),
            );
            let more = tool.lines.len().saturating_sub(MOST_LINES);
            if more > 0 {
                out.push(format!("  … {more} more lines"));
            }
            out.push(format!("{fence}\n"));
        }
        if !tool.fields.is_empty() {
            head(out, &["place", "A", "B"]);
            out.extend(tool.fields.iter().map(|[at, a, b]| row(&[at, a, b])));
            out.push(String::new());
        }
    }
}

fn head(out: &mut Vec<String>, cells: &[&str]) {
    out.push(format!("| {} |", cells.join(" | ")));
    out.push(format!("|{}", " --- |".repeat(cells.len())));
}

fn row(cells: &[&str]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| escaped(cell)).collect();
    format!("| {} |", cells.join(" | "))
}

/// A fence longer than any in the text.
fn fence<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let longest = lines
        .flat_map(|line| line.split(|c| c != '`').map(str::len))
        .max()
        .unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

/// Text in which Markdown and HTML see nothing of theirs, and nobody is called by name.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push(' '),
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '@' => out.push_str("&#64;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' | '>' | '!' | '$' => {
                out.push('\\');
                out.push(c);
            }
            // A bare address would become a link.
            ':' if out.ends_with("http") || out.ends_with("https") => out.push_str("&#58;"),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_said_stays_text() {
        assert_eq!(
            escaped("a|b<img>@you `x` https://e"),
            "a\\|b&lt;img\\>&#64;you \\`x\\` https&#58;//e"
        );
        assert_eq!(fence(["``` ", "````"].into_iter()), "`````");
        assert_eq!(fence(["plain"].into_iter()), "```");
    }
}
