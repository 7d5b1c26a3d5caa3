//! Remote servers: Streamable HTTP (2025-03-26 and later) and HTTP+SSE (2024-11-05).
//!
//! [`drive`] finds out which of them a URL speaks, as `basic/transports` of each revision says, and drives
//! the session until it ends. Starting it again is for its owner to do.

mod authorization;
mod certificate;
mod client;
mod detect;
mod endpoint;
mod exchange;
mod fault;
mod headers;
mod legacy;
mod limits;
mod news;
mod outside;
mod redirects;
mod retry;
mod sse;
mod streamable;
mod target;

use mcp_proto::SessionConfig;
use tokio::sync::mpsc;

use crate::driver::{Channels, DriverCommand, DriverEvent, Owner};

pub use authorization::{Authorizer, Challenge, MOST_SENDINGS, Signed, Stop, Verdict};
pub use client::{for_models, for_registries, for_updates};
pub use limits::HttpLimits;
pub use outside::{OutsideClient, OutsideError, OutsideLimits};
#[doc(hidden)]
pub use sse::fuzzing as sse_fuzzing;
pub use target::{BadHeader, HeaderName, HttpTarget, KnownServer, SecretHeader, TransportChoice};

/// Drives the session of a remote server until it ends.
///
/// [`SessionConfig::carrier`] is set here, and [`SessionConfig::known`] from the target.
///
/// Must be called within a tokio runtime.
pub async fn drive(session: SessionConfig, target: HttpTarget, owner: &mut dyn Owner, limits: HttpLimits) {
    detect::run(session, target, owner, limits).await;
}

/// As [`drive`], in a task of its own. Every event goes to `events`, in order; when they are not taken, nothing is
/// read from the server. Dropping the returned sender ends the session.
///
/// Must be called within a tokio runtime.
pub fn run(
    session: SessionConfig,
    target: HttpTarget,
    events: mpsc::Sender<DriverEvent>,
    limits: HttpLimits,
) -> mpsc::Sender<DriverCommand> {
    let (commands, mut owner) = Channels::new(events);
    tokio::spawn(async move { detect::run(session, target, &mut owner, limits).await });
    commands
}
