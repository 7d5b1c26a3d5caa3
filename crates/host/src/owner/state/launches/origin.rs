//! What is kept of the installation of a server. Caller: `owner/origins.rs`.

use policy::Hash;
use ports::server_config::{Installed, ServerConfig, ServerOrigin, config_hash};
use serde::{Deserialize, Serialize};

/// Where a server was installed from, and as what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::owner) struct InstallRecord {
    origin: ServerOrigin,
    /// Over what was set up, but for its sandbox.
    config: Hash,
}

impl InstallRecord {
    /// The record of a server that was just set up.
    pub(in crate::owner) fn new(origin: ServerOrigin, config: &ServerConfig) -> Self {
        Self { origin, config: hash(config) }
    }

    /// The record beside the server as it is set up now.
    pub(in crate::owner) fn compared_with(&self, config: &ServerConfig) -> Installed {
        Installed { origin: self.origin.clone(), changed: self.config != hash(config) }
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
