//! The relay's life: a loopback port, connections, an orderly end.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use mcproctor_proto::agent::Credential;
use mcproctor_proto::allowance::Allowance;
use mcproctor_proto::traffic::ModelTraffic;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::connect::Outbound;
use super::credential::Key;
use super::endpoint::{Dialect, Upstream};
use super::error::RelayError;
use super::forward::{Forward, Route};
use super::ledger::Ledger;
use super::meant::Meant;
use super::pace::{Lane, Pace, Row};
use super::purse::Purse;
use crate::loopback;
use crate::refused::Refused;

/// What a relay is started with.
#[derive(Clone, Debug)]
pub struct RelayOptions {
    /// The dialect that the agent speaks.
    pub dialect: Dialect,
    /// The base URL of the model API: `https://api.anthropic.com`, `https://api.openai.com/v1` or the user's own.
    pub upstream: Url,
    /// What the relay authenticates with; whatever the agent sends instead is dropped.
    pub credential: Credential,
    /// What the agent is configured to ask.
    pub meant: Meant,
    /// A gap without a byte that is longer than this counts as waiting for the model.
    pub silence: Duration,
    /// What the attempt may use.
    pub allowance: Allowance,
    /// Further certificate authorities for the model API, PEM.
    pub ca_pem: Option<String>,
    /// The row in which the requests of all attempts of the worker stand, where the allowance has an interval.
    pub pace: Arc<Pace>,
}

/// A running relay. Dropped, it closes its port and every connection.
#[derive(Debug)]
pub struct Relay {
    dialect: Dialect,
    address: SocketAddr,
    ledger: Arc<Mutex<Ledger>>,
    refused: Arc<Refused>,
    stop: CancellationToken,
    accepting: JoinHandle<()>,
}

impl Relay {
    /// Opens a loopback port and passes on what comes.
    ///
    /// # Errors
    ///
    /// When the base URL or the credential cannot be used, no certificate authorities are found for an `https` one, or no
    /// port can be had. Whether the API can be reached shows with the first request.
    pub async fn start(options: RelayOptions) -> Result<Self, RelayError> {
        let upstream = Upstream::new(options.dialect, &options.upstream)?;
        let outbound = Outbound::new(&upstream, options.ca_pem.as_deref())?;
        Self::start_with(options, outbound).await
    }

    /// Starts with a way out of the caller's own.
    pub(super) async fn start_with(options: RelayOptions, outbound: Outbound) -> Result<Self, RelayError> {
        let upstream = Upstream::new(options.dialect, &options.upstream)?;
        let key = Arc::new(Key::new(options.dialect, &options.credential)?);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .map_err(RelayError::Listen)?;
        let address = listener.local_addr().map_err(RelayError::Listen)?;
        let ledger = Arc::new(Mutex::new(Ledger::new(options.silence, now())));
        let refused = Arc::new(Refused::default());
        let forward = Arc::new(Forward {
            route: Arc::new(Route {
                dialect: options.dialect,
                upstream,
                outbound,
                key,
            }),
            ledger: Arc::clone(&ledger),
            meant: Arc::new(options.meant),
            purse: Arc::new(Purse::of_attempt(&options.allowance)),
            common: None,
            request_interval: options.allowance.request_interval,
            row: Row::new(vec![Lane::default()], options.pace),
            refused: Arc::clone(&refused),
            notes_tools: true,
        });
        let answer = move |request| {
            let forward = Arc::clone(&forward);
            async move { forward.answer(request).await }
        };
        let stop = CancellationToken::new();
        let accepting = tokio::spawn(loopback::serve(listener, answer, stop.clone()));
        Ok(Self {
            dialect: options.dialect,
            address,
            ledger,
            refused,
            stop,
            accepting,
        })
    }

    /// The base URL for the agent, in the form of its dialect: with `/v1` for OpenAI, without for Anthropic.
    pub fn base_url(&self) -> String {
        match self.dialect {
            Dialect::Anthropic => format!("http://{}", self.address),
            Dialect::OpenAi => format!("http://{}/v1", self.address),
        }
    }

    /// What the model's side comes to so far; what is open counts up to now.
    pub fn traffic(&self) -> ModelTraffic {
        self.ledger().traffic(now())
    }

    /// Requests that are still open.
    pub fn open_requests(&self) -> usize {
        self.ledger().open_requests()
    }

    /// Requests since this was last asked that were not passed on.
    pub fn take_refused(&self) -> Vec<String> {
        self.refused.take()
    }

    /// When the agent last asked for something or the API last sent a byte.
    pub fn last_activity(&self) -> Instant {
        self.ledger().last_activity()
    }

    /// Closes the port and every connection, and says what the model's side came to.
    pub async fn stop(mut self) -> ModelTraffic {
        self.stop.cancel();
        // Every connection has ended by then, so that what was open is in the account; a panic in one is not awaited.
        let _ = (&mut self.accepting).await;
        self.traffic()
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// The time by the runtime's clock, which tests can hold.
pub(super) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}
