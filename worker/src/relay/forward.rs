//! One request from the agent to the model API, and the response back.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::header::{HOST, HeaderName, HeaderValue, ORIGIN, RETRY_AFTER};
use http::{HeaderMap, Method, Request, Response, StatusCode, Version};
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use mcproctor_proto::traffic::{ATTEMPT_LIMIT, GATEWAY_LIMIT, GATEWAY_UNREACHABLE, ModelRefusal};

use super::asked::Form;
use super::connect::Outbound;
use super::credential::Key;
use super::endpoint::{Dialect, Purpose, Upstream, is_loopback, overrides_method, purpose};
use super::errand::{Entry, Errand};
use super::failure::shorten;
use super::meant::Meant;
use super::observe::Observed;
use super::overhear::{HandOver, Overheard};
use super::pace::{Place, Row};
use super::passed::{keep_known, strip_hop_by_hop};
use super::purse::{NoRoom, Purse, WAITING};
use super::refuse::{MARK, Refusal};
use super::retry_after::retry_after_ms;
use super::server::now;
use super::traffic::{End, Ledger, RequestId};
use super::verdict::{Ours, Reading};
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
        let query = request.uri().query();
        let purpose = purpose(route.dialect, request.method(), path).filter(|_| !overrides_method(query));
        let Some(purpose) = purpose else {
            self.block(&request);
            return self.refuse(
                StatusCode::NOT_FOUND,
                "not_found_error",
                "the relay does not pass this endpoint on",
            );
        };
        let Ok(target) = route.upstream.target(route.dialect, path, query) else {
            self.block(&request);
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
            return refusal;
        }

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

    /// Waits until a request for an answer may be sent, and charges it.
    async fn admit(&self, id: RequestId, errand: &Errand, body: &mut Overheard) -> Result<(), TurnedAway> {
        let purses = || [Some(&self.purse), self.common.as_ref()].into_iter().flatten();
        if let Some(common) = self.common.as_ref().filter(|common| common.limits_money()) {
            let model = body.model().await.map_err(|why| Box::new(self.not_read(&why)))?;
            if common.lacks_price_of(model.as_deref()) {
                return Err(Box::new(self.unpriced(model.as_deref())));
            }
        }
        loop {
            // Before anything is looked at, so that no change is missed.
            let changed = (
                self.purse.changed(),
                self.common.as_ref().map(|common| common.changed()),
            );
            let own = |purse| Arc::ptr_eq(purse, &self.purse);
            let mut room = purses().try_for_each(|purse| purse.room().map_err(|no_room| (own(purse), no_room)));
            if room.is_ok() {
                // What is used up while it waits for its place is used up; what is used up before keeps it from waiting in vain.
                let place = self.wait_for_its_place(id).await;
                let asked = errand.asked();
                let admitted = purses().map(|purse| purse.admit(&asked).map_err(|no_room| (own(purse), no_room)));
                match admitted.collect::<Result<Vec<_>, _>>() {
                    Ok(tickets) => {
                        errand.charge(tickets);
                        if let Some(place) = place {
                            place.take();
                        }
                        return Ok(());
                    }
                    Err(no_room) => room = Err(no_room),
                }
            }
            if let Err((own, NoRoom::Shut(shut))) = room {
                let refusal = if own {
                    self.refuse_for_a_limit(ATTEMPT_LIMIT, USED_UP)
                } else {
                    self.refuse_for_a_limit(GATEWAY_LIMIT, &format!("the gateway asks no model any more: {shut}"))
                };
                return Err(Box::new((End::Limited, refusal)));
            }
            let Some(_waiting) = self.purse.wait() else {
                // As if it had not come: it comes again.
                return Err(Box::new((End::Left { answered: false }, self.too_many())));
            };
            match changed {
                (own, Some(common)) => tokio::select! {
                    () = own => {}
                    () = common => {}
                },
                (own, None) => own.await,
            }
        }
    }

    /// Holds a request back until one more may be sent. An agent that leaves meanwhile takes its request with it.
    async fn wait_for_its_place(&self, id: RequestId) -> Option<Place> {
        let interval = self.request_interval?;
        self.ledger().hold(id, now());
        let place = self.row.place(interval).await;
        self.ledger().release(id, now());
        Some(place)
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
    fn refuse_for_a_limit(&self, code: &'static str, message: &str) -> Response<Content> {
        let refusal = Refusal {
            status: StatusCode::BAD_REQUEST,
            kind: "invalid_request_error",
            code: Some(code),
            message,
        };
        refusal.reply(self.route.dialect).map(Either::Right)
    }

    /// Agents send a request again that was answered so.
    fn too_many(&self) -> Response<Content> {
        let message =
            format!("{WAITING} requests of this attempt wait already; come again when one of them is through");
        let mut refusal = self.refuse(StatusCode::TOO_MANY_REQUESTS, "rate_limit_error", &message);
        refusal.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
        refusal
    }

    /// A model that would make a limit of money one that cannot be kept to.
    fn unpriced(&self, model: Option<&str>) -> (End, Response<Content>) {
        let message = match model {
            Some(model) => format!(
                "the gateway does not ask {}: its price is not known, so limits.maxCostUsd could not be kept to; add it to the \
                 gateway's prices",
                shorten(model)
            ),
            None => "the gateway has limits.maxCostUsd, and the request names no model".to_owned(),
        };
        self.refuse_as_wrong(StatusCode::BAD_REQUEST, "invalid_request_error", &message)
    }

    /// A request that did not come in full, or not so that it could be passed on.
    fn not_read(&self, why: &HandOver) -> (End, Response<Content>) {
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
    fn refuse_as_wrong(&self, status: StatusCode, kind: &str, message: &str) -> (End, Response<Content>) {
        let end = End::Refused(ModelRefusal {
            status: status.as_u16(),
            code: Some(kind.to_owned()),
            message: shorten(message),
            retry_after_ms: None,
        });
        (end, self.refuse(status, kind, message))
    }
}

/// Why a request is not sent, and what it is answered.
type TurnedAway = Box<(End, Response<Content>)>;

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
