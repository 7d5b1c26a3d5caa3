//! Changes of a server's settings together with the server's secrets, one change at a time. Used by `api` for requests
//! of the page, and by `installer`.

use std::collections::BTreeSet;
use std::sync::Arc;

use ports::SecretPersistence;
use ports::secrets;
use ports::server_config::{
    AllowedFolder, FilledInputs, InstallationInfo, NewServer, ServerConfig, ServerEntry, ServerOrigin, ValuePart,
};
use tokio::sync::OwnedMutexGuard;

use super::{Host, HostClosed, StorageError};
use crate::owner::{Owner, ServerError};
use crate::view::ServerView;

/// Error of changing a server's settings and secrets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// The settings of the server can't be changed.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// A secret of the server can't be read or written.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The host has shut down.
    #[error(transparent)]
    Closed(#[from] HostClosed),
}

/// The installed server that another version replaces, as displayed to the user when the new version was offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplacedServer {
    /// Settings of the server when it was displayed to the user.
    pub config: ServerConfig,
    /// Source from which the server was installed, when the server was displayed to the user.
    pub origin: ServerOrigin,
}

/// Exclusive access to the servers' settings and secrets. Only one `ServerSetup` exists at a time, since the names of
/// new secrets depend on the existing ones.
pub struct ServerSetup {
    host: Host,
    servers: Vec<ServerView>,
    _alone: OwnedMutexGuard<()>,
}

impl Host {
    /// Reloads the settings from disk, since another process may have changed them, and begins a change.
    ///
    /// # Errors
    ///
    /// Returns [`HostClosed`] if the host has shut down.
    pub async fn begin_reloaded_setup(&self) -> Result<ServerSetup, HostClosed> {
        self.with_owner_reply(|owner, reply| owner.reload_install_records_and_reply(reply)).await?;
        self.begin_setup().await
    }

    /// Begins a change of the settings, after other changes in progress have ended.
    ///
    /// # Errors
    ///
    /// Returns [`HostClosed`] if the host has shut down.
    pub async fn begin_setup(&self) -> Result<ServerSetup, HostClosed> {
        let alone = Arc::clone(&self.setting_up).lock_owned().await;
        let servers = self.snapshot().await?.servers;
        Ok(ServerSetup { host: self.clone(), servers, _alone: alone })
    }
}

impl ServerSetup {
    /// Returns the settings of a server.
    ///
    /// # Errors
    ///
    /// Returns [`ServerError::NotFound`] if no server has this name.
    pub fn config(&self, server: &str) -> Result<&ServerConfig, ServerError> {
        let found = self.servers.iter().find(|other| other.name == server);
        found.map(|found| &found.config).ok_or_else(|| ServerError::NotFound(server.to_owned()))
    }

    /// Returns the names of all secrets that servers other than this one refer to.
    #[must_use]
    pub fn secret_names_of_others(&self, server: &str) -> Vec<String> {
        self.other_servers(server).flat_map(|other| other.config.secret_names()).collect()
    }

    /// Returns `true` if another server refers to a secret with this key. Case is ignored, as some keychains do.
    #[must_use]
    pub fn is_secret_used_by_others(&self, server: &str, key: &str) -> bool {
        self.other_servers(server)
            .any(|other| other.config.secret_keys().iter().any(|other| other.eq_ignore_ascii_case(key)))
    }

    fn other_servers<'a>(&'a self, server: &'a str) -> impl Iterator<Item = &'a ServerView> {
        self.servers.iter().filter(move |other| other.name != server)
    }

    /// Adds a server, and then writes its secrets, each given with its key.
    ///
    /// # Errors
    ///
    /// Returns [`SetupError::Server`] if the server can't be added, in which case no secret is written, and
    /// [`SetupError::Storage`] if a secret can't be written. In this case the server is removed again, since it would
    /// lack its secrets and its name would be in use on the next attempt.
    pub async fn add(
        &self,
        entry: ServerEntry,
        secrets: Vec<(String, String)>,
    ) -> Result<SecretPersistence, SetupError> {
        let entry = canonicalize_folders(entry).await?;
        let name = entry.name.clone();
        self.host.add_server(entry).await?;
        let persistence = self.store_secrets(secrets).await;
        if persistence.is_err() {
            self.host.remove_server(name).await?;
        }
        persistence
    }

