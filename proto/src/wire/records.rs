//! What is recorded of an attempt.

use serde_json::value::RawValue;

use super::malformed::{Malformed, optional, required};
use crate::call::{CallState, ToolCall};
use crate::evidence::{EvidenceKind, EvidenceRef};
use crate::exposure::{Exposure, ServerFault};
use crate::request::McpRequest;
use crate::tokens::{ModelUsage, Tokens};
use crate::traffic::{ModelRefusal, ModelTraffic};
use crate::turn::{Escape, EscapeKind, Turn, TurnEnding, Usage};
use crate::v1;

fn raw_to_wire(raw: Option<&RawValue>) -> String {
    raw.map(RawValue::get).unwrap_or_default().to_owned()
}

fn raw_from_wire(field: &'static str, text: String) -> Result<Option<Box<RawValue>>, Malformed> {
    match optional(text) {
        None => Ok(None),
        Some(text) => RawValue::from_string(text).map(Some).map_err(|error| Malformed {
            field,
            problem: format!("it is not JSON: {error}"),
        }),
    }
}

impl From<&ToolCall> for v1::ToolCall {
    fn from(call: &ToolCall) -> Self {
        Self {
            id: call.id.clone(),
            server: call.server.clone(),
            tool: call.tool.clone(),
            arguments: raw_to_wire(call.arguments.as_deref()),
            state: v1::CallState::from(call.state).into(),
            result: raw_to_wire(call.result.as_deref()),
            error: call.error.clone().unwrap_or_default(),
            started_at_unix_ms: call.started_at_unix_ms,
            duration_ms: call.duration_ms,
            bytes: call.bytes,
            sha256: call.sha256.clone(),
            truncated: call.truncated,
            legs: call.legs,
            turn: call.turn,
            http_status: call.http_status.map(u32::from).unwrap_or_default(),
        }
    }
}

impl TryFrom<v1::ToolCall> for ToolCall {
    type Error = Malformed;

    fn try_from(call: v1::ToolCall) -> Result<Self, Malformed> {
        Ok(Self {
            id: call.id,
            server: call.server,
            tool: call.tool,
            arguments: raw_from_wire("arguments", call.arguments)?,
            state: CallState::from_wire(call.state)?,
            result: raw_from_wire("result", call.result)?,
            error: optional(call.error),
            started_at_unix_ms: call.started_at_unix_ms,
            duration_ms: call.duration_ms,
            bytes: call.bytes,
            sha256: call.sha256,
            truncated: call.truncated,
            legs: call.legs,
            turn: call.turn,
            http_status: match call.http_status {
                0 => None,
                status => Some(u16::try_from(status).map_err(|_| Malformed::unknown("http_status", status))?),
            },
        })
    }
}

impl From<&McpRequest> for v1::McpRequest {
    fn from(request: &McpRequest) -> Self {
        Self {
            server: request.server.clone(),
            method: request.method.clone(),
            name: request.name.clone(),
            ok: request.ok,
            turn: request.turn,
            started_at_unix_ms: request.started_at_unix_ms,
        }
    }
}

impl From<v1::McpRequest> for McpRequest {
    fn from(request: v1::McpRequest) -> Self {
        Self {
            server: request.server,
            method: request.method,
            name: request.name,
            ok: request.ok,
            turn: request.turn,
            started_at_unix_ms: request.started_at_unix_ms,
        }
    }
}

impl From<&Usage> for v1::Usage {
    fn from(usage: &Usage) -> Self {
        Self {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cached_input_tokens: usage.cached_input_tokens,
            cost_usd: usage.cost_usd,
        }
    }
}

impl From<v1::Usage> for Usage {
    fn from(usage: v1::Usage) -> Self {
        let told = Self {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cached_input_tokens: usage.cached_input_tokens,
            cost_usd: usage.cost_usd,
        };
        Self {
            // A number that JSON cannot hold would break every report.
            cost_usd: told.reported_cost_usd(),
            ..told
        }
    }
}

