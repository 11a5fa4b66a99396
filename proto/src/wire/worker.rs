//! What workers say.

use super::malformed::{Malformed, optional, required};
use super::records::traffic;
use crate::agent::AgentKind;
use crate::assignment::{AttemptReport, Instruction, LiveEvent, SandboxLevel, TurnReport};
use crate::call::CallState;
use crate::id::{AttemptId, Lease};
use crate::v1;
use crate::worker::{AgentVersion, Hello};

impl From<&Lease> for v1::Lease {
    fn from(lease: &Lease) -> Self {
        Self {
            attempt: lease.attempt.as_str().to_owned(),
            epoch: lease.epoch,
        }
    }
}

impl From<v1::Lease> for Lease {
    fn from(lease: v1::Lease) -> Self {
        Self {
            attempt: AttemptId::new(lease.attempt),
            epoch: lease.epoch,
        }
    }
}

/// The lease that a message is about.
///
/// # Errors
/// When the message names none.
pub(super) fn lease(lease: Option<v1::Lease>) -> Result<Lease, Malformed> {
    required("lease", lease).map(Lease::from)
}

impl From<&Hello> for v1::Hello {
    fn from(hello: &Hello) -> Self {
        Self {
            worker: hello.worker.clone(),
            version: hello.version.clone(),
            slots: hello.slots,
            agents: hello
                .agents
                .iter()
                .map(|agent| v1::AgentVersion {
                    kind: agent.kind.name().to_owned(),
                    version: agent.version.clone(),
                })
                .collect(),
            sandboxes: hello.sandboxes.iter().map(|level| level.name().to_owned()).collect(),
            labels: hello.labels.clone().into_iter().collect(),
            running: hello.running.iter().map(v1::Lease::from).collect(),
        }
    }
}

impl From<v1::Hello> for Hello {
    /// Agents and sandboxes that this version does not know are left out: it could not ask for them.
    fn from(hello: v1::Hello) -> Self {
        Self {
            worker: hello.worker,
            version: hello.version,
            slots: hello.slots,
            agents: hello
                .agents
                .into_iter()
                .filter_map(|agent| {
                    Some(AgentVersion {
                        kind: AgentKind::from_name(&agent.kind)?,
                        version: agent.version,
                    })
                })
                .collect(),
            sandboxes: hello
                .sandboxes
                .iter()
                .filter_map(|level| SandboxLevel::from_name(level))
                .collect(),
            labels: hello.labels.into_iter().collect(),
            running: hello.running.into_iter().map(Lease::from).collect(),
        }
    }
}

impl v1::TurnFinished {
    /// The message for a report under a lease.
    pub(crate) fn new(lease: &Lease, report: &TurnReport) -> Self {
        Self {
            lease: Some(lease.into()),
            turn: Some((&report.turn).into()),
            calls: report.calls.iter().map(v1::ToolCall::from).collect(),
            requests: report.requests.iter().map(v1::McpRequest::from).collect(),
            exposures: report.exposures.iter().map(v1::Exposure::from).collect(),
            traffic: Some((&report.traffic).into()),
        }
    }

    /// The lease and the report.
    ///
    /// # Errors
    /// When a field is missing or unknown.
    pub(crate) fn read(self) -> Result<(Lease, TurnReport), Malformed> {
        let report = TurnReport {
            turn: required("turn", self.turn)?.try_into()?,
            calls: self
                .calls
                .into_iter()
                .map(TryInto::try_into)
                .collect::<Result<_, _>>()?,
            requests: self.requests.into_iter().map(Into::into).collect(),
            exposures: self.exposures.into_iter().map(Into::into).collect(),
            traffic: traffic(self.traffic)?,
        };
        Ok((lease(self.lease)?, report))
    }
}

