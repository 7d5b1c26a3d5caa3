//! Server for one host over standard input and output. It exits soon after the host has closed standard input.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use rmcp::ServiceExt as _;
use rmcp::service::{RoleServer, ServerInitializeError, Service};
use rmcp::transport::stdio_pipes;
use tokio::io::{AsyncRead, ReadBuf};
use tokio_util::sync::CancellationToken;

use crate::legacy::LegacyDemoServer;
use crate::options::{DemoServerOptions, ProtocolMode};
use crate::server::DemoServer;
use crate::state::DemoServerState;

/// Maximum time to send pending responses after standard input was closed. The SDK would wait five seconds for a
/// subscription, which never ends by itself.
const PENDING_RESPONSES_TIMEOUT: Duration = Duration::from_millis(500);

/// Serves one host until it closes standard input.
pub(crate) async fn serve(options: DemoServerOptions) -> Result<(), ServerInitializeError> {
    let era = options.protocol_mode();
    let server = DemoServer::new(options, Arc::new(DemoServerState::new()));
    tracing::info!("the harbour is open (era: {era:?})");
    let outcome = match era {
        ProtocolMode::Legacy => run_service(LegacyDemoServer(server)).await,
        ProtocolMode::Modern | ProtocolMode::Both => run_service(server).await,
    };
    match outcome {
        // A host that disconnects before its first message is not an error.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        outcome => outcome,
    }
}

async fn run_service<S: Service<RoleServer>>(service: S) -> Result<(), ServerInitializeError> {
    let (reader, writer) = stdio_pipes();
    let ended = CancellationToken::new();
    let reader = EndNotifyingReader { inner: reader, ended: ended.clone() };
    let running = service.serve((reader, writer)).await?;
    let after_the_end = async {
        ended.cancelled().await;
        tokio::time::sleep(PENDING_RESPONSES_TIMEOUT).await;
    };
    tokio::select! {
        finished = running.waiting() => {
            if let Err(error) = finished {
                tracing::error!("the session failed: {error}");
            }
        }
        () = after_the_end => {}
    }
    tracing::info!("the harbour is closed");
    Ok(())
}

/// A reader that cancels a `CancellationToken` at the end of the stream.
struct EndNotifyingReader<R> {
    inner: R,
    ended: CancellationToken,
}

impl<R: AsyncRead + Unpin> AsyncRead for EndNotifyingReader<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let before = buffer.filled().len();
        let result = ready!(Pin::new(&mut self.inner).poll_read(cx, buffer));
        if result.is_err() || buffer.filled().len() == before {
            self.ended.cancel();
        }
        Poll::Ready(result)
    }
}
