//! What a gateway is started with.

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use mcproctor_proto::agent::Credential;
use mcproctor_proto::lease_token::TokenKey;
use secrecy::SecretString;
use url::Url;

use super::super::endpoint::Dialect;
use super::super::purse::PriceOf;

/// What a gateway is started with. `Debug` shows no secret.
#[derive(Clone)]
pub struct GatewayOptions {
    /// Where it listens; off loopback only with `tls`.
    pub listen: SocketAddr,
    /// The certificate that it shows.
    pub tls: Option<GatewayTls>,
    /// What lease tokens are signed with.
    pub token_key: TokenKey,
    /// The model APIs that tokens may name.
    pub models: BTreeMap<String, GatewayModel>,
    /// What all attempts together may use.
    pub limits: GatewayLimits,
    /// What tokens cost.
    pub price_of: PriceOf,
    /// The time in seconds since 1970.
    pub now_unix_s: Arc<dyn Fn() -> u64 + Send + Sync>,
}

/// A model API.
#[derive(Clone, Debug)]
pub struct GatewayModel {
    /// What it speaks.
    pub dialect: Dialect,
    /// Its base URL, as for a relay.
    pub upstream: Url,
    /// The real key.
    pub credential: Credential,
}

/// A certificate with its key, both PEM.
#[derive(Clone, Debug)]
pub struct GatewayTls {
    /// The certificate, and those between it and its authority.
    pub certificate_pem: String,
    /// Its key.
    pub key_pem: SecretString,
}

/// What all attempts together may use, since the gateway was started.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GatewayLimits {
    /// Tokens read and written.
    pub max_tokens: Option<u64>,
    /// US dollars.
    pub max_cost_usd: Option<f64>,
    /// Requests for an answer; those that come too early are delayed.
    pub requests_per_minute: Option<u32>,
}

impl fmt::Debug for GatewayOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GatewayOptions")
            .field("listen", &self.listen)
            .field("tls", &self.tls.is_some())
            .field("models", &self.models.keys())
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