impl v1::AttemptFinished {
    /// The message for a report under a lease.
    pub(crate) fn new(lease: &Lease, report: &AttemptReport) -> Self {
        Self {
            lease: Some(lease.into()),
            machinery_fault: report.machinery_fault.clone().unwrap_or_default(),
            sandbox: report.sandbox.name().to_owned(),
            evidence: report.evidence.iter().map(v1::EvidenceRef::from).collect(),
            calls: report.calls.iter().map(v1::ToolCall::from).collect(),
            requests: report.requests.iter().map(v1::McpRequest::from).collect(),
            exposures: report.exposures.iter().map(v1::Exposure::from).collect(),
            traffic: Some((&report.traffic).into()),
            duration_ms: report.duration_ms,
        }
    }

    /// The lease and the report.
    ///
    /// # Errors
    /// When a field is missing or unknown.
    pub(crate) fn read(self) -> Result<(Lease, AttemptReport), Malformed> {
        let report = AttemptReport {
            machinery_fault: optional(self.machinery_fault),
            sandbox: SandboxLevel::from_name(&self.sandbox)
                .ok_or_else(|| Malformed::unknown("sandbox", &self.sandbox))?,
            evidence: self
                .evidence
                .into_iter()
                .map(TryInto::try_into)
                .collect::<Result<_, _>>()?,
            calls: self
                .calls
                .into_iter()
                .map(TryInto::try_into)
                .collect::<Result<_, _>>()?,
            requests: self.requests.into_iter().map(Into::into).collect(),
            exposures: self.exposures.into_iter().map(Into::into).collect(),
            traffic: traffic(self.traffic)?,
            duration_ms: self.duration_ms,
        };
        Ok((lease(self.lease)?, report))
    }
}

impl v1::LiveEvent {
    /// The message for an event under a lease.
    pub(crate) fn new(lease: &Lease, event: &LiveEvent) -> Self {
        use v1::live_event::Event;
        let event = match event {
            LiveEvent::TurnStarted { turn } => Event::TurnStarted(v1::TurnStarted { turn: *turn }),
            LiveEvent::CallStarted { call, tool } => Event::CallStarted(v1::CallStarted {
                call: call.clone(),
                tool: tool.clone(),
            }),
            LiveEvent::CallEnded {
                call,
                tool,
                state,
                duration_ms,
            } => Event::CallEnded(v1::CallEnded {
                call: call.clone(),
                tool: tool.clone(),
                state: v1::CallState::from(*state).into(),
                duration_ms: *duration_ms,
            }),
        };
        Self {
            lease: Some(lease.into()),
            event: Some(event),
        }
    }

    /// The lease and the event.
    ///
    /// # Errors
    /// When a field is missing or unknown.
    pub(crate) fn read(self) -> Result<(Lease, LiveEvent), Malformed> {
        use v1::live_event::Event;
        let event = match required("event", self.event)? {
            Event::TurnStarted(started) => LiveEvent::TurnStarted { turn: started.turn },
            Event::CallStarted(started) => LiveEvent::CallStarted {
                call: started.call,
                tool: started.tool,
            },
            Event::CallEnded(ended) => LiveEvent::CallEnded {
                call: ended.call,
                tool: ended.tool,
                state: CallState::from_wire(ended.state)?,
                duration_ms: ended.duration_ms,
            },
        };
        Ok((lease(self.lease)?, event))
    }
}

impl v1::Instruction {
    /// The message for an instruction after a turn.
    pub(crate) fn new(lease: &Lease, after_turn: u32, instruction: &Instruction) -> Self {
        use v1::instruction::Instruction as Wire;
        let instruction = match instruction {
            Instruction::Say(text) => Wire::Say(text.clone()),
            Instruction::Finish => Wire::Finish(true),
        };
        Self {
            lease: Some(lease.into()),
            after_turn,
            instruction: Some(instruction),
        }
    }

    /// The lease, the turn it follows, and the instruction.
    ///
    /// # Errors
    /// When a field is missing.
    pub(crate) fn read(self) -> Result<(Lease, u32, Instruction), Malformed> {
        use v1::instruction::Instruction as Wire;
        let instruction = match required("instruction", self.instruction)? {
            Wire::Say(text) => Instruction::Say(text),
            Wire::Finish(_) => Instruction::Finish,
        };
        Ok((lease(self.lease)?, self.after_turn, instruction))
    }
}
