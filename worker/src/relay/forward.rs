//! One request from the agent to the model API, and the response back.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use bytes::Bytes;
use http::header::{
    CONNECTION, EXPECT, HOST, HeaderName, HeaderValue, ORIGIN, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER,
    TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderMap, Method, Request, Response, StatusCode, Version};
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use mcproctor_proto::allowance::Allowance;
use mcproctor_proto::traffic::{ATTEMPT_LIMIT, GATEWAY_LIMIT, GATEWAY_UNREACHABLE, ModelRefusal};

use super::connect::Outbound;
use super::credential::Key;
use super::endpoint::{Dialect, Purpose, Upstream, is_loopback, purpose};
use super::failure::shorten;
use super::observe::{Entry, Observed};
use super::overhear::Overheard;
use super::pace::Pace;
use super::purse::Purse;
use super::refuse::Refusal;
use super::retry_after::retry_after_ms;
use super::server::now;
use super::traffic::{End, Ledger, RequestId};
use super::verdict::Reading;
use crate::refused::Refused;

/// A model API, the way to it, and what opens it: the same for all who ask it.
pub(super) struct Route {
    pub(super) dialect: Dialect,
    pub(super) upstream: Upstream,
    pub(super) outbound: Outbound,
    pub(super) key: Arc<Key>,
}

/// What every request of one attempt shares.
pub(super) struct Forward {
    pub(super) route: Arc<Route>,
    pub(super) ledger: Arc<Mutex<Ledger>>,
    pub(super) allowance: Allowance,
    pub(super) pace: Arc<Pace>,
    /// What it shares with other attempts: only in a gateway.
    pub(super) purse: Option<Arc<Purse>>,
    /// What was not passed on.
    pub(super) refused: Arc<Refused>,
    /// Whether the tools that requests offer are noted.
    pub(super) notes_tools: bool,
}

/// What an agent is told that has used up what it may.
const USED_UP: &str = "what this attempt may use of the model is used up (a limit of the evaluation, not of the API)";

/// A response body of the API's, or one of this side's own.
pub(super) type Content = Either<Observed, Full<Bytes>>;

impl Forward {
    /// Answers one request of an agent on this machine.
    pub(super) async fn answer(&self, request: Request<Incoming>) -> Result<Response<Content>, Infallible> {
        if !from_here(request.headers()) {
            self.block(&request);
            return Ok(self.refuse(
                StatusCode::FORBIDDEN,
                "permission_error",
                "this endpoint is for this machine only",
            ));
        }
        Ok(self.pass(request).await)
    }

    /// Answers one request of somebody who may ask.
    pub(super) async fn pass(&self, request: Request<Incoming>) -> Response<Content> {
        let route = &self.route;
        let path = request.uri().path();
        let Some(purpose) = purpose(route.dialect, request.method(), path) else {
            self.block(&request);
            return self.refuse(
                StatusCode::NOT_FOUND,
                "not_found_error",
                "the relay does not pass this endpoint on",
            );
        };
        let Ok(target) = route.upstream.target(route.dialect, path, request.uri().query()) else {
            self.block(&request);
            return self.refuse(
                StatusCode::BAD_REQUEST,
                "invalid_request_error",
                "the address is not valid",
            );
        };
        let id = self.ledger().begin(purpose, now());
        let mut entry = Entry::new(Arc::clone(&self.ledger), id);
        if purpose == Purpose::Completion {
            self.wait_for_its_place(id).await;
            if self.ledger().has_used_up(&self.allowance) {
                entry.end(End::Limited);
                return self.refuse_for_a_limit(ATTEMPT_LIMIT, USED_UP);
            }
            if let Some(shut) = self.purse.as_ref().and_then(|purse| purse.shut()) {
                entry.end(End::Limited);
                return self.refuse_for_a_limit(GATEWAY_LIMIT, &format!("the gateway asks no model any more: {shut}"));
            }
        }

        let (mut head, body) = request.into_parts();
        head.uri = target;
        head.version = Version::HTTP_11;
        strip_hop_by_hop(&mut head.headers);
        // The upstream's own name goes there instead; the server has already answered an expectation.
        head.headers.remove(HOST);
        head.headers.remove(EXPECT);
        route.key.apply(&mut head.headers);

        let body = if self.notes_tools {
            Overheard::new(body, &head.headers, Arc::clone(&self.ledger), id)
        } else {
            Overheard::by_nobody(body)
        };
        match route.outbound.send(Request::from_parts(head, body)).await {
            Ok(response) => {
                let (mut head, body) = response.into_parts();
                entry.head(head.status.is_success());
                let wait = retry_after_ms(&head.headers, SystemTime::now());
                let reading = Reading::new(route.dialect, head.status.as_u16(), &head.headers, wait);
                strip_hop_by_hop(&mut head.headers);
                head.version = Version::HTTP_11;
                let body = Observed::new(body, reading, Arc::clone(&route.key), entry);
                Response::from_parts(head, Either::Left(body))
            }
            Err(error) => {
                let why = shorten(&route.key.redact(&in_full(&error)));
                let gateway = route.key.is_for_a_gateway();
                let what = if gateway { "gateway" } else { "model API" };
                let message = format!("the {what} could not be reached: {why}");
                entry.end(End::Refused(ModelRefusal {
                    status: 0,
                    code: gateway.then(|| GATEWAY_UNREACHABLE.to_owned()),
                    message: shorten(&message),
                    retry_after_ms: None,
                }));
                self.refuse(StatusCode::BAD_GATEWAY, "api_error", &message)
            }
        }
    }

