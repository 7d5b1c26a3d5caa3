//! Settings, starts, stops and resource limits of servers. Used by the commands of `api` and by `cli`.

use launches::sandbox::SandboxPlanError;
use ports::server_config::{ServerConfig, ServerEntry};
use supervision::limits::LimitsUsage;
use tokio::sync::oneshot;

use super::setup::{SetupError, canonicalize_folders};
use super::{Host, HostClosed};
use crate::owner::{Owner, ServerError};
use crate::view::{SandboxPreview, ServerState};

impl Host {
    /// Adds a server to the settings.
    ///
    /// # Errors
    ///
    /// Returns [`ServerError::BadName`] or [`ServerError::BadConfig`] if the entry is invalid or the name is in use,
    /// [`ServerError::Config`] if the settings file can't be written, and [`ServerError::Closed`] after shutdown.
    pub async fn add_server(&self, entry: ServerEntry) -> Result<(), ServerError> {
        self.with_owner_reply_result(move |owner, reply| owner.add_server(entry, reply)).await
    }

    /// Validates a new server, and returns the entry that [`ServerSetup::add`](super::ServerSetup::add) would write,
    /// with canonical sandbox folders. Nothing is changed.
    ///
    /// # Errors
    ///
    /// Returns [`SetupError::Server`] if the name, the URL or the sandbox is invalid, and [`SetupError::Closed`] if the
    /// host has shut down.
    pub async fn check_new_server(&self, entry: ServerEntry) -> Result<ServerEntry, SetupError> {
        let entry = canonicalize_folders(entry).await?;
        let checked = entry.clone();
        let result = self.with_owner(move |owner| owner.servers.check_new_server(&checked)).await?;
        result.map(|()| entry).map_err(SetupError::Server)
    }

    /// Validates changed settings of a server, and returns the entry that
    /// [`ServerSetup::update`](super::ServerSetup::update) would write under the same name, with canonical sandbox
    /// folders. Nothing is changed.
    ///
    /// # Errors
    ///
    /// Returns [`SetupError::Server`] if no server has this name, or its URL or sandbox is invalid, and
    /// [`SetupError::Closed`] if the host has shut down.
    pub async fn check_changed_server(&self, entry: ServerEntry) -> Result<ServerEntry, SetupError> {
        let entry = canonicalize_folders(entry).await?;
        let checked = entry.clone();
        let result = self.with_owner(move |owner| owner.servers.check_changed_server(&checked.name, &checked)).await?;
        result.map(|()| entry).map_err(SetupError::Server)
    }

    /// Returns a server name that is not in use, derived from `name`.
    ///
    /// # Errors
    ///
    /// Returns [`HostClosed`] if the host has shut down.
    pub async fn find_free_name(&self, name: &str) -> Result<String, HostClosed> {
        let taken: Vec<String> = self.snapshot().await?.servers.into_iter().map(|server| server.name).collect();
        Ok(::other_apps::unused_server_name(name, &taken))
    }

    /// Changes the name or configuration of a server.
    ///
    /// # Errors
    ///
    /// Returns [`ServerError::NotFound`] if no server has the old name, [`ServerError::BadName`] or
    /// [`ServerError::BadConfig`] if the new entry is invalid, [`ServerError::Config`] if the file can't be written,
    /// and [`ServerError::NotForgotten`] if the settings were changed but tokens for the old address could not be
    /// removed.
    pub async fn update_server(&self, was: String, entry: ServerEntry) -> Result<(), ServerError> {
        self.change_server(was, entry, None).await
    }

    /// Changes a server like [`update_server`](Self::update_server). With `before` given, fails with
    /// [`ServerError::Changed`] unless the settings file contains exactly that configuration at the time of the write.
    pub(super) async fn change_server(
        &self,
        was: String,
        entry: ServerEntry,
        before: Option<ServerConfig>,
    ) -> Result<(), ServerError> {
        let ((forgotten, is_forgotten), name) = (oneshot::channel(), was.clone());
        let change = move |owner: &mut Owner, reply| owner.update_server(&was, entry, before, forgotten, reply);
        self.with_owner_reply(change).await?.and(wait_until_tokens_deleted(name, is_forgotten).await)
    }

