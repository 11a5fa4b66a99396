//! A loopback port that serves HTTP/1.1 until it is told to stop: what the bridge and the relay have in common.

use std::convert::Infallible;
use std::future::Future;
use std::time::Duration;

use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// How long to wait when no connection can be accepted: out of file descriptors, most likely, until some come back.
pub(crate) const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Accepts connections and has each request answered, until `stop`; then every connection is closed.
pub(crate) async fn serve<Answer, Answered, Content>(listener: TcpListener, answer: Answer, stop: CancellationToken)
where
    Answer: Fn(Request<Incoming>) -> Answered + Clone + Send + Sync + 'static,
    Answered: Future<Output = Result<Response<Content>, Infallible>> + Send + 'static,
    Content: Body + Send + 'static,
    Content::Data: Send,
    Content::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            () = stop.cancelled() => break connections.shutdown().await,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(serve_connection(stream, answer.clone()));
                }
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn serve_connection<Answer, Answered, Content>(stream: TcpStream, answer: Answer)
where
    Answer: Fn(Request<Incoming>) -> Answered,
    Answered: Future<Output = Result<Response<Content>, Infallible>>,
    Content: Body + 'static,
    Content::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    // Without it small pieces wait for the acknowledgement of the one before; that it cannot be set costs only time.
    let _ = stream.set_nodelay(true);
    // An error here is one side leaving; whoever answers learns of it from the streams that are dropped.
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .serve_connection(TokioIo::new(stream), service_fn(answer))
        .await;
}
