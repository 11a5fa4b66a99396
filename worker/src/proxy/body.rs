//! Bodies that pass each frame on at once and leave a copy in the queue.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame, SizeHint};
use http_body_util::Full;
use hyper::body::Incoming;

use super::queue::Queue;
use super::tap::{Ending, ExchangeId, Tap};

/// Largest request body that is kept to follow a redirect with.
const REPLAY_CAP: usize = 1024 * 1024;

/// What was sent so far, until the answer shows whether it is needed again.
#[derive(Debug, Default)]
struct Sent {
    pieces: Vec<Bytes>,
    bytes: usize,
    complete: bool,
    broken: bool,
    too_large: bool,
}

/// The sent body of one exchange.
#[derive(Clone, Debug, Default)]
pub(super) struct Replay(Arc<Mutex<Sent>>);

impl Replay {
    fn with<T>(&self, f: impl FnOnce(&mut Sent) -> T) -> T {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn keep(&self, data: Bytes) {
        self.with(|sent| {
            sent.bytes += data.len();
            if sent.bytes > REPLAY_CAP {
                sent.too_large = true;
                sent.pieces.clear();
            } else {
                sent.pieces.push(data);
            }
        });
    }

    /// Whether the agent broke off before the end.
    pub(super) fn broken(&self) -> bool {
        self.with(|sent| sent.broken)
    }

    /// The whole body, if it was sent to its end and is small enough.
    pub(super) fn body(&self) -> Option<Bytes> {
        self.with(|sent| {
            if !sent.complete || sent.too_large {
                return None;
            }
            let mut whole = BytesMut::with_capacity(sent.bytes);
            sent.pieces.iter().for_each(|piece| whole.extend_from_slice(piece));
            Some(whole.freeze())
        })
    }
}

/// The agent's request body on its way to the server.
pub(super) enum Outgoing {
    /// As it arrives, copied.
    Live(Live),
    /// Sent again after a redirect.
    Again(Full<Bytes>),
}

/// A request body as it arrives.
pub(super) struct Live {
    inner: Incoming,
    queue: Arc<Queue>,
    exchange: ExchangeId,
    replay: Replay,
    ended: bool,
}

impl Live {
    pub(super) fn new(inner: Incoming, queue: Arc<Queue>, exchange: ExchangeId, replay: Replay) -> Self {
        let mut body = Self {
            inner,
            queue,
            exchange,
            replay,
            ended: false,
        };
        if body.inner.is_end_stream() {
            body.end();
        }
        body
    }

    fn end(&mut self) {
        if !std::mem::replace(&mut self.ended, true) {
            self.replay.with(|sent| sent.complete = true);
            self.queue.push(Tap::RequestEnd {
                exchange: self.exchange,
            });
        }
    }
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let body = match self.get_mut() {
            Self::Live(body) => body,
            Self::Again(body) => {
                let frame = ready!(Pin::new(body).poll_frame(cx));
                return Poll::Ready(frame.map(|frame| frame.map_err(|never| match never {})));
            }
        };
        let frame = ready!(Pin::new(&mut body.inner).poll_frame(cx));
        match &frame {
            Some(Ok(frame)) => {
                if let Some(data) = frame.data_ref() {
                    body.queue.active(Instant::now());
                    if let Some(piece) = body.queue.copy(data) {
                        body.queue.push(Tap::RequestBody {
                            exchange: body.exchange,
                            piece,
                        });
                    }
                    body.replay.keep(data.clone());
                }
                if body.inner.is_end_stream() {
                    body.end();
                }
            }
            Some(Err(_)) => body.replay.with(|sent| sent.broken = true),
            None => body.end(),
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Live(body) => body.inner.is_end_stream(),
            Self::Again(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Live(body) => body.inner.size_hint(),
            Self::Again(body) => body.size_hint(),
        }
    }
}

/// Reports the end of one exchange exactly once; dropped before, the agent left.
pub(super) struct Exchange {
    queue: Arc<Queue>,
    id: ExchangeId,
    ended: bool,
}

impl Exchange {
    pub(super) fn new(queue: Arc<Queue>, id: ExchangeId) -> Self {
        Self {
            queue,
            id,
            ended: false,
        }
    }

    pub(super) fn id(&self) -> ExchangeId {
        self.id
    }

    pub(super) fn queue(&self) -> &Arc<Queue> {
        &self.queue
    }

    pub(super) fn end(&mut self, ending: Ending) {
        if !std::mem::replace(&mut self.ended, true) {
            self.queue.push(Tap::End {
                exchange: self.id,
                at: Instant::now(),
                ending,
            });
        }
    }

    fn copy(&self, data: &Bytes) {
        let at = Instant::now();
        self.queue.active(at);
        if let Some(piece) = self.queue.copy(data) {
            self.queue.push(Tap::ReplyBody {
                exchange: self.id,
                at,
                piece,
            });
        }
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        let ending = self.queue.agent_gone();
        self.end(ending);
    }
}

/// The server's answer on its way to the agent.
pub(super) struct Reply {
    inner: Incoming,
    exchange: Exchange,
}

impl Reply {
    pub(super) fn new(inner: Incoming, mut exchange: Exchange) -> Self {
        if inner.is_end_stream() {
            exchange.end(Ending::Complete);
        }
        Self { inner, exchange }
    }

    pub(super) fn exchange(&self) -> &Exchange {
        &self.exchange
    }
}

impl Body for Reply {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = ready!(Pin::new(&mut self.inner).poll_frame(cx));
        match &frame {
            Some(Ok(frame)) => {
                if let Some(data) = frame.data_ref() {
                    self.exchange.copy(data);
                }
                // Recorded before the last byte goes out, so that whoever saw the answer finds it in the record.
                if self.inner.is_end_stream() {
                    self.exchange.end(Ending::Complete);
                }
            }
            Some(Err(error)) => {
                let why = super::upstream::reason(error);
                self.exchange.end(Ending::UpstreamLost(why));
            }
            None => self.exchange.end(Ending::Complete),
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
