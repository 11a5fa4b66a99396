//! TLS towards the server.

use std::io::Cursor;
use std::sync::{Arc, OnceLock};

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

use super::error::ProxyError;

/// The machine's own authorities, read once per process.
fn system_roots() -> &'static [CertificateDer<'static>] {
    static ROOTS: OnceLock<Vec<CertificateDer<'static>>> = OnceLock::new();
    // What cannot be read is left out: a server signed by it then fails with a certificate error, which says so.
    ROOTS.get_or_init(|| rustls_native_certs::load_native_certs().certs)
}

/// Trusts the machine's authorities and those in `ca_pem`.
///
/// # Errors
/// `ca_pem` holds no certificate or a broken one.
pub(super) fn client_config(ca_pem: Option<&str>) -> Result<ClientConfig, ProxyError> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(system_roots().iter().cloned());
    if let Some(pem) = ca_pem {
        let mut found = false;
        for certificate in CertificateDer::pem_reader_iter(Cursor::new(pem)) {
            let certificate = certificate.map_err(|error| ProxyError::CaFile(format!("{error:?}")))?;
            roots
                .add(certificate)
                .map_err(|error| ProxyError::CaFile(error.to_string()))?;
            found = true;
        }
        if !found {
            return Err(ProxyError::CaFile("no certificate in it".to_owned()));
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(ProxyError::Tls)?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}
