//! The facts from which a local server is started: its package, the search path, and the files that its sandbox hides.

mod known;
mod origin;
mod package;

pub(in crate::owner) use known::KnownSession;
pub(in crate::owner) use origin::InstallRecord;
pub(in crate::owner) use package::ApprovedPackage;

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::Millis;
use launches::packages::PackageVersion;
use launches::sandbox::{OwnFiles, rename_home};
use policy::Hash;
use ports::server_config::{BundleFiles, ServerConfig, ServerEntry, config_hash};
use process::SearchPath;

/// Facts about starts, by server where they differ.
pub(in crate::owner) struct LaunchFacts {
    /// The transport and revision that a server had when it ran last.
    pub(in crate::owner) known: BTreeMap<String, KnownSession>,
    /// The version of its package that was approved last.
    pub(in crate::owner) packages: BTreeMap<String, ApprovedPackage>,
    /// Where a server was installed from.
    pub(in crate::owner) origins: BTreeMap<String, InstallRecord>,
    pub(in crate::owner) own_files: OwnFiles,
    pub(in crate::owner) search_path: Arc<tokio::sync::Mutex<Option<SearchPath>>>,
}

impl LaunchFacts {
    /// The session that a server of these settings had when it ran last, if that is still believed.
    pub(in crate::owner) fn known(
        &self,
        name: &str,
        config: impl FnOnce() -> Hash,
        now: Millis,
    ) -> Option<&KnownSession> {
        let known = self.known.get(name)?;
        (known.is_believed(now) && known.config == config()).then_some(known)
    }

    /// Remembers the session of a server. Returns false if that is known already: what was only tried first, and is still so, was
    /// not found out anew.
    pub(in crate::owner) fn remember(&mut self, name: &str, found: KnownSession, now: Millis) -> bool {
        let is_known = |known: &KnownSession| known.is_believed(now) && known.says_the_same(&found);
        if self.known.get(name).is_some_and(is_known) {
            return false;
        }
        self.known.insert(name.to_owned(), found);
        true
    }

    /// The files of the bundle that a server runs from; none if it was not installed from one, or was set up otherwise since.
    pub(in crate::owner) fn bundle_of(&self, name: &str, config: &ServerConfig) -> Option<BundleFiles> {
        let record = self.install_record(name, Some(config))?;
        let files = record.files()?;
        config.names_folder(&self.own_files.bundles().join(&files.folder)).then(|| files.clone())
    }

    /// What holds of the installation of a server that is set up so, or of one that is not.
    pub(in crate::owner) fn install_record(&self, name: &str, config: Option<&ServerConfig>) -> Option<InstallRecord> {
        self.origins.get(name)?.settled(config, &self.own_files.bundles())
    }

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

    /// The package of a server of these settings that the user approved.
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

#[cfg(test)]
mod tests;
