//! One HTTP exchange: what was asked on it, and what its end means.

use super::super::message::{Message, RawId};
use super::super::tap::{Ending, ExchangeId};
use super::machine::CallKey;

/// What is known when a request's head is sent.
#[derive(Clone, Debug, Default)]
pub(in crate::proxy) struct Opening {
    /// Microseconds since the proxy's start.
    pub(in crate::proxy) at_us: u64,
    /// The turn it belongs to.
    pub(in crate::proxy) turn: u32,
    /// Whether it is a GET.
    pub(in crate::proxy) is_get: bool,
    /// Path and query as the agent asked.
    pub(in crate::proxy) target: String,
    /// `Mcp-Session-Id`
    pub(in crate::proxy) session: Option<String>,
    /// `MCP-Protocol-Version`
    pub(in crate::proxy) revision: Option<String>,
    /// `Last-Event-ID`
    pub(in crate::proxy) last_event_id: Option<String>,
}

/// When a request was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::proxy) struct Sent {
    /// Microseconds since the proxy's start.
    pub(in crate::proxy) at_us: u64,
    /// The turn it belongs to.
    pub(in crate::proxy) turn: u32,
}

/// What kind of body answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::proxy) enum ReplyKind {
    /// `application/json`
    Json,
    /// `text/event-stream`
    Events,
    /// No content type.
    None,
    /// Any other type.
    Other(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TaskRequest {
    Result,
    Get,
    Cancel,
}

/// What a request asked.
#[derive(Debug)]
pub(super) enum Asked {
    /// `tools/call`
    Call(CallKey),
    /// Something about the task that a call became.
    Task {
        request: TaskRequest,
        task: Option<String>,
        message: Box<Message>,
    },
    /// Anything else.
    Other(Box<Message>),
}

/// A request without an answer.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) id: RawId,
    pub(super) asked: Asked,
}

/// Where the answers to an exchange's requests can still come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// From nowhere, or from the exchange itself while it is not over.
    Over,
    /// From a later GET that resumes its stream.
    Suspended,
    /// From another stream that is open already (legacy HTTP with SSE).
    Detached,
}

#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) started_us: u64,
    pub(super) turn: u32,
    pub(super) is_get: bool,
    pub(super) target: String,
    pub(super) session: Option<String>,
    /// The request follows revision 2026-07-28 or later.
    pub(super) stateless: bool,
    /// The exchange whose stream this GET resumes.
    pub(super) continues: Option<ExchangeId>,
    pub(super) posted: Vec<Pending>,
    pub(super) had_call: bool,
    pub(super) status: Option<u16>,
    pub(super) kind: ReplyKind,
    /// An event with an id came on it.
    pub(super) resumable: bool,
    /// Where messages for this legacy stream are posted.
    pub(super) endpoint: Option<String>,
    pub(super) unreadable: Option<String>,
    pub(super) over: bool,
    pub(super) phase: Phase,
}

impl Exchange {
    pub(super) fn new(opening: Opening, continues: Option<ExchangeId>) -> Self {
        Self {
            started_us: opening.at_us,
            turn: opening.turn,
            is_get: opening.is_get,
            target: opening.target,
            session: opening.session,
            stateless: opening
                .revision
                .is_some_and(|revision| revision.as_str() >= "2026-07-28"),
            continues,
            posted: Vec::new(),
            had_call: false,
            status: None,
            kind: ReplyKind::None,
            resumable: false,
            endpoint: None,
            unreadable: None,
            over: false,
            phase: Phase::Over,
        }
    }

    /// When its requests were sent.
    pub(super) fn sent(&self) -> Sent {
        Sent {
            at_us: self.started_us,
            turn: self.turn,
        }
    }

    pub(super) fn is_events(&self) -> bool {
        self.kind == ReplyKind::Events
    }

    /// What its end is judged by.
    pub(super) fn summary(&self) -> Summary {
        Summary {
            is_get: self.is_get,
            status: self.status,
            kind: self.kind.clone(),
            resumable: self.resumable,
            unreadable: self.unreadable.clone(),
        }
    }
}

/// What the end of an exchange is judged by.
#[derive(Debug)]
pub(super) struct Summary {
    is_get: bool,
    pub(super) status: Option<u16>,
    kind: ReplyKind,
    resumable: bool,
    unreadable: Option<String>,
}

impl Summary {
    /// Where answers can still come from after its end. `resumes`: it was an attempt to resume an earlier stream;
    /// `legacy`: it was posted where a legacy stream had asked for it.
    pub(super) fn phase_after(&self, stateless: bool, resumes: bool, legacy: bool) -> Phase {
        let success = self.status.is_some_and(|status| (200..300).contains(&status));
        // 2025-11-25, transports: a stream that carried an event id may be resumed, and resumed again.
        if !stateless && (resumes || (self.kind == ReplyKind::Events && success && self.resumable)) {
            return Phase::Suspended;
        }
        if success && !self.is_get && !stateless && (legacy || self.status == Some(202)) {
            // 2024-11-05: the request is accepted, its answer comes on the event stream.
            return Phase::Detached;
        }
        Phase::Over
    }

    pub(super) fn is_http_error(&self) -> bool {
        self.status.is_some_and(|status| !(200..300).contains(&status))
    }

    /// Why there is no answer, for people.
    pub(super) fn why(&self, ending: &Ending) -> String {
        match ending {
            Ending::ClientLeft => "the client left".to_owned(),
            Ending::Stopped => "no answer before the end".to_owned(),
            Ending::Unreachable(why) => format!("the server cannot be reached: {why}"),
            Ending::UpstreamLost(why) => format!("the connection to the server broke: {why}"),
            Ending::Refused(why) => why.clone(),
            Ending::Complete => match (self.status, &self.unreadable, &self.kind) {
                (Some(status), _, _) if self.is_http_error() => format!("HTTP {status}"),
                (_, Some(why), _) => why.clone(),
                (_, None, ReplyKind::Events) => "the event stream ended without an answer".to_owned(),
                (_, None, ReplyKind::Other(kind)) => format!("the answer is {kind}, not JSON"),
                (_, None, ReplyKind::Json | ReplyKind::None) => "the answer is empty".to_owned(),
            },
        }
    }

    /// The same, when it speaks against the server.
    pub(super) fn server_to_blame(&self, ending: &Ending) -> Option<String> {
        let blame = match ending {
            Ending::ClientLeft | Ending::Stopped => false,
            Ending::Unreachable(_) | Ending::UpstreamLost(_) | Ending::Refused(_) => true,
            // 4xx is part of the protocol: sessions, fallbacks between revisions, logins.
            Ending::Complete => self.status.is_none_or(|status| !(400..500).contains(&status)),
        };
        blame.then(|| self.why(ending))
    }

    /// What to say when nothing was asked: a GET, a DELETE, a notification.
    pub(super) fn without_request(&self, ending: &Ending) -> Option<String> {
        if matches!(ending, Ending::Refused(_)) {
            // The proxy itself said why.
            return None;
        }
        let failed = matches!(ending, Ending::Unreachable(_)) || self.status.is_some_and(|status| status >= 500);
        // 501 is another way to say that there is no such method.
        (failed && self.status != Some(501)).then(|| self.why(ending))
    }
}
