//! `gateway.yaml`: addresses, files and keys.

use std::net::{Ipv4Addr, SocketAddr};

use mcproctor_proto::agent::Credential;
use secrecy::SecretString;
use url::Url;

use super::context::{Context, http_url};
use super::gateway::resolve_token_key;
use super::mcp::read_pem;
use crate::config::file::{GatewayFile, GatewayModelSection, TlsSection};
use crate::config::gateway::{CertificateFiles, GatewayConfig, GatewayModelSettings};
use crate::price::Prices;
use crate::yaml::{Problems, Text};

/// Where a gateway listens that is told nothing else.
const DEFAULT_LISTEN: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 8484);

/// `None` means that there is something in `problems`. The command line's `listen` goes before the file's.
pub(in crate::config) fn resolve_gateway_file(
    file: &GatewayFile,
    listen: Option<SocketAddr>,
    context: &Context<'_>,
    problems: &mut Problems,
) -> Option<GatewayConfig> {
    let written = file.listen.as_ref().map(|text| resolve_listen(text, problems));
    let listen = match (listen, written) {
        (Some(listen), _) => Some(listen),
        (None, Some(written)) => written,
        (None, None) => Some(DEFAULT_LISTEN),
    };
    if let Some(address) = listen.filter(|address| !address.ip().is_loopback())
        && file.tls.is_none()
    {
        let mut problem = problems.new_problem(format!(
            "{address} is reached from other machines, and there is no `tls`"
        ));
        if let Some(text) = &file.listen {
            problem = problem.at(text.place).key(&text.path);
        }
        problems.add(problem.remedy("add `tls: {certFile: …, keyFile: …}`, or listen on a loopback address"));
    }
    let tls = file.tls.as_ref().map(|section| resolve_tls(section, context, problems));
    let token_key = file
        .token_key
        .as_ref()
        .and_then(|text| resolve_token_key(text, problems));
    let models: Vec<_> = file
        .models
        .iter()
        .map(|(name, section)| Some((name.clone(), resolve_model(section, problems)?)))
        .collect();
    if !problems.is_empty() {
        return None;
    }
    Some(GatewayConfig {
        listen: listen?,
        tls: tls.map_or(Some(None), |tls| tls.map(Some))?,
        token_key: token_key?,
        models: models.into_iter().collect::<Option<_>>()?,
        limits: file.limits,
        prices: Prices::new(file.prices.clone()),
    })
}

fn resolve_listen(text: &Text, problems: &mut Problems) -> Option<SocketAddr> {
    let address = text.value.parse().ok();
    if address.is_none() {
        let problem = text.problem(problems, format!("`{}` is not an address to listen on", text.shown));
        problems.add(problem.accepted("an IP address and a port, such as `127.0.0.1:8484` or `[::]:8484`"));
    }
    address
}

fn resolve_tls(section: &TlsSection, context: &Context<'_>, problems: &mut Problems) -> Option<CertificateFiles> {
    let certificate = section
        .cert_file
        .as_ref()
        .and_then(|text| read_pem(text, "CERTIFICATE", context, problems));
    let key = section
        .key_file
        .as_ref()
        .and_then(|text| read_pem(text, "PRIVATE KEY", context, problems));
    Some(CertificateFiles {
        certificate_pem: certificate?,
        key_pem: SecretString::from(key?),
    })
}

fn resolve_model(section: &GatewayModelSection, problems: &mut Problems) -> Option<GatewayModelSettings> {
    let base_url = match &section.base_url {
        Some(text) => http_url(text, problems),
        None => Url::parse(section.api.makers_api()).ok(),
    };
    let credential = match (&section.api_key, &section.oauth_token) {
        (Some(key), _) => secret(key, problems).map(Credential::ApiKey),
        (None, Some(token)) => secret(token, problems).map(Credential::OauthToken),
        (None, None) => Some(Credential::None),
    };
    Some(GatewayModelSettings {
        api: section.api,
        base_url: base_url?,
        credential: credential?,
    })
}

fn secret(text: &Text, problems: &mut Problems) -> Option<SecretString> {
    let key = text.value.trim();
    if key.contains(|c: char| !c.is_ascii_graphic()) {
        let problem = text.problem(problems, "the key holds characters that no HTTP header can carry");
        problems.add(problem.accepted("printable ASCII characters without spaces"));
        return None;
    }
    Some(SecretString::from(key.to_owned()))
}
