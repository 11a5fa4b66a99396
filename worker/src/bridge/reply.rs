//! Bodies of replies: a stream of events, or one document.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use super::message::Pieces;
use super::switchboard::Receiver;

/// A body.
pub(super) enum Reply {
    /// Events as they come, until the stream is ended.
    Events(Events),
    /// What is there already.
    Document(VecDeque<Bytes>),
}

/// A stream of events.
pub(super) struct Events {
    receiver: Receiver,
    queue: VecDeque<Bytes>,
    keep_alive: Interval,
}

impl Reply {
    /// A stream of events, with a comment whenever nothing was sent for so long: clients and what lies between give up on
    /// silent streams.
    pub(super) fn events(receiver: Receiver, keep_alive: Duration) -> Self {
        let mut keep_alive = interval_at(Instant::now() + keep_alive, keep_alive);
        keep_alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self::Events(Events {
            receiver,
            queue: VecDeque::new(),
            keep_alive,
        })
    }

    /// A document in pieces.
    pub(super) fn document(pieces: impl IntoIterator<Item = Bytes>) -> Self {
        Self::Document(pieces.into_iter().filter(|piece| !piece.is_empty()).collect())
    }
}

/// Writes a message as an event; its text holds no line break.
fn event(message: Pieces) -> impl Iterator<Item = Bytes> {
    let (start, end) = (
        Bytes::from_static(b"event: message\ndata: "),
        Bytes::from_static(b"\n\n"),
    );
    [start]
        .into_iter()
        .chain(message)
        .chain([end])
        .filter(|piece| !piece.is_empty())
}

impl Events {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        loop {
            if let Some(piece) = self.queue.pop_front() {
                return Poll::Ready(Some(piece));
            }
            match self.receiver.messages.poll_recv(cx) {
                Poll::Ready(Some(message)) => {
                    self.queue.extend(event(message));
                    self.keep_alive.reset();
                }
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => {
                    return self
                        .keep_alive
                        .poll_tick(cx)
                        .map(|_| Some(Bytes::from_static(b": keep-alive\n\n")));
                }
            }
        }
    }
}

impl Body for Reply {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = match self.get_mut() {
            Self::Events(events) => std::task::ready!(events.poll(cx)),
            Self::Document(pieces) => pieces.pop_front(),
        };
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Document(pieces) if pieces.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Events(_) => SizeHint::default(),
            Self::Document(pieces) => SizeHint::with_exact(pieces.iter().map(|piece| piece.len() as u64).sum()),
        }
    }
}