    /// Discards the cached secrets of a server, so that they are read again on the next use.
    ///
    /// # Errors
    ///
    /// Returns [`HostClosed`] if the host has shut down.
    pub async fn discard_cached_secrets(&self, server: String) -> Result<(), HostClosed> {
        self.with_owner(move |owner| owner.servers.discard_cached_secrets(&server)).await
    }

    /// Stops a server and removes it from the settings. Its stored tokens are deleted before this returns, and revoked
    /// at the authorization server afterwards.
    ///
    /// # Errors
    ///
    /// Returns [`ServerError::NotFound`] if no server has this name, [`ServerError::Config`] if the file can't be
    /// written, and [`ServerError::NotForgotten`] if the server was removed but its tokens could not be deleted.
    pub async fn remove_server(&self, name: String) -> Result<(), ServerError> {
        let ((forgotten, is_forgotten), server) = (oneshot::channel(), name.clone());
        let removed = self.with_owner_reply(move |owner, reply| owner.remove_server(&server, forgotten, reply)).await?;
        removed.and(wait_until_tokens_deleted(name, is_forgotten).await)
    }

    /// Starts a server, after the user's consent if required. Returns without waiting until the server is ready.
    ///
    /// # Errors
    ///
    /// Returns [`ServerError::NotFound`] if no server has this name, and [`ServerError::Closed`] if the host is closed.
    pub async fn start_server(&self, name: String) -> Result<(), ServerError> {
        self.with_owner_result(move |owner| owner.start_for_user(&name)).await
    }

    /// Stops a running server.
    ///
    /// # Errors
    ///
    /// Returns [`ServerError::NotFound`] if no server has this name, and [`ServerError::Closed`] if the host is closed.
    pub async fn stop_server(&self, name: String) -> Result<(), ServerError> {
        self.with_owner_result(move |owner| {
            owner.servers.record(&name).ok_or_else(|| ServerError::NotFound(name.clone()))?;
            owner.stop(&name);
            Ok(())
        })
        .await
    }

    /// Stops a server and starts it again.
    ///
    /// # Errors
    ///
    /// Returns [`ServerError::NotFound`] if no server has this name, and [`ServerError::Closed`] if the host is closed.
    pub async fn restart_server(&self, name: String) -> Result<(), ServerError> {
        self.with_owner_result(move |owner| owner.restart(&name)).await
    }

    /// Makes the scheduled attempt to restart or reconnect to a server immediately, if one is scheduled.
    ///
    /// # Errors
    ///
    /// Returns [`ServerError::NotFound`] if no server has this name, and [`ServerError::Closed`] if the host is closed.
    pub async fn retry_now(&self, name: String) -> Result<(), ServerError> {
        self.with_owner_result(move |owner| {
            let record = owner.servers.record(&name).ok_or_else(|| ServerError::NotFound(name.clone()))?;
            if matches!(record.state, ServerState::Reconnecting(_)) { owner.start_for_user(&name) } else { Ok(()) }
        })
        .await
    }

    /// Returns the access that a local server would have in its sandbox if it were started now. Nothing is started.
    ///
    /// # Errors
    ///
    /// Returns [`SandboxPlanError::NoSandbox`] if the server has no sandbox, and another [`SandboxPlanError`] if the
    /// sandbox can't be set up.
    pub async fn plan_sandbox(&self, server: String) -> Result<SandboxPreview, SandboxPlanError> {
        let (reply, planned) = oneshot::channel();
        self.with_owner(move |owner| owner.plan_sandbox(&server, None, reply)).await?;
        planned.await.map_err(|_| SandboxPlanError::Closing)?
    }

    /// Returns the resource usage of a server and its limits, or `None` if no server has this name.
    ///
    /// # Errors
    ///
    /// Returns [`HostClosed`] if the host has shut down.
    pub async fn limits_usage(&self, server: String) -> Result<Option<LimitsUsage>, HostClosed> {
        self.with_owner(move |owner| owner.limits_usage(&server)).await
    }
}

/// Waits until the stored tokens of a server are deleted, and returns an error if that failed.
async fn wait_until_tokens_deleted(
    name: String,
    forgotten: oneshot::Receiver<Result<(), String>>,
) -> Result<(), ServerError> {
    match forgotten.await {
        Ok(Err(cause)) => Err(ServerError::NotForgotten { name, cause }),
        // The sender is dropped if there were no tokens to delete.
        Ok(Ok(())) | Err(_) => Ok(()),
    }
}
