//! A channel to the coordinator, with the worker's token on every call.

use hyper_util::rt::TokioIo;
use secrecy::{ExposeSecret, SecretString};
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint, Uri};
use tonic::{Request, Status};

use super::address::Address;
use super::error::LinkError;

/// A channel that carries the token.
pub(super) type Authenticated = InterceptedService<Channel, Token>;

/// Puts the token on every call.
#[derive(Clone)]
pub(super) struct Token(MetadataValue<Ascii>);

impl Interceptor for Token {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        request.metadata_mut().insert("authorization", self.0.clone());
        Ok(request)
    }
}

/// Connects to the coordinator.
pub(super) async fn connect(address: &Address, token: &SecretString) -> Result<Authenticated, LinkError> {
    let mut value: MetadataValue<Ascii> = format!("Bearer {}", token.expose_secret())
        .parse()
        .map_err(|_| LinkError::Token)?;
    value.set_sensitive(true);
    let Address::Unix(path) = address;
    let path = path.clone();
    // The URI is not used for a Unix socket, but has to be one.
    let channel = Endpoint::from_static("http://coordinator.local")
        .connect_with_connector(tower::service_fn(move |_: Uri| {
            let path = path.clone();
            async move { tokio::net::UnixStream::connect(path).await.map(TokioIo::new) }
        }))
        .await
        .map_err(LinkError::Unreachable)?;
    Ok(InterceptedService::new(channel, Token(value)))
}
