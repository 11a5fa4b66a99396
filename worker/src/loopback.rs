//! A loopback port that serves HTTP/1.1 until it is told to stop: what the bridge and the relay have in common.

use std::convert::Infallible;
use std::future::Future;
use std::time::Duration;

use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use rustix::process::{Resource, getrlimit};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// How long to wait when no connection can be accepted: out of file descriptors, most likely, until some come back.
pub(crate) const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// How long a connection may stay without a whole head of a request. No client that keeps its connections for later keeps
/// them for so long, so none is closed under its hands.
const HEAD: Duration = Duration::from_secs(120);

/// How many connections a port has open at once; further ones wait until one of them ends. No agent needs so many, and one
/// that opens more takes none from another attempt: with what is behind the port, a connection takes up to five of the
/// files that this process may have open, so an attempt with four ports leaves some.
pub(crate) fn most_connections() -> usize {
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    usize::try_from(files / 24).unwrap_or(usize::MAX).clamp(16, 256)
}

/// Accepts connections, [so many](most_connections) at once, and has each request answered, until `stop`; then every
/// connection is closed.
pub(crate) async fn serve<Answer, Answered, Content>(listener: TcpListener, answer: Answer, stop: CancellationToken)
where
    Answer: Fn(Request<Incoming>) -> Answered + Clone + Send + Sync + 'static,
    Answered: Future<Output = Result<Response<Content>, Infallible>> + Send + 'static,
    Content: Body + Send + 'static,
    Content::Data: Send,
    Content::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let mut connections = JoinSet::new();
    let most = most_connections();
    loop {
        tokio::select! {
            () = stop.cancelled() => break connections.shutdown().await,
            accepted = listener.accept(), if connections.len() < most => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(serve_connection(stream, answer.clone(), HEAD));
                }
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn serve_connection<Answer, Answered, Content>(stream: TcpStream, answer: Answer, head: Duration)
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
        .header_read_timeout(head)
        .serve_connection(TokioIo::new(stream), service_fn(answer))
        .await;
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::net::{Ipv4Addr, SocketAddr};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use bytes::Bytes;
    use http_body_util::Full;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    /// A port that answers everything, and counts.
    async fn port() -> (SocketAddr, Arc<AtomicUsize>) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&asked);
        let answer = move |_| {
            counter.fetch_add(1, Ordering::SeqCst);
            async { Ok(Response::new(Full::<Bytes>::from("x"))) }
        };
        tokio::spawn(serve(listener, answer, CancellationToken::new()));
        (address, asked)
    }

    async fn ask(connection: &mut TcpStream) {
        connection
            .write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            .await
            .unwrap();
        answered(connection).await;
    }

    async fn answered(connection: &mut TcpStream) {
        let mut bytes = [0; 1024];
        let read = connection.read(&mut bytes);
        let count = tokio::time::timeout(Duration::from_secs(20), read)
            .await
            .unwrap()
            .unwrap();
        assert!(count > 1);
    }

    #[tokio::test]
    async fn connections_beyond_the_most_wait_for_one_to_end() {
        let (address, asked) = port().await;
        let most = most_connections();
        let mut held = Vec::new();
        for _ in 0..most {
            let mut connection = TcpStream::connect(address).await.unwrap();
            ask(&mut connection).await;
            held.push(connection);
        }
        let mut next = TcpStream::connect(address).await.unwrap();
        next.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
        for connection in &mut held {
            ask(connection).await;
        }
        assert_eq!(asked.load(Ordering::SeqCst), 2 * most);
        drop(held.pop());
        answered(&mut next).await;
    }

    #[tokio::test]
    async fn who_never_ends_the_head_of_a_request_does_not_keep_its_place() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let mut slow = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        slow.write_all(b"GET / HTTP/1.1\r\nHost:").await.unwrap();
        let (stream, _) = listener.accept().await.unwrap();
        let answer = |_| async { Ok(Response::new(Full::<Bytes>::from("x"))) };
        let served = serve_connection(stream, answer, Duration::from_millis(50));
        tokio::time::timeout(Duration::from_secs(20), served).await.unwrap();
    }
}