    /// Adds a server whose secrets have no names yet. Each secret gets a name that no other server uses.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`add`](Self::add).
    pub async fn add_new(&self, server: NewServer) -> Result<SecretPersistence, SetupError> {
        let taken = self.secret_names_of_others(&server.entry.name);
        let (entry, secrets) = server.into_settings(taken);
        self.add(entry, secrets).await
    }

    /// Adds an installed server, and records the origin of the installation.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`add`](Self::add).
    pub async fn add_installed(
        &self,
        server: NewServer,
        origin: ServerOrigin,
        filled_in: FilledInputs,
    ) -> Result<SecretPersistence, SetupError> {
        let taken = self.secret_names_of_others(&server.entry.name);
        let (entry, secrets) = server.into_settings(taken);
        let name = entry.name.clone();
        self.record_install_origin(&entry, &origin, &filled_in, None).await?;
        let added = self.add(entry, secrets).await;
        self.finish_install(name, origin, filled_in, added.is_ok()).await;
        added
    }

    /// Replaces an installed server with another version under the same name. A secret without a new value keeps the
    /// current value of the same variable or header, which is from then on bound to the new command. The settings and
    /// the installation record of the server have to equal `was` at the time of each write, which is checked while the
    /// file is locked.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`update`](Self::update), [`ServerError::Changed`] if the server no longer equals
    /// `was`, and [`SetupError::Storage`] if a retained secret can't be read.
    pub async fn upgrade(
        &self,
        mut server: NewServer,
        was: &ReplacedServer,
        origin: ServerOrigin,
        filled_in: FilledInputs,
    ) -> Result<SecretPersistence, SetupError> {
        let name = server.entry.name.clone();
        self.fill_secrets_from(&was.config, &mut server).await?;
        let (entry, secrets) = server.into_settings(self.secret_names_of_others(&name));
        let new = canonicalize_folders(entry).await?;
        self.record_install_origin(&new, &origin, &filled_in, Some(was)).await?;
        let put = self.change(&name, new.clone(), secrets, Some(was.config.clone())).await;
        if let Err(error) = &put
            && !matches!(error, SetupError::Server(ServerError::Changed(_)))
        {
            // The settings may already contain the new version, whose secrets are missing.
            let back = ServerEntry { name: name.clone(), config: was.config.clone() };
            match self.host.change_server(name.clone(), back, Some(new.config)).await {
                // The settings still contain the old version.
                Ok(()) | Err(ServerError::Changed(_)) => {}
                Err(undone) => {
                    tracing::error!(error = %undone, "a server could not be restored to its previous version")
                }
            }
        }
        self.finish_install(name, origin, filled_in, put.is_ok()).await;
        put
    }

    /// Records the origin of a server before the server is added to the settings. Otherwise, if the process were killed
    /// in between, the settings could refer to a bundle that is not verified on start.
    async fn record_install_origin(
        &self,
        entry: &ServerEntry,
        origin: &ServerOrigin,
        filled_in: &FilledInputs,
        replaced: Option<&ReplacedServer>,
    ) -> Result<(), SetupError> {
        let (name, config) = (entry.name.clone(), entry.config.clone());
        let record = (origin.clone(), filled_in.clone());
        let expected = replaced.map(|replaced| (replaced.origin.clone(), replaced.config.clone()));
        let begun = self.host.with_owner_reply(move |owner, reply| {
            owner.record_install_origin(name, (record.0, record.1, &config), expected, reply);
        });
        match begun.await?.map_err(StorageError::Store)? {
            true => Ok(()),
            false => Err(ServerError::Changed(entry.name.clone()).into()),
        }
    }

