//! Who may ask, and what.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use mcproctor_proto::allowance::Allowance;
use mcproctor_proto::lease_token::{Claims, TokenKey};
use mcproctor_proto::traffic::{ENTRY_REFUSED, TOKEN_REFUSED};
use serde_json::json;

use super::super::endpoint::{Dialect, Purpose, purpose};
use super::super::forward::{Content, Forward, Route};
use super::super::ledger::Ledger;
use super::super::linger::read_out;
use super::super::pace::{Pace, Row};
use super::super::purse::Purse;
use super::super::refuse::Refusal;
use super::super::server::now;
use super::leases::{Leases, Superseded};
use super::options::GatewayLimits;

/// A gap without a byte that is longer than this counts as waiting for the model.
const SILENCE: Duration = Duration::from_secs(10);

/// What every request shares.
pub(super) struct Desk {
    pub(super) token_key: TokenKey,
    pub(super) routes: BTreeMap<String, Arc<Route>>,
    pub(super) limits: GatewayLimits,
    pub(super) purse: Arc<Purse>,
    pub(super) pace: Arc<Pace>,
    pub(super) leases: Mutex<Leases>,
    pub(super) now_unix_s: Arc<dyn Fn() -> u64 + Send + Sync>,
    /// Requests whose token was not taken.
    pub(super) refused: AtomicU64,
}

/// Why a request is not let in.
struct Denied {
    code: &'static str,
    /// For whoever asked; without the token.
    why: String,
}

impl Denied {
    fn token(why: impl Into<String>) -> Self {
        Self {
            code: TOKEN_REFUSED,
            why: why.into(),
        }
    }

    fn entry(why: String) -> Self {
        Self {
            code: ENTRY_REFUSED,
            why,
        }
    }
}

impl Desk {
    /// Answers one request.
    pub(super) async fn answer(&self, request: Request<Incoming>) -> Result<Response<Content>, Infallible> {
        Ok(match (request.method(), request.uri().path()) {
            (&Method::GET | &Method::HEAD, "/healthz") => plain(StatusCode::OK, "text/plain", "ok\n".to_owned()),
            (&Method::GET, "/usage") => self.usage(request.headers()),
            (&Method::GET, "/lease") => self.lease(&request),
            _ => self.relay(request).await,
        })
    }

    fn usage(&self, headers: &HeaderMap) -> Response<Content> {
        if bearer(headers).is_some_and(|shown| self.token_key.is(shown)) {
            plain(StatusCode::OK, "application/json", self.status().to_string())
        } else {
            let words = "this is for those who have the gateway's tokenKey, as a bearer token\n";
            plain(StatusCode::UNAUTHORIZED, "text/plain", words.to_owned())
        }
    }

    /// What a token is good for. No model is asked, and no account is opened.
    fn lease(&self, request: &Request<Incoming>) -> Response<Content> {
        match self.entry(request.headers()) {
            Ok((claims, route)) => {
                let answer = json!({
                    "entry": claims.model,
                    "api": route.dialect.name(),
                    "limitReached": self.purse.shut().map(|shut| shut.to_string()),
                });
                plain(StatusCode::OK, "application/json", answer.to_string())
            }
            Err(denied) => self.deny(&denied, request),
        }
    }

    /// A request for a model. Whatever it shows as a credential is dropped on the way out.
    async fn relay(&self, mut request: Request<Incoming>) -> Response<Content> {
        match self.admit(&request) {
            Ok(forward) => forward.pass(request).await,
            Err(denied) => {
                read_out(request.body_mut()).await;
                self.deny(&denied, &request)
            }
        }
    }

    fn deny(&self, denied: &Denied, request: &Request<Incoming>) -> Response<Content> {
        self.refused.fetch_add(1, Ordering::Relaxed);
        let (status, kind) = match denied.code {
            TOKEN_REFUSED => (StatusCode::UNAUTHORIZED, "authentication_error"),
            // Neither agent sends a request again that was answered so.
            _ => (StatusCode::BAD_REQUEST, "invalid_request_error"),
        };
        let refusal = Refusal {
            status,
            kind,
            code: Some(denied.code),
            message: &denied.why,
        };
        refusal.reply(spoken(request)).map(Either::Right)
    }

    /// Reads the token, and finds the entry that it names.
    fn entry(&self, headers: &HeaderMap) -> Result<(Claims, &Arc<Route>), Denied> {
        let token = shown(headers).ok_or_else(|| Denied::token("a lease token is missing"))?;
        let claims = self
            .token_key
            .read(token, (self.now_unix_s)())
            .map_err(|error| Denied::token(error.to_string()))?;
        match self.routes.get(&claims.model) {
            Some(route) => Ok((claims, route)),
            // The name is the coordinator's own: the signature has been checked.
            None => Err(Denied::entry(format!(
                "the gateway has no model entry `{}`",
                claims.model
            ))),
        }
    }

    /// Without a token that is good nothing goes out.
    fn admit(&self, request: &Request<Incoming>) -> Result<Forward, Denied> {
        let (claims, route) = self.entry(request.headers())?;
        let asks = |dialect| purpose(dialect, request.method(), request.uri().path());
        let other = Dialect::ALL.into_iter().find(|dialect| *dialect != route.dialect);
        if asks(route.dialect).is_none() && other.and_then(asks) == Some(Purpose::Completion) {
            return Err(Denied::entry(format!(
                "the gateway's model entry `{}` speaks the API `{}`, and `{}` was asked",
                claims.model,
                route.dialect.name(),
                other.map_or("another one", Dialect::name)
            )));
        }
        let open = || (Ledger::new(SILENCE, now()), Purse::of_attempt(&allowance(&claims)));
        let account =
            self.leases
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .account_of(&claims, (self.now_unix_s)(), open);
        let account =
            account.map_err(|Superseded| Denied::token("the attempt was given out anew, so this lease has ended"))?;
        Ok(Forward {
            refused: Arc::default(),
            route: Arc::clone(route),
            ledger: account.ledger,
            meant: Arc::default(),
            purse: account.purse,
            common: Some(Arc::clone(&self.purse)),
            request_interval: self.request_interval(),
            row: Row::new(vec![account.attempt, account.run], Arc::clone(&self.pace)),
            // Nobody asks a gateway about them, and the relay before it has noted them.
            notes_tools: false,
        })
    }

    fn request_interval(&self) -> Option<Duration> {
        let rate = self.limits.requests_per_minute?;
        Some(Duration::from_mins(1) / rate.max(1))
    }
}

/// What an attempt may use.
fn allowance(claims: &Claims) -> Allowance {
    Allowance {
        tokens: claims.tokens,
        cost: claims.cost,
        request_interval: None,
    }
}

/// Where the APIs' own keys stand: `x-api-key` for Anthropic's, else a bearer token.
fn shown(headers: &HeaderMap) -> Option<&str> {
    match headers.get("x-api-key") {
        Some(key) => key.to_str().ok().map(str::trim),
        None => bearer(headers),
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// What whoever asks speaks, as far as the request tells.
fn spoken<B>(request: &Request<B>) -> Dialect {
    let messages = request.uri().path().starts_with("/v1/messages");
    if messages || request.headers().contains_key("anthropic-version") {
        Dialect::Anthropic
    } else {
        Dialect::OpenAi
    }
}

fn plain(status: StatusCode, media_type: &'static str, text: String) -> Response<Content> {
    let mut reply = Response::new(Either::Right(Full::new(Bytes::from(text))));
    *reply.status_mut() = status;
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    reply
}
