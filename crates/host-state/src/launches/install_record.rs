//! The record of a server's installation. Used by `host/src/owner/install_origins.rs`.
//!
//! A record is written before the settings refer to the installed files, so that a bundle never runs without a record.
//! Until the settings are written, the record is *pending* and includes the previous record, which remains valid if the
//! settings are never written.

use std::path::Path;

use policy::Hash;
use ports::server_config::{BundleFiles, FilledInputs, InstallationInfo, ServerConfig, ServerOrigin, config_hash};
use serde::{Deserialize, Serialize};

/// Origin and content of a server's installation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstallRecord {
    origin: ServerOrigin,
    /// Hash of the installed settings without the sandbox settings.
    config: Hash,
    #[serde(default)]
    filled_in: FilledInputs,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pending: Option<PendingInstall>,
}

/// Data of an installation record that was written before the server's settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct PendingInstall {
    /// Previous record of the server, which is valid until the settings are written, or `None` if there is none.
    before: Option<Box<InstallRecord>>,
}

impl InstallRecord {
    /// Creates the installation record of a server with these settings.
    pub fn new(origin: ServerOrigin, filled_in: FilledInputs, config: &ServerConfig) -> Self {
        Self { origin, filled_in, config: settings_hash(config), pending: None }
    }

    /// Marks this installation record as pending until the server's settings are written. `before` is the record that
    /// is valid until then.
    pub fn into_pending(self, before: Option<Self>) -> Self {
        Self { pending: Some(PendingInstall { before: before.map(Box::new) }), ..self }
    }

    /// Returns `true` until the settings of the installation are known to have been written.
    pub fn is_pending(&self) -> bool {
        self.pending.is_some()
    }

    /// Returns the origin of the server's installation, such as a registry.
    pub fn origin(&self) -> &ServerOrigin {
        &self.origin
    }

    /// Returns the files of the bundle, if the server was installed from one.
    pub fn bundle_files(&self) -> Option<&BundleFiles> {
        self.origin.files()
    }

    /// Returns the bundle folders that this record and, while it is pending, the previous record refer to.
    pub fn bundle_folders(&self) -> impl Iterator<Item = &str> {
        let before = self.pending.as_ref().and_then(|pending| pending.before.as_deref());
        [Some(self), before].into_iter().flatten().filter_map(Self::bundle_files).map(|files| files.folder.as_str())
    }

    /// Returns the installation record that is valid for a server with these settings (`None` if the server is not
    /// configured). A pending record becomes valid when the settings are equal to the installed ones, or refer to the
    /// folder of its bundle. Otherwise the previous record is valid.
    pub fn valid_record(&self, config: Option<&ServerConfig>, bundles: &Path) -> Option<Self> {
        let Some(pending) = &self.pending else { return Some(self.clone()) };
        let names_bundle = |config: &ServerConfig| {
            self.bundle_files().is_some_and(|files| config.refers_to_folder(&bundles.join(&files.folder)))
        };
        if config.is_some_and(|config| settings_hash(config) == self.config || names_bundle(config)) {
            return Some(Self { pending: None, ..self.clone() });
        }
        // If the file was manipulated, the previous record may be pending, too.
        pending.before.as_deref().map(|before| Self { pending: None, ..before.clone() })
    }

    /// Converts the installation record for display, and compares the current settings `config` with the installed
    /// ones.
    pub fn into_installation_info(self, config: &ServerConfig) -> InstallationInfo {
        let changed = self.config != settings_hash(config);
        InstallationInfo { origin: self.origin, changed, filled_in: self.filled_in }
    }
}

/// Returns the hash of a server's settings without the sandbox settings, which the user may change after the
/// installation.
fn settings_hash(config: &ServerConfig) -> Hash {
    let mut config = config.clone();
    if let Some(stdio) = config.as_stdio_mut() {
        stdio.sandbox = None;
    }
    config_hash(&config)
}
