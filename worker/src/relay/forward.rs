//! One request from the agent to the model API, and the response back.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::header::{HOST, HeaderName, HeaderValue, ORIGIN};
use http::{HeaderMap, Method, Request, Response, StatusCode, Version};
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use mcproctor_proto::traffic::{GATEWAY_UNREACHABLE, ModelRefusal};

use super::asked::Form;
use super::connect::Outbound;
use super::credential::Key;
use super::endpoint::{Dialect, Purpose, Upstream, is_loopback, overrides_method, purpose};
use super::errand::{Entry, Errand};
use super::failure::shorten;
use super::ledger::{End, Ledger};
use super::linger::read_out;
use super::meant::Meant;
use super::observe::Observed;
use super::overhear::{HandOver, Overheard};
use super::pace::Row;
use super::passed::keep_known;
use super::purse::Purse;
use super::refuse::{MARK, Refusal};
use super::retry_after::retry_after_ms;
use super::server::now;
use super::verdict::{Ours, Reading};
use crate::hop_by_hop::strip_hop_by_hop;
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
    /// What the agent is configured to ask.
    pub(super) meant: Arc<Meant>,
    /// What the attempt may use.
    pub(super) purse: Arc<Purse>,
    /// What it shares with other attempts: only in a gateway.
    pub(super) common: Option<Arc<Purse>>,
    /// The time between two requests.
    pub(super) request_interval: Option<Duration>,
    /// Where its requests wait for their places.
    pub(super) row: Row,
    /// What was not passed on.
    pub(super) refused: Arc<Refused>,
    /// Whether the tools that requests offer are noted.
    pub(super) notes_tools: bool,
}

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
    pub(super) async fn pass(&self, mut request: Request<Incoming>) -> Response<Content> {
        let route = &self.route;
        let path = request.uri().path();
        let query = request.uri().query();
        let purpose = purpose(route.dialect, request.method(), path).filter(|_| !overrides_method(query));
        let Some(purpose) = purpose else {
            self.block(&request);
            read_out(request.body_mut()).await;
            return self.refuse(
                StatusCode::NOT_FOUND,
                "not_found_error",
                "the relay does not pass this endpoint on",
            );
        };
        let Ok(target) = route.upstream.target(route.dialect, path, query) else {
            self.block(&request);
            read_out(request.body_mut()).await;
            return self.refuse(
                StatusCode::BAD_REQUEST,
                "invalid_request_error",
                "the address is not valid",
            );
        };
        let form = Form::of(path);
        let id = self.ledger().begin(purpose, now());
        let errand = Arc::new(Errand::new(Arc::clone(&self.ledger), id, Arc::clone(&self.meant), path));
        let mut entry = Entry::new(Arc::clone(&errand));
        let (mut head, body) = request.into_parts();
        let mut body = match purpose {
            Purpose::Completion => Overheard::new(body, form, &head.headers, Arc::clone(&errand), self.notes_tools),
            Purpose::Side => Overheard::by_nobody(body),
        };
        if purpose == Purpose::Completion
            && let Err(turned_away) = self.admit(id, &errand, &mut body).await
        {
            let (end, refusal) = *turned_away;
            entry.end(end);
            read_out(&mut body).await;
            return refusal;
        }
        body.set_out();

        head.uri = target;
        head.version = Version::HTTP_11;
        keep_known(&mut head.headers);
        route.key.apply(&mut head.headers);

        match route.outbound.send(Request::from_parts(head, body)).await {
            // Nobody asked for another protocol, and there is nothing to be passed on.
            Ok(response) if response.status().is_informational() => {
                let (end, refusal) = self.refuse_as_wrong(
                    StatusCode::BAD_GATEWAY,
                    "api_error",
                    "the model API changed the protocol, which nobody asked for",
                );
                entry.end(end);
                refusal
            }
            Ok(response) => {
                let (mut head, body) = response.into_parts();
                entry.head(head.status.is_success());
                let wait = retry_after_ms(&head.headers, SystemTime::now());
                let mark = head.headers.remove(MARK);
                let ours = mark
                    .filter(|_| route.key.is_for_a_gateway())
                    .and_then(|mark| Ours::of(&mark));
                let reading = Reading::new(route.dialect, head.status.as_u16(), &head.headers, wait).by(ours);
                strip_hop_by_hop(&mut head.headers);
                head.version = Version::HTTP_11;
                let body = Observed::new(body, reading, Arc::clone(&route.key), entry);
                Response::from_parts(head, Either::Left(body))
            }
            Err(error) => {
                if let Some(why) = not_handed_over(&error) {
                    let (end, refusal) = self.not_read(why);
                    entry.end(end);
                    return refusal;
                }
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

    fn block(&self, request: &Request<Incoming>) {
        self.ledger().ask(now());
        // Claude Code looks in this way whether its endpoint is there; it asks for nothing.
        let looks = request.method() == Method::HEAD && request.uri().path() == "/";
        if !looks {
            self.refused.note(request.method(), request.uri());
        }
    }

    pub(super) fn ledger(&self) -> std::sync::MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn refuse(&self, status: StatusCode, kind: &str, message: &str) -> Response<Content> {
        let refusal = Refusal {
            status,
            kind,
            code: None,
            message,
        };
        refusal.reply(self.route.dialect).map(Either::Right)
    }

    /// A request that did not come in full, or not so that it could be passed on.
    pub(super) fn not_read(&self, why: &HandOver) -> (End, Response<Content>) {
        let message = why.to_string();
        match why {
            HandOver::Broken(_) => (
                End::Left { answered: false },
                self.refuse(StatusCode::BAD_REQUEST, "invalid_request_error", &message),
            ),
            HandOver::TooSlow => self.refuse_as_wrong(StatusCode::REQUEST_TIMEOUT, "timeout_error", &message),
            HandOver::TwoModels => self.refuse_as_wrong(StatusCode::BAD_REQUEST, "invalid_request_error", &message),
        }
    }

    /// A refusal that counts as one of the API's would.
    pub(super) fn refuse_as_wrong(&self, status: StatusCode, kind: &str, message: &str) -> (End, Response<Content>) {
        let end = End::Refused(ModelRefusal {
            status: status.as_u16(),
            code: Some(kind.to_owned()),
            message: shorten(message),
            retry_after_ms: None,
        });
        (end, self.refuse(status, kind, message))
    }
}

/// Why the request was not handed over, if that is what an exchange failed for.
fn not_handed_over<'a>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a HandOver> {
    std::iter::successors(Some(error), |error| error.source()).find_map(|error| error.downcast_ref())
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
