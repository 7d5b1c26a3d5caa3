//! Either driver behind one face: a local process, or a remote server.

use mcp_proto::session::SessionConfig;
use mcp_transport::driver::{DriverCommand, DriverEvent, DriverHandle};
use mcp_transport::http::{HeaderName, HttpLimits, HttpTarget, SecretHeader, TransportChoice};
use tokio::sync::mpsc;
use url::Url;

use super::{HttpStart, Target, outcome};
use crate::server_config::HttpKind;
use crate::view::{Failure, FailureReason};

/// A running driver.
pub(super) enum Link {
    /// Of a local process.
    Process(DriverHandle),
    /// Of a remote server.
    Url(mpsc::Sender<DriverCommand>),
}

impl Link {
    /// Starts the driver of a target. Its events go to `events`.
    pub(super) async fn start(
        target: &Target,
        session: SessionConfig,
        events: mpsc::Sender<DriverEvent>,
    ) -> Result<Self, Failure> {
        match target {
            Target::Process { command, program, path } => {
                let process = mcp_transport::stdio::spawn(command, program, path)
                    .await
                    .map_err(|error| outcome::could_not_start(&error))?;
                Ok(Self::Process(mcp_transport::driver::run(session, process, events)))
            }
            Target::Url(start) => {
                let target = http_target(start)?;
                Ok(Self::Url(mcp_transport::http::run(session, target, events, HttpLimits::default())))
            }
        }
    }

    /// Takes commands.
    pub(super) const fn commands(&self) -> &mpsc::Sender<DriverCommand> {
        match self {
            Self::Process(driver) => &driver.commands,
            Self::Url(commands) => commands,
        }
    }

    /// The last lines of a process on standard error; a remote server has none.
    pub(super) fn stderr(&self, lines: usize) -> Vec<String> {
        match self {
            Self::Process(driver) => driver.stderr.last_lines(lines),
            Self::Url(_) => Vec::new(),
        }
    }
}

fn http_target(start: &HttpStart) -> Result<HttpTarget, Failure> {
    let bad = |cause: String| Failure::new(FailureReason::CouldNotStart, cause);
    let url = Url::parse(&start.url).map_err(|error| bad(format!("the URL can't be read: {error}")))?;
    let mut headers = Vec::new();
    for (name, value) in &start.headers {
        let header: HeaderName = name.parse().map_err(|_| bad(format!("{name:?} is not the name of a header")))?;
        // The cause names the header, never its value.
        let value = SecretHeader::new(value).map_err(|error| bad(format!("the header {name:?}: {error}")))?;
        headers.push((header, value));
    }
    let transport = match start.kind {
        None => TransportChoice::Auto,
        Some(HttpKind::Http) => TransportChoice::Streamable,
        Some(HttpKind::Sse) => TransportChoice::Sse,
    };
    Ok(HttpTarget { url, headers, transport, known: start.known })
}
