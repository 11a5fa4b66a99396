//! What comes out of the state machine.

use mcproctor_proto::call::ToolCall;
use serde_json::value::RawValue;

use super::super::message::Message;
use super::exchange::Sent;
use super::machine::CallKey;

/// A request that is no call, with its answer.
#[derive(Debug)]
pub(in crate::proxy) struct Answered {
    /// The client's request.
    pub(in crate::proxy) request: Message,
    /// The server's response.
    pub(in crate::proxy) response: Message,
    /// The HTTP status of the exchange that carried it.
    pub(in crate::proxy) status: Option<u16>,
    /// When the request was sent.
    pub(in crate::proxy) sent: Sent,
    /// When the response was complete.
    pub(in crate::proxy) at_us: u64,
}

/// A change of the record.
#[derive(Debug)]
pub(in crate::proxy) enum Change {
    /// A call was sent.
    Started { key: CallKey, call: Box<ToolCall> },
    /// A call ended; its record is final.
    Ended { key: CallKey, call: Box<ToolCall> },
    /// Any other request was answered.
    Answered(Box<Answered>),
    /// Any other request got no answer.
    Unanswered {
        request: Box<Message>,
        sent: Sent,
        status: Option<u16>,
        why: String,
    },
    /// The server asked the client: sampling, elicitation, roots.
    ServerAsked(Box<Message>),
    /// The client answered such a request.
    ClientAnswered(Box<Message>),
    /// A notification in one direction or the other.
    Notified { by_client: bool, message: Box<Message> },
    /// Progress of a call.
    Progress {
        call: Option<String>,
        params: Option<Box<RawValue>>,
    },
    /// Something about the server that belongs to no call.
    Fault { at_us: u64, what: String },
}
