//! Remote servers: Streamable HTTP (2025-03-26 and later) and HTTP+SSE (2024-11-05).
//!
//! [`run`] finds out which of them a URL speaks, as `basic/transports` of each revision says, and drives
//! the session until it ends. Starting it again is for its owner to do.

mod client;
mod detect;
mod endpoint;
mod exchange;
mod fault;
mod headers;
mod legacy;
mod limits;
mod news;
mod redirects;
mod retry;
mod sse;
mod streamable;
mod target;

use mcp_proto::SessionConfig;
use tokio::sync::mpsc;

use crate::driver::{DriverCommand, DriverEvent, WAITING_COMMANDS};

pub use limits::HttpLimits;
pub use target::{BadHeader, HeaderName, HttpTarget, KnownServer, SecretHeader, TransportChoice, TransportFound};

/// Starts the driver of a remote server. Every event goes to `events`, in order; when they are not taken,
/// nothing is read from the server. Dropping the returned sender ends the session.
///
/// [`SessionConfig::carrier`] is set here, and [`SessionConfig::known`] from the target.
///
/// Must be called within a tokio runtime.
pub fn run(
    session: SessionConfig,
    target: HttpTarget,
    events: mpsc::Sender<DriverEvent>,
    limits: HttpLimits,
) -> mpsc::Sender<DriverCommand> {
    let (commands, received) = mpsc::channel(WAITING_COMMANDS);
    tokio::spawn(detect::run(session, target, received, events, limits));
    commands
}
