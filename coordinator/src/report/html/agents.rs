//! Agents compared.

use crate::loading::Loading;
use crate::record::{AgentRecord, RunRecord};
use crate::report::suite::{Suite, suite};
use crate::report::{Figures, Group};
use crate::stats::{PassHatK, RepeatsAlike};

use crate::report::rate::{RateView, failed_by_class, invalid_by_cause};
use crate::words::{count, dollars, duration, median_and_tail, percent, percent_range};

/// One agent.
pub(super) struct AgentView {
    pub(super) name: String,
    /// Kind, version, model asked for and models seen.
    pub(super) facts: Vec<(&'static str, String)>,
    pub(super) own_login: bool,
    pub(super) rate: RateView,
    pub(super) failed: Option<String>,
    pub(super) invalid: Option<String>,
    /// Test cases that passed every time.
    pub(super) always: RateView,
    pub(super) in_a_row: String,
    pub(super) alike: Option<String>,
    pub(super) server_faults: RateView,
    pub(super) attempts: u64,
    pub(super) with_escapes: u64,
    pub(super) duration: Option<String>,
    pub(super) tokens: Option<String>,
    pub(super) cost: Option<String>,
}

impl AgentView {
    pub(super) fn all(run: &RunRecord, figures: &Figures) -> Vec<Self> {
        let columns = run.test_cases.len().max(1);
        run.agents
            .iter()
            .enumerate()
            .filter_map(|(index, agent)| {
                let group = figures.agents.get(index)?;
                let cells = figures.cells.get(index * columns..(index + 1) * columns)?;
                let suite = suite(cells);
                let mut facts = vec![("kind", agent.kind.clone())];
                facts.extend(agent.version.clone().map(|version| ("version", version)));
                facts.extend(agent.model.clone().map(|model| ("model asked for", model)));
                let seen: Vec<&str> = figures.models.get(index)?.iter().map(String::as_str).collect();
                if !seen.is_empty() {
                    facts.push(("model seen", seen.join(", ")));
                }
                facts.push(("sandbox", sandboxes(agent.sandbox.name(), figures, index)));
                facts.extend(agent.image.clone().map(|image| ("image", image)));
                facts.push((
                    "own tools",
                    match agent.builtin_tools.as_str() {
                        "default" => "kept".to_owned(),
                        "none" => "off".to_owned(),
                        other => other.to_owned(),
                    },
                ));
                facts.extend(loadings(agent, figures, index).map(|words| ("tool definitions", words)));
                Some(Self::of(agent.name.clone(), facts, agent.own_login, group, &suite))
            })
            .collect()
    }

    fn of(name: String, facts: Vec<(&'static str, String)>, own_login: bool, group: &Group, suite: &Suite) -> Self {
        Self {
            name,
            facts,
            own_login,
            rate: RateView::of(group.tally.pass_rate()),
            failed: failed_by_class(&group.tally),
            invalid: invalid_by_cause(&group.tally),
            always: RateView::of(suite.distinct.rate),
            in_a_row: in_a_row(suite),
            alike: alike(suite.repeats),
            server_faults: RateView::of(group.attempts.server_fault_rate()),
            attempts: group.attempts.total(),
            with_escapes: group.with_escapes,
            duration: median_and_tail(group.duration_ms(), duration),
            tokens: median_and_tail(group.tokens(), count),
            cost: group.usage.cost_usd.filter(|cost| cost.is_finite()).map(|cost| {
                match median_and_tail(group.cost_usd(), dollars) {
                    Some(each) => format!("{} in all; median {each}", dollars(cost)),
                    None => format!("{} in all", dollars(cost)),
                }
            }),
        }
    }
}

/// `2: 81% (60–93%), 4: 66% (36–87%)`.
fn in_a_row(suite: &Suite) -> String {
    match &suite.in_a_row {
        Ok(lengths) => {
            let words = |it: &PassHatK| match it.range {
                Some(range) => format!("{}: {} ({})", it.k, percent(it.estimate), percent_range(range)),
                None => format!("{}: {}", it.k, percent(it.estimate)),
            };
            lengths.iter().map(words).collect::<Vec<_>>().join(", ")
        }
        Err(why) => why.to_string(),
    }
}

/// `12 of 15 pairs, 80%`.
fn alike(repeats: RepeatsAlike) -> Option<String> {
    let share = repeats.share()?;
    Some(format!(
        "{} of {} pairs, {}",
        repeats.alike,
        repeats.pairs,
        percent(share)
    ))
}

/// The level that was planned, and any other that attempts really ran in.
fn sandboxes(planned: &'static str, figures: &Figures, agent: usize) -> String {
    let mut levels = vec![planned];
    levels.extend(
        figures
            .sandboxes
            .get(agent)
            .into_iter()
            .flatten()
            .filter(|level| **level != planned),
    );
    levels.join(", ")
}

/// How tools were loaded, and how they were asked to be where that is something else.
fn loadings(agent: &AgentRecord, figures: &Figures, index: usize) -> Option<String> {
    let seen = figures.loadings.get(index).filter(|seen| !seen.is_empty())?;
    let words: Vec<&str> = seen.iter().map(|loading| loading.words()).collect();
    let words = words.join(", ");
    let asked = agent.tool_loading.map(Loading::from);
    Some(match asked.filter(|asked| seen.iter().any(|seen| seen != asked)) {
        Some(asked) => format!("{words} (asked for: {})", asked.words()),
        None => words,
    })
}
