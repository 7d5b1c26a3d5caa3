//! The transport of a session: a local process or a remote server.

use std::pin::Pin;

use host_state::spawn_failure;
use mcp_proto::session::SessionConfig;
use mcp_transport::driver::SessionOwner;
use mcp_transport::http::{HeaderName, HttpLimits, HttpTarget, SecretHeader, TransportChoice};
use mcp_transport::stdio::{StderrRing, StdioDriverLimits};
use ports::server_config::HttpKind;
use process::ServerProcess;
use supervision::limits::ServerLimits;
use url::Url;

use super::{ConnectionTarget, HttpStart};
use crate::view::{FailureReason, ServerFailure};

/// The transport to a server, over which a session can be opened.
pub(super) enum ServerLink {
    /// A local server, whose process was started.
    Process(ServerProcess),
    /// A remote server, to which no connection exists yet.
    Url(HttpTarget),
}

impl ServerLink {
    /// Starts a local process, or parses the address and headers of a remote server.
    ///
    /// # Errors
    ///
    /// Returns a [`ServerFailure`] with [`FailureReason::CouldNotStart`] if the process can't be started or the address
    /// or a header is invalid.
    pub(super) async fn spawn_or_parse_target(target: &ConnectionTarget) -> Result<Self, ServerFailure> {
        match target {
            ConnectionTarget::Process { command, program, path } => {
                process::spawn(command, program, path).await.map(Self::Process).map_err(|error| spawn_failure(&error))
            }
            ConnectionTarget::Url(start) => http_target(start).map(Self::Url),
        }
    }
}

/// Runs the session's driver until the server and its processes have ended. Standard error output of a process is
/// stored in `stderr`.
///
/// The future is boxed, so that the connection of a local process is not as large as that of a remote server.
pub(super) fn drive<'o>(
    link: ServerLink,
    session: SessionConfig,
    stderr: StderrRing,
    owner: &'o mut dyn SessionOwner,
    limits: &ServerLimits,
) -> Pin<Box<dyn Future<Output = ()> + Send + 'o>> {
    let message_bytes = usize::try_from(limits.message_bytes).unwrap_or(usize::MAX);
    match link {
        ServerLink::Process(process) => {
            let limits = StdioDriverLimits { line_bytes: message_bytes, ..StdioDriverLimits::default() };
            Box::pin(mcp_transport::stdio::drive(session, process, stderr, owner, limits))
        }
        ServerLink::Url(target) => {
            let limits = HttpLimits { message_bytes, ..HttpLimits::default() };
            Box::pin(mcp_transport::http::drive(session, target, owner, limits))
        }
    }
}

fn http_target(start: &HttpStart) -> Result<HttpTarget, ServerFailure> {
    let bad = |cause: String| ServerFailure::new(FailureReason::CouldNotStart, cause);
    let url = Url::parse(&start.url).map_err(|error| bad(format!("the URL can't be read: {error}")))?;
    let mut headers = Vec::new();
    for (name, value) in &start.headers {
        let header: HeaderName = name.parse().map_err(|_| bad(format!("{name:?} is not the name of a header")))?;
        // The error message contains the name of the header, but never its value.
        let value = SecretHeader::new(value).map_err(|error| bad(format!("the header {name:?}: {error}")))?;
        headers.push((header, value));
    }
    let transport = match start.kind {
        None => TransportChoice::Auto,
        Some(HttpKind::Http) => TransportChoice::Streamable,
        Some(HttpKind::Sse) => TransportChoice::Sse,
    };
    Ok(HttpTarget { url, headers, transport, known: start.known, authorizer: start.authorizer.clone() })
}
