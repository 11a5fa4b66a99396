//! A response body on its way to the agent, with a reader looking on.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;

use super::credential::Key;
use super::errand::Entry;
use super::verdict::Reading;

/// A body that passes every frame on untouched and shows a reader what passed.
pub(super) struct Observed {
    inner: Incoming,
    reading: Option<Reading>,
    key: Arc<Key>,
    entry: Entry,
    waiting: bool,
}

impl Observed {
    pub(super) fn new(inner: Incoming, reading: Reading, key: Arc<Key>, entry: Entry) -> Self {
        Self {
            inner,
            reading: Some(reading),
            key,
            entry,
            waiting: false,
        }
    }

    fn finish(&mut self) {
        if let Some(reading) = self.reading.take() {
            let (end, told) = reading.finish(&self.key);
            self.entry.told(told);
            self.entry.end(end);
        }
    }
}

impl Body for Observed {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.inner).poll_frame(cx);
        match &polled {
            Poll::Pending => {
                if !std::mem::replace(&mut this.waiting, true) {
                    this.entry.wait();
                }
            }
            Poll::Ready(Some(Ok(frame))) => {
                this.waiting = false;
                this.entry.byte();
                if let (Some(piece), Some(reading)) = (frame.data_ref(), &mut this.reading) {
                    reading.feed(piece);
                }
            }
            Poll::Ready(Some(Err(error))) => {
                if let Some(reading) = this.reading.take() {
                    let why = format!("the connection to the model API broke: {error}");
                    let (end, told) = reading.broken(why, &this.key);
                    this.entry.told(told);
                    this.entry.end(end);
                }
            }
            Poll::Ready(None) => this.finish(),
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

impl Drop for Observed {
    fn drop(&mut self) {
        // The server stops asking once a body of known length is through, and agents hang up after the last event.
        let said_all = self.reading.as_ref().is_some_and(Reading::complete) || !self.entry.answered;
        if self.inner.is_end_stream() || said_all {
            self.finish();
        } else if let Some(reading) = self.reading.take() {
            self.entry.told(reading.told());
        }
    }
}
