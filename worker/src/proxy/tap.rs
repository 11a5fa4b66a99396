//! What the forward path tells the recorder.

use std::time::Instant;

use bytes::Bytes;
use http::HeaderMap;
use tokio::sync::oneshot;

use super::recorder::Snapshot;

/// One HTTP exchange, numbered by the proxy.
pub(super) type ExchangeId = u64;

/// How an exchange ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// The server's answer is complete.
    Complete,
    /// The server's connection broke.
    UpstreamLost(String),
    /// The server could not be reached.
    Unreachable(String),
    /// The proxy answered in the server's place, because it cannot pass the server's answer on.
    Refused(String),
    /// The agent closed its connection first.
    ClientLeft,
    /// The agent was stopped, or the proxy.
    Stopped,
}

/// What the recorder needs of a request's head.
#[derive(Debug)]
pub(super) struct RequestHead {
    pub(super) method: http::Method,
    pub(super) target: String,
    pub(super) session: Option<String>,
    pub(super) revision: Option<String>,
    pub(super) last_event_id: Option<String>,
    pub(super) encoding: Option<String>,
    /// All headers, for the debug log alone.
    pub(super) all: Option<HeaderMap>,
}

/// What the recorder needs of an answer's head.
#[derive(Debug)]
pub(super) struct ReplyHead {
    pub(super) status: u16,
    pub(super) content_type: Option<String>,
    pub(super) encoding: Option<String>,
    pub(super) challenged: bool,
}

/// A piece of a body.
#[derive(Debug)]
pub(super) enum Piece {
    /// In memory.
    Here(Bytes),
    /// In the spill file.
    Spilled {
        /// From its start.
        offset: u64,
        /// In bytes.
        len: usize,
    },
}

/// One thing that happened on the wire, in order.
#[derive(Debug)]
pub(super) enum Tap {
    Request {
        exchange: ExchangeId,
        at: Instant,
        turn: u32,
        head: Box<RequestHead>,
    },
    RequestBody {
        exchange: ExchangeId,
        piece: Piece,
    },
    RequestEnd {
        exchange: ExchangeId,
    },
    Reply {
        exchange: ExchangeId,
        head: Box<ReplyHead>,
    },
    ReplyBody {
        exchange: ExchangeId,
        at: Instant,
        piece: Piece,
    },
    End {
        exchange: ExchangeId,
        at: Instant,
        ending: Ending,
    },
    /// A legacy `endpoint` event opened a path.
    Endpoint {
        exchange: ExchangeId,
        target: String,
    },
    /// Something the report should say about the server.
    Fault {
        at: Instant,
        what: String,
    },
    /// Somebody wants to know what is recorded so far.
    Snapshot(oneshot::Sender<Snapshot>),
    /// The last one.
    Finish {
        at: Instant,
    },
}
