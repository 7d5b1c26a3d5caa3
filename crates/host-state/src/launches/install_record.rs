//! The record of a server's installation. Used by `host/src/owner/install_origins.rs`.
//!
//! A record is written before the settings refer to the installed files, so that a bundle never runs without one. Until
//! the settings are written it is *pending*, and includes the record that is valid if they never are.

use std::path::Path;

use policy::Hash;
use ports::server_config::{BundleFiles, FilledInputs, InstallationInfo, ServerConfig, ServerOrigin, config_hash};
use serde::{Deserialize, Serialize};

/// The origin and content of a server's installation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstallRecord {
    origin: ServerOrigin,
    /// Hash of the installed settings, except for the sandbox.
    config: Hash,
    #[serde(default)]
    filled_in: FilledInputs,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pending: Option<PendingInstall>,
}

/// State of a record while the settings may not be written yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct PendingInstall {
    /// Record that is valid until the settings are written.
    before: Option<Box<InstallRecord>>,
}

impl InstallRecord {
    /// Creates the record of a server with these settings.
    pub fn new(origin: ServerOrigin, filled_in: FilledInputs, config: &ServerConfig) -> Self {
        Self { origin, filled_in, config: hash(config), pending: None }
    }

    /// Returns this record as pending. `before` is the currently valid one.
    pub fn pending_over(self, before: Option<Self>) -> Self {
        Self { pending: Some(PendingInstall { before: before.map(Box::new) }), ..self }
    }

    /// Returns `true` until the settings of the installation are known to be written.
    pub fn is_pending(&self) -> bool {
        self.pending.is_some()
    }

    /// Returns the origin of the installation.
    pub fn origin(&self) -> &ServerOrigin {
        &self.origin
    }

    /// Returns the files of the bundle, if the server was installed from one.
    pub fn files(&self) -> Option<&BundleFiles> {
        self.origin.files()
    }

    /// Returns the folders of bundles in this record and in the previous one.
    pub fn folders(&self) -> impl Iterator<Item = &str> {
        let before = self.pending.as_ref().and_then(|pending| pending.before.as_deref());
        [Some(self), before].into_iter().flatten().filter_map(Self::files).map(|files| files.folder.as_str())
    }

    /// Returns the valid record for a server with these settings, or for one that is not configured. A pending record
    /// is valid once the settings equal the installed ones, or refer to the folder of its bundle.
    pub fn settle(&self, config: Option<&ServerConfig>, bundles: &Path) -> Option<Self> {
        let Some(pending) = &self.pending else { return Some(self.clone()) };
        let names_bundle = |config: &ServerConfig| {
            self.files().is_some_and(|files| config.refers_to_folder(&bundles.join(&files.folder)))
        };
        if config.is_some_and(|config| hash(config) == self.config || names_bundle(config)) {
            return Some(Self { pending: None, ..self.clone() });
        }
        // In a forged file, the previous record may be pending too.
        pending.before.as_deref().map(|before| Self { pending: None, ..before.clone() })
    }

    /// Compares the record with the current settings of the server.
    pub fn compared_with(self, config: &ServerConfig) -> InstallationInfo {
        let changed = self.config != hash(config);
        InstallationInfo { origin: self.origin, changed, filled_in: self.filled_in }
    }
}

/// Returns the hash of the command or address. The sandbox is excluded, since it is the user's setting.
fn hash(config: &ServerConfig) -> Hash {
    let mut config = config.clone();
    if let Some(stdio) = config.as_stdio_mut() {
        stdio.sandbox = None;
    }
    config_hash(&config)
}
