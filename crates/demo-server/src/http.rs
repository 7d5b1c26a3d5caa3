//! Server for Streamable HTTP: with a session for hosts of stateful revisions, and without one for stateless requests.

use std::io::{Write as _, stdout};
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;

use crate::options::DemoServerOptions;
use crate::server::DemoServer;
use crate::state::DemoServerState;

/// Delay after which hosts should resume a lost stream. The SDK discards a stream after its last response, so its
/// default delay of three seconds is too long for most calls.
const SSE_RESUME_DELAY: Duration = Duration::from_millis(200);

/// Serves MCP at `/mcp` until the process is terminated. Prints the server's address as the first line of standard
/// output.
pub(crate) async fn serve(options: DemoServerOptions, port: u16) -> std::io::Result<()> {
    let state = Arc::new(DemoServerState::new());
    let factory = move || Ok(DemoServer::new(options.clone(), Arc::clone(&state)));
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.sse_retry = Some(SSE_RESUME_DELAY);
    let config = StreamableHttpServerConfig::default().with_sse_retry(Some(SSE_RESUME_DELAY));
    let service = StreamableHttpService::new(factory, Arc::new(sessions), config);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    let address = listener.local_addr()?;
    // Flushed because the parent process waits for this line.
    let mut out = stdout();
    writeln!(out, "http://{address}")?;
    out.flush()?;
    tracing::info!("the harbour is open at http://{address}/mcp");
    axum::serve(listener, Router::new().nest_service("/mcp", service)).await
}