    /// Completes a server's pending installation record if the server was set up, else restores the previous record.
    async fn finish_install(&self, name: String, origin: ServerOrigin, filled_in: FilledInputs, is_set_up: bool) {
        let ended = self.host.with_owner(move |owner| {
            if is_set_up {
                return owner.write_new_install_record(&name, origin, filled_in);
            }
            owner.resolve_pending_install_record(&name);
            Ok(())
        });
        // The server is set up, so the error is only logged. The pending record has the content of the completed one.
        if let Err(error) = ended.await.map_err(ServerError::from).flatten() {
            tracing::error!(%error, "the origin of an installed server could not be recorded");
        }
    }

    /// Completes or discards records of installations that a killed process left pending. Must not be called while an
    /// installation is in progress.
    ///
    /// # Errors
    ///
    /// Returns [`HostClosed`] if the host has shut down.
    pub async fn resolve_pending_installations(&self) -> Result<(), HostClosed> {
        self.host.with_owner(Owner::resolve_pending_install_records).await
    }

    /// Returns the folders of bundles that the records of installations refer to. Returns `None` if the settings can't
    /// be read, since the folders in use are then unknown.
    ///
    /// # Errors
    ///
    /// Returns [`HostClosed`] if the host has shut down.
    pub async fn recorded_bundle_folders(&self) -> Result<Option<BTreeSet<String>>, HostClosed> {
        let are_known = self.host.snapshot().await?.config_problem.is_none();
        let recorded = self.host.with_owner(|owner| owner.launches.recorded_bundle_folders()).await?;
        Ok(are_known.then_some(recorded))
    }

    /// Gives each secret in `server` without a value the value that `was` has in the same variable or header.
    async fn fill_secrets_from(&self, was: &ServerConfig, server: &mut NewServer) -> Result<(), SetupError> {
        let (Some(place), values) = (was.secret_binding(), was.environment_or_headers()) else { return Ok(()) };
        for (name, parts) in &mut server.secret_values {
            let named = values.get(name).map(|value| secrets::referenced_secret_names(value)).unwrap_or_default();
            let missing = parts.iter_mut().filter_map(|part| match part {
                ValuePart::Secret(secret @ None) => Some(secret),
                ValuePart::Secret(Some(_)) | ValuePart::Text(_) => None,
            });
            for (secret, named) in missing.zip(named) {
                *secret = self.host.secret(secrets::secret_storage_key(named, &place)).await?;
            }
        }
        Ok(())
    }

    /// Returns a server's installation record, or `None` if the server was not installed from a registry or bundle.
    #[must_use]
    pub fn installation_info(&self, server: &str) -> Option<&InstallationInfo> {
        self.servers.iter().find(|other| other.name == server)?.installed.as_ref()
    }

    /// Returns the servers and their settings as they were when this setup began.
    #[must_use]
    pub fn servers(&self) -> &[ServerView] {
        &self.servers
    }

    /// Changes a server and writes its new secrets, then deletes secrets that no server uses any more.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`add`](Self::add), and [`ServerError::NotForgotten`] if tokens for the old address
    /// could not be removed.
    pub async fn update(
        self,
        server: &str,
        entry: ServerEntry,
        secrets: Vec<(String, String)>,
    ) -> Result<SecretPersistence, SetupError> {
        let entry = canonicalize_folders(entry).await?;
        self.change(server, entry, secrets, None).await
    }

    /// Changes a server and none of its secrets, if its settings still equal `before` at the time of the write.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`update`](Self::update), and [`ServerError::Changed`] if the settings differ.
    pub(super) async fn update_if_unchanged(self, entry: ServerEntry, before: ServerConfig) -> Result<(), SetupError> {
        let entry = canonicalize_folders(entry).await?;
        let server = entry.name.clone();
        self.change(&server, entry, Vec::new(), Some(before)).await.map(drop)
    }

