//! What goes on at this moment: a line for each attempt, the oldest first.

use mcproctor_proto::call::CallState;
use ratatui::text::{Line, Span};

use crate::event::AttemptKey;
use crate::ui::figures::{clock, counted};
use crate::ui::marks::Mark;
use crate::ui::model::{Plan, Running, View};
use crate::ui::text::{fit, pad, width};
use crate::ui::theme::Theme;

/// Lines of `columns` columns, at most `most` of them; the last one counts what has no line.
pub(super) fn lines(
    view: &View,
    plan: &Plan,
    now: i64,
    spinner: char,
    most: usize,
    columns: usize,
    theme: Theme,
) -> Vec<Line<'static>> {
    let mut running: Vec<(&AttemptKey, &Running)> = view.running().iter().collect();
    running.sort_by_key(|(key, running)| (running.started_at, **key));
    let shown = if running.len() > most {
        most.saturating_sub(1)
    } else {
        running.len()
    };
    let names: Vec<String> = running.iter().take(shown).map(|(key, _)| name(plan, key)).collect();
    let widest = names.iter().map(|name| width(name)).max().unwrap_or(0).min(columns / 2);
    let mut lines: Vec<Line<'static>> = running
        .iter()
        .zip(&names)
        .map(|((key, running), name)| line(key, running, name, widest, now, spinner, columns, theme))
        .collect();
    let hidden = running.len() - shown;
    if hidden > 0 && most > 0 {
        let text = if shown == 0 {
            format!("  {hidden} running")
        } else {
            format!("  and {hidden} more running")
        };
        lines.push(Line::styled(text, theme.dim()));
    }
    lines
}

#[expect(
    clippy::too_many_arguments,
    reason = "one call, and a struct would only repeat these names"
)]
fn line(
    key: &AttemptKey,
    running: &Running,
    name: &str,
    name_columns: usize,
    now: i64,
    spinner: char,
    columns: usize,
    theme: Theme,
) -> Line<'static> {
    let elapsed = format!("{:>6}", clock(now - running.started_at));
    let mut doing = match &running.last_call {
        Some(call) => {
            let sign = match call.state {
                None => "…",
                Some(CallState::Ok) => " ✓",
                Some(_) => " ✗",
            };
            format!("{}{sign}", call.tool)
        }
        None => "no call yet".to_owned(),
    };
    if running.calls > 1 {
        doing.push_str(&format!(" · {}", counted(u64::from(running.calls), "call")));
    }
    if running.turn > 0 {
        doing.push_str(&format!(" · turn {}", running.turn + 1));
    }
    if key.attempt > 1 {
        doing.push_str(&format!(" · attempt {}", key.attempt));
    }
    let rest = columns.saturating_sub(2 + name_columns + 1 + width(&elapsed) + 2);
    Line::from(vec![
        Span::styled(format!("{spinner} "), theme.mark(Mark::Running)),
        Span::raw(pad(name, name_columns)),
        Span::raw(format!(" {elapsed}  ")),
        Span::styled(fit(&doing, rest), theme.dim()),
    ])
}

/// `compare two forecasts #2`, with the agent when there are several.
fn name(plan: &Plan, key: &AttemptKey) -> String {
    let cell = key.cell as usize;
    let cases = plan.test_cases.len();
    let agent = cell.checked_div(cases).and_then(|agent| plan.agents.get(agent));
    let case = cell.checked_rem(cases).and_then(|case| plan.test_cases.get(case));
    match (agent, case) {
        (Some(agent), Some(case)) if plan.agents.len() > 1 => {
            format!("{} #{} {}", fit(case, 24), key.iteration, agent.name)
        }
        (_, Some(case)) => format!("{} #{}", fit(case, 32), key.iteration),
        _ => format!("cell {cell} #{}", key.iteration),
    }
}
