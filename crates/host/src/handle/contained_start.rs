//! Sandboxes that are offered to the user in a consent request for starting a server.

use domain::consent_request::ConsentRequestId;
use launches::sandbox_proposal::{is_root_or_contains_home, proposed_sandbox, runs_container};
use ports::server_config::{NetworkAccess, SandboxConfig, ServerConfig, ServerEntry};
use tokio::sync::oneshot;

use super::setup::{SetupError, canonicalize_folders};
use super::{Host, HostClosed};
use crate::owner::DecisionError;
use crate::view::SandboxOffer;

/// Error of adding a sandbox to the server whose start waits for the user's consent. Nothing was started.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SandboxStartError {
    /// The consent request is no longer open, has changed, or is not for a local server without a sandbox.
    #[error(transparent)]
    Request(#[from] DecisionError),
    /// The sandbox is invalid or can't be written to the server's settings.
    #[error(transparent)]
    Setup(#[from] SetupError),
}

impl From<HostClosed> for SandboxStartError {
    fn from(closed: HostClosed) -> Self {
        Self::Request(closed.into())
    }
}

impl Host {
    /// Proposes a sandbox for the server whose start the consent request is for, and determines what the server could
    /// access in it. `network` replaces the proposed access to the network. Nothing is started or changed.
    ///
    /// # Errors
    ///
    /// Returns [`SandboxStartError::Request`] if the request is no longer open or not for a local server without a
    /// sandbox, and [`SandboxStartError::Setup`] if the sandbox is invalid.
    pub async fn offer_sandbox(
        &self,
        request: ConsentRequestId,
        network: Option<NetworkAccess>,
    ) -> Result<SandboxOffer, SandboxStartError> {
        let start = self.with_owner_result(move |owner| owner.find_unsandboxed_start(request, None)).await?;
        let Some(stdio) = start.config.as_stdio().filter(|stdio| !runs_container(&stdio.command)) else {
            return Ok(SandboxOffer::Container);
        };
        if let Some(folder) = stdio.cwd.clone() {
            let judged = folder.clone();
            let judging =
                tokio::task::spawn_blocking(move || is_root_or_contains_home(&judged, std::env::home_dir().as_deref()));
            if judging.await.map_err(|_| HostClosed)? {
                return Ok(SandboxOffer::BroadFolder { folder });
            }
        }
        let mut proposed = proposed_sandbox(stdio, start.bundle);
        if let Some(network) = network {
            proposed.network = network;
        }
        let entry =
            canonicalize_folders(entry_with_sandbox(start.name.clone(), start.config.clone(), proposed)).await?;
        let sandbox = entry.config.as_stdio().and_then(|stdio| stdio.sandbox.clone()).unwrap_or_default();
        let (reply, planned) = oneshot::channel();
        let planning = sandbox.clone();
        self.with_owner(move |owner| owner.plan_sandbox(&start.name, Some(planning), reply)).await?;
        Ok(match planned.await.map_err(|_| HostClosed)? {
            Ok(preview) => SandboxOffer::Possible { sandbox, preview: Box::new(preview) },
            Err(error) => SandboxOffer::Impossible { sandbox, error },
        })
    }

    /// Adds a sandbox to the settings of the server whose start a consent request is for. That request is replaced by
    /// one for the start in the sandbox, which has another hash, so an approval of the old one has no effect.
    ///
    /// # Errors
    ///
    /// Returns [`SandboxStartError::Request`] if the request is no longer open, its hash is not `hash`, or it is not
    /// for a local server without a sandbox, and [`SandboxStartError::Setup`] if the settings can't be changed.
    pub async fn move_start_into_sandbox(
        &self,
        request: ConsentRequestId,
        hash: String,
        sandbox: SandboxConfig,
    ) -> Result<(), SandboxStartError> {
        let setup = self.begin_setup().await?;
        let start = self.with_owner_result(move |owner| owner.find_unsandboxed_start(request, Some(&hash))).await?;
        let entry = entry_with_sandbox(start.name.clone(), start.config.clone(), sandbox);
        setup.update_if_unchanged(entry, start.config).await?;
        let started = self.with_owner(move |owner| owner.start_with_consent(&start.name)).await?;
        Ok(started.map_err(SetupError::from)?)
    }
}

/// Returns the entry of a local server with this sandbox.
fn entry_with_sandbox(name: String, mut config: ServerConfig, sandbox: SandboxConfig) -> ServerEntry {
    if let Some(stdio) = config.as_stdio_mut() {
        stdio.sandbox = Some(sandbox);
    }
    ServerEntry { name, config }
}
