//! A request body on its way to the API, with readers listening in.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::Sleep;

use super::asked::{Asking, Form};
use super::content::Decoder;
use super::errand::Errand;
use super::offer::Offer;

/// How long a request may take to be handed over. None takes a minute; one that comes drop by drop holds a connection up.
const PATIENCE: Duration = Duration::from_mins(5);
/// The most that is kept of a request before it is sent, in bytes: more than any API takes.
const KEPT: usize = 32 * 1024 * 1024;

/// Why a request was not handed over in full.
#[derive(Debug, thiserror::Error)]
pub(super) enum HandOver {
    /// The agent left, or broke the protocol.
    #[error("the request broke off")]
    Broken(#[source] hyper::Error),
    /// It came too slowly.
    #[error("the request took longer than {} s to be handed over", PATIENCE.as_secs())]
    TooSlow,
    /// Which of its models the API would take nobody knows.
    #[error("the request names two models")]
    TwoModels,
}

/// A body that passes every frame on untouched and notes what it asks for and which tools it names.
pub(super) struct Overheard {
    inner: Incoming,
    /// What was read ahead of the API.
    ahead: VecDeque<Frame<Bytes>>,
    listener: Option<Listener>,
    deadline: Pin<Box<Sleep>>,
    /// Whether it may name one model only.
    one_model: bool,
}

struct Listener {
    decoder: Decoder,
    asking: Asking,
    /// `None` when the tools are no matter, or known.
    offer: Option<Offer>,
    errand: Arc<Errand>,
}

impl Overheard {
    /// The body of a request for an answer, which came with these headers.
    pub(super) fn new(
        inner: Incoming,
        form: Form,
        headers: &HeaderMap,
        errand: Arc<Errand>,
        notes_tools: bool,
    ) -> Self {
        let announced = inner.size_hint().lower();
        let listener = Listener {
            decoder: Decoder::new(headers),
            asking: Asking::new(form, announced),
            offer: notes_tools.then(Offer::default),
            errand,
        };
        listener.errand.hear(listener.asking.so_far());
        let mut body = Self::by_nobody(inner);
        body.listener = Some(listener);
        body
    }

    /// A body that is only passed on.
    pub(super) fn by_nobody(inner: Incoming) -> Self {
        Self {
            inner,
            ahead: VecDeque::new(),
            listener: None,
            deadline: Box::pin(tokio::time::sleep(PATIENCE)),
            one_model: false,
        }
    }

    /// The request is sent from now on: what it waited for until then was not its own doing.
    pub(super) fn set_out(&mut self) {
        self.deadline.as_mut().reset(tokio::time::Instant::now() + PATIENCE);
    }

    /// Reads ahead until the request has named its model, which from then on has to be the only one. `None` when it names
    /// none.
    pub(super) async fn model(&mut self) -> Result<Option<Arc<str>>, HandOver> {
        self.one_model = true;
        let mut kept = 0;
        loop {
            let model = self.listener.as_ref().and_then(|it| it.asking.so_far().model.clone());
            if model.is_some() || kept > KEPT {
                return Ok(model);
            }
            let Some(frame) = poll_fn(|cx| self.poll_inner(cx)).await.transpose()? else {
                return Ok(None);
            };
            kept += frame.data_ref().map_or(0, Bytes::len);
            self.ahead.push_back(frame);
        }
    }

    fn poll_inner(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, HandOver>>> {
        let Poll::Ready(polled) = Pin::new(&mut self.inner).poll_frame(cx) else {
            return self.deadline.as_mut().poll(cx).map(|()| Some(Err(HandOver::TooSlow)));
        };
        Poll::Ready(match polled {
            Some(Ok(frame)) => {
                if let Some(piece) = frame.data_ref() {
                    self.hear(piece);
                }
                let so_far = self.listener.as_ref().map(|it| it.asking.so_far());
                if self.one_model && so_far.is_some_and(|asked| asked.two_models) {
                    return Poll::Ready(Some(Err(HandOver::TwoModels)));
                }
                Some(Ok(frame))
            }
            Some(Err(error)) => Some(Err(HandOver::Broken(error))),
            None => None,
        })
    }

    fn hear(&mut self, piece: &[u8]) {
        let Some(Listener {
            decoder,
            asking,
            offer,
            errand,
        }) = &mut self.listener
        else {
            return;
        };
        decoder.feed(piece, |bytes| {
            asking.feed(bytes);
            if let Some(offer) = offer {
                offer.feed(bytes);
            }
        });
        if matches!(decoder, Decoder::Opaque) {
            asking.unreadable();
        }
        errand.hear(asking.so_far());
        if offer.as_ref().is_some_and(Offer::complete) {
            self.note();
        }
    }

    /// The API has been handed all of it.
    fn delivered(&mut self) {
        if let Some(Listener { asking, errand, .. }) = &mut self.listener {
            asking.delivered();
            errand.hear(asking.so_far());
        }
    }

    fn note(&mut self) {
        if let Some(listener) = &mut self.listener
            && let Some(mut offer) = listener.offer.take()
        {
            listener.errand.offer(offer.names(), offer.deferred());
        }
    }
}

impl Body for Overheard {
    type Data = Bytes;
    type Error = HandOver;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, HandOver>>> {
        let this = self.get_mut();
        let polled = match this.ahead.pop_front() {
            Some(frame) => Poll::Ready(Some(Ok(frame))),
            None => this.poll_inner(cx),
        };
        // Of a body of known length nobody asks for the end.
        if matches!(polled, Poll::Ready(None)) || (matches!(polled, Poll::Ready(Some(Ok(_)))) && this.is_end_stream()) {
            this.delivered();
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.ahead.is_empty() && self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let ahead: usize = self.ahead.iter().filter_map(Frame::data_ref).map(Bytes::len).sum();
        let (ahead, inner) = (ahead as u64, self.inner.size_hint());
        let mut hint = SizeHint::new();
        hint.set_lower(inner.lower().saturating_add(ahead));
        if let Some(upper) = inner.upper() {
            hint.set_upper(upper.saturating_add(ahead));
        }
        hint
    }
}

impl Drop for Overheard {
    fn drop(&mut self) {
        // Of a body that was cut, or is no JSON, what was heard still counts if the API answers it.
        self.note();
    }
}
