//! Asking a gateway what a lease token is good for, on the way that a relay would take. No model is asked.

use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http::header::{AUTHORIZATION, HeaderValue};
use http_body_util::{BodyExt as _, Full, Limited};
use mcproctor_proto::traffic::{ENTRY_REFUSED, TOKEN_REFUSED};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use url::Url;

use super::super::connect::Outbound;
use super::super::endpoint::{Dialect, Upstream};
use super::super::error::RelayError;
use super::super::failure::{failure_of_body, shorten};
use super::super::forward::in_full;

/// How long a gateway may take to answer. It asks nobody for it.
const PATIENCE: Duration = Duration::from_secs(15);
/// The longest answer that is read; a gateway's has some hundred bytes.
const LONGEST: usize = 64 * 1024;

/// What a gateway lets a token in for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LetIn {
    /// What the API of the token's entry speaks.
    pub api: Dialect,
    /// Why the gateway asks no model any more, if so.
    pub limit_reached: Option<String>,
}

/// Why a gateway does not let a token in. No variant holds the token.
#[derive(Debug, thiserror::Error)]
pub enum NotLetIn {
    /// There is no way to its address.
    #[error("{0}")]
    NoWay(#[from] RelayError),
    /// Nobody answered there, or not over the TLS that was asked for.
    #[error("{0}")]
    Unreachable(String),
    /// What answered is no gateway.
    #[error("it answered HTTP {0}, which is not what a gateway says")]
    NoGateway(u16),
    /// It does not take the token: its own words.
    #[error("{0}")]
    Token(String),
    /// It takes the token, and cannot serve the entry that it names: its own words.
    #[error("{0}")]
    Entry(String),
}

/// The answer as it is written.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    api: String,
    limit_reached: Option<String>,
}

/// Asks the gateway at `url` what `token` is good for. Further certificate authorities are in `ca_pem`.
///
/// # Errors
/// When it cannot be reached, is no gateway, or does not let the token in.
pub async fn ask_gateway(url: &Url, ca_pem: Option<&str>, token: &SecretString) -> Result<LetIn, NotLetIn> {
    let upstream = Upstream::new(Dialect::Anthropic, url)?;
    let outbound: Outbound<Full<Bytes>> = Outbound::new(&upstream, ca_pem)?;
    let target = upstream.target(Dialect::Anthropic, "/lease", None);
    let target = target.map_err(|error| NotLetIn::Unreachable(error.to_string()))?;
    let mut shown = HeaderValue::try_from(format!("Bearer {}", token.expose_secret()))
        .map_err(|_| NotLetIn::NoWay(RelayError::Credential))?;
    shown.set_sensitive(true);
    let mut request = Request::new(Full::new(Bytes::new()));
    *request.uri_mut() = target;
    request.headers_mut().insert(AUTHORIZATION, shown);
    let asked = async {
        let response = outbound
            .send(request)
            .await
            .map_err(|error| NotLetIn::Unreachable(in_full(&error)))?;
        let status = response.status().as_u16();
        let body = Limited::new(response.into_body(), LONGEST).collect().await;
        // What is too long, or broke off, is no gateway's either.
        let body = body.map_err(|_| NotLetIn::NoGateway(status))?.to_bytes();
        read(status, &body)
    };
    let late = |_| NotLetIn::Unreachable(format!("no answer within {} seconds", PATIENCE.as_secs()));
    tokio::time::timeout(PATIENCE, asked).await.map_err(late)?
}

fn read(status: u16, body: &[u8]) -> Result<LetIn, NotLetIn> {
    if status == 200
        && let Ok(answer) = serde_json::from_slice::<Answer>(body)
        && let Some(api) = Dialect::from_name(&answer.api)
    {
        return Ok(LetIn {
            api,
            limit_reached: answer.limit_reached.map(|why| shorten(&why)),
        });
    }
    let failure = failure_of_body(body);
    match failure.code.as_deref() {
        Some(TOKEN_REFUSED) => Err(NotLetIn::Token(shorten(&failure.message))),
        Some(ENTRY_REFUSED) => Err(NotLetIn::Entry(shorten(&failure.message))),
        _ => Err(NotLetIn::NoGateway(status)),
    }
}
