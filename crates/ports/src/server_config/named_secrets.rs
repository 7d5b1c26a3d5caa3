//! Secrets to which a server's configuration refers: in headers or variables, and for signing in.

use std::collections::BTreeMap;
use std::path::Path;

use super::{AuthConfig, ServerConfig, ServerTransport};
use crate::secrets;

impl ServerConfig {
    /// Returns the values that may refer to secrets by name: the headers of a remote server, or the environment
    /// variables of a local one.
    #[must_use]
    pub const fn environment_or_headers(&self) -> &BTreeMap<String, String> {
        match &self.transport {
            ServerTransport::Http(http) => &http.headers,
            ServerTransport::Stdio(stdio) => &stdio.env,
        }
    }

    /// Returns `true` if the command, variables or sandbox of a local server refer to this folder or its content.
    #[must_use]
    pub fn refers_to_folder(&self, folder: &Path) -> bool {
        let ServerTransport::Stdio(stdio) = &self.transport else { return false };
        let path = folder.to_string_lossy();
        let mut texts = [&stdio.command].into_iter().chain(&stdio.args).chain(stdio.env.values());
        let folders = stdio.sandbox.iter().flat_map(|sandbox| &sandbox.folders).map(|folder| &folder.path);
        texts.any(|text| text.contains(&*path))
            || stdio.cwd.iter().chain(folders).any(|place| place.starts_with(folder))
    }

    /// Returns the text to which the server's secrets are bound: the origin of its URL or its command. `None` if the
    /// URL is invalid.
    #[must_use]
    pub fn secret_binding(&self) -> Option<String> {
        match &self.transport {
            ServerTransport::Http(http) => http.origin(),
            ServerTransport::Stdio(stdio) => Some(secrets::command_secret_binding(stdio)),
        }
    }

    /// Returns the names of all secrets to which the configuration refers.
    #[must_use]
    pub fn secret_names(&self) -> Vec<String> {
        let auth = self.as_http().and_then(|http| http.auth.as_ref());
        let values = secrets::all_referenced_secret_names(self.environment_or_headers());
        values.chain(auth.into_iter().flat_map(AuthConfig::secret_names).map(str::to_owned)).collect()
    }

    /// Returns the keys under which the secrets of the server are stored.
    #[must_use]
    pub fn secret_keys(&self) -> Vec<String> {
        let Some(place) = self.secret_binding() else { return Vec::new() };
        self.secret_names().iter().map(|name| secrets::secret_storage_key(name, &place)).collect()
    }
}

impl AuthConfig {
    /// Returns the names of the secrets that the sign-in settings refer to.
    pub fn secret_names(&self) -> impl Iterator<Item = &str> {
        self.client_secret
            .as_deref()
            .into_iter()
            .flat_map(secrets::referenced_secret_names)
            .chain(self.other_secret_names())
    }

    /// Returns the names of the secrets that the sign-in settings refer to, except the client secret.
    pub fn other_secret_names(&self) -> impl Iterator<Item = &str> {
        let own = [self.private_key.as_deref(), self.assertion.as_deref()];
        let of_idp = self
            .identity_provider
            .as_ref()
            .map(|idp| [idp.client_secret.as_deref(), idp.private_key.as_deref(), idp.id_token.as_deref()]);
        own.into_iter().chain(of_idp.into_iter().flatten()).flatten().flat_map(secrets::referenced_secret_names)
    }
}