impl From<&Turn> for v1::Turn {
    fn from(turn: &Turn) -> Self {
        Self {
            index: turn.index,
            prompt: turn.prompt.clone(),
            reply: turn.reply.clone(),
            ending: v1::TurnEnding::from(turn.ending).into(),
            detail: turn.detail.clone().unwrap_or_default(),
            started_at_unix_ms: turn.started_at_unix_ms,
            duration_ms: turn.duration_ms,
            usage: Some((&turn.usage).into()),
            escapes: turn
                .escapes
                .iter()
                .map(|escape| v1::Escape {
                    kind: v1::EscapeKind::from(escape.kind).into(),
                    what: escape.what.clone(),
                    turn: escape.turn,
                })
                .collect(),
            warnings: turn.warnings.clone(),
            model: turn.model.clone().unwrap_or_default(),
            reported_calls: turn.reported_calls,
            model_refusal: turn.model_refusal.as_ref().map(v1::ModelRefusal::from),
        }
    }
}

impl TryFrom<v1::Turn> for Turn {
    type Error = Malformed;

    fn try_from(turn: v1::Turn) -> Result<Self, Malformed> {
        Ok(Self {
            index: turn.index,
            prompt: turn.prompt,
            reply: turn.reply,
            ending: TurnEnding::from_wire(turn.ending)?,
            detail: optional(turn.detail),
            started_at_unix_ms: turn.started_at_unix_ms,
            duration_ms: turn.duration_ms,
            usage: turn.usage.map(Usage::from).unwrap_or_default(),
            escapes: turn
                .escapes
                .into_iter()
                .map(|escape| {
                    Ok(Escape {
                        kind: EscapeKind::from_wire(escape.kind)?,
                        what: escape.what,
                        turn: escape.turn,
                    })
                })
                .collect::<Result<_, Malformed>>()?,
            warnings: turn.warnings,
            model: optional(turn.model),
            reported_calls: turn.reported_calls,
            model_refusal: turn.model_refusal.map(TryInto::try_into).transpose()?,
        })
    }
}

impl From<&Exposure> for v1::Exposure {
    fn from(exposure: &Exposure) -> Self {
        Self {
            server: exposure.server.clone(),
            initialized: exposure.initialized,
            tools_listed: exposure.tools_listed,
            tool_count: exposure.tool_count,
            tools_sha256: exposure.tools_sha256.clone(),
            server_name: exposure.server_name.clone().unwrap_or_default(),
            server_version: exposure.server_version.clone().unwrap_or_default(),
            protocol_version: exposure.protocol_version.clone().unwrap_or_default(),
            faults: exposure
                .faults
                .iter()
                .map(|fault| v1::ServerFault {
                    what: fault.what.clone(),
                    at_unix_ms: fault.at_unix_ms,
                })
                .collect(),
            login_required: exposure.login_required,
            recording_fault: exposure.recording_fault.clone().unwrap_or_default(),
        }
    }
}

impl From<v1::Exposure> for Exposure {
    fn from(exposure: v1::Exposure) -> Self {
        Self {
            server: exposure.server,
            initialized: exposure.initialized,
            tools_listed: exposure.tools_listed,
            tool_count: exposure.tool_count,
            tools_sha256: exposure.tools_sha256,
            server_name: optional(exposure.server_name),
            server_version: optional(exposure.server_version),
            protocol_version: optional(exposure.protocol_version),
            faults: exposure
                .faults
                .into_iter()
                .map(|fault| ServerFault {
                    what: fault.what,
                    at_unix_ms: fault.at_unix_ms,
                })
                .collect(),
            login_required: exposure.login_required,
            recording_fault: optional(exposure.recording_fault),
        }
    }
}

impl From<&ModelTraffic> for v1::ModelTraffic {
    fn from(traffic: &ModelTraffic) -> Self {
        Self {
            observed: traffic.observed,
            requests: traffic.requests,
            succeeded: traffic.succeeded,
            waiting_ms: traffic.waiting_ms,
            refusal: traffic.refusal.as_ref().map(v1::ModelRefusal::from),
            response_model: traffic.response_model.clone().unwrap_or_default(),
            tools_sent: traffic.tools_sent.clone(),
            tools_deferred: traffic.tools_deferred.clone(),
            usage: traffic.usage.iter().map(v1::ModelUsage::from).collect(),
            requests_without_usage: traffic.requests_without_usage,
            limited_requests: traffic.limited_requests,
            held_ms: traffic.held_ms,
            refusal_elsewhere: traffic.refusal_elsewhere,
        }
    }
}

