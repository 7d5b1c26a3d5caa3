//! Servers from outside the owner: their settings, starting and stopping, and the limits they run under. Callers: the commands
//! of `api` and of the command line.

use launches::sandbox::NoPlan;
use ports::server_config::{ServerConfig, ServerEntry};
use supervision::limits::LimitsUse;
use tokio::sync::oneshot;

use super::setup::{SetupError, with_real_folders};
use super::{Host, HostClosed};
use crate::owner::{Owner, ServerError};
use crate::view::{SandboxPreview, ServerState};

impl Host {
    /// Adds a server to the settings.
    ///
    /// # Errors
    /// If the name can't be used or the file not be written.
    pub async fn add_server(&self, entry: ServerEntry) -> Result<(), ServerError> {
        self.with_reply(move |owner, reply| owner.add_server(entry, reply)).await?
    }

    /// The server as [`Setup::add`](super::Setup::add) would write it, with the folders of its sandbox resolved. Nothing is changed.
    ///
    /// # Errors
    /// If its name, its URL or its sandbox can't be used.
    pub async fn check_new_server(&self, entry: ServerEntry) -> Result<ServerEntry, SetupError> {
        let entry = with_real_folders(entry).await?;
        let checked = entry.clone();
        self.with(move |owner| owner.check_new_server(&checked)).await??;
        Ok(entry)
    }

    /// The server as [`Setup::update`](super::Setup::update) would write it under the same name, with the folders of its sandbox resolved. Nothing is
    /// changed.
    ///
    /// # Errors
    /// If there is no such server, or its URL or its sandbox can't be used.
    pub async fn check_changed_server(&self, entry: ServerEntry) -> Result<ServerEntry, SetupError> {
        let entry = with_real_folders(entry).await?;
        let checked = entry.clone();
        self.with(move |owner| owner.check_changed_server(&checked)).await??;
        Ok(entry)
    }

    /// A name like this one that no server has.
    ///
    /// # Errors
    /// Only if the host has ended.
    pub async fn free_name(&self, wanted: &str) -> Result<String, HostClosed> {
        let taken: Vec<String> = self.snapshot().await?.servers.into_iter().map(|server| server.name).collect();
        Ok(::other_apps::free_name(wanted, &taken))
    }

    /// Changes a server's name or command.
    ///
    /// # Errors
    /// If there is none, the name can't be used, or the file not be written; or if something is left of the sign-in to its old
    /// address.
    pub async fn update_server(&self, was: String, entry: ServerEntry) -> Result<(), ServerError> {
        self.change_server(was, entry, None).await
    }

    /// As [`update_server`](Self::update_server). With `before`, [`ServerError::Changed`] unless the settings file has exactly that for the server
    /// at the moment of writing.
    pub(super) async fn change_server(
        &self,
        was: String,
        entry: ServerEntry,
        before: Option<ServerConfig>,
    ) -> Result<(), ServerError> {
        let ((forgotten, is_forgotten), name) = (oneshot::channel(), was.clone());
        let change = move |owner: &mut Owner, reply| owner.update_server(&was, entry, before, forgotten, reply);
        self.with_reply(change).await?.and(all_forgotten(name, is_forgotten).await)
    }

    /// Secrets that a server's settings name are others now. They are read anew when they are needed next.
    ///
    /// # Errors
    /// Only if the host has ended.
    pub async fn secrets_changed(&self, server: String) -> Result<(), HostClosed> {
        self.with(move |owner| owner.servers.secrets_changed(&server)).await
    }

    /// Stops a server and takes it out of the settings. Nothing is left here of the sign-in to it when this returns; the
    /// authorization server is told later.
    ///
    /// # Errors
    /// If there is none, or the file can't be written; or if something is left of the sign-in.
    pub async fn remove_server(&self, name: String) -> Result<(), ServerError> {
        let ((forgotten, is_forgotten), server) = (oneshot::channel(), name.clone());
        let removed = self.with_reply(move |owner, reply| owner.remove_server(&server, forgotten, reply)).await?;
        removed.and(all_forgotten(name, is_forgotten).await)
    }

    /// Starts a server, after its question if need be.
    ///
    /// # Errors
    /// If there is none.
    pub async fn start_server(&self, name: String) -> Result<(), ServerError> {
        self.with(move |owner| owner.start_for_user(&name)).await?
    }

    /// Stops a server.
    ///
    /// # Errors
    /// If there is none.
    pub async fn stop_server(&self, name: String) -> Result<(), ServerError> {
        self.with(move |owner| {
            owner.server(&name).ok_or_else(|| ServerError::NotFound(name.clone()))?;
            owner.stop(&name);
            Ok(())
        })
        .await?
    }

    /// Stops a server and starts it again.
    ///
    /// # Errors
    /// If there is none.
    pub async fn restart_server(&self, name: String) -> Result<(), ServerError> {
        self.with(move |owner| owner.restart(&name)).await?
    }

    /// Makes the next attempt to bring a server back at once; fine if none is waited for.
    ///
    /// # Errors
    /// If there is none.
    pub async fn retry_now(&self, name: String) -> Result<(), ServerError> {
        self.with(move |owner| {
            let record = owner.server(&name).ok_or_else(|| ServerError::NotFound(name.clone()))?;
            if matches!(record.state, ServerState::Reconnecting(_)) { owner.start_for_user(&name) } else { Ok(()) }
        })
        .await?
    }

    /// What a local server would reach in its sandbox if it were started now. Nothing is started.
    ///
    /// # Errors
    /// If it has no sandbox, or none that can be set up.
    pub async fn plan_sandbox(&self, server: String) -> Result<SandboxPreview, NoPlan> {
        let (reply, planned) = oneshot::channel();
        self.with(move |owner| owner.plan_sandbox(&server, reply)).await?;
        planned.await.map_err(|_| NoPlan::Closing)?
    }

    /// How much a server uses of what each server gets; nothing if there is no such server.
    ///
    /// # Errors
    /// If the host has ended.
    pub async fn used(&self, server: String) -> Result<Option<LimitsUse>, HostClosed> {
        self.with(move |owner| owner.used(&server)).await
    }
}

/// Waits until nothing is left here of the sign-in to a server.
async fn all_forgotten(name: String, forgotten: oneshot::Receiver<Result<(), String>>) -> Result<(), ServerError> {
    match forgotten.await {
        Ok(Err(cause)) => Err(ServerError::NotForgotten { name, cause }),
        // Without an answer there was nothing to forget.
        Ok(Ok(())) | Err(_) => Ok(()),
    }
}
