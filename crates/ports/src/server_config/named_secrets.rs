//! The secrets that the settings of a server name: in its headers or variables, and for signing in.

use std::collections::BTreeMap;
use std::path::Path;

use super::{AuthConfig, ServerConfig, ServerTransport};
use crate::secrets;

impl ServerConfig {
    /// The headers of a remote server, or the variables of a local one.
    #[must_use]
    pub const fn values(&self) -> &BTreeMap<String, String> {
        match &self.transport {
            ServerTransport::Http(http) => &http.headers,
            ServerTransport::Stdio(stdio) => &stdio.env,
        }
    }

    /// Returns true if its command, its variables or its sandbox name this folder or something in it.
    #[must_use]
    pub fn names_folder(&self, folder: &Path) -> bool {
        let ServerTransport::Stdio(stdio) = &self.transport else { return false };
        let path = folder.to_string_lossy();
        let mut texts = [&stdio.command].into_iter().chain(&stdio.args).chain(stdio.env.values());
        let folders = stdio.sandbox.iter().flat_map(|sandbox| &sandbox.folders).map(|folder| &folder.path);
        texts.any(|text| text.contains(&*path))
            || stdio.cwd.iter().chain(folders).any(|place| place.starts_with(folder))
    }

    /// The place that the secrets of the server are bound to: an origin or a command. None if its URL can't be used.
    #[must_use]
    pub fn secret_place(&self) -> Option<String> {
        match &self.transport {
            ServerTransport::Http(http) => http.origin(),
            ServerTransport::Stdio(stdio) => Some(secrets::command_place(stdio)),
        }
    }

    /// The names of all its secrets.
    #[must_use]
    pub fn secret_names(&self) -> Vec<String> {
        let auth = self.as_http().and_then(|http| http.auth.as_ref());
        let values = secrets::names_in(self.values());
        values.chain(auth.into_iter().flat_map(AuthConfig::secret_names).map(str::to_owned)).collect()
    }

    /// The keys of all its secrets.
    #[must_use]
    pub fn secret_keys(&self) -> Vec<String> {
        let Some(place) = self.secret_place() else { return Vec::new() };
        self.secret_names().iter().map(|name| secrets::key(name, &place)).collect()
    }
}

impl AuthConfig {
    /// The names of the secrets that signing in needs.
    pub fn secret_names(&self) -> impl Iterator<Item = &str> {
        self.client_secret.as_deref().into_iter().flat_map(secrets::names).chain(self.other_secret_names())
    }

    /// The same without the client secret.
    pub fn other_secret_names(&self) -> impl Iterator<Item = &str> {
        let own = [self.private_key.as_deref(), self.assertion.as_deref()];
        let of_idp = self
            .identity_provider
            .as_ref()
            .map(|idp| [idp.client_secret.as_deref(), idp.private_key.as_deref(), idp.id_token.as_deref()]);
        own.into_iter().chain(of_idp.into_iter().flatten()).flatten().flat_map(secrets::names)
    }
}
