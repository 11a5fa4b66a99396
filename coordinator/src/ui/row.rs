//! One line of a list of test cases: name, a mark per iteration (or a bar when there are too many), counts.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::figures::short_rate;
use super::marks::{Cell, Counts, Mark};
use super::model::Plan;
use super::text::{fit, pad};
use super::theme::Theme;
use crate::outcome::{FailureClass, InvalidCause};

/// More marks than this in a line nobody counts.
const MOST_MARKS: usize = 40;
/// A name is cut to fewer columns than this only on a screen that has no more.
const NARROWEST_NAME: usize = 14;
/// A name is cut to so many columns on any screen.
const WIDEST_NAME: usize = 40;
/// Columns that a bar is left when names are long.
const WANTED_BAR: usize = 12;
/// A bar needs no more than this.
const WIDEST_BAR: usize = 32;
/// A bar narrower than this says nothing.
const NARROWEST_BAR: usize = 4;

/// How the lines of one list are divided, the same for all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Columns {
    name: usize,
    strip: Strip,
    /// Columns left for counts.
    rest: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strip {
    Marks(usize),
    Bar(usize),
}

impl Columns {
    /// For lines of `width` columns while the run goes on.
    pub(super) fn live(plan: &Plan, width: usize) -> Self {
        let digits = digits(plan);
        // `2/3` beside marks, `480✓ 15✗ 5!` beside a bar.
        Self::new(plan, width, 2 * digits + 1, 3 * (digits + 1) + 2)
    }

    /// For lines of `width` columns when the run is over.
    pub(super) fn settled(plan: &Plan, width: usize) -> Self {
        let digits = digits(plan);
        // `(2/3 passed)`, and beside a bar what was invalid, too, if there is room.
        let passed = 2 * digits + 10;
        let invalid = if width < 72 { 0 } else { digits + 10 };
        Self::new(plan, width, passed, passed + invalid)
    }

    fn new(plan: &Plan, width: usize, beside_marks: usize, beside_bar: usize) -> Self {
        let iterations = plan.iterations as usize;
        // The overall mark and the spaces between.
        let inner = width.saturating_sub(4);
        let beside = inner.saturating_sub(iterations + beside_marks);
        if iterations <= MOST_MARKS && beside >= plan.name_width.min(NARROWEST_NAME) {
            let name = plan.name_width.min(beside).min(WIDEST_NAME);
            return Self {
                name,
                strip: Strip::Marks(iterations),
                rest: inner - name - iterations,
            };
        }
        let beside = inner.saturating_sub(beside_bar);
        let widest = beside.saturating_sub(WANTED_BAR).clamp(NARROWEST_NAME, WIDEST_NAME);
        let name = plan.name_width.min(widest).min(inner);
        let bar = (inner - name).saturating_sub(beside_bar).min(WIDEST_BAR);
        let bar = if bar < NARROWEST_BAR { 0 } else { bar };
        Self {
            name,
            strip: Strip::Bar(bar),
            rest: inner - name - bar,
        }
    }

    /// The line of a cell while the run goes on.
    pub(super) fn live_line(
        &self,
        name: &str,
        cell: &Cell,
        iterations: u32,
        spinner: char,
        theme: Theme,
    ) -> Line<'static> {
        let mut spans = self.start(name, cell, iterations, spinner, theme);
        let counts = cell.counts();
        match self.strip {
            Strip::Marks(_) => {
                spans.push(Span::raw(format!(" {}/{}", counts.passed, counts.decided())));
            }
            Strip::Bar(_) => {
                spans.push(Span::raw(" "));
                spans.extend(tally(counts, theme));
            }
        }
        let used: usize = spans.iter().map(Span::width).sum();
        if let Some(rate) = short_rate(counts.passed, counts.decided())
            && used + 2 + rate.chars().count() <= self.width()
        {
            spans.push(Span::styled(format!("  {rate}"), theme.dim()));
        }
        Line::from(spans)
    }

    /// The line of a cell when the run is over.
    pub(super) fn settled_line(&self, name: &str, cell: &Cell, iterations: u32, theme: Theme) -> Line<'static> {
        let mut spans = self.start(name, cell, iterations, Mark::Running.glyph(), theme);
        let counts = cell.counts();
        let mut words = format!("{}/{} passed", counts.passed, counts.decided());
        let mut long = words.clone();
        if counts.invalid > 0 {
            long.push_str(&format!(", {} invalid", counts.invalid));
        }
        let not_run = u64::from(iterations).saturating_sub(counts.finished());
        if not_run > 0 {
            long.push_str(&format!(", {not_run} without result"));
        }
        if long.chars().count() + 2 <= self.rest {
            words = long;
        }
        let mut tail = format!(" ({words})");
        if let Some(rate) = short_rate(counts.passed, counts.decided())
            && tail.chars().count() + 1 + rate.chars().count() <= self.rest
        {
            tail = format!("{tail} {rate}");
        }
        spans.push(Span::raw(fit(&tail, self.rest + 1)));
        Line::from(spans)
    }

    fn width(&self) -> usize {
        let strip = match self.strip {
            Strip::Marks(columns) | Strip::Bar(columns) => columns,
        };
        4 + self.name + strip + self.rest
    }

    fn start(&self, name: &str, cell: &Cell, iterations: u32, spinner: char, theme: Theme) -> Vec<Span<'static>> {
        let overall = cell.overall(iterations);
        let glyph = if overall == Mark::Running {
            spinner
        } else {
            overall.glyph()
        };
        let mut spans = vec![Span::styled(glyph.to_string(), theme.mark(overall)), Span::raw(" ")];
        spans.push(Span::raw(pad(name, self.name)));
        match self.strip {
            Strip::Marks(columns) => {
                spans.push(Span::raw(" "));
                spans.extend(marks(cell, columns, spinner, theme));
            }
            Strip::Bar(0) => {}
            Strip::Bar(columns) => {
                spans.push(Span::raw(" "));
                spans.extend(bar(cell.counts(), u64::from(iterations), columns, theme));
            }
        }
        spans
    }
}

