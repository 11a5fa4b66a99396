//! Faults: what a model endpoint does when it does not answer.

use super::ScenarioError;
use super::node::Node;
use std::time::Duration;

/// A fault in a script and how often it strikes.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    pub(crate) kind: FaultKind,
    /// How often before the script goes on; `None` for ever.
    pub(crate) times: Option<u64>,
    pub(crate) counted: Counted,
    /// Waited before anything is sent.
    pub(crate) delay: Duration,
}

/// Over what `times` counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counted {
    /// Each conversation meets the fault `times` times.
    PerConversation,
    /// All conversations of the scenario together meet it `times` times.
    PerScenario,
}

/// What happens instead of an answer.
#[derive(Debug, Clone)]
pub(crate) enum FaultKind {
    /// An HTTP status with the dialect's error body.
    Status {
        status: u16,
        retry_after: Option<u64>,
        code: Option<String>,
        message: Option<String>,
    },
    /// Accepted, then silence with the connection open.
    Hang(Moment),
    /// The connection ends early.
    Cut(Moment),
    /// HTTP 200, then an error event in the stream (a plain error 500 without streaming).
    ErrorEvent { message: Option<String> },
}

/// When silence begins or the connection ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// Before any byte of the response.
    AtOnce,
    /// After about half of the next turn.
    Midway,
}

pub(super) const FAULT_KEYS: [&str; 4] = ["status", "hang", "cut", "errorEvent"];

pub(super) fn read(step: &Node<'_>, kind: &str, delay: Duration) -> Result<Fault, ScenarioError> {
    let value = step.need(kind)?;
    let kind = match kind {
        "status" => {
            step.only(&["status", "retryAfter", "code", "message", "times", "per", "delayMs"])?;
            let status = value.number()?;
            let status = u16::try_from(status)
                .ok()
                .filter(|status| (400..600).contains(status))
                .ok_or_else(|| value.error("expected an HTTP status from 400 to 599"))?;
            FaultKind::Status {
                status,
                retry_after: step.get("retryAfter").map(|node| node.number()).transpose()?,
                code: step.get("code").map(|node| node.text()).transpose()?,
                message: step.get("message").map(|node| node.text()).transpose()?,
            }
        }
        "errorEvent" => {
            step.only(&["errorEvent", "times", "per", "delayMs"])?;
            let message = if value.value().as_bool() == Some(true) {
                None
            } else {
                Some(value.text()?)
            };
            FaultKind::ErrorEvent { message }
        }
        other => {
            step.only(&[other, "times", "per", "delayMs"])?;
            let moment = match value.text()?.as_str() {
                "at-once" => Moment::AtOnce,
                "midway" => Moment::Midway,
                _ => return Err(value.error("expected at-once or midway")),
            };
            if other == "hang" {
                FaultKind::Hang(moment)
            } else {
                FaultKind::Cut(moment)
            }
        }
    };
    let counted = match step.get("per") {
        None => Counted::PerConversation,
        Some(per) => match per.text()?.as_str() {
            "conversation" => Counted::PerConversation,
            "scenario" => Counted::PerScenario,
            _ => return Err(per.error("expected conversation or scenario")),
        },
    };
    Ok(Fault {
        kind,
        times: step.get("times").map(|node| node.number()).transpose()?,
        counted,
        delay,
    })
}
