//! What is kept of the installation of a server. Caller: `owner/origins.rs`.

use policy::Hash;
use ports::server_config::{BundleFiles, FilledIn, Installed, ServerConfig, ServerOrigin, config_hash};
use serde::{Deserialize, Serialize};

/// Where a server was installed from, and as what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::owner) struct InstallRecord {
    origin: ServerOrigin,
    /// Over what was set up, but for its sandbox.
    config: Hash,
    #[serde(default)]
    filled_in: FilledIn,
}

impl InstallRecord {
    /// The record of a server that was just set up.
    pub(in crate::owner) fn new(origin: ServerOrigin, filled_in: FilledIn, config: &ServerConfig) -> Self {
        Self { origin, filled_in, config: hash(config) }
    }

    /// The files of its bundle, if it was installed from one.
    pub(in crate::owner) fn files(&self) -> Option<&BundleFiles> {
        self.origin.files()
    }

    /// The record beside the server as it is set up now.
    pub(in crate::owner) fn compared_with(&self, config: &ServerConfig) -> Installed {
        let (origin, filled_in) = (self.origin.clone(), self.filled_in.clone());
        Installed { origin, changed: self.config != hash(config), filled_in }
    }
}

/// Over the command or the address, whatever it may reach: what a server may do is the user's own setting.
fn hash(config: &ServerConfig) -> Hash {
    let mut config = config.clone();
    if let Some(stdio) = config.as_stdio_mut() {
        stdio.sandbox = None;
    }
    config_hash(&config)
}
