//! How often, with which agents, within which limits.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::agent::resolve_agents;
use super::context::{Context, ranged};
use super::gateway::{refuse_gateway_models, resolve_gateway};
use super::sandbox::{refuse_idle_image, resolve_sandbox};
use crate::config::file::RunSection;
use crate::config::settings::RunSettings;
use crate::yaml::{Number, Problems};

/// What `run.iterations` and `-i` may be.
pub(in crate::config) const ITERATIONS: RangeInclusive<u32> = 1..=100_000;

/// A day; a turn that takes longer is a slip of the pen.
const TIMEOUT_SECONDS: RangeInclusive<u32> = 1..=86_400;
/// Iterations at once, over all workers.
pub(in crate::config) const CONCURRENCY: RangeInclusive<u32> = 1..=10_000;
const MAX_ATTEMPTS: RangeInclusive<u32> = 1..=100;

const DEFAULT_ITERATIONS: u32 = 3;
const DEFAULT_TIMEOUT_SECONDS: u32 = 300;
const DEFAULT_MAX_ATTEMPTS: u32 = 3;

pub(super) fn resolve_run(section: &RunSection, context: &Context<'_>, problems: &mut Problems) -> Option<RunSettings> {
    let iterations = or_default(&section.iterations, ITERATIONS, DEFAULT_ITERATIONS, problems);
    let timeout = or_default(
        &section.timeout_seconds,
        TIMEOUT_SECONDS,
        DEFAULT_TIMEOUT_SECONDS,
        problems,
    );
    let max_attempts = or_default(&section.max_attempts, MAX_ATTEMPTS, DEFAULT_MAX_ATTEMPTS, problems);
    let concurrency = section
        .concurrency
        .as_ref()
        .map(|number| ranged(number, CONCURRENCY, problems));
    let seed = section
        .seed
        .as_ref()
        .map(|number| ranged(number, 0..=u64::MAX, problems));
    let sandbox = resolve_sandbox(section, problems);
    let mut agents = resolve_agents(section.agents.as_deref(), section.gateway.is_some(), context, problems);
    let entries = section.agents.as_deref().unwrap_or_default();
    let gateway = match &section.gateway {
        Some(gateway) => {
            let agents = agents.as_deref_mut().unwrap_or_default();
            Some(resolve_gateway(gateway, entries, agents, context, problems))
        }
        None => {
            refuse_gateway_models(entries, problems);
            None
        }
    };
    if let (Some(sandbox), Some(agents)) = (&sandbox, &agents) {
        refuse_idle_image(section, sandbox, agents, problems);
    }
    let (limits, limit_places) = section.limits.unwrap_or_default();
    Some(RunSettings {
        iterations: iterations?,
        agents: agents?,
        turn_timeout: Duration::from_secs(timeout?.into()),
        concurrency: concurrency.map_or(Some(None), |number| number.map(Some))?,
        max_attempts: max_attempts?,
        seed: seed.map_or(Some(None), |number| number.map(Some))?,
        sandbox: sandbox?,
        thresholds: section.thresholds.unwrap_or_default(),
        limits,
        limit_places,
        gateway: gateway.map_or(Some(None), |gateway| gateway.map(Some))?,
    })
}

fn or_default(
    number: &Option<Number>,
    range: RangeInclusive<u32>,
    default: u32,
    problems: &mut Problems,
) -> Option<u32> {
    match number {
        Some(number) => ranged(number, range, problems),
        None => Some(default),
    }
}
