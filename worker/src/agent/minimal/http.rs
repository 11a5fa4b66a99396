//! Posting JSON to a loopback address.

use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use thiserror::Error;

/// Why an exchange failed.
#[derive(Debug, Error)]
pub(super) enum HttpError {
    #[error("{url} is no address: {source}")]
    Address { url: String, source: http::Error },
    #[error("reach {url}: {source}")]
    Connect {
        url: String,
        source: hyper_util::client::legacy::Error,
    },
    #[error("read the reply of {url}: {source}")]
    Body { url: String, source: hyper::Error },
}

/// A client for plain HTTP: proxy and relay both are on loopback.
#[derive(Clone, Debug)]
pub(super) struct Http(Client<HttpConnector, Full<Bytes>>);

/// A reply whose body is still to come.
pub(super) struct Reply {
    url: String,
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    body: Incoming,
}

impl Http {
    pub(super) fn new() -> Self {
        Self(Client::builder(TokioExecutor::new()).build_http())
    }

    pub(super) async fn send(
        &self,
        method: Method,
        url: &str,
        headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<Reply, HttpError> {
        let mut request = Request::builder()
            .method(method)
            .uri(url)
            .body(Full::new(Bytes::from(body)))
            .map_err(|source| HttpError::Address {
                url: url.to_owned(),
                source,
            })?;
        *request.headers_mut() = headers;
        let response = self.0.request(request).await.map_err(|source| HttpError::Connect {
            url: url.to_owned(),
            source,
        })?;
        let (parts, body) = response.into_parts();
        Ok(Reply {
            url: url.to_owned(),
            status: parts.status,
            headers: parts.headers,
            body,
        })
    }
}

impl Reply {
    /// The next piece of the body; `None` at its end.
    pub(super) async fn chunk(&mut self) -> Result<Option<Bytes>, HttpError> {
        while let Some(frame) = self.body.frame().await {
            let frame = frame.map_err(|source| HttpError::Body {
                url: self.url.clone(),
                source,
            })?;
            if let Ok(data) = frame.into_data() {
                return Ok(Some(data));
            }
        }
        Ok(None)
    }

    /// The whole body.
    pub(super) async fn bytes(mut self) -> Result<Vec<u8>, HttpError> {
        let mut bytes = Vec::new();
        while let Some(chunk) = self.chunk().await? {
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }

    /// Whether the body is a stream of server-sent events.
    pub(super) fn is_event_stream(&self) -> bool {
        self.headers
            .get(http::header::CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .is_some_and(|kind| kind.starts_with("text/event-stream"))
    }
}
