//! Who gets which message. Pure: messages in, effects out.

use std::collections::{BTreeMap, HashMap, VecDeque};

use bytes::Bytes;
use serde_json::json;

use super::message::{Message, Pieces};

mod client;
mod server;
#[cfg(test)]
mod tests;

/// The JSON-RPC error code that the server gets for what it asked a client that has left.
const CLIENT_LEFT: i32 = -32000;

/// How many messages wait for a stream before the oldest is given up.
const BACKLOG: usize = 64;

/// A response stream to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct StreamId(u64);

/// What has to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Write a line to the child.
    ToChild(Pieces),
    /// Send a message on a stream.
    ToStream(StreamId, Pieces),
    /// A stream has had its last message.
    End(StreamId),
    /// Put a line into the log.
    Log(String),
}

/// The state of one bridge.
#[derive(Debug, Default)]
pub(super) struct Router {
    next: u64,
    /// Sessions and the GET stream that each has.
    sessions: HashMap<String, Option<StreamId>>,
    streams: BTreeMap<StreamId, Stream>,
    pending: BTreeMap<u64, Pending>,
    /// Ids of the child's own requests, and the session that each was put to.
    asked: HashMap<Bytes, Option<String>>,
    handshake: Handshake,
    initialized: bool,
    backlog: VecDeque<Message>,
    gone: Option<String>,
}

#[derive(Debug)]
struct Stream {
    session: Option<String>,
    purpose: Purpose,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// The reply to a POST with so many requests yet to be answered; `events` when it can take more than the answers.
    Reply { remaining: usize, events: bool },
    /// A GET.
    Listen,
}

/// A request on its way to the child.
#[derive(Debug)]
struct Pending {
    /// Where the answer goes; `None` once the client has left.
    stream: Option<StreamId>,
    session: Option<String>,
    id: Bytes,
    token: Option<Bytes>,
    stateless: bool,
}

/// Whether the child has been initialized.
#[derive(Debug, Default)]
enum Handshake {
    /// No `initialize` has been sent, or the child refused it; the next one goes to the child.
    #[default]
    Open,
    /// One is on its way under this id; others wait for its answer.
    Running { by: u64, waiting: Vec<(StreamId, Message)> },
    /// The child answered; every further one gets this answer.
    Done(Message),
}

impl Router {
    /// Opens a session.
    pub(super) fn open_session(&mut self, id: String) {
        self.sessions.insert(id, None);
    }

    /// Whether there is such a session.
    pub(super) fn has_session(&self, id: &str) -> bool {
        self.sessions.contains_key(id)
    }

    /// Ends a session and its streams; the child goes on, and learns that what it asked this client stays unanswered.
    pub(super) fn end_session(&mut self, id: &str) -> Vec<Effect> {
        self.sessions.remove(id);
        let mut effects = Vec::new();
        self.asked.retain(|asked, session| {
            let stays = session.as_deref() != Some(id);
            if !stays {
                effects.push(Effect::ToChild(error(asked, CLIENT_LEFT, "the client left")));
            }
            stays
        });
        let of_session = |stream: &Stream| stream.session.as_deref() == Some(id);
        let ended: Vec<StreamId> = self
            .streams
            .iter()
            .filter(|(_, stream)| of_session(stream))
            .map(|(id, _)| *id)
            .collect();
        for stream in ended {
            effects.push(Effect::End(stream));
            effects.extend(self.closed(stream));
        }
        effects
    }

    /// Why the child is gone, if it is.
    pub(super) fn gone(&self) -> Option<&str> {
        self.gone.as_deref()
    }

    /// Opens the stream of a reply to so many requests.
    pub(super) fn open_reply(
        &mut self,
        session: Option<&str>,
        requests: usize,
        events: bool,
    ) -> (StreamId, Vec<Effect>) {
        self.open(
            session,
            Purpose::Reply {
                remaining: requests,
                events,
            },
        )
    }

    /// Opens a GET stream. One that the session still has is ended: its client has come back without it.
    pub(super) fn open_listen(&mut self, session: &str) -> (StreamId, Vec<Effect>) {
        let old = self.sessions.get(session).copied().flatten();
        let mut effects = old
            .map(|old| [vec![Effect::End(old)], self.closed(old)].concat())
            .unwrap_or_default();
        let (stream, more) = self.open(Some(session), Purpose::Listen);
        if let Some(listening) = self.sessions.get_mut(session) {
            *listening = Some(stream);
        }
        effects.extend(more);
        (stream, effects)
    }

    fn open(&mut self, session: Option<&str>, purpose: Purpose) -> (StreamId, Vec<Effect>) {
        let stream = StreamId(self.next());
        let session = session.map(str::to_owned);
        self.streams.insert(stream, Stream { session, purpose });
        let mut effects = Vec::new();
        if self.takes_more(stream) {
            for message in std::mem::take(&mut self.backlog) {
                effects.extend(self.unasked(message));
            }
        }
        (stream, effects)
    }

    /// A client has left a stream.
    pub(super) fn closed(&mut self, stream: StreamId) -> Vec<Effect> {
        self.streams.remove(&stream);
        for listening in self.sessions.values_mut() {
            listening.take_if(|id| *id == stream);
        }
        if let Handshake::Running { waiting, .. } = &mut self.handshake {
            waiting.retain(|(id, _)| *id != stream);
        }
        let mut effects = Vec::new();
        for (id, pending) in &mut self.pending {
            // Before 2026-07-28 a disconnect is no cancellation; the answer is dropped when it comes.
            if pending.stream.take_if(|id| *id == stream).is_some() && pending.stateless {
                let cancelled =
                    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
                effects.push(Effect::ToChild(vec![cancelled.to_string().into()]));
            }
        }
        effects
    }

    fn next(&mut self) -> u64 {
        let next = self.next;
        self.next += 1;
        next
    }
}

/// A JSON-RPC error in answer to the request with this id.
fn error(id: &Bytes, code: i32, message: &str) -> Pieces {
    let error = json!({"code": code, "message": message});
    vec![
        Bytes::from_static(br#"{"jsonrpc":"2.0","id":"#),
        id.clone(),
        Bytes::from(format!(r#","error":{error}}}"#)),
    ]
}
