//! One exchange, from the agent's request to the end of the server's answer.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use bytes::Bytes;
use http::header::{
    CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderName, HeaderValue, LOCATION,
};
use http::uri::PathAndQuery;
use http::{HeaderMap, Method, Request, Response, StatusCode, Uri, Version};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use tokio::sync::Notify;

use super::admission::{Admission, Gate};
use super::body::{Exchange, Live, Outgoing, Replay, Reply};
use super::headers::{self, Injected};
use super::queue::Queue;
use super::redirect::{self, Redirect};
use super::reply::{ToAgent, own};
use super::tap::{Ending, ReplyHead, RequestHead, Tap};
use super::target::Target;
use super::upstream::{Connector, Link, SendError, reason};
use crate::refused::Refused;
use mcproctor_proto::redact::Redactor;

/// What every connection of one proxy shares.
pub(super) struct Shared {
    pub(super) target: Target,
    pub(super) host: HeaderValue,
    pub(super) own_origin: String,
    pub(super) gate: Gate,
    pub(super) injected: Injected,
    pub(super) redactor: Arc<Redactor>,
    pub(super) queue: Arc<Queue>,
    pub(super) connector: Connector,
    pub(super) refused: Refused,
    pub(super) turn: AtomicU32,
    pub(super) exchanges: AtomicU64,
    pub(super) log_headers: bool,
}

/// One connection of the agent, with the server's connection that belongs to it.
pub(super) struct Pair {
    shared: Arc<Shared>,
    link: Mutex<Option<Link>>,
    closed: Arc<Notify>,
}

/// The agent's connection is closed without an answer, as the server did.
#[derive(Debug, thiserror::Error)]
#[error("the server closed the connection without an answer")]
pub(super) struct NoAnswer;

