//! The proxy as its owner sees it: started, asked, finished; dropped, everything of it stops.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use http::HeaderValue;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use mcproctor_proto::call::ToolCall;
use mcproctor_proto::exposure::Exposure;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, JoinSet};

use super::admission::Gate;
use super::error::ProxyError;
use super::forward::{Pair, Shared};
use super::headers::Injected;
use super::options::ProxyOptions;
use super::queue::Queue;
use super::recorder::{Recorded, Recorder, RecorderThread, Snapshot};
use super::tap::Tap;
use super::target::Target;
use super::upstream::Connector;
use crate::loopback::ACCEPT_PAUSE;
use crate::refused::Refused;
use mcproctor_proto::redact::{Named, Redactor};

/// For how long connections may not be accepted until that is held against the machinery. An agent gets over a moment.
const DEAF: Duration = Duration::from_secs(2);

/// A recording proxy in front of one server. Dropping it stops it: listener, connections and recorder.
pub struct Proxy {
    url: String,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    accepting: JoinHandle<()>,
    recorder: Option<RecorderThread>,
}

impl Proxy {
    /// Starts listening.
    ///
    /// # Errors
    /// The options cannot be used, the address is taken, or the files cannot be written.
    pub async fn start(options: ProxyOptions) -> Result<Self, ProxyError> {
        let target = Target::parse(&options.upstream.url)?;
        let injected = Injected::new(&options.upstream.headers)?;
        if !options.listen.ip().is_loopback() {
            return Err(ProxyError::NotLoopback(options.listen));
        }
        let redactor = Arc::new(Redactor::new(Named::of_http(&options.upstream)));
        let connector = {
            let (target, ca_pem) = (target.clone(), options.upstream.ca_pem.clone());
            // The machine's certificate authorities are read from disk.
            let setup = tokio::task::spawn_blocking(move || Connector::new(&target, ca_pem.as_deref()));
            setup.await.map_err(|error| ProxyError::Recorder(error.to_string()))??
        };
        let listen = |source| ProxyError::Listen {
            address: options.listen,
            source,
        };
        let listener = TcpListener::bind(options.listen).await.map_err(listen)?;
        let address: SocketAddr = listener.local_addr().map_err(listen)?;
        let own_origin = format!("http://{address}");
        let queue = Arc::new(Queue::new(options.spill_dir.join("spill")));
        let host = HeaderValue::from_str(target.authority.as_str());
        let shared = Arc::new(Shared {
            host: host.map_err(|_| ProxyError::Target {
                why: "the host is not valid".to_owned(),
            })?,
            gate: Gate::new(&target.path),
            own_origin: own_origin.clone(),
            injected,
            redactor: Arc::clone(&redactor),
            queue: Arc::clone(&queue),
            connector,
            refused: Refused::default(),
            turn: AtomicU32::new(0),
            exchanges: AtomicU64::new(0),
            log_headers: options.debug_log.is_some(),
            target,
        });
        let url = format!("{own_origin}{}", shared.target.path);
        // What passes is changed only for this server's secrets; more of them may be kept out of the records.
        let redactor = options.redactor.clone().unwrap_or(redactor);
        let most_connections = options.most_connections;
        let recorder = Recorder::start(options, queue, redactor)?;
        let (stop, stopped) = oneshot::channel();
        let accepting = tokio::spawn(accept(listener, most_connections, Arc::clone(&shared), stopped));
        Ok(Self {
            url,
            shared,
            stop: Some(stop),
            accepting,
            recorder: Some(recorder),
        })
    }

    /// What the agent is given in place of the server's URL: loopback, with the same path.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Calls sent from now on belong to `turn`.
    pub fn set_turn(&self, turn: u32) {
        self.shared.turn.store(turn, Ordering::Relaxed);
    }

    /// The agent is about to be killed: calls that lose their connection from now on were not cancelled by it, they
    /// never finished.
    pub fn agent_is_being_stopped(&self) {
        self.shared.queue.stopping();
    }

