//! Changes of a server's settings together with its secrets, one at a time. Caller: `api`, which translates what the page wants.

use std::collections::BTreeSet;
use std::sync::Arc;

use ports::SecretKept;
use ports::secrets;
use ports::server_config::{
    FilledIn, Folder, Installed, NewServer, ServerConfig, ServerEntry, ServerOrigin, ValuePart,
};
use tokio::sync::OwnedMutexGuard;

use super::{Host, HostClosed, StorageError};
use crate::owner::{Owner, ServerError};
use crate::view::ServerView;

/// Why a server could not be set up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// The settings can't be changed.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// A secret can't be written.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The host ends.
    #[error(transparent)]
    Closed(#[from] HostClosed),
}

/// A server that another version takes the place of, as the user saw it beside that version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplacedServer {
    /// Its settings.
    pub config: ServerConfig,
    /// Where it is from.
    pub origin: ServerOrigin,
}

/// One change of the settings and their secrets, while no other one is made: which names secrets get depends on those that are there.
pub struct Setup {
    host: Host,
    servers: Vec<ServerView>,
    _alone: OwnedMutexGuard<()>,
}

impl Host {
    /// Begins a change of the settings as they lie on the disk now: another program may have changed them a moment ago.
    ///
    /// # Errors
    /// If the host has ended.
    pub async fn begin_setup_anew(&self) -> Result<Setup, HostClosed> {
        self.with_reply(|owner, reply| owner.reload_installed(reply)).await?;
        self.begin_setup().await
    }

    /// Begins a change of the settings, after those that are under way.
    ///
    /// # Errors
    /// If the host has ended.
    pub async fn begin_setup(&self) -> Result<Setup, HostClosed> {
        let alone = Arc::clone(&self.setting_up).lock_owned().await;
        let servers = self.snapshot().await?.servers;
        Ok(Setup { host: self.clone(), servers, _alone: alone })
    }
}

impl Setup {
    /// The settings of a server.
    ///
    /// # Errors
    /// If there is none.
    pub fn config(&self, server: &str) -> Result<&ServerConfig, ServerError> {
        let found = self.servers.iter().find(|other| other.name == server);
        found.map(|found| &found.config).ok_or_else(|| ServerError::NotFound(server.to_owned()))
    }

    /// The names of the secrets of all servers but this one.
    #[must_use]
    pub fn names_of_others(&self, server: &str) -> Vec<String> {
        self.others(server).flat_map(|other| other.config.secret_names()).collect()
    }

    /// True if another server has a secret under this key. Upper and lower case are equal, as in some keychains.
    #[must_use]
    pub fn is_used_by_others(&self, server: &str, key: &str) -> bool {
        self.others(server).any(|other| other.config.secret_keys().iter().any(|other| other.eq_ignore_ascii_case(key)))
    }

    fn others<'a>(&'a self, server: &'a str) -> impl Iterator<Item = &'a ServerView> {
        self.servers.iter().filter(move |other| other.name != server)
    }

    /// Adds a server, then writes its secrets, by their keys.
    ///
    /// # Errors
    /// If the server can't be added; then no secret is written. If a secret can't be written; then the server is removed again, since it would
    /// be set up without what it needs, and its name would be taken at the next attempt.
    pub async fn add(&self, entry: ServerEntry, secrets: Vec<(String, String)>) -> Result<SecretKept, SetupError> {
        let entry = with_real_folders(entry).await?;
        let name = entry.name.clone();
        self.host.add_server(entry).await?;
        let kept = self.keep(secrets).await;
        if kept.is_err() {
            self.host.remove_server(name).await?;
        }
        kept
    }