impl Pair {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            link: Mutex::new(None),
            closed: Arc::new(Notify::new()),
        }
    }

    /// Waits until the server closes its side of the pair.
    pub(super) async fn server_closed(&self) {
        self.closed.notified().await;
    }

    /// Answers one request of the agent.
    pub(super) async fn serve(&self, request: Request<Incoming>) -> Result<Response<ToAgent>, NoAnswer> {
        match self.shared.gate.admit(request.uri(), request.headers()) {
            Admission::Forward => self.forward(request).await,
            Admission::Forbidden => {
                self.shared.refused.note(request.method(), request.uri());
                Ok(own(
                    StatusCode::FORBIDDEN,
                    "mcproctor: this host or origin may not use the proxy\n",
                ))
            }
            Admission::NotFound { on_its_own } => {
                if !on_its_own {
                    self.shared.refused.note(request.method(), request.uri());
                }
                Ok(own(StatusCode::NOT_FOUND, "mcproctor: only the MCP endpoint is here\n"))
            }
        }
    }

    async fn forward(&self, request: Request<Incoming>) -> Result<Response<ToAgent>, NoAnswer> {
        let shared = &self.shared;
        let (mut parts, body) = request.into_parts();
        let asked = parts
            .uri
            .path_and_query()
            .cloned()
            .unwrap_or_else(|| PathAndQuery::from_static("/"));
        let mut there = shared.target.path_and_query(&asked);
        headers::outbound(&mut parts.headers, &shared.host, &shared.injected);

        let mut exchange = self.open(&parts.method, &asked, &parts.headers);
        let replay = Replay::default();
        let live = Live::new(body, Arc::clone(&shared.queue), exchange.id(), replay.clone());
        let mut outgoing = Outgoing::Live(live);
        let mut followed = 0;
        loop {
            let response = match self.send(&parts.method, &there, &parts.headers, outgoing).await {
                Ok(response) => response,
                Err(Failure::Unreachable(why, mut body)) => {
                    // Read to its end, so that the call that nobody gets is recorded.
                    while let Some(Ok(_)) = body.frame().await {}
                    let text = format!(
                        "mcproctor: the MCP server cannot be reached: {}\n",
                        shared.redactor.text(why.clone())
                    );
                    exchange.end(Ending::Unreachable(why));
                    return Ok(own(StatusCode::BAD_GATEWAY, text));
                }
                Err(Failure::Lost(why)) => {
                    exchange.end(if replay.broken() {
                        shared.queue.agent_gone()
                    } else {
                        Ending::UpstreamLost(why)
                    });
                    return Err(NoAnswer);
                }
            };
            match redirect::decide(&shared.target, &there, response.status(), response.headers()) {
                Redirect::Pass => return Ok(self.pass(response, exchange, &parts.method, &there)),
                Redirect::Hand(to) => return Ok(self.hand(response, exchange, &parts.method, &there, &to)),
                Redirect::Follow(to) => match replay.body() {
                    Some(body) if followed < redirect::FOLLOW_CAP => {
                        followed += 1;
                        there = to;
                        outgoing = Outgoing::Again(Full::new(body));
                    }
                    Some(_) => {
                        let what = format!("the server redirects more than {} times", redirect::FOLLOW_CAP);
                        return Ok(self.refuse(exchange, what));
                    }
                    None => return Ok(self.hand(response, exchange, &parts.method, &there, &to)),
                },
                Redirect::Refuse(origin) => {
                    let what = format!("the server redirects to another origin, {origin}; configure that URL instead");
                    return Ok(self.refuse(exchange, what));
                }
            }
        }
    }

    /// Answers in the server's place; what is recorded is what the agent gets.
    fn refuse(&self, mut exchange: Exchange, what: String) -> Response<ToAgent> {
        let queue = &self.shared.queue;
        let status = StatusCode::BAD_GATEWAY;
        let text = format!("mcproctor: {what}\n");
        queue.push(Tap::Fault {
            at: Instant::now(),
            what: what.clone(),
        });
        let head = ReplyHead {
            status: status.as_u16(),
            content_type: None,
            encoding: None,
            challenged: false,
        };
        queue.push(Tap::Reply {
            exchange: exchange.id(),
            head: Box::new(head),
        });
        exchange.end(Ending::Refused(what));
        own(status, text)
    }

    /// Records that a request is being sent.
    fn open(&self, method: &Method, asked: &PathAndQuery, headers: &HeaderMap) -> Exchange {
        let shared = &self.shared;
        let id = shared.exchanges.fetch_add(1, Ordering::Relaxed);
        let at = Instant::now();
        shared.queue.active(at);
        let head = RequestHead {
            method: method.clone(),
            target: asked.as_str().to_owned(),
            session: text(headers, "mcp-session-id"),
            revision: text(headers, "mcp-protocol-version"),
            last_event_id: text(headers, "last-event-id"),
            encoding: text(headers, CONTENT_ENCODING.as_str()),
            all: shared.log_headers.then(|| headers.clone()),
        };
        let turn = shared.turn.load(Ordering::Relaxed);
        shared.queue.push(Tap::Request {
            exchange: id,
            at,
            turn,
            head: Box::new(head),
        });
        Exchange::new(Arc::clone(&shared.queue), id)
    }

    /// Sends on the pair's connection, or on a new one when that is gone before a byte of the request was written.
    async fn send(
        &self,
        method: &Method,
        there: &PathAndQuery,
        headers: &HeaderMap,
        body: Outgoing,
    ) -> Result<Response<Incoming>, Failure> {
        let mut request = Request::new(body);
        *request.method_mut() = method.clone();
        *request.headers_mut() = headers.clone();
        let mut kept = self.link.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(link) = &mut kept
            && !link.ready().await
        {
            kept = None;
        }
        loop {
            let reused = kept.is_some();
            let mut link = match kept.take() {
                Some(link) => link,
                None => match self.shared.connector.connect(&self.closed).await {
                    Ok(link) => link,
                    Err(error) => {
                        return Err(Failure::Unreachable(
                            reason(error.as_ref()),
                            Box::new(request.into_body()),
                        ));
                    }
                },
            };
            self.address(&mut request, there, &link);
            match link.send(request).await {
                Ok(response) => {
                    *self.link.lock().unwrap_or_else(PoisonError::into_inner) = Some(link);
                    return Ok(response);
                }
                Err(SendError {
                    unsent: Some(unsent), ..
                }) if reused => request = unsent,
                Err(SendError { error, .. }) => return Err(Failure::Lost(reason(&error))),
            }
        }
    }

    /// Writes the address as the connection's protocol wants it.
    fn address(&self, request: &mut Request<Outgoing>, there: &PathAndQuery, link: &Link) {
        if link.wants_absolute() {
            let target = &self.shared.target;
            let uri = Uri::builder()
                .scheme(target.scheme.clone())
                .authority(target.authority.clone())
                .path_and_query(there.clone())
                .build();
            *request.uri_mut() = uri.unwrap_or_else(|_| Uri::from(there.clone()));
            *request.version_mut() = Version::HTTP_2;
            request.headers_mut().remove(HOST);
        } else {
            *request.uri_mut() = Uri::from(there.clone());
            *request.version_mut() = Version::HTTP_11;
            request
                .headers_mut()
                .entry(HOST)
                .or_insert_with(|| self.shared.host.clone());
        }
    }

    /// Hands the server's answer to the agent.
    fn pass(
        &self,
        response: Response<Incoming>,
        exchange: Exchange,
        method: &Method,
        there: &PathAndQuery,
    ) -> Response<ToAgent> {
        let shared = &self.shared;
        let (mut parts, body) = response.into_parts();
        let seen = headers::inbound(parts.status, &mut parts.headers, &shared.injected, &shared.redactor);
        let head = ReplyHead {
            status: parts.status.as_u16(),
            content_type: text(&parts.headers, CONTENT_TYPE.as_str()),
            encoding: text(&parts.headers, CONTENT_ENCODING.as_str()),
            challenged: seen.challenged,
        };
        let is_events = is_event_stream(head.content_type.as_deref());
        let plain = head
            .encoding
            .as_deref()
            .is_none_or(|encoding| encoding.eq_ignore_ascii_case("identity"));
        shared.queue.push(Tap::Reply {
            exchange: exchange.id(),
            head: Box::new(head),
        });
        parts.version = Version::HTTP_11;
        if seen.closes {
            parts.headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        let reply = Reply::new(body, exchange);
        let body = if method == Method::GET && is_events && plain && there.path() == shared.target.path {
            parts.headers.remove(CONTENT_LENGTH);
            ToAgent::watched(reply, there, shared)
        } else {
            ToAgent::Passed(reply)
        };
        Response::from_parts(parts, body)
    }

    /// Lets the agent follow a redirect itself, through the proxy.
    fn hand(
        &self,
        response: Response<Incoming>,
        exchange: Exchange,
        method: &Method,
        there: &PathAndQuery,
        to: &PathAndQuery,
    ) -> Response<ToAgent> {
        let mut response = self.pass(response, exchange, method, there);
        if self.shared.gate.open(to.path())
            && let Ok(location) = HeaderValue::from_maybe_shared(Bytes::from(to.as_str().to_owned()))
        {
            response.headers_mut().insert(LOCATION, location);
        }
        response
    }
}

enum Failure {
    /// There is no connection; nothing of the body was read.
    Unreachable(String, Box<Outgoing>),
    /// The connection broke before an answer came.
    Lost(String),
}

/// Whether a content type says that a body is an event stream.
pub(super) fn is_event_stream(content_type: Option<&str>) -> bool {
    content_type
        .and_then(|value| value.split(';').next())
        .is_some_and(|value| value.trim().eq_ignore_ascii_case("text/event-stream"))
}

fn text(headers: &HeaderMap, name: impl TryInto<HeaderName>) -> Option<String> {
    let value = headers.get(name.try_into().ok()?)?;
    value.to_str().ok().map(str::to_owned)
}
