//! A small fast upstream for the proxy's benchmark: answers a JSON-RPC request with a short tool result, the tool `big`
//! with a body of 64 MiB, a GET with a stream that stays silent, and `/count` with how many requests were posted.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

type Body = http_body_util::combinators::BoxBody<Bytes, Infallible>;

const BIG: usize = 64 * 1024 * 1024;
static POSTED: AtomicU64 = AtomicU64::new(0);

const PIECE: usize = 64 * 1024;

fn main() -> std::io::Result<()> {
    let address: SocketAddr = std::env::args()
        .nth(1)
        .and_then(|text| text.parse().ok())
        .unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 0)));
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(async {
            let listener = TcpListener::bind(address).await?;
            loop {
                let (stream, _) = listener.accept().await?;
                stream.set_nodelay(true)?;
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(answer)));
            }
        })
}

async fn answer(request: Request<Incoming>) -> Result<Response<Body>, hyper::Error> {
    let is_get = request.method() == Method::GET;
    let is_count = request.uri().path() == "/count";
    let body = request.into_body().collect().await?.to_bytes();
    let body = String::from_utf8_lossy(&body);
    if !is_get {
        POSTED.fetch_add(1, Ordering::Relaxed);
    }
    let (kind, body) = if is_count {
        (
            "text/plain",
            Full::new(Bytes::from(POSTED.load(Ordering::Relaxed).to_string())).boxed(),
        )
    } else if is_get {
        // A stream that stays open and silent.
        let silent = StreamBody::new(futures_util::stream::pending::<Result<Frame<Bytes>, Infallible>>());
        ("text/event-stream", silent.boxed())
    } else if body.contains("\"big\"") {
        ("application/json", big())
    } else {
        let id = body
            .split("\"id\":")
            .nth(1)
            .and_then(|rest| rest.split([',', '}']).next())
            .unwrap_or("null");
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"sunny, 21 degrees, light wind from the west"}}]}}}}"#
        );
        ("application/json", Full::new(Bytes::from(text)).boxed())
    };
    let mut response = Response::new(body);
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    Ok(response)
}

/// One JSON text of 64 MiB, made as it is sent.
fn big() -> Body {
    let head = Bytes::from_static(br#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":""#);
    let tail = Bytes::from_static(br#""}]}}"#);
    let piece = Bytes::from(vec![b'x'; PIECE]);
    let pieces = std::iter::once(head)
        .chain(std::iter::repeat_n(piece, BIG / PIECE))
        .chain(std::iter::once(tail));
    StreamBody::new(futures_util::stream::iter(pieces.map(|piece| Ok(Frame::data(piece))))).boxed()
}
