//! Data required to start a local server: its package, the search path, and its sandbox files.

mod approved_package;
mod install_record;
mod last_session_facts;

pub use approved_package::ApprovedPackage;
pub use install_record::InstallRecord;
pub use last_session_facts::LastSessionFacts;

use std::collections::{BTreeMap, BTreeSet};

use domain::Millis;
use launches::packages::PackageVersion;
use launches::sandbox::{DrawbridgeFiles, rename_sandbox_home};
use policy::Hash;
use ports::server_config::{BundleFiles, InstallationInfo, ServerConfig, ServerEntry, config_hash};
use process::SharedSearchPath;

/// Data about earlier sessions, packages and installations of servers that is required to start them.
pub struct LaunchFacts {
    /// Transport and protocol revision of the last session, by server.
    pub known: BTreeMap<String, LastSessionFacts>,
    /// Last approved version of the package that a server loads, by server.
    pub packages: BTreeMap<String, ApprovedPackage>,
    /// Installation records, by installed server.
    pub origins: BTreeMap<String, InstallRecord>,
    /// Paths of Drawbridge's own files, which sandboxed servers can't access.
    pub own_files: DrawbridgeFiles,
    /// Search path for programs.
    pub search_path: SharedSearchPath,
}

impl LaunchFacts {
    /// Returns the transport and protocol revision of a server's last session, unless the server's settings have
    /// changed or the data has expired.
    pub fn last_session_facts(
        &self,
        name: &str,
        config: impl FnOnce() -> Hash,
        now: Millis,
    ) -> Option<&LastSessionFacts> {
        let known = self.known.get(name)?;
        (known.is_valid_at(now) && known.config == config()).then_some(known)
    }

    /// Stores the transport and protocol revision of a server's session. Returns `false` if the same data is stored
    /// already and still valid. In this case the expiry is not extended, so that a newer revision is detected
    /// eventually.
    pub fn store_session_facts(&mut self, name: &str, found: LastSessionFacts, now: Millis) -> bool {
        let is_known = |known: &LastSessionFacts| known.is_valid_at(now) && known.is_equal_except_time(&found);
        if self.known.get(name).is_some_and(is_known) {
            return false;
        }
        self.known.insert(name.to_owned(), found);
        true
    }

    /// Returns the files of the bundle that a server was installed from, or `None` if it was not installed from a
    /// bundle or its settings no longer refer to the bundle's folder.
    pub fn bundle_files(&self, name: &str, config: &ServerConfig) -> Option<BundleFiles> {
        let record = self.install_record(name, Some(config))?;
        let files = record.bundle_files()?;
        config.refers_to_folder(&self.own_files.bundles_folder().join(&files.folder)).then(|| files.clone())
    }

    /// Returns the server's installation record that is valid for the settings `config`, which are `None` if the server
    /// is not configured.
    pub fn install_record(&self, name: &str, config: Option<&ServerConfig>) -> Option<InstallRecord> {
        self.origins.get(name)?.valid_record(config, &self.own_files.bundles_folder())
    }

    /// Returns where a server was installed from, and if its command or address has changed since. `None` if it was not
    /// installed from a registry or bundle.
    pub fn installation_info(&self, name: &str, config: &ServerConfig) -> Option<InstallationInfo> {
        self.install_record(name, Some(config)).map(|record| record.into_installation_info(config))
    }

    /// Returns the bundle folders that installation records refer to. Records of servers that are not configured are
    /// included, since a user who removed a server from the settings by hand may add it again.
    pub fn recorded_bundle_folders(&self) -> BTreeSet<String> {
        self.origins.values().flat_map(InstallRecord::bundle_folders).map(str::to_owned).collect()
    }

    /// Returns a closure that renames the sandbox home of a renamed server, or `None` if the server is remote or keeps
    /// its name. The closure blocks on the disk.
    pub fn sandbox_home_rename_task(&self, was: &str, entry: &ServerEntry) -> Option<impl FnOnce() + Send + 'static> {
        let stdio = entry.config.as_stdio().filter(|_| entry.name != was)?.clone();
        let (own, was, name) = (self.own_files.clone(), was.to_owned(), entry.name.clone());
        Some(move || rename_sandbox_home(&own.sandbox_home(&was, &stdio), &own.sandbox_home(&name, &stdio)))
    }

    /// Returns the package version that the user approved for a server with exactly these settings.
    pub fn approved_package(&self, name: &str, config: &ServerConfig) -> Option<&ApprovedPackage> {
        self.packages.get(name).filter(|package| package.config == config_hash(config))
    }

    /// Returns the last version of a server's package that the user approved, even if the server's settings have
    /// changed since.
    pub fn last_approved_version(&self, name: &str) -> Option<PackageVersion> {
        self.packages.get(name).map(|package| package.version.clone())
    }

    /// Returns the settings of a server with the package in the command pinned to the approved version, if there is
    /// one.
    pub fn with_approved_package(&self, name: &str, config: &ServerConfig) -> ServerConfig {
        let mut approved = config.clone();
        if let (Some(package), Some(stdio)) = (self.approved_package(name, config), approved.as_stdio_mut())
            && let Some(launches::packages::LauncherPackage::Package(reference)) =
                launches::packages::launched_package(&stdio.command, &stdio.args)
        {
            stdio.args = reference.pinned_args(&stdio.args, &package.version);
        }
        approved
    }
}

#[cfg(test)]
mod tests;
