//! Remote servers: Streamable HTTP (2025-03-26 and later) and HTTP+SSE (2024-11-05).
//!
//! [`drive`] detects the transport of a URL, as `basic/transports` of each revision specifies, and drives the session
//! until it ends. The owner restarts sessions.

mod authorization;
mod body;
mod certificate;
mod client;
mod connection_notes;
mod delivery_faults;
mod endpoint;
mod exchange;
mod headers;
mod http_sse;
mod http_target;
mod limits;
mod redirects;
mod retry;
mod sse;
mod streamable;
mod transport_detection;
mod untrusted_url_client;

use mcp_proto::SessionConfig;
use tokio::sync::mpsc;

use crate::driver::{ChannelSessionOwner, DriverCommand, DriverEvent, SessionOwner};

pub use authorization::{
    AuthChallenge, Authorizer, ChallengeOutcome, MAX_SENDS_PER_REQUEST, RequestSignature, SigningRefusal,
};
pub use client::{client_for_models, client_for_registries, client_for_updates};
pub use delivery_faults::innermost_cause;
pub use http_target::{
    HeaderName, HttpTarget, InvalidSecretHeader, KnownServerConnection, SecretHeader, TransportChoice,
};
pub use limits::HttpLimits;
#[doc(hidden)]
pub use sse::fuzzing as sse_fuzzing;
pub use untrusted_url_client::{UntrustedUrlClient, UntrustedUrlError, UntrustedUrlLimits};

/// Runs the session of a remote server until it ends.
///
/// Sets [`SessionConfig::carrier`], and [`SessionConfig::known`] from the target. Must be called within a tokio
/// runtime.
pub async fn drive(session: SessionConfig, target: HttpTarget, owner: &mut dyn SessionOwner, limits: HttpLimits) {
    transport_detection::drive_detected_transport(session, target, owner, limits).await;
}

/// Spawns a task that runs a session as [`drive`] does. Events are sent to `events` in order. While the channel is
/// full, nothing is read from the server. Dropping the returned command sender ends the session.
///
/// Must be called within a tokio runtime.
pub fn run(
    session: SessionConfig,
    target: HttpTarget,
    events: mpsc::Sender<DriverEvent>,
    limits: HttpLimits,
) -> mpsc::Sender<DriverCommand> {
    let (commands, mut owner) = ChannelSessionOwner::new(events);
    tokio::spawn(
        async move { transport_detection::drive_detected_transport(session, target, &mut owner, limits).await },
    );
    commands
}
