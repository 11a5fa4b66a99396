//! A request body on its way to the API, with a reader listening in.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;

use super::content::Decoder;
use super::offer::Offer;
use super::traffic::{Ledger, RequestId};

/// A body that passes every frame on untouched and notes which tools it names.
pub(super) struct Overheard {
    inner: Incoming,
    listener: Option<Listener>,
}

struct Listener {
    decoder: Decoder,
    offer: Offer,
    ledger: Arc<Mutex<Ledger>>,
    id: RequestId,
}

impl Overheard {
    /// The body of the request `id`, which came with these headers.
    pub(super) fn new(inner: Incoming, headers: &HeaderMap, ledger: Arc<Mutex<Ledger>>, id: RequestId) -> Self {
        Self {
            inner,
            listener: Some(Listener {
                decoder: Decoder::new(headers),
                offer: Offer::default(),
                ledger,
                id,
            }),
        }
    }

    /// A body that is only passed on.
    pub(super) fn by_nobody(inner: Incoming) -> Self {
        Self { inner, listener: None }
    }

    fn hear(&mut self, piece: &[u8]) {
        let Some(Listener { decoder, offer, .. }) = &mut self.listener else {
            return;
        };
        decoder.feed(piece, |bytes| offer.feed(bytes));
        if offer.complete() {
            self.note();
        }
    }

    fn note(&mut self) {
        if let Some(mut listener) = self.listener.take() {
            let (tools, deferred) = (listener.offer.names(), listener.offer.deferred());
            let mut ledger = listener.ledger.lock().unwrap_or_else(PoisonError::into_inner);
            ledger.offer(listener.id, tools, deferred);
        }
    }
}

impl Body for Overheard {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.inner).poll_frame(cx);
        if let Poll::Ready(Some(Ok(frame))) = &polled
            && let Some(piece) = frame.data_ref()
        {
            this.hear(piece);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

impl Drop for Overheard {
    fn drop(&mut self) {
        // Of a body that was cut, or is no JSON, what was heard still counts if the API answers it.
        self.note();
    }
}
