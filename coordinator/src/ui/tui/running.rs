//! What goes on at this moment: a line for each attempt, the oldest first.

use mcproctor_proto::call::CallState;
use ratatui::text::{Line, Span};

use crate::event::AttemptKey;
use crate::ui::figures::clock;
use crate::ui::marks::Mark;
use crate::ui::model::{Plan, Running, View};
use crate::ui::text::{fit, pad, width};
use crate::ui::theme::Theme;
use crate::words::counted;

/// Columns of a test case's name at most.
const WIDEST_NAME: usize = 32;

/// How the lines are drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    /// Milliseconds of Unix time.
    pub(super) now: i64,
    pub(super) spinner: char,
    pub(super) theme: Theme,
    pub(super) columns: usize,
}

/// At most `most` lines; when there is more, the last one counts it.
pub(super) fn lines(view: &View, plan: &Plan, most: usize, look: Look) -> Vec<Line<'static>> {
    let mut running: Vec<(&AttemptKey, &Running)> = view.running().iter().collect();
    running.sort_by_key(|(key, running)| (running.started_at, **key));
    let shown = if running.len() > most {
        most.saturating_sub(1)
    } else {
        running.len()
    };
    let name_columns = name_columns(plan, look.columns);
    let mut lines: Vec<Line<'static>> = running
        .iter()
        .take(shown)
        .map(|(key, running)| line(plan, key, running, name_columns, look))
        .collect();
    let hidden = running.len() - shown;
    if hidden > 0 && most > 0 {
        let text = if shown == 0 {
            format!("  {hidden} running")
        } else {
            format!("  and {hidden} more running")
        };
        lines.push(Line::styled(text, look.theme.dim()));
    }
    lines
}

/// From the plan, so that the columns stay where they are while attempts come and go.
fn name_columns(plan: &Plan, columns: usize) -> usize {
    let number = " #".len() + plan.iterations.max(1).ilog10() as usize + 1;
    let agents = if plan.agents.len() > 1 {
        plan.agents
            .iter()
            .map(|agent| 1 + width(&agent.name))
            .max()
            .unwrap_or(0)
    } else {
        0
    };
    (plan.name_width.min(WIDEST_NAME) + number + agents).min(columns / 2)
}

fn line(plan: &Plan, key: &AttemptKey, running: &Running, name_columns: usize, look: Look) -> Line<'static> {
    let elapsed = format!("{:>6}", clock(look.now - running.started_at));
    let rest = look.columns.saturating_sub(2 + name_columns + 1 + width(&elapsed) + 2);
    Line::from(vec![
        Span::styled(format!("{} ", look.spinner), look.theme.mark(Mark::Running)),
        Span::raw(pad(&name(plan, key, name_columns), name_columns)),
        Span::raw(format!(" {elapsed}  ")),
        Span::styled(fit(&doing(key, running), rest), look.theme.dim()),
    ])
}

/// `get_forecast ✓ · 2 calls · turn 2`: the latest call and how it ended, then what is worth saying beside it.
fn doing(key: &AttemptKey, running: &Running) -> String {
    let mut doing = match &running.last_call {
        None => "no call yet".to_owned(),
        Some(call) => match call.state {
            None => format!("calling {}", call.tool),
            Some(CallState::Ok) => format!("{} ✓", call.tool),
            Some(_) => format!("{} ✗", call.tool),
        },
    };
    if running.calls > 1 {
        doing.push_str(&format!(" · {}", counted(u64::from(running.calls), "call")));
    }
    if running.turn > 0 {
        doing.push_str(&format!(" · turn {}", running.turn.saturating_add(1)));
    }
    if key.attempt > 1 {
        doing.push_str(&format!(" · attempt {}", key.attempt));
    }
    doing
}

/// `compare two forecasts #2`, with the agent when there are several; only the test case's name is cut.
fn name(plan: &Plan, key: &AttemptKey, columns: usize) -> String {
    let cell = key.cell as usize;
    let cases = plan.test_cases.len();
    let agent = cell.checked_div(cases).and_then(|agent| plan.agents.get(agent));
    let case = cell.checked_rem(cases).and_then(|case| plan.test_cases.get(case));
    let number = match agent {
        Some(agent) if plan.agents.len() > 1 => format!(" #{} {}", key.iteration, agent.name),
        _ => format!(" #{}", key.iteration),
    };
    let case = case.map_or("", String::as_str);
    format!(
        "{}{number}",
        fit(case, columns.saturating_sub(width(&number)).min(WIDEST_NAME))
    )
}
