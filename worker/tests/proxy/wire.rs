//! A server and a client that speak raw bytes, and a proxy between them.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcproctor_proto::server::{Header, HttpServer};
use mcproctor_worker::proxy::{Proxy, ProxyOptions};
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// Long enough for anything on loopback; only a failing test waits for it.
pub const SOON: Duration = Duration::from_secs(20);

/// Fails a test that hangs instead of hanging.
pub async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(SOON, future).await {
        Ok(value) => value,
        Err(_) => panic!("{what} did not happen"),
    }
}

pub trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

/// A message as it came off the wire.
#[derive(Debug, Clone)]
pub struct Raw {
    pub head: String,
    pub body: Vec<u8>,
}

impl Raw {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    pub fn status(&self) -> &str {
        self.head.split(' ').nth(1).unwrap_or_default()
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// One raw connection, either side.
pub struct Conn {
    stream: Box<dyn Stream>,
    ahead: Vec<u8>,
}

impl Conn {
    pub fn new(stream: impl Stream + 'static) -> Self {
        Self {
            stream: Box::new(stream),
            ahead: Vec::new(),
        }
    }

    pub async fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self::new(stream)
    }

    pub async fn write(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).await.unwrap();
        self.stream.flush().await.unwrap();
    }

    /// One chunk of a chunked body.
    pub async fn chunk(&mut self, bytes: impl AsRef<[u8]>) {
        let bytes = bytes.as_ref();
        let mut framed = format!("{:x}\r\n", bytes.len()).into_bytes();
        framed.extend_from_slice(bytes);
        framed.extend_from_slice(b"\r\n");
        self.write(framed).await;
    }

    /// More bytes; `false` at the end of the stream or when it was reset.
    async fn more(&mut self) -> bool {
        let mut buffer = vec![0; 64 * 1024];
        let read = soon("a read", self.stream.read(&mut buffer)).await.unwrap_or(0);
        self.ahead.extend_from_slice(&buffer[..read]);
        read > 0
    }

    /// Reads a head; `None` when the other side closed instead.
    pub async fn try_head(&mut self) -> Option<String> {
        loop {
            if let Some(end) = find(&self.ahead, b"\r\n\r\n") {
                let head = self.ahead.drain(..end + 4).collect();
                return Some(String::from_utf8(head).unwrap());
            }
            if !self.more().await {
                return None;
            }
        }
    }

    pub async fn head(&mut self) -> String {
        self.try_head().await.expect("a head")
    }

    /// Reads until `needle` was seen and returns everything up to its end.
    pub async fn until(&mut self, needle: &str) -> Vec<u8> {
        loop {
            if let Some(at) = find(&self.ahead, needle.as_bytes()) {
                return self.ahead.drain(..at + needle.len()).collect();
            }
            assert!(
                self.more().await,
                "closed before {needle:?}, after {:?}",
                String::from_utf8_lossy(&self.ahead)
            );
        }
    }

    pub async fn exactly(&mut self, len: usize) -> Vec<u8> {
        while self.ahead.len() < len {
            assert!(self.more().await, "closed early");
        }
        self.ahead.drain(..len).collect()
    }

    /// One whole message with its body, whichever way it is framed.
    pub async fn message(&mut self) -> Raw {
        let head = self.head().await;
        let mut raw = Raw { head, body: Vec::new() };
        if raw
            .header("transfer-encoding")
            .is_some_and(|value| value.contains("chunked"))
        {
            while let Some(chunk) = self.next_chunk().await {
                raw.body.extend(chunk);
            }
        } else if let Some(len) = raw.header("content-length").and_then(|value| value.parse().ok()) {
            raw.body = self.exactly(len).await;
        }
        raw
    }

    /// The next chunk of a chunked body; `None` at its clean end.
    pub async fn next_chunk(&mut self) -> Option<Vec<u8>> {
        let size = self.until("\r\n").await;
        let size = usize::from_str_radix(std::str::from_utf8(&size).unwrap().trim(), 16).unwrap();
        let chunk = self.exactly(size + 2).await;
        (size > 0).then(|| chunk[..size].to_vec())
    }

    /// Everything until the other side closes.
    pub async fn rest(&mut self) -> Vec<u8> {
        while self.more().await {}
        std::mem::take(&mut self.ahead)
    }

    /// Answers with JSON.
    pub async fn json(&mut self, body: impl AsRef<[u8]>) {
        self.answer("200 OK", "content-type: application/json\r\n", body).await;
    }

    pub async fn answer(&mut self, status: &str, headers: &str, body: impl AsRef<[u8]>) {
        let body = body.as_ref();
        let mut bytes = format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n", body.len()).into_bytes();
        bytes.extend_from_slice(body);
        self.write(bytes).await;
    }

    /// Begins an event stream.
    pub async fn events(&mut self) {
        self.write("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
            .await;
    }

    /// Posts a JSON body.
    pub async fn post(&mut self, path: &str, headers: &str, body: impl AsRef<[u8]>) {
        let body = body.as_ref();
        let mut bytes = format!(
            "POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\n{headers}content-length: {}\r\n\r\n",
            body.len()
        )
        .into_bytes();
        bytes.extend_from_slice(body);
        self.write(bytes).await;
    }

    pub async fn get(&mut self, path: &str, headers: &str) {
        self.write(format!(
            "GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: text/event-stream\r\n{headers}\r\n"
        ))
        .await;
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

/// A server that hands every connection to a function. Dropped, it stops.
pub struct Server {
    pub address: SocketAddr,
    connections: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Server {
    pub async fn start<F, Fut>(handle: F) -> Self
    where
        F: Fn(Conn) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&connections);
        let handle = Arc::new(handle);
        let task = tokio::spawn(async move {
            let mut tasks = tokio::task::JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                stream.set_nodelay(true).unwrap();
                seen.fetch_add(1, Ordering::SeqCst);
                let handle = Arc::clone(&handle);
                tasks.spawn(async move { handle(Conn::new(stream)).await });
            }
        });
        Self {
            address,
            connections,
            task,
        }
    }

    /// Connections accepted so far.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A proxy in front of a server, with a folder of its own.
pub struct Fixture {
    pub proxy: Proxy,
    pub address: SocketAddr,
    pub folder: TempDir,
}

pub fn options(url: String, headers: &[(&str, &str)], folder: &TempDir) -> ProxyOptions {
    let headers = headers
        .iter()
        .map(|(name, value)| Header {
            name: (*name).to_owned(),
            value: (*value).to_owned().into(),
        })
        .collect();
    ProxyOptions::new(
        "s",
        HttpServer {
            url,
            headers,
            ca_pem: None,
        },
        folder.path(),
    )
}

pub async fn proxy(url: String, headers: &[(&str, &str)]) -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let proxy = Proxy::start(options(url, headers, &folder)).await.unwrap();
    let address = address_of(&proxy);
    Fixture { proxy, address, folder }
}

pub async fn proxy_to(server: &Server) -> Fixture {
    proxy(format!("http://{}/mcp", server.address), &[]).await
}

pub fn address_of(proxy: &Proxy) -> SocketAddr {
    let url = proxy.url().strip_prefix("http://").unwrap();
    url[..url.find('/').unwrap()].parse().unwrap()
}

/// A `tools/call` request.
pub fn call(id: &str, tool: &str, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
    )
}

/// Its result.
pub fn result(id: &str, text: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#)
}
