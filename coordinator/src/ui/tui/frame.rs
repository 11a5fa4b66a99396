//! One frame: header, list, what is running, footer.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::keys::{Filter, Viewer};
use super::{list, running};
use crate::ui::figures::{about, clock, file_url, invalid, live_rate, repeated};
use crate::ui::judge;
use crate::ui::model::{Plan, View};
use crate::ui::row::{Columns, bar};
use crate::ui::text::{fit, fit_middle, flow, width};
use crate::ui::theme::Theme;
use crate::words::counted;

/// Frames of the spinner: braille, a dot lower each time.
const SPINNER: [char; 8] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧'];
/// Lines of the list that are kept before anything else is shown in detail.
const SHORTEST_LIST: usize = 4;
/// Running attempts that are shown even if a list that could fit must scroll for it.
const FEWEST_RUNNING: usize = 3;
/// A progress bar narrower than this says nothing.
const NARROWEST_BAR: usize = 12;
/// One wider says no more.
const WIDEST_BAR: usize = 48;

/// What a frame is made of.
pub(in crate::ui) struct Screenful<'a> {
    pub(in crate::ui) view: &'a View,
    /// Milliseconds of Unix time.
    pub(in crate::ui) now: i64,
    pub(in crate::ui) theme: Theme,
}

impl Screenful<'_> {
    /// Draws the frame, and tells the viewer what fitted.
    pub(in crate::ui) fn render(&self, frame: &mut Frame<'_>, viewer: &mut Viewer) {
        let area = frame.area();
        let (columns, rows) = (usize::from(area.width), usize::from(area.height));
        let lines = match self.view.plan() {
            Some(plan) => self.lines(plan, viewer, columns, rows),
            None => vec![Line::raw(fit(
                &format!("{} the run is being prepared", self.spinner()),
                columns,
            ))],
        };
        for (row, line) in (0..area.height).zip(lines) {
            frame.render_widget(line, Rect::new(area.x, area.y + row, area.width, 1));
        }
    }

    fn spinner(&self) -> char {
        let step = usize::try_from(self.now.max(0) / 100).unwrap_or(0) % SPINNER.len();
        SPINNER.get(step).copied().unwrap_or('▸')
    }

    /// Exactly as many lines as there are rows.
    fn lines(&self, plan: &Plan, viewer: &mut Viewer, columns: usize, rows: usize) -> Vec<Line<'static>> {
        let footer = self.footer(viewer, columns);
        let header = self.header(plan, columns);
        // On a screen that is too low the list matters more than the rest.
        let header_rows = header.len().min(rows.saturating_sub(2).max(1));
        let footer_rows = footer.len().min(rows.saturating_sub(header_rows + SHORTEST_LIST));
        let between = rows.saturating_sub(header_rows + footer_rows);

        let (page, running_rows) = self.divide(plan, between);
        let look = running::Look {
            now: self.now,
            spinner: self.spinner(),
            theme: self.theme,
            columns,
        };
        let mut running = running::lines(self.view, plan, running_rows.saturating_sub(1), look);
        running.resize(running_rows.saturating_sub(1), Line::default());

        let mut lines: Vec<Line<'static>> = header.into_iter().take(header_rows).collect();
        lines.extend(self.list(plan, viewer, columns, page));
        // What stands below stays below.
        let gap = rows.saturating_sub(lines.len() + running_rows + footer_rows);
        lines.extend(std::iter::repeat_n(Line::default(), gap));
        if running_rows > 0 {
            lines.push(self.rule("running", columns));
            lines.extend(running);
        }
        lines.extend(footer.into_iter().take(footer_rows));
        lines.truncate(rows);
        lines
    }

    /// Divides rows between the list and what is running: lines of the list, and rows of the other with its rule. It
    /// follows what ran at once at most, so that nothing jumps while attempts come and go.
    fn divide(&self, plan: &Plan, rows: usize) -> (usize, usize) {
        let headings = if plan.agents.len() > 1 { plan.agents.len() } else { 0 };
        let all = self.view.cells().len() + headings;
        if self.view.running().is_empty() {
            let position = usize::from(all > rows);
            return (rows.saturating_sub(position), 0);
        }
        let slots = usize::try_from(self.view.most_running()).unwrap_or(usize::MAX);
        let fewest = slots.min(FEWEST_RUNNING);
        if all + 1 + fewest <= rows {
            return (all, (rows - all).min(slots.saturating_add(1)));
        }
        // A rule, two attempts and a line that counts the others, at the least.
        let running = if rows < SHORTEST_LIST + 4 {
            0
        } else {
            (rows * 2 / 5).max(4).min(slots.saturating_add(1))
        };
        (rows.saturating_sub(running + 1), running)
    }

    fn header(&self, plan: &Plan, columns: usize) -> Vec<Line<'static>> {
        let (view, theme) = (self.view, self.theme);
        let totals = view.totals();
        let total = view.total_iterations();
        let mut lines = vec![title(plan, columns, theme)];

        let finished = format!(" {}/{total}", totals.finished());
        let mut after = vec![clock(view.elapsed_ms(self.now))];
        after.extend(view.remaining_ms(self.now).map(|ms| format!("{} left", about(ms))));
        let times = after.join(" · ");
        let beside = columns.saturating_sub(width(&finished) + 2 + width(&times));
        let times_fit = beside >= NARROWEST_BAR;
        let bar_columns = if times_fit {
            beside
        } else {
            columns.saturating_sub(width(&finished))
        };
        let mut spans = bar(totals, total, bar_columns.min(WIDEST_BAR), theme);
        spans.push(Span::styled(finished, theme.strong()));
        if times_fit {
            spans.push(Span::raw(format!("  {times}")));
        }
        lines.push(Line::from(spans));

        if !times_fit {
            lines.push(Line::raw(fit(&times, columns)));
        }
        let mut parts = vec![format!("{} passed", totals.passed), format!("{} failed", totals.failed)];
        parts.extend(invalid(view));
        parts.extend(live_rate(totals.passed, totals.decided()));
        parts.push(match view.busy_workers() {
            0 => "none running".to_owned(),
            workers => format!("{} running on {}", totals.running, counted(workers as u64, "worker")),
        });
        parts.extend(repeated(view));
        parts.extend(judge::progress(view));
        lines.extend(flow(&parts, columns).into_iter().map(Line::raw));
        if let Some(reason) = view.stopping() {
            lines.push(Line::styled(
                fit(&format!("Stopping: {reason}"), columns),
                theme.warning(),
            ));
        }
        lines.push(Line::default());
        lines
    }

    fn list(&self, plan: &Plan, viewer: &mut Viewer, columns: usize, page: usize) -> Vec<Line<'static>> {
        let entries = list::entries(self.view, plan, viewer.filter, page);
        viewer.settle(entries.len(), page);
        let layout = Columns::live(plan, columns);
        let shown = entries.iter().skip(viewer.offset).take(page);
        let mut lines: Vec<Line<'static>> = shown
            .map(|entry| list::line(*entry, self.view, plan, &layout, self.spinner(), self.theme, columns))
            .collect();
        if entries.is_empty() {
            let text = format!("no test case is {} (f shows others)", viewer.filter.name());
            lines.push(Line::styled(fit(&text, columns), self.theme.dim()));
        }
        if let Some(position) = self.position(viewer, entries.len(), page) {
            lines.push(Line::styled(fit(&position, columns), self.theme.dim()));
        }
        lines
    }

    /// Where in the list we are, and what is outside; `None` when all of it is seen.
    fn position(&self, viewer: &Viewer, entries: usize, page: usize) -> Option<String> {
        if entries <= page {
            return None;
        }
        let (first, last) = (viewer.offset + 1, viewer.offset + page);
        let failing = self.view.cells().iter().filter(|cell| cell.is_failing()).count();
        let mut text = format!("{first}–{last} of {entries} lines");
        if viewer.filter == Filter::All && failing > 0 {
            text.push_str(&format!(" · {failing} failing, shown first"));
        }
        Some(text)
    }

    fn footer(&self, viewer: &Viewer, columns: usize) -> Vec<Line<'static>> {
        let mut lines = vec![self.rule("", columns)];
        if let Some(notice) = self.view.notices().last() {
            lines.push(Line::styled(
                fit(&format!("Notice: {notice}"), columns),
                self.theme.warning(),
            ));
        }
        if let Some(path) = self.view.report() {
            let url = file_url(path);
            let text = fit_middle(&format!("Report: {url}"), columns);
            lines.push(Line::styled(text, self.theme.link()));
        }
        let stop = if viewer.stopping {
            "stopping · Ctrl-C stop at once"
        } else {
            "q stop"
        };
        let keys = format!("{stop} · ↑↓ scroll · f {}", viewer.filter.name());
        lines.push(Line::styled(fit(&keys, columns), self.theme.dim()));
        lines
    }

    fn rule(&self, title: &str, columns: usize) -> Line<'static> {
        let start = if title.is_empty() {
            String::new()
        } else {
            format!("─ {title} ")
        };
        let rest = "─".repeat(columns.saturating_sub(width(&start)));
        Line::styled(fit(&format!("{start}{rest}"), columns), self.theme.dim())
    }
}

/// The run's config and its id.
fn title(plan: &Plan, columns: usize, theme: Theme) -> Line<'static> {
    let id = plan.id.as_str();
    let name = fit_middle(&plan.config_file, columns.saturating_sub("mcproctor ".len()));
    let left = width("mcproctor ") + width(&name);
    let mut spans = vec![Span::styled("mcproctor ", theme.strong()), Span::raw(name)];
    let gap = columns.saturating_sub(left + width(id));
    if gap >= 2 {
        spans.push(Span::raw(" ".repeat(gap)));
        spans.push(Span::styled(id.to_owned(), theme.dim()));
    }
    Line::from(spans)
}