/// Digits of the number of iterations.
fn digits(plan: &Plan) -> usize {
    plan.iterations.max(1).ilog10() as usize + 1
}

/// A mark for each iteration, neighbours of one kind in one span.
fn marks(cell: &Cell, iterations: usize, spinner: char, theme: Theme) -> Vec<Span<'static>> {
    let all = cell
        .marks()
        .iter()
        .copied()
        .chain(std::iter::repeat(Mark::Pending))
        .take(iterations);
    let glyphs = all.map(|mark| {
        (
            if mark == Mark::Running { spinner } else { mark.glyph() },
            theme.mark(mark),
        )
    });
    runs(glyphs)
}

fn runs(glyphs: impl Iterator<Item = (char, Style)>) -> Vec<Span<'static>> {
    let mut spans: Vec<(String, Style)> = Vec::new();
    for (glyph, style) in glyphs {
        match spans.last_mut() {
            Some((text, same)) if *same == style => text.push(glyph),
            _ => spans.push((glyph.to_string(), style)),
        }
    }
    spans
        .into_iter()
        .map(|(text, style)| Span::styled(text, style))
        .collect()
}

const A_FAILED: Mark = Mark::Failed(FailureClass::WrongTool);
const AN_INVALID: Mark = Mark::Invalid(InvalidCause::Server);

/// `480✓ 15✗ 5!`: what there is none of is left out, but for passed.
pub(super) fn tally(counts: &Counts, theme: Theme) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    for (count, mark) in [
        (counts.passed, Mark::Passed),
        (counts.failed, A_FAILED),
        (counts.invalid, AN_INVALID),
    ] {
        if count > 0 || mark == Mark::Passed {
            let space = if spans.is_empty() { "" } else { " " };
            spans.push(Span::styled(
                format!("{space}{count}{}", mark.glyph()),
                theme.mark(mark),
            ));
        }
    }
    spans
}

/// Counts of `total` iterations as a bar. What happened even once is seen.
pub(super) fn bar(counts: &Counts, total: u64, columns: usize, theme: Theme) -> Vec<Span<'static>> {
    let kinds = [
        (counts.passed, '█', Mark::Passed),
        (counts.failed, Mark::glyph(A_FAILED), A_FAILED),
        (counts.invalid, Mark::glyph(AN_INVALID), AN_INVALID),
        (counts.aborted, Mark::Aborted.glyph(), Mark::Aborted),
        (counts.running, '▒', Mark::Running),
    ];
    let done: u64 = kinds.iter().map(|(count, ..)| count).sum();
    let pending = total.saturating_sub(done);
    let mut widths = kinds.map(|(count, ..)| share(count, total, columns));
    let room = if pending > 0 {
        columns.saturating_sub(1)
    } else {
        columns
    };
    let mut used: usize = widths.iter().sum();
    while used > room {
        let Some(widest) = widths.iter_mut().max().filter(|widest| **widest > 0) else {
            break;
        };
        *widest -= 1;
        used -= 1;
    }
    if pending == 0
        && used < columns
        && let Some(widest) = widths.iter_mut().max().filter(|widest| **widest > 0)
    {
        *widest += columns - used;
        used = columns;
    }
    let filled = kinds
        .iter()
        .zip(widths)
        .flat_map(|((_, glyph, mark), width)| std::iter::repeat_n((*glyph, theme.mark(*mark)), width));
    let empty = std::iter::repeat_n(('░', theme.dim()), columns - used.min(columns));
    runs(filled.chain(empty))
}

/// Columns for a count: its rounded share, at least one when it is not zero.
fn share(count: u64, total: u64, columns: usize) -> usize {
    if count == 0 || total == 0 {
        return 0;
    }
    let rounded = (count.saturating_mul(columns as u64) + total / 2) / total;
    usize::try_from(rounded).unwrap_or(columns).clamp(1, columns.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(counts: Counts, total: u64, columns: usize) -> String {
        bar(&counts, total, columns, Theme { colour: false })
            .iter()
            .map(|span| span.content.as_ref())
            .collect()
    }

    #[test]
    fn a_bar_shows_what_happened_once_among_thousands() {
        let counts = Counts {
            passed: 4998,
            failed: 1,
            invalid: 1,
            ..Counts::default()
        };
        assert_eq!(drawn(counts, 5000, 10), "████████✗!");
    }

    #[test]
    fn a_bar_is_full_only_when_everything_has_a_result() {
        let almost = Counts {
            passed: 4999,
            ..Counts::default()
        };
        assert_eq!(drawn(almost, 5000, 10), "█████████░");
        let all = Counts {
            passed: 5000,
            ..Counts::default()
        };
        assert_eq!(drawn(all, 5000, 10), "██████████");
        assert_eq!(drawn(Counts::default(), 5000, 10), "░░░░░░░░░░");
        assert_eq!(
            drawn(
                Counts {
                    passed: 1,
                    failed: 1,
                    ..Counts::default()
                },
                3,
                7
            ),
            "██✗✗░░░"
        );
    }

    #[test]
    fn a_bar_without_room_does_not_overflow() {
        let counts = Counts {
            passed: 1,
            failed: 1,
            invalid: 1,
            aborted: 1,
            running: 1,
        };
        for columns in 0..8 {
            assert_eq!(drawn(counts, 9, columns).chars().count(), columns);
        }
        assert_eq!(drawn(counts, 0, 0), "");
    }
}
