//! What holds the agents, and what they may use there.

use std::ops::RangeInclusive;

use mcproctor_proto::agent::Agent;
use mcproctor_proto::assignment::Resources;

use super::context::ranged;
use crate::config::file::{AgentEntry, RunSection};
use crate::config::sandbox::SandboxSettings;
use crate::yaml::{Number, Problems, Text};

/// An agent's program alone takes some 300 MB.
const MEMORY_MB: RangeInclusive<u32> = 64..=16_000_000;
/// The command lines of agents have up to 55 processes and threads at once on two processors, and more on more.
const PROCESSES: RangeInclusive<u32> = 128..=1_000_000;
const CPUS: RangeInclusive<u32> = 1..=4_096;
const DISK_MB: RangeInclusive<u32> = 1..=1_000_000_000;

pub(super) fn resolve_sandbox(section: &RunSection, problems: &mut Problems) -> Option<SandboxSettings> {
    let entries = section.agents.iter().flatten();
    let of_agents = entries
        .filter_map(|entry| match entry {
            AgentEntry::Named(_) => None,
            AgentEntry::Full(agent) => Some((agent.shown_name().to_owned(), agent.sandbox?)),
        })
        .collect();
    let Some(sandbox) = &section.sandbox else {
        return Some(SandboxSettings {
            of_agents,
            ..SandboxSettings::default()
        });
    };
    let image = match &sandbox.image {
        Some(image) => checked_image(image, problems).map(Some),
        None => Some(None),
    };
    let mut limit = |number: &Option<Number>, range| match number {
        Some(number) => ranged(number, range, problems).map(Some),
        None => Some(None),
    };
    let memory_mb = limit(&sandbox.memory_mb, MEMORY_MB);
    let processes = limit(&sandbox.processes, PROCESSES);
    let cpus = limit(&sandbox.cpus, CPUS);
    let disk_mb = limit(&sandbox.disk_mb, DISK_MB);
    let bytes = |mb: u32| u64::from(mb) * 1024 * 1024;
    Some(SandboxSettings {
        level: sandbox.level,
        of_agents,
        image: image?,
        resources: Resources {
            memory_bytes: memory_mb?.map(bytes),
            processes: processes?,
            cpus: cpus?,
            disk_bytes: disk_mb?.map(bytes),
        },
    })
}

/// An image that no agent could come to would be ignored.
pub(super) fn refuse_idle_image(
    section: &RunSection,
    sandbox: &SandboxSettings,
    agents: &[Agent],
    problems: &mut Problems,
) {
    let image = section.sandbox.as_ref().and_then(|sandbox| sandbox.image.as_ref());
    if let Some(image) = image
        && !sandbox.may_come_to_a_container(agents)
    {
        let problem = image.problem(
            problems,
            "no agent is held in a container, so the image is used by none",
        );
        problems.add(problem.remedy("say `level: container`, here or as an agent's `sandbox`, or remove the key"));
    }
}

/// A name that an engine may know an image by: with its registry, its tag and its digest, or an id.
fn checked_image(image: &Text, problems: &mut Problems) -> Option<String> {
    let begins = image.value.starts_with(|c: char| c.is_ascii_alphanumeric());
    if begins
        && image
            .value
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "._-/:@".contains(c))
    {
        return Some(image.value.clone());
    }
    let problem = image.problem(problems, format!("`{}` cannot name an image", image.shown));
    problems.add(problem.accepted("a name such as `mcproctor-agents` or `registry.example/agents:1`"));
    None
}