impl TryFrom<v1::ModelTraffic> for ModelTraffic {
    type Error = Malformed;

    fn try_from(traffic: v1::ModelTraffic) -> Result<Self, Malformed> {
        Ok(Self {
            observed: traffic.observed,
            requests: traffic.requests,
            succeeded: traffic.succeeded,
            waiting_ms: traffic.waiting_ms,
            refusal: traffic.refusal.map(TryInto::try_into).transpose()?,
            response_model: optional(traffic.response_model),
            tools_sent: traffic.tools_sent,
            tools_deferred: traffic.tools_deferred,
            usage: traffic.usage.into_iter().map(ModelUsage::from).collect(),
            requests_without_usage: traffic.requests_without_usage,
            limited_requests: traffic.limited_requests,
            held_ms: traffic.held_ms,
            refusal_elsewhere: traffic.refusal_elsewhere,
        })
    }
}

impl From<&ModelUsage> for v1::ModelUsage {
    fn from(usage: &ModelUsage) -> Self {
        Self {
            model: usage.model.clone().unwrap_or_default(),
            responses: usage.responses,
            input_tokens: usage.tokens.input_tokens,
            cached_input_tokens: usage.tokens.cached_input_tokens,
            cache_write_tokens: usage.tokens.cache_write_tokens,
            cache_write_1h_tokens: usage.tokens.cache_write_1h_tokens,
            output_tokens: usage.tokens.output_tokens,
        }
    }
}

impl From<v1::ModelUsage> for ModelUsage {
    fn from(usage: v1::ModelUsage) -> Self {
        Self {
            model: optional(usage.model),
            responses: usage.responses,
            tokens: Tokens {
                input_tokens: usage.input_tokens,
                cached_input_tokens: usage.cached_input_tokens,
                cache_write_tokens: usage.cache_write_tokens,
                cache_write_1h_tokens: usage.cache_write_1h_tokens,
                output_tokens: usage.output_tokens,
            },
        }
    }
}

impl From<&ModelRefusal> for v1::ModelRefusal {
    fn from(refusal: &ModelRefusal) -> Self {
        Self {
            status: u32::from(refusal.status),
            code: refusal.code.clone().unwrap_or_default(),
            message: refusal.message.clone(),
            retry_after_ms: refusal.retry_after_ms,
        }
    }
}

impl TryFrom<v1::ModelRefusal> for ModelRefusal {
    type Error = Malformed;

    fn try_from(refusal: v1::ModelRefusal) -> Result<Self, Malformed> {
        Ok(Self {
            status: u16::try_from(refusal.status).map_err(|_| Malformed::unknown("status", refusal.status))?,
            code: optional(refusal.code),
            message: refusal.message,
            retry_after_ms: refusal.retry_after_ms,
        })
    }
}

impl From<&EvidenceRef> for v1::EvidenceRef {
    fn from(piece: &EvidenceRef) -> Self {
        Self {
            kind: piece.kind.name().to_owned(),
            sha256: piece.sha256.clone(),
            bytes: piece.bytes,
        }
    }
}

impl TryFrom<v1::EvidenceRef> for EvidenceRef {
    type Error = Malformed;

    fn try_from(piece: v1::EvidenceRef) -> Result<Self, Malformed> {
        let kind = EvidenceKind::from_name(&piece.kind).ok_or_else(|| Malformed::unknown("kind", &piece.kind))?;
        let sound = piece.sha256.len() == 64 && piece.sha256.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        if !sound {
            return Err(Malformed {
                field: "sha256",
                problem: "64 lowercase hex digits are expected".to_owned(),
            });
        }
        Ok(Self {
            kind,
            sha256: piece.sha256,
            bytes: piece.bytes,
        })
    }
}

/// The traffic of a message that may lack it.
pub(super) fn traffic(traffic: Option<v1::ModelTraffic>) -> Result<ModelTraffic, Malformed> {
    required("traffic", traffic)?.try_into()
}
