//! Ctrl-C and SIGTERM: first a clean stop, then a hard one.

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::watch;

use crate::ui::StopRequest;

/// Says when the user asks for a stop.
#[derive(Clone, Debug)]
pub struct Shutdown(watch::Receiver<Option<String>>);

impl Shutdown {
    /// Waits until a clean stop is asked for; gives the reason, in words.
    pub async fn asked(&mut self) -> String {
        let reason = self
            .0
            .wait_for(Option::is_some)
            .await
            .ok()
            .and_then(|reason| reason.clone());
        match reason {
            Some(reason) => reason,
            // Whoever could ask is gone, so nobody ever will.
            None => std::future::pending().await,
        }
    }

    /// One that nobody ever asks.
    pub fn never() -> Self {
        Self(watch::channel(None).1)
    }
}

/// Listens to signals and to the terminal view's keys, of which the sender is given back. The second request calls `hard`,
/// which is not expected to return.
///
/// # Errors
/// When a signal handler cannot be installed.
pub fn listen(hard: impl Fn() + Send + 'static) -> std::io::Result<(Shutdown, UnboundedSender<StopRequest>)> {
    let interrupt = signal(SignalKind::interrupt())?;
    let terminate = signal(SignalKind::terminate())?;
    let (requests, receiver) = unbounded_channel();
    let (asked, shutdown) = watch::channel(None);
    tokio::spawn(heed(interrupt, terminate, receiver, asked, hard));
    Ok((Shutdown(shutdown), requests))
}

async fn heed(
    mut interrupt: tokio::signal::unix::Signal,
    mut terminate: tokio::signal::unix::Signal,
    mut requests: UnboundedReceiver<StopRequest>,
    asked: watch::Sender<Option<String>>,
    hard: impl Fn(),
) {
    let mut stopping = false;
    loop {
        let (reason, at_once) = tokio::select! {
            _ = interrupt.recv() => ("interrupted", false),
            _ = terminate.recv() => ("told to end", false),
            Some(request) = requests.recv() => ("stopped by the user", request == StopRequest::Hard),
        };
        if stopping || at_once {
            hard();
        }
        stopping = true;
        asked.send_replace(Some(reason.to_owned()));
    }
}