    /// Calls that have no end yet; it lags the wire by a few milliseconds.
    pub fn open_calls(&self) -> usize {
        self.shared.queue.open_calls.load(Ordering::Relaxed)
    }

    /// When bytes last moved in either direction.
    pub fn last_activity(&self) -> Instant {
        self.shared.queue.last_activity()
    }

    /// Requests since this was last asked that were not passed on, those aside by which clients look for a login.
    pub fn take_refused(&self) -> Vec<String> {
        self.shared.refused.take()
    }

    /// Everything recorded of what has passed until now.
    pub async fn snapshot(&self) -> Snapshot {
        let (reply, answer) = oneshot::channel();
        self.shared.queue.push(Tap::Snapshot(reply));
        match answer.await {
            Ok(snapshot) => snapshot,
            // The recorder is gone only if it panicked, which `finish` reports.
            Err(_) => Snapshot::unknown(),
        }
    }

    /// Every call so far in the order of their start, each in its last state.
    pub async fn calls(&self) -> Vec<ToolCall> {
        self.snapshot().await.calls
    }

    /// What was seen of the server so far.
    pub async fn exposure(&self) -> Exposure {
        self.snapshot().await.exposure
    }

    /// Stops listening, closes every connection and completes the record: what is unfinished now never will be.
    ///
    /// # Errors
    /// The evidence files cannot be written, or the recorder panicked.
    pub async fn finish(mut self) -> Result<Recorded, ProxyError> {
        self.agent_is_being_stopped();
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        // The task ends once its connections have, and then their last word is in the queue.
        let _ = (&mut self.accepting).await;
        self.shared.queue.push(Tap::Finish { at: Instant::now() });
        let Some(recorder) = self.recorder.take() else {
            return Err(ProxyError::Recorder("already finished".to_owned()));
        };
        let joined = tokio::task::spawn_blocking(move || recorder.join()).await;
        joined.map_err(|error| ProxyError::Recorder(error.to_string()))?
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
        if self.recorder.is_some() {
            self.shared.queue.close();
        }
    }
}

impl std::fmt::Debug for Proxy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Proxy").field("url", &self.url).finish_non_exhaustive()
    }
}

/// Accepts connections, at most so many at once, and owns their tasks.
async fn accept(listener: TcpListener, most: usize, shared: Arc<Shared>, mut stop: oneshot::Receiver<()>) {
    let mut connections = JoinSet::new();
    let mut deaf_since: Option<Instant> = None;
    loop {
        tokio::select! {
            accepted = listener.accept(), if connections.len() < most => match accepted {
                Ok((stream, _)) => {
                    deaf_since = None;
                    connections.spawn(connection(stream, Arc::clone(&shared)));
                }
                Err(error) => {
                    if deaf_since.get_or_insert_with(Instant::now).elapsed() > DEAF {
                        shared.queue.fail(format!("the agent's connections could not be accepted: {error}"));
                    }
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            },
            _ = &mut stop => return connections.shutdown().await,
            Some(ended) = connections.join_next() => {
                if let Err(error) = ended
                    && error.is_panic()
                {
                    shared.queue.fail("a connection of the proxy panicked".to_owned());
                }
            }
        }
    }
}

/// Serves one connection of the agent. There are no timers: silence may last as long as both sides want.
async fn connection(stream: TcpStream, shared: Arc<Shared>) {
    // Without it small events would wait for the acknowledgement of earlier ones.
    let _ = stream.set_nodelay(true);
    let pair = Arc::new(Pair::new(shared));
    let service = service_fn({
        let pair = Arc::clone(&pair);
        move |request| {
            let pair = Arc::clone(&pair);
            async move { pair.serve(request).await }
        }
    });
    let mut served = std::pin::pin!(
        http1::Builder::new()
            .auto_date_header(false)
            .serve_connection(TokioIo::new(stream), service)
    );
    // How a connection ended is known from its exchanges.
    tokio::select! {
        _ = served.as_mut() => {}
        () = pair.server_closed() => {
            // The server closed its side: the agent's closes too, after the answer that is under way.
            served.as_mut().graceful_shutdown();
            let _ = served.await;
        }
    }
}
