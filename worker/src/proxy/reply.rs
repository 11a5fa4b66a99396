//! What the agent gets as a body: the server's, the server's with its `endpoint` event rewritten, or the proxy's own.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use bytes::Bytes;
use http::uri::PathAndQuery;
use http::{Response, StatusCode, header};
use http_body::{Body, Frame, SizeHint};
use http_body_util::Full;
use url::Url;

use super::body::Reply;
use super::endpoint::{Announcement, EndpointRewriter};
use super::forward::Shared;
use super::tap::Tap;

/// A body for the agent.
pub(super) enum ToAgent {
    /// The server's bytes.
    Passed(Reply),
    /// The server's bytes, watched for the legacy `endpoint` event.
    Watched(Box<Watched>),
    /// The proxy's own words.
    Own(Full<Bytes>),
}

/// An event stream whose first event may be rewritten.
pub(super) struct Watched {
    reply: Reply,
    rewriter: EndpointRewriter,
    asked: Url,
    shared: Arc<Shared>,
}

impl ToAgent {
    /// Watches an event stream that was asked for at `asked`.
    pub(super) fn watched(reply: Reply, asked: &PathAndQuery, shared: &Arc<Shared>) -> Self {
        match shared.target.absolute(asked) {
            Some(asked) => Self::Watched(Box::new(Watched {
                reply,
                rewriter: EndpointRewriter::new(),
                asked,
                shared: Arc::clone(shared),
            })),
            None => Self::Passed(reply),
        }
    }
}

/// An answer of the proxy's own.
pub(super) fn own(status: StatusCode, text: impl Into<String>) -> Response<ToAgent> {
    let mut response = Response::new(ToAgent::Own(Full::new(Bytes::from(text.into()))));
    *response.status_mut() = status;
    let plain = header::HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, plain);
    response
}

impl Watched {
    fn data(&mut self, data: &Bytes) -> Bytes {
        let shared = &self.shared;
        let out = self
            .rewriter
            .push(data, &self.asked, &shared.target, &shared.own_origin);
        let exchange = self.reply.exchange();
        match out.announcement {
            Some(Announcement::Path { path, target }) if shared.gate.open(&path) => {
                exchange.queue().push(Tap::Endpoint {
                    exchange: exchange.id(),
                    target,
                });
            }
            Some(Announcement::Path { .. }) | None => {}
            Some(Announcement::Elsewhere(origin)) => exchange.queue().push(Tap::Fault {
                at: Instant::now(),
                what: format!("the server wants messages posted to another origin, {origin}, which is not reached"),
            }),
        }
        Bytes::from(out.bytes)
    }
}

impl Body for ToAgent {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match self.get_mut() {
            Self::Passed(reply) => Pin::new(reply).poll_frame(cx),
            Self::Own(body) => {
                let frame = ready!(Pin::new(body).poll_frame(cx));
                Poll::Ready(frame.map(|frame| frame.map_err(|never| match never {})))
            }
            Self::Watched(watched) => loop {
                let frame = ready!(Pin::new(&mut watched.reply).poll_frame(cx));
                if watched.rewriter.done() {
                    return Poll::Ready(frame);
                }
                let out = match frame {
                    Some(Ok(frame)) => match frame.into_data() {
                        Ok(data) => watched.data(&data),
                        Err(frame) => return Poll::Ready(Some(Ok(frame))),
                    },
                    Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                    None => match watched.rewriter.rest() {
                        rest if rest.is_empty() => return Poll::Ready(None),
                        rest => Bytes::from(rest),
                    },
                };
                // An empty frame would end a chunked body.
                if !out.is_empty() {
                    return Poll::Ready(Some(Ok(Frame::data(out))));
                }
            },
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Passed(reply) => reply.is_end_stream(),
            Self::Own(body) => body.is_end_stream(),
            Self::Watched(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Passed(reply) => reply.size_hint(),
            Self::Own(body) => body.size_hint(),
            Self::Watched(_) => SizeHint::default(),
        }
    }
}