    async fn change(
        &self,
        server: &str,
        entry: ServerEntry,
        secrets: Vec<(String, String)>,
        before: Option<ServerConfig>,
    ) -> Result<SecretPersistence, SetupError> {
        let was = self.config(server)?.clone();
        let name = entry.name.clone();
        let updated = match self.host.change_server(server.to_owned(), entry, before).await {
            Err(error) if !matches!(error, ServerError::NotForgotten { .. }) => return Err(error.into()),
            updated => updated,
        };
        let persistence = self.store_secrets(secrets).await?;
        // A value cached since the settings were changed may be the old one.
        self.host.discard_cached_secrets(name).await?;
        self.forget_unused_secrets(&was).await?;
        updated?;
        Ok(persistence)
    }

    /// Removes a server, and deletes secrets that no server uses any more.
    ///
    /// # Errors
    ///
    /// Returns [`SetupError::Server`] if no server has this name, the settings can't be written, or the server's tokens
    /// could not be deleted.
    pub async fn remove(self, server: &str) -> Result<(), SetupError> {
        let was = self.config(server)?.clone();
        let removed = self.host.remove_server(server.to_owned()).await;
        // Deletes nothing if the server could not be removed, since its secrets are still in use.
        self.forget_unused_secrets(&was).await?;
        Ok(removed?)
    }

    /// Writes the value of a server's secret. If `renamed` is given, these settings, which refer to the secret by its
    /// new name, are written first.
    ///
    /// # Errors
    ///
    /// Returns [`SetupError::Server`] if the settings can't be written, and [`SetupError::Storage`] if the secret can't
    /// be written.
    pub async fn set_secret(
        self,
        server: String,
        renamed: Option<ServerEntry>,
        secret: (String, String),
    ) -> Result<SecretPersistence, SetupError> {
        if let Some(entry) = renamed {
            self.host.update_server(server, entry).await?;
        }
        self.store_secrets(vec![secret]).await
    }

    /// Writes a secret for signing in to a server, such as a client secret. It takes effect at the next sign-in.
    ///
    /// # Errors
    ///
    /// Returns [`SetupError::Storage`] if the secret can't be written.
    pub async fn set_sign_in_secret(
        self,
        server: String,
        secret: (String, String),
    ) -> Result<SecretPersistence, SetupError> {
        let persistence = self.store_secrets(vec![secret]).await?;
        self.host.discard_cached_secrets(server).await?;
        Ok(persistence)
    }

    async fn store_secrets(&self, secrets: Vec<(String, String)>) -> Result<SecretPersistence, SetupError> {
        if secrets.is_empty() {
            return Ok(SecretPersistence::Keychain);
        }
        Ok(self.host.store_secrets(secrets).await?)
    }

    /// Deletes those secrets of a server's replaced settings `was` that no server refers to any more.
    async fn forget_unused_secrets(&self, was: &ServerConfig) -> Result<(), HostClosed> {
        let mut unused = was.secret_keys();
        if unused.is_empty() {
            return Ok(());
        }
        for server in self.host.snapshot().await?.servers {
            let used = server.config.secret_keys();
            unused.retain(|key| !used.contains(key));
        }
        self.host.forget_secrets(unused).await
    }
}

/// Returns the entry with canonical sandbox folders, so that changing a symbolic link later doesn't change which
/// folders are accessible. Folders that don't exist are not changed.
pub(super) async fn canonicalize_folders(mut entry: ServerEntry) -> Result<ServerEntry, SetupError> {
    let Some(sandbox) = entry.config.as_stdio_mut().and_then(|stdio| stdio.sandbox.as_mut()) else { return Ok(entry) };
    let folders = std::mem::take(&mut sandbox.folders);
    let real = |folder: AllowedFolder| {
        // A relative path is not resolved, since it would depend on the working directory of the app.
        let real = folder.path.is_absolute().then(|| folder.path.canonicalize().ok()).flatten();
        AllowedFolder { path: real.unwrap_or(folder.path), ..folder }
    };
    let resolved = tokio::task::spawn_blocking(move || folders.into_iter().map(real).collect());
    sandbox.folders = resolved.await.map_err(|_| HostClosed)?;
    match sandbox.problem() {
        Some(cause) => Err(ServerError::BadConfig { name: entry.name, cause }.into()),
        None => Ok(entry),
    }
}
