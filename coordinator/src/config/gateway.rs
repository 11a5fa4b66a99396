//! The results of reading what concerns a gateway: its own config, and how a run uses one.

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;

use mcproctor_proto::agent::{Credential, Dialect};
use mcproctor_proto::lease_token::TokenKey;
use secrecy::SecretString;
use url::Url;

use crate::limits::Limits;
use crate::price::Prices;

/// A resolved `gateway.yaml`. `Debug` shows no secret.
#[derive(Clone, Debug)]
pub struct GatewayConfig {
    /// Where it listens.
    pub listen: SocketAddr,
    /// The certificate that it shows; there is one wherever it is reached from other machines.
    pub tls: Option<CertificateFiles>,
    /// What lease tokens are signed with.
    pub token_key: TokenKey,
    /// The model APIs by the names that tokens use; at least one.
    pub models: BTreeMap<String, GatewayModelSettings>,
    /// What all attempts together may use.
    pub limits: Limits,
    /// What tokens cost.
    pub prices: Prices,
}

/// What was in the files of `tls`.
#[derive(Clone, Debug)]
pub struct CertificateFiles {
    /// The certificate and those between it and its authority, PEM.
    pub certificate_pem: String,
    /// Its key, PEM.
    pub key_pem: SecretString,
}

/// A model API behind a gateway. `Debug` shows no key.
#[derive(Clone)]
pub struct GatewayModelSettings {
    /// What it speaks.
    pub api: Dialect,
    /// Its base URL.
    pub base_url: Url,
    /// The real key.
    pub credential: Credential,
}

impl fmt::Debug for GatewayModelSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = self.base_url.clone();
        // It may hold a credential.
        shown.set_query(None);
        f.debug_struct("GatewayModelSettings")
            .field("api", &self.api)
            .field("base_url", &shown.as_str())
            .finish_non_exhaustive()
    }
}

/// How the agents of a run reach their models: through a gateway, with a token for each lease.
#[derive(Clone, Debug)]
pub struct GatewayAccess {
    /// The gateway.
    pub url: Url,
    /// What its lease tokens are signed with.
    pub token_key: TokenKey,
    /// Further certificate authorities that the gateway's certificate may be from, PEM.
    pub ca_pem: Option<String>,
    /// The gateway's model entry for each agent that goes through it, by the agent's name.
    pub models: BTreeMap<String, String>,
}
