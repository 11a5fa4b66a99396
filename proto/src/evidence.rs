//! Evidence: pieces found by the hash of their content.

use serde::{Deserialize, Serialize};

/// What a piece of evidence holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceKind {
    /// Every call in full, one [`crate::call::ToolCall`] as JSON a line.
    Calls,
    /// The agent's own output, all turns.
    Transcript,
    /// The agent's standard error, all turns.
    Stderr,
    /// Everything else recorded on the wire: initialize, lists, resources, prompts; one JSON object a line.
    Wire,
    /// The tool list as the agent saw it, canonical JSON.
    ToolList,
}

impl EvidenceKind {
    /// Every kind, in the order of the reports.
    pub const ALL: [Self; 5] = [Self::Calls, Self::Transcript, Self::Stderr, Self::Wire, Self::ToolList];

    /// The name used on the wire and in the store.
    pub fn name(self) -> &'static str {
        match self {
            Self::Calls => "calls",
            Self::Transcript => "transcript",
            Self::Stderr => "stderr",
            Self::Wire => "wire",
            Self::ToolList => "tool_list",
        }
    }

    /// The kind of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// A piece of evidence, found by its content.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EvidenceRef {
    /// What it holds.
    pub kind: EvidenceKind,
    /// SHA-256 of the uncompressed bytes, 64 hex digits.
    pub sha256: String,
    /// Uncompressed size in bytes.
    pub bytes: u64,
}
