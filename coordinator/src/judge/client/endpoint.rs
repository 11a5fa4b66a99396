//! Asks, and tries again within bounds.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Method, Request};
use http_body_util::Full;
use mcproctor_proto::turn::Usage;
use secrecy::ExposeSecret;
use tokio::time::Instant;

use super::connection::Connection;
use super::error::AskError;
use super::request::Parameters;
use super::{refusal, reply};
use crate::config::JudgeSettings;
use crate::judge::prompt::Message;

/// Requests at most for one answer, those not counted that left out a parameter.
const MOST_TRIES: u32 = 4;
/// The first pause before another try that the endpoint says nothing about; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// The judge's endpoint.
pub(in crate::judge) struct Endpoint {
    connection: Connection,
    url: String,
    model: String,
    authorization: Option<HeaderValue>,
    timeout: Duration,
    /// What is sent beside the messages; shrinks when the endpoint refuses a parameter, for the whole run.
    parameters: Mutex<Parameters>,
    /// Whether it could not be reached in all tries of a question: then one is enough to know that it still cannot.
    down: AtomicBool,
}

/// What one answer took.
pub(in crate::judge) struct Answered {
    /// What the model said.
    pub(in crate::judge) content: Result<String, AskError>,
    /// The model that said it.
    pub(in crate::judge) model: Option<String>,
    /// What all requests for it cost.
    pub(in crate::judge) usage: Usage,
}

impl Endpoint {
    pub(in crate::judge) fn new(settings: &JudgeSettings) -> Result<Self, AskError> {
        let authorization = match &settings.api_key {
            Some(key) => {
                let mut value = HeaderValue::try_from(format!("Bearer {}", key.expose_secret()))
                    .map_err(|_| AskError::NoWay("the judge's key cannot stand in a header"))?;
                value.set_sensitive(true);
                Some(value)
            }
            None => None,
        };
        let mut url = settings.base_url.clone();
        let path = format!("{}/chat/completions", url.path().trim_end_matches('/'));
        url.set_path(&path);
        url.set_fragment(None);
        Ok(Self {
            connection: Connection::new(&url)?,
            url: url.into(),
            model: settings.model.clone(),
            authorization,
            timeout: settings.timeout,
            parameters: Mutex::default(),
            down: AtomicBool::new(false),
        })
    }

    /// Asks until there is an answer, it is clear that there will be none, or `until` comes.
    pub(in crate::judge) async fn ask(&self, messages: &[Message], until: Instant) -> Answered {
        let mut answered = Answered {
            content: Err(AskError::TimedOut(0)),
            model: None,
            usage: Usage::default(),
        };
        let mut pause = FIRST_PAUSE;
        let mut tries = 0;
        loop {
            tries += 1;
            let (error, wait) = match self.once(messages, until, &mut answered).await {
                Ok(content) => {
                    answered.content = Ok(content);
                    return answered;
                }
                Err(Failed::ForGood(error)) => {
                    answered.content = Err(error);
                    return answered;
                }
                // The same request without the parameter. Each can be left out once, so this ends.
                Err(Failed::ParameterRefused) => {
                    tries -= 1;
                    continue;
                }
                Err(Failed::ForNow(error, wait)) => (error, wait),
            };
            let unreachable = matches!(error, AskError::Unreachable(_));
            let most = if unreachable && self.down.load(Ordering::Relaxed) {
                1
            } else {
                MOST_TRIES
            };
            let wait = wait.unwrap_or(pause);
            if tries >= most {
                self.down.store(unreachable, Ordering::Relaxed);
                answered.content = Err(error);
                return answered;
            }
            if Instant::now().checked_add(wait).is_none_or(|at| at >= until) {
                answered.content = Err(match error {
                    AskError::Refused { status, .. } if wait > pause => AskError::AsksToWait {
                        status,
                        seconds: wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0)),
                    },
                    error => error,
                });
                return answered;
            }
            tokio::time::sleep(wait).await;
            pause *= 2;
        }
    }

    /// One request.
    async fn once(&self, messages: &[Message], until: Instant, answered: &mut Answered) -> Result<String, Failed> {
        let sent = self.parameters().clone();
        let request = self.request(&sent, messages)?;
        let limit = self.timeout.min(until.saturating_duration_since(Instant::now()));
        let response = tokio::time::timeout(limit, self.connection.send(request))
            .await
            .map_err(|_| Failed::ForGood(AskError::TimedOut(limit.as_secs().max(1))))?
            .map_err(|error| Failed::ForNow(error, None))?;
        self.down.store(false, Ordering::Relaxed);
        if response.status.is_success() {
            let reply = reply::read(&response.body);
            answered.usage.add(&reply.usage);
            answered.model = reply.model.or(answered.model.take());
            return reply.content.map_err(Failed::ForGood);
        }
        let status = response.status.as_u16();
        let refusal = refusal::read(status, &response.headers, &response.body, SystemTime::now());
        if matches!(status, 400 | 422)
            && self
                .parameters()
                .drop_refused(&sent, refusal.parameter.as_deref(), &refusal.message)
        {
            return Err(Failed::ParameterRefused);
        }
        let error = AskError::Refused {
            status: refusal.status,
            message: refusal.message,
        };
        Err(if refusal.may_pass {
            Failed::ForNow(error, refusal.wait)
        } else {
            Failed::ForGood(error)
        })
    }

    fn request(&self, parameters: &Parameters, messages: &[Message]) -> Result<Request<Full<Bytes>>, Failed> {
        let body = parameters.body(&self.model, messages).to_string();
        let mut request = Request::builder()
            .method(Method::POST)
            .uri(&self.url)
            .header(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization.clone());
        }
        request
            .body(Full::new(Bytes::from(body)))
            .map_err(|_| Failed::ForGood(AskError::NoWay("the judge's address cannot be asked")))
    }

    fn parameters(&self) -> std::sync::MutexGuard<'_, Parameters> {
        self.parameters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why one request brought no answer.
enum Failed {
    /// No other will.
    ForGood(AskError),
    /// Another may, after a pause.
    ForNow(AskError, Option<Duration>),
    /// Another will have to do without a parameter.
    ParameterRefused,
}
