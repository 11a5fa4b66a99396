//! A plain HTTP client and the endpoint it speaks to.

use axum::http::{HeaderMap, Method, Request, StatusCode};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;
use scripted_model::{Scenarios, ScriptedModel};
use serde_json::Value;
use tokio::net::TcpListener;

pub(crate) struct Endpoint {
    pub(crate) model: ScriptedModel,
    pub(crate) client: Client<HttpConnector, Full<Bytes>>,
}

/// An answer, read to its end or to where it broke off.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
    pub(crate) complete: bool,
}

impl Endpoint {
    pub(crate) async fn start(yaml: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let model = ScriptedModel::start(listener, Scenarios::from_yaml(yaml).unwrap()).unwrap();
        Self {
            model,
            client: Client::builder(TokioExecutor::new()).build_http(),
        }
    }

    pub(crate) async fn post(&self, path: &str, headers: &[(&str, &str)], body: &Value) -> Answer {
        self.send(Method::POST, path, headers, &body.to_string()).await
    }

    pub(crate) async fn send(&self, method: Method, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let url = format!("{}{path}", self.model.base_url());
        let mut request = Request::builder()
            .method(method)
            .uri(url)
            .header("content-type", "application/json");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::from(body.to_owned())).unwrap();
        let (parts, mut body) = self.client.request(request).await.unwrap().into_parts();
        let mut bytes = Vec::new();
        let mut complete = true;
        while let Some(frame) = body.frame().await {
            match frame {
                Ok(frame) => bytes.extend_from_slice(&frame.into_data().unwrap()),
                Err(_) => complete = false,
            }
        }
        let text = String::from_utf8(bytes).unwrap();
        Answer {
            status: parts.status,
            headers: parts.headers,
            text,
            complete,
        }
    }
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap()
    }

    /// The data of every event that is JSON, in order.
    pub(crate) fn events(&self) -> Vec<Value> {
        let data = self.text.lines().filter_map(|line| line.strip_prefix("data: "));
        data.filter_map(|data| serde_json::from_str(data).ok()).collect()
    }
}
