//! The router with its hands: carries its effects out.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc;

use super::lines::Line;
use super::log::Log;
use super::message::{Message, Pieces, parse_all};
use super::router::{Effect, Router, StreamId};

/// How many messages may wait for a client that does not read before its stream is given up.
const STREAM_BACKLOG: usize = 4096;

/// The one place where clients and child meet.
pub(super) struct Switchboard {
    inner: Mutex<Inner>,
    log: Log,
}

struct Inner {
    router: Router,
    streams: HashMap<StreamId, mpsc::Sender<Pieces>>,
    child: Option<mpsc::UnboundedSender<Pieces>>,
}

/// A stream's receiving end. Dropped, it tells the router that the client has left.
pub(super) struct Receiver {
    pub(super) messages: mpsc::Receiver<Pieces>,
    stream: StreamId,
    switchboard: Arc<Switchboard>,
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.switchboard.closed(self.stream);
    }
}

impl Switchboard {
    pub(super) fn new(log: Log, child: mpsc::UnboundedSender<Pieces>) -> Self {
        let inner = Inner {
            router: Router::default(),
            streams: HashMap::new(),
            child: Some(child),
        };
        Self {
            inner: Mutex::new(inner),
            log,
        }
    }

    pub(super) fn log(&self) -> &Log {
        &self.log
    }

    /// Why the child is gone, if it is.
    pub(super) fn gone(&self) -> Option<String> {
        self.lock().router.gone().map(str::to_owned)
    }

    pub(super) fn has_session(&self, id: &str) -> bool {
        self.lock().router.has_session(id)
    }

    pub(super) fn open_session(&self, id: String) {
        self.lock().router.open_session(id);
    }

    pub(super) fn end_session(&self, id: &str) {
        let mut inner = self.lock();
        let effects = inner.router.end_session(id);
        self.perform(&mut inner, effects);
    }

    /// Hands on what a client sent and returns the stream of the answers, if there will be any.
    pub(super) fn client_sent(
        self: &Arc<Self>,
        session: Option<&str>,
        messages: Vec<Message>,
        requests: usize,
        events: bool,
    ) -> Option<Receiver> {
        let mut inner = self.lock();
        let (stream, receiver) = if requests == 0 {
            (None, None)
        } else {
            let (stream, effects) = inner.router.open_reply(session, requests, events);
            let receiver = self.receiver(&mut inner, stream);
            self.perform(&mut inner, effects);
            (Some(stream), Some(receiver))
        };
        for message in messages {
            let effects = inner.router.client_sent(stream, session, message);
            self.perform(&mut inner, effects);
        }
        receiver
    }

    /// Opens a GET stream.
    pub(super) fn listen(self: &Arc<Self>, session: &str) -> Receiver {
        let mut inner = self.lock();
        let (stream, effects) = inner.router.open_listen(session);
        let receiver = self.receiver(&mut inner, stream);
        self.perform(&mut inner, effects);
        receiver
    }

    fn receiver(self: &Arc<Self>, inner: &mut Inner, stream: StreamId) -> Receiver {
        let (sender, messages) = mpsc::channel(STREAM_BACKLOG);
        inner.streams.insert(stream, sender);
        Receiver {
            messages,
            stream,
            switchboard: Arc::clone(self),
        }
    }

    fn closed(&self, stream: StreamId) {
        let mut inner = self.lock();
        inner.streams.remove(&stream);
        let effects = inner.router.closed(stream);
        self.perform(&mut inner, effects);
    }

    /// Takes a line that the child wrote on its standard output.
    pub(super) fn child_wrote(&self, line: Line) {
        let line = match line {
            Line::Whole(line) => line,
            Line::TooLong { start } => {
                self.log
                    .line(&[b"a line too long to be taken: ", &start[..], "…".as_bytes()].concat());
                let mut inner = self.lock();
                let effects = inner.router.fail_open("server sent a message that is too long");
                return self.perform(&mut inner, effects);
            }
        };
        if line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        // Most lines that are no message show it at once; others are kept until they have been read.
        let shown = (line.len() <= 4096).then(|| line.clone());
        let Some((messages, _)) = parse_all(line) else {
            return self
                .log
                .line(shown.as_deref().unwrap_or(b"a long line that is no message"));
        };
        let mut inner = self.lock();
        for message in messages {
            let effects = inner.router.child_wrote(message);
            self.perform(&mut inner, effects);
        }
    }

    /// The child is gone, or being ended.
    pub(super) fn child_gone(&self, why: String) {
        let mut inner = self.lock();
        if inner.router.gone().is_none() {
            self.log.line(why.as_bytes());
            let effects = inner.router.child_gone(why);
            self.perform(&mut inner, effects);
        }
        inner.child = None;
    }

    fn perform(&self, inner: &mut Inner, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::ToChild(line) => {
                    if let Some(child) = &inner.child {
                        // Refused only when the child no longer reads, and then its exit is on its way.
                        let _ = child.send(line);
                    }
                }
                Effect::ToStream(stream, message) => {
                    let sent = inner.streams.get(&stream).map(|sender| sender.try_send(message));
                    if let Some(Err(mpsc::error::TrySendError::Full(_))) = sent {
                        self.log.line(b"a client does not read; its stream was ended");
                        inner.streams.remove(&stream);
                    }
                }
                Effect::End(stream) => {
                    inner.streams.remove(&stream);
                }
                Effect::Log(line) => self.log.line(line.as_bytes()),
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
