//! Who gets which message. Pure: messages in, effects out.

use std::collections::{BTreeMap, HashMap, VecDeque};

use bytes::Bytes;
use serde_json::json;

use super::message::{Kind, Message, Pieces, Replacements};

#[cfg(test)]
mod tests;

/// The JSON-RPC error code of calls that the server's exit left without an answer.
///
/// It lies in the range that JSON-RPC 2.0, section 5.1, leaves to implementations.
pub const SERVER_EXITED: i32 = -32098;

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

    /// Ends a session and its streams; the child goes on.
    pub(super) fn end_session(&mut self, id: &str) -> Vec<Effect> {
        self.sessions.remove(id);
        self.asked.retain(|_, session| session.as_deref() != Some(id));
        let of_session = |stream: &Stream| stream.session.as_deref() == Some(id);
        let ended: Vec<StreamId> = self
            .streams
            .iter()
            .filter(|(_, stream)| of_session(stream))
            .map(|(id, _)| *id)
            .collect();
        ended
            .into_iter()
            .flat_map(|stream| [vec![Effect::End(stream)], self.closed(stream)].concat())
            .collect()
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

    /// A client sent a message; `stream` takes the answer when it is a request.
    pub(super) fn client_sent(
        &mut self,
        stream: Option<StreamId>,
        session: Option<&str>,
        message: Message,
    ) -> Vec<Effect> {
        match &message.kind {
            Kind::Request(method) => {
                let Some(stream) = stream else { return Vec::new() };
                if method == "initialize" {
                    self.initialize(stream, message)
                } else {
                    self.request(stream, &message)
                }
            }
            Kind::Notification(method) => match method.as_str() {
                "notifications/initialized" if std::mem::replace(&mut self.initialized, true) => Vec::new(),
                "notifications/cancelled" => self.cancel(session, &message),
                _ => vec![Effect::ToChild(message.as_is())],
            },
            Kind::Result | Kind::Error => {
                let put_to = message.id().and_then(|id| self.asked.remove_entry(&id));
                match put_to {
                    Some((_, of)) if of.as_deref() == session => vec![Effect::ToChild(message.as_is())],
                    Some((id, of)) => {
                        self.asked.insert(id, of);
                        vec![Effect::Log(
                            "a client answered a request that was put to another".to_owned(),
                        )]
                    }
                    None => vec![Effect::Log(
                        "a client answered a request that the server did not make".to_owned(),
                    )],
                }
            }
        }
    }

    fn initialize(&mut self, stream: StreamId, message: Message) -> Vec<Effect> {
        match &mut self.handshake {
            Handshake::Open => {
                let by = self.next;
                self.handshake = Handshake::Running {
                    by,
                    waiting: Vec::new(),
                };
                self.request(stream, &message)
            }
            Handshake::Running { waiting, .. } => {
                waiting.push((stream, message));
                Vec::new()
            }
            Handshake::Done(result) => {
                let answer = result.with(Replacements {
                    id: message.id(),
                    ..Replacements::default()
                });
                self.answer(stream, answer)
            }
        }
    }

    fn request(&mut self, stream: StreamId, message: &Message) -> Vec<Effect> {
        let id = self.next();
        let Some(own) = message.id() else { return Vec::new() };
        if let Some(why) = &self.gone {
            let error = exit_error(&own, why);
            return self.answer(stream, error);
        }
        let text = message.with(Replacements {
            id: Some(id.to_string().into()),
            token: Some(id.to_string().into()),
            ..Replacements::default()
        });
        let session = self.streams.get(&stream).and_then(|stream| stream.session.clone());
        let stateless = session.is_none();
        let pending = Pending {
            stream: Some(stream),
            session,
            id: own,
            token: message.token(),
            stateless,
        };
        self.pending.insert(id, pending);
        vec![Effect::ToChild(text)]
    }

    fn cancel(&self, session: Option<&str>, message: &Message) -> Vec<Effect> {
        let of = message.request_id();
        let cancelled = self
            .pending
            .iter()
            .rev()
            .find(|(_, pending)| pending.session.as_deref() == session && Some(&pending.id) == of.as_ref());
        match cancelled {
            Some((id, _)) => {
                let request_id = Some(id.to_string().into());
                vec![Effect::ToChild(message.with(Replacements {
                    request_id,
                    ..Replacements::default()
                }))]
            }
            None => vec![Effect::Log("a client cancelled a request that is not open".to_owned())],
        }
    }

    /// The child wrote a message.
    pub(super) fn child_wrote(&mut self, message: Message) -> Vec<Effect> {
        match &message.kind {
            Kind::Result | Kind::Error => self.answered(&message),
            Kind::Request(_) => self.unasked(message),
            Kind::Notification(method) => {
                let about = match method.as_str() {
                    "notifications/progress" => message.token(),
                    _ => message.subscription(),
                };
                match about {
                    Some(about) => self.about(&about, &message),
                    None => self.unasked(message),
                }
            }
        }
    }

    fn answered(&mut self, message: &Message) -> Vec<Effect> {
        let id = message.id().and_then(|id| number(&id));
        let Some((id, pending)) = id.and_then(|id| self.pending.remove_entry(&id)) else {
            return vec![Effect::Log("the server answered a request that nobody made".to_owned())];
        };
        let mut effects = Vec::new();
        if let Some(stream) = pending.stream {
            let subscription = message
                .subscription()
                .filter(|of| number(of) == Some(id))
                .map(|_| pending.id.clone());
            let new = Replacements {
                id: Some(pending.id),
                subscription,
                ..Replacements::default()
            };
            effects.extend(self.answer(stream, message.with(new)));
        }
        if let Handshake::Running { by, waiting } = &mut self.handshake
            && *by == id
        {
            let waiting = std::mem::take(waiting);
            self.handshake = match message.kind {
                Kind::Result => Handshake::Done(message.clone()),
                _ => Handshake::Open,
            };
            for (stream, message) in waiting {
                effects.extend(self.initialize(stream, message));
            }
        }
        effects
    }

    /// Sends an answer, which may be the last that its stream waits for.
    fn answer(&mut self, stream: StreamId, answer: Pieces) -> Vec<Effect> {
        let mut effects = vec![Effect::ToStream(stream, answer)];
        if let Some(Stream {
            purpose: Purpose::Reply { remaining, .. },
            ..
        }) = self.streams.get_mut(&stream)
        {
            *remaining = remaining.saturating_sub(1);
            if *remaining == 0 {
                self.streams.remove(&stream);
                effects.push(Effect::End(stream));
            }
        }
        effects
    }

    /// A notification about a request: its progress, or what it subscribed to.
    fn about(&self, about: &Bytes, message: &Message) -> Vec<Effect> {
        let Some(pending) = number(about).and_then(|id| self.pending.get(&id)) else {
            return vec![Effect::Log(
                "the server reported on a request that is not open".to_owned(),
            )];
        };
        let Some(stream) = pending.stream.filter(|stream| self.takes_more(*stream)) else {
            return Vec::new();
        };
        let new = match message.kind {
            Kind::Notification(ref method) if method == "notifications/progress" => Replacements {
                token: pending.token.clone(),
                ..Replacements::default()
            },
            _ => Replacements {
                subscription: Some(pending.id.clone()),
                ..Replacements::default()
            },
        };
        vec![Effect::ToStream(stream, message.with(new))]
    }

    /// A request or notification of the child's own.
    fn unasked(&mut self, message: Message) -> Vec<Effect> {
        let target = self.newest(|purpose| matches!(purpose, Purpose::Reply { events: true, .. }));
        let target = target.or_else(|| self.newest(|purpose| purpose == Purpose::Listen));
        let Some(target) = target else {
            self.backlog.push_back(message);
            let dropped = self.backlog.len() > BACKLOG && self.backlog.pop_front().is_some();
            return dropped
                .then(|| Effect::Log("no client took a message of the server".to_owned()))
                .into_iter()
                .collect();
        };
        if let (Kind::Request(_), Some(id)) = (&message.kind, message.id()) {
            let session = self.streams.get(&target).and_then(|stream| stream.session.clone());
            self.asked.insert(id, session);
        }
        vec![Effect::ToStream(target, message.as_is())]
    }

    fn newest(&self, fits: impl Fn(Purpose) -> bool) -> Option<StreamId> {
        self.streams
            .iter()
            .rev()
            .find(|(_, stream)| fits(stream.purpose))
            .map(|(id, _)| *id)
    }

    fn takes_more(&self, stream: StreamId) -> bool {
        let purpose = self.streams.get(&stream).map(|stream| stream.purpose);
        matches!(purpose, Some(Purpose::Listen | Purpose::Reply { events: true, .. }))
    }

    /// The child is gone: whatever is open fails now, and so does whatever comes.
    pub(super) fn child_gone(&mut self, why: String) -> Vec<Effect> {
        let mut effects = self.fail_open(&why);
        effects.extend(std::mem::take(&mut self.streams).into_keys().map(Effect::End));
        self.gone = Some(why);
        effects
    }

    /// Fails every open request, because an answer to one of them was lost.
    pub(super) fn fail_open(&mut self, why: &str) -> Vec<Effect> {
        let mut effects = Vec::new();
        for pending in std::mem::take(&mut self.pending).into_values() {
            if let Some(stream) = pending.stream {
                effects.extend(self.answer(stream, exit_error(&pending.id, why)));
            }
        }
        if let Handshake::Running { waiting, .. } = &mut self.handshake {
            let waiting = std::mem::take(waiting);
            self.handshake = Handshake::Open;
            for (stream, message) in waiting {
                effects.extend(
                    message
                        .id()
                        .map(|id| self.answer(stream, exit_error(&id, why)))
                        .unwrap_or_default(),
                );
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

/// An id of the bridge's own, which a server may hand back as a string where it names a subscription.
fn number(text: &Bytes) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?;
    let text = text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'))
        .unwrap_or(text);
    text.parse().ok()
}

/// The JSON-RPC error for a request that will not be answered.
fn exit_error(id: &Bytes, why: &str) -> Pieces {
    let error = json!({"code": SERVER_EXITED, "message": why});
    vec![
        Bytes::from_static(br#"{"jsonrpc":"2.0","id":"#),
        id.clone(),
        Bytes::from(format!(r#","error":{error}}}"#)),
    ]
}
