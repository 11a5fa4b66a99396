//! The server over Streamable HTTP.

use crate::server::WeatherServer;
use axum::serve::ListenerExt as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::future::Future;
use std::io;
use tokio::net::TcpListener;

/// Where the server answers MCP.
pub const MCP_PATH: &str = "/mcp";

/// Serves MCP with stateful sessions at [`MCP_PATH`] until `shutdown` resolves, then ends every open session and returns.
///
/// On a loopback address only loopback names are accepted as `Host`, against DNS rebinding (MCP 2025-06-18, transports,
/// security warning); elsewhere the server is known by names of the reader's own, and any is.
///
/// # Errors
/// The listener has no address or fails to accept.
pub async fn serve(listener: TcpListener, shutdown: impl Future<Output = ()> + Send + 'static) -> io::Result<()> {
    let mut config = StreamableHttpServerConfig::default();
    if !listener.local_addr()?.ip().is_loopback() {
        config = config.disable_allowed_hosts();
    }
    let sessions = config.cancellation_token.clone();
    let service = StreamableHttpService::new(|| Ok(WeatherServer), LocalSessionManager::default().into(), config);
    let router = axum::Router::new().route_service(MCP_PATH, service);
    // Answers go out at once: two small writes would otherwise wait for the client's delayed acknowledgement.
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    axum::serve(listener, router)
        .with_graceful_shutdown(async move {
            shutdown.await;
            // Open event streams would hold the graceful shutdown for ever.
            sessions.cancel();
        })
        .await
}
