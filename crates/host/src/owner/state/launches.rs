//! The facts from which a local server is started: its package, the search path, and the files that its sandbox hides.

use std::collections::BTreeMap;
use std::sync::Arc;

use launches::packages::PackageVersion;
use launches::sandbox::{OwnFiles, rename_home};
use ports::server_config::{ServerConfig, ServerEntry, config_hash};
use process::SearchPath;

use crate::owner::known::Remembered;
use crate::owner::packages::ApprovedPackage;

/// Facts about starts, by server where they differ.
pub(in crate::owner) struct Launches {
    /// The transport and revision that a server had when it ran last.
    pub(in crate::owner) known: BTreeMap<String, Remembered>,
    /// The version of its package that was approved last.
    pub(in crate::owner) packages: BTreeMap<String, ApprovedPackage>,
    pub(in crate::owner) own_files: OwnFiles,
    pub(in crate::owner) search_path: Arc<tokio::sync::Mutex<Option<SearchPath>>>,
}

impl Launches {
    /// Renames the home of a server that is renamed, if it can have one. It waits for the disk.
    pub(in crate::owner) fn renaming_of_home(
        &self,
        was: &str,
        entry: &ServerEntry,
    ) -> Option<impl FnOnce() + Send + 'static> {
        let stdio = entry.config.as_stdio().filter(|_| entry.name != was)?.clone();
        let (own, was, name) = (self.own_files.clone(), was.to_owned(), entry.name.clone());
        Some(move || rename_home(&own.home(&was, &stdio), &own.home(&name, &stdio)))
    }

    pub(in crate::owner) fn approved_package(&self, name: &str, config: &ServerConfig) -> Option<&ApprovedPackage> {
        self.packages.get(name).filter(|package| package.config == config_hash(config))
    }

    /// The version that the user approved last, however the settings were then.
    pub(in crate::owner) fn package_seen(&self, name: &str) -> Option<PackageVersion> {
        self.packages.get(name).map(|package| package.version.clone())
    }

    /// The settings of a server as they were approved: with the version of the package that its command loads.
    pub(in crate::owner) fn as_approved(&self, name: &str, config: &ServerConfig) -> ServerConfig {
        let mut approved = config.clone();
        if let (Some(package), Some(stdio)) = (self.approved_package(name, config), approved.as_stdio_mut())
            && let Some(launches::packages::Launched::Package(reference)) =
                launches::packages::launched(&stdio.command, &stdio.args)
        {
            stdio.args = reference.pinned(&stdio.args, &package.version);
        }
        approved
    }
}