    /// Holds a request back until the worker may send one more. An agent that leaves meanwhile takes its request with it.
    async fn wait_for_its_place(&self, id: RequestId) {
        let Some(interval) = self.allowance.request_interval else {
            return;
        };
        let at = self.pace.place(interval, now());
        if at > now() {
            self.ledger().hold(id, now());
            tokio::time::sleep_until(at.into()).await;
            self.ledger().release(id, now());
        }
    }

    fn block(&self, request: &Request<Incoming>) {
        self.ledger().ask(now());
        // Claude Code looks in this way whether its endpoint is there; it asks for nothing.
        let looks = request.method() == Method::HEAD && request.uri().path() == "/";
        if !looks {
            self.refused.note(request.method(), request.uri());
        }
    }

    fn ledger(&self) -> std::sync::MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn refuse(&self, status: StatusCode, kind: &str, message: &str) -> Response<Content> {
        let refusal = Refusal {
            status,
            kind,
            code: None,
            message,
        };
        refusal.reply(self.route.dialect).map(Either::Right)
    }

    /// Neither agent sends a request again that was answered so.
    fn refuse_for_a_limit(&self, code: &str, message: &str) -> Response<Content> {
        let refusal = Refusal {
            status: StatusCode::BAD_REQUEST,
            kind: "invalid_request_error",
            code: Some(code),
            message,
        };
        refusal.reply(self.route.dialect).map(Either::Right)
    }
}

/// Whether the request was meant for this machine. A web page whose name was rebound to loopback still sends its own
/// name, and must not spend the key.
fn from_here(headers: &HeaderMap) -> bool {
    let named = |value: &HeaderValue| {
        let text = value.to_str().ok()?;
        let authority: http::uri::Authority = text.split_once("://").map_or(text, |(_, rest)| rest).parse().ok()?;
        Some(is_loopback(authority.host()))
    };
    let loopback = |name: HeaderName| headers.get(name).map(|value| named(value).unwrap_or(false));
    loopback(HOST).unwrap_or(true) && loopback(ORIGIN).unwrap_or(true)
}

/// Takes out what is meant for one connection only (RFC 9110, section 7.6.1).
fn strip_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    let fixed = [
        CONNECTION,
        PROXY_AUTHENTICATE,
        PROXY_AUTHORIZATION,
        TE,
        TRAILER,
        TRANSFER_ENCODING,
        UPGRADE,
    ];
    let others = ["keep-alive", "proxy-connection"].map(HeaderName::from_static);
    for name in named.into_iter().chain(fixed).chain(others) {
        headers.remove(name);
    }
}

/// An error with all that lies behind it.
pub(super) fn in_full(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text = format!("{text}: {error}");
        source = error.source();
    }
    text
}
