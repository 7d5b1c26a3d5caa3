//! What is kept of the installation of a server. Caller: `owner/origins.rs`.
//!
//! A record is on the disk before the settings name what was installed, so that a bundle never runs without one: from then until the settings are
//! written it is *pending*, with the record that holds if they never are.

use std::path::Path;

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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pending: Option<Pending>,
}

/// The settings may not be written yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Pending {
    /// What holds as long as they are not.
    before: Option<Box<InstallRecord>>,
}

impl InstallRecord {
    /// The record of a server that is set up so.
    pub(in crate::owner) fn new(origin: ServerOrigin, filled_in: FilledIn, config: &ServerConfig) -> Self {
        Self { origin, filled_in, config: hash(config), pending: None }
    }

    /// The record until the settings are written. `before` is the one that holds now.
    pub(in crate::owner) fn pending_over(self, before: Option<Self>) -> Self {
        Self { pending: Some(Pending { before: before.map(Box::new) }), ..self }
    }

    pub(in crate::owner) fn is_pending(&self) -> bool {
        self.pending.is_some()
    }

    /// Where it is from.
    pub(in crate::owner) fn origin(&self) -> &ServerOrigin {
        &self.origin
    }

    /// The files of its bundle, if it was installed from one.
    pub(in crate::owner) fn files(&self) -> Option<&BundleFiles> {
        self.origin.files()
    }

    /// The folders of bundles that it names.
    pub(in crate::owner) fn folders(&self) -> impl Iterator<Item = &str> {
        let before = self.pending.as_ref().and_then(|pending| pending.before.as_deref());
        [Some(self), before].into_iter().flatten().filter_map(Self::files).map(|files| files.folder.as_str())
    }

    /// The record that holds for a server that is set up so, or for none: a pending one once the settings have what it is about, or name the
    /// folder of its bundle.
    pub(in crate::owner) fn settled(&self, config: Option<&ServerConfig>, bundles: &Path) -> Option<Self> {
        let Some(pending) = &self.pending else { return Some(self.clone()) };
        let names_bundle =
            |config: &ServerConfig| self.files().is_some_and(|files| config.names_folder(&bundles.join(&files.folder)));
        if config.is_some_and(|config| hash(config) == self.config || names_bundle(config)) {
            return Some(Self { pending: None, ..self.clone() });
        }
        // A forged file may have one in another.
        pending.before.as_deref().map(|before| Self { pending: None, ..before.clone() })
    }

    /// The record beside the server as it is set up now.
    pub(in crate::owner) fn compared_with(self, config: &ServerConfig) -> Installed {
        let changed = self.config != hash(config);
        Installed { origin: self.origin, changed, filled_in: self.filled_in }
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
