//! `run.sandbox`: what holds the agents, and what they may use there.

use mcproctor_proto::assignment::SandboxLevel;

use crate::yaml::{Item, Number, Problems, Text, Value};

/// The section: a level alone, or a mapping.
#[derive(Default)]
pub(in crate::config) struct SandboxSection {
    pub(in crate::config) level: Option<SandboxLevel>,
    pub(in crate::config) image: Option<Text>,
    pub(in crate::config) memory_mb: Option<Number>,
    pub(in crate::config) processes: Option<Number>,
    pub(in crate::config) cpus: Option<Number>,
    pub(in crate::config) disk_mb: Option<Number>,
}

const LEVELS: [(&str, SandboxLevel); 4] = [
    ("process", SandboxLevel::Process),
    ("landlock", SandboxLevel::Landlock),
    ("bubblewrap", SandboxLevel::Bubblewrap),
    ("container", SandboxLevel::Container),
];

/// Reads a level.
pub(super) fn read_level(item: &Item<'_>, problems: &mut Problems) -> Option<SandboxLevel> {
    item.word(&LEVELS, &[], problems)
}

impl SandboxSection {
    pub(super) fn read(item: &Item<'_>, problems: &mut Problems) -> Option<Self> {
        if let Value::Sequence(_) = item.node.value {
            problems.add(item.unexpected(
                "process, landlock, bubblewrap or container, or a mapping with `level` and what an attempt may use",
                problems,
            ));
            return None;
        }
        if !matches!(item.node.value, Value::Mapping(_)) {
            return Some(Self {
                level: Some(read_level(item, problems)?),
                ..Self::default()
            });
        }
        let mut fields = item.fields(problems)?;
        let level = fields.get("level").and_then(|item| read_level(&item, problems));
        let image = fields.get("image").and_then(|item| item.text(problems));
        let mut number = |key, problems: &mut Problems| fields.get(key).and_then(|item| item.number(problems));
        let memory_mb = number("memoryMb", problems);
        let processes = number("processes", problems);
        let cpus = number("cpus", problems);
        let disk_mb = number("diskMb", problems);
        fields.finish(problems);
        Some(Self {
            level,
            image,
            memory_mb,
            processes,
            cpus,
            disk_mb,
        })
    }
}
