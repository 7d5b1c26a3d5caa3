//! Remote servers: Streamable HTTP (2025-03-26 and later) and HTTP+SSE (2024-11-05).
//!
//! [`drive`] detects the transport of a URL, as `basic/transports` of each revision specifies, and drives the session
//! until it ends. The owner restarts sessions.

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

use crate::driver::{ChannelOwner, DriverCommand, DriverEvent, SessionOwner};

pub use authorization::{AuthChallenge, Authorizer, ChallengeOutcome, MOST_SENDINGS, RequestSignature, SigningRefusal};
pub use client::{for_models, for_registries, for_updates};
pub use limits::HttpLimits;
pub use outside::{OutsideClient, OutsideError, OutsideLimits};
#[doc(hidden)]
pub use sse::fuzzing as sse_fuzzing;
pub use target::{HeaderName, HttpTarget, InvalidHeader, KnownServer, SecretHeader, TransportChoice};

/// Drives the session of a remote server until it ends.
///
/// Sets [`SessionConfig::carrier`], and [`SessionConfig::known`] from the target.
///
/// Must be called within a tokio runtime.
pub async fn drive(session: SessionConfig, target: HttpTarget, owner: &mut dyn SessionOwner, limits: HttpLimits) {
    detect::run(session, target, owner, limits).await;
}

/// Drives a session like [`drive`] in a spawned task. Events are sent to `events` in order. While they are not
/// received, nothing is read from the server. Dropping the returned sender ends the session.
///
/// Must be called within a tokio runtime.
pub fn run(
    session: SessionConfig,
    target: HttpTarget,
    events: mpsc::Sender<DriverEvent>,
    limits: HttpLimits,
) -> mpsc::Sender<DriverCommand> {
    let (commands, mut owner) = ChannelOwner::new(events);
    tokio::spawn(async move { detect::run(session, target, &mut owner, limits).await });
    commands
}