    /// Adds a server whose secrets have no names yet. They get names that no other server uses.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub async fn add_new(&self, server: NewServer) -> Result<SecretKept, SetupError> {
        let taken = self.names_of_others(&server.entry.name);
        let (entry, secrets) = server.into_settings(taken);
        self.add(entry, secrets).await
    }

    /// Adds a server that is installed, and keeps where it is from.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub async fn add_installed(
        &self,
        server: NewServer,
        origin: ServerOrigin,
        filled_in: FilledIn,
    ) -> Result<SecretKept, SetupError> {
        let taken = self.names_of_others(&server.entry.name);
        let (entry, secrets) = server.into_settings(taken);
        let name = entry.name.clone();
        self.begin_origin(&entry, &origin, &filled_in, None).await?;
        let added = self.add(entry, secrets).await;
        self.end_origin(name, origin, filled_in, added.is_ok()).await;
        added
    }

    /// Puts another version in the place of an installed server, under the same name. A secret without a value keeps the one that the same
    /// variable or header has now; it is bound to the new command from then on. What is compared with `was` is each file as it is when it is
    /// written, under its lock.
    ///
    /// # Errors
    /// As [`update`](Self::update); [`ServerError::Changed`] if the server is not as in `was` any more; or if a secret that is kept can't
    /// be read.
    pub async fn upgrade(
        &self,
        mut server: NewServer,
        was: &ReplacedServer,
        origin: ServerOrigin,
        filled_in: FilledIn,
    ) -> Result<SecretKept, SetupError> {
        let name = server.entry.name.clone();
        self.fill_from(&was.config, &mut server).await?;
        let (entry, secrets) = server.into_settings(self.names_of_others(&name));
        let new = with_real_folders(entry).await?;
        self.begin_origin(&new, &origin, &filled_in, Some(was)).await?;
        let put = self.change(&name, new.clone(), secrets, Some(was.config.clone())).await;
        if let Err(error) = &put
            && !matches!(error, SetupError::Server(ServerError::Changed(_)))
        {
            // The settings may have the other version by now, without its secrets.
            let back = ServerEntry { name: name.clone(), config: was.config.clone() };
            match self.host.change_server(name.clone(), back, Some(new.config)).await {
                // They still have the version before.
                Ok(()) | Err(ServerError::Changed(_)) => {}
                Err(undone) => tracing::error!(error = %undone, "a server could not be set back to the version before"),
            }
        }
        self.end_origin(name, origin, filled_in, put.is_ok()).await;
        put
    }

    /// Writes down where a server is from, before the settings have it: from a program that is killed in between, no bundle may be left that
    /// nobody verifies.
    async fn begin_origin(
        &self,
        entry: &ServerEntry,
        origin: &ServerOrigin,
        filled_in: &FilledIn,
        replaced: Option<&ReplacedServer>,
    ) -> Result<(), SetupError> {
        let (name, config) = (entry.name.clone(), entry.config.clone());
        let record = (origin.clone(), filled_in.clone());
        let expected = replaced.map(|replaced| (replaced.origin.clone(), replaced.config.clone()));
        let begun = self.host.with_reply(move |owner, reply| {
            owner.begin_origin(name, (record.0, record.1, &config), expected, reply);
        });
        match begun.await?.map_err(StorageError::Store)? {
            true => Ok(()),
            false => Err(ServerError::Changed(entry.name.clone()).into()),
        }
    }

    /// Has the record hold, or the one before.
    async fn end_origin(&self, name: String, origin: ServerOrigin, filled_in: FilledIn, is_set_up: bool) {
        let ended = self.host.with(move |owner| {
            if is_set_up {
                return owner.set_origin(&name, origin, filled_in);
            }
            owner.settle_origin(&name);
            Ok(())
        });
        // It is set up, which counts for more, and the record that is pending says the same.
        if let Err(error) = ended.await.map_err(ServerError::from).flatten() {
            tracing::error!(%error, "where a server was installed from is not kept");
        }
    }

    /// Ends what a program left pending that was killed while it installed something. To be called while no other one does.
    ///
    /// # Errors
    /// If the host has ended.
    pub async fn settle_installations(&self) -> Result<(), HostClosed> {
        self.host.with(Owner::settle_origins).await
    }

    /// The folders of bundles that the record of any installation names; none if the settings can't be read, so that nobody knows which are used.
    ///
    /// # Errors
    /// If the host has ended.
    pub async fn recorded_folders(&self) -> Result<Option<BTreeSet<String>>, HostClosed> {
        let are_known = self.host.snapshot().await?.config_problem.is_none();
        let recorded = self.host.with(|owner| owner.recorded_folders()).await?;
        Ok(are_known.then_some(recorded))
    }

    /// Gives secrets without a value the ones that the same variable or header of the server names now, in their order.
    async fn fill_from(&self, was: &ServerConfig, server: &mut NewServer) -> Result<(), SetupError> {
        let (Some(place), values) = (was.secret_place(), was.values()) else { return Ok(()) };
        for (name, parts) in &mut server.secret_values {
            let named = values.get(name).map(|value| secrets::names(value)).unwrap_or_default();
            let missing = parts.iter_mut().filter_map(|part| match part {
                ValuePart::Secret(secret @ None) => Some(secret),
                ValuePart::Secret(Some(_)) | ValuePart::Text(_) => None,
            });
            for (secret, named) in missing.zip(named) {
                *secret = self.host.secret(secrets::key(named, &place)).await?;
            }
        }
        Ok(())
    }

    /// What is known of the installation of a server.
    #[must_use]
    pub fn installed(&self, server: &str) -> Option<&Installed> {
        self.servers.iter().find(|other| other.name == server)?.installed.as_ref()
    }

    /// The servers as they were when this began.
    #[must_use]
    pub fn servers(&self) -> &[ServerView] {
        &self.servers
    }

    /// Changes a server and writes its new secrets, then deletes those that no server uses any more.
    ///
    /// # Errors
    /// As [`add`](Self::add); or if something is left of the sign-in to its old address.
    pub async fn update(
        self,
        server: &str,
        entry: ServerEntry,
        secrets: Vec<(String, String)>,
    ) -> Result<SecretKept, SetupError> {
        let entry = with_real_folders(entry).await?;
        self.change(server, entry, secrets, None).await
    }

    async fn change(
        &self,
        server: &str,
        entry: ServerEntry,
        secrets: Vec<(String, String)>,
        before: Option<ServerConfig>,
    ) -> Result<SecretKept, SetupError> {
        let was = self.config(server)?.clone();
        let name = entry.name.clone();
        let updated = match self.host.change_server(server.to_owned(), entry, before).await {
            Err(error) if !matches!(error, ServerError::NotForgotten { .. }) => return Err(error.into()),
            updated => updated,
        };
        let kept = self.keep(secrets).await?;
        // What was read of them since the settings were changed is the old one.
        self.host.secrets_changed(name).await?;
        self.forget_unused(&was).await?;
        updated?;
        Ok(kept)
    }

    /// Removes a server, and deletes the secrets that no server uses any more.
    ///
    /// # Errors
    /// If there is no such server or the file can't be written; or if something is left of the sign-in.
    pub async fn remove(self, server: &str) -> Result<(), SetupError> {
        let was = self.config(server)?.clone();
        let removed = self.host.remove_server(server.to_owned()).await;
        // The server's own are in use if it could not be removed.
        self.forget_unused(&was).await?;
        Ok(removed?)
    }

    /// Writes a secret, by its key, after the settings that refer to it by another name, if they have to.
    ///
    /// # Errors
    /// If the settings or the secret can't be written.
    pub async fn set_secret(
        self,
        server: String,
        renamed: Option<ServerEntry>,
        secret: (String, String),
    ) -> Result<SecretKept, SetupError> {
        if let Some(entry) = renamed {
            self.host.update_server(server, entry).await?;
        }
        self.keep(vec![secret]).await
    }

    /// Writes a secret that signing in needs, which is used from the next attempt on.
    ///
    /// # Errors
    /// If it can't be written.
    pub async fn set_sign_in_secret(self, server: String, secret: (String, String)) -> Result<SecretKept, SetupError> {
        let kept = self.keep(vec![secret]).await?;
        self.host.secrets_changed(server).await?;
        Ok(kept)
    }

    async fn keep(&self, secrets: Vec<(String, String)>) -> Result<SecretKept, SetupError> {
        if secrets.is_empty() {
            return Ok(SecretKept::Keychain);
        }
        Ok(self.host.keep_secrets(secrets).await?)
    }

    /// Deletes the secrets that this server had and no server has any more.
    async fn forget_unused(&self, was: &ServerConfig) -> Result<(), HostClosed> {
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

/// The server with the folders of its sandbox by where they really lie, so that no link decides later what is reached. Those that are
/// not there stay as they are.
pub(super) async fn with_real_folders(mut entry: ServerEntry) -> Result<ServerEntry, SetupError> {
    let Some(sandbox) = entry.config.as_stdio_mut().and_then(|stdio| stdio.sandbox.as_mut()) else { return Ok(entry) };
    let folders = std::mem::take(&mut sandbox.folders);
    let real = |folder: Folder| {
        // From where the app happens to run leads no path of the user's.
        let real = folder.path.is_absolute().then(|| folder.path.canonicalize().ok()).flatten();
        Folder { path: real.unwrap_or(folder.path), ..folder }
    };
    let resolved = tokio::task::spawn_blocking(move || folders.into_iter().map(real).collect());
    sandbox.folders = resolved.await.map_err(|_| HostClosed)?;
    match sandbox.problem() {
        Some(cause) => Err(ServerError::BadConfig { name: entry.name, cause }.into()),
        None => Ok(entry),
    }
}
