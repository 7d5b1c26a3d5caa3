//! Packages that launchers such as npx load. A package is looked up before consent for the start is requested, and its
//! version is stored once the start is approved.
//!
//! A record in `packages.json` is not an approval: it only selects the version that the policy decides about. The
//! version and the hash of its files are included in the hash that a grant applies to, so a record changed by another
//! program requires consent again.

use std::path::Path;

use domain::Millis;
use launches::approvals::command_hash;
use launches::packages::{LoadedPackage, PackageReference, PackageVersion, UnknownPackage, look_up_version};
use policy::{Hash, PolicyAct, PolicyDecision};
use ports::Document;
use ports::server_config::{ServerConfig, StdioConfig, config_hash};
use process::{SearchPath, ServerCommand};
use supervision::activity::ActivityKind;

use super::Owner;
use super::server_start::{ResolvedCommand, read_launch_files};
use super::state::ApprovedPackage;
use crate::view::{ConsentRequestBody, ServerFailure};

/// Minimum interval between two look-ups of a newer version, in milliseconds.
const NEWER_VERSION_CHECK_INTERVAL: Millis = 24 * 60 * 60 * 1000;

/// The requested start of a server whose command loads a package.
#[derive(Debug, Clone)]
pub(super) struct PackageStart {
    pub(super) name: String,
    pub(super) config: ServerConfig,
    pub(super) stdio: StdioConfig,
    pub(super) reference: PackageReference,
    pub(super) found: ResolvedCommand,
    pub(super) path: SearchPath,
}

/// A command whose package is pinned to one version, or the command as configured if the version is unknown.
#[derive(Debug)]
struct PinnedCommand {
    config: StdioConfig,
    found: ResolvedCommand,
    package: LoadedPackage,
}

impl PackageStart {
    /// Returns the command with the package pinned to this version, and the files that determine what the command runs.
    async fn pinned_command(
        &self,
        command: ServerCommand,
        version: Result<PackageVersion, UnknownPackage>,
    ) -> PinnedCommand {
        let (mut config, mut found) = (self.stdio.clone(), self.found.clone());
        if let Ok(version) = &version {
            config = pinned_config(&config, self.reference.pinned_args(&config.args, version));
            let command = ServerCommand { arguments: config.args.clone(), ..command };
            found.files = read_launch_files(command, found.program.clone(), self.path.clone()).await;
        }
        PinnedCommand { config, found, package: LoadedPackage::new(&self.reference, version) }
    }
}

impl PinnedCommand {
    fn hash(&self) -> Hash {
        let ResolvedCommand { program, plan, files, .. } = &self.found;
        command_hash(&self.config, program, plan.as_ref(), files, Some(&self.package))
    }
}

/// Returns the configuration with `args` as arguments, which select exactly one version of the package.
fn pinned_config(config: &StdioConfig, args: Vec<String>) -> StdioConfig {
    StdioConfig { args, ..config.clone() }
}

impl Owner {
    /// Decides about starting a server whose command loads a package. Uses the approved version, or else the version
    /// found by a look-up, which requires consent. An automatic restart uses the version that ran before.
    ///
    /// The look-up uses the network before the command is approved. It is only made if the user requested the start or
    /// approved the server before. It contacts only the registry, through the launcher's package manager, and runs no
    /// code of the package (`crate::packages`). Consent is requested after the look-up has ended without a lock on the
    /// host's state, so that the consent request is displayed only once.
    pub(super) fn decide_package_start(&mut self, start: PackageStart) {
        let unpinned =
            command_hash(&start.stdio, &start.found.program, start.found.plan.as_ref(), &start.found.files, None);
        // No look-up is made if the policy denies the start.
        let act = PolicyAct::StartServer { server: &start.name, command: &unpinned };
        if let PolicyDecision::Deny { by, .. } = self.permissions.policy.decide(&act, self.now()) {
            return self.fail_server(&start.name, ServerFailure::denied_by_rule(&by.text()));
        }
        let Some(record) = self.servers.records.get_mut(&start.name) else { return };
        let by_user = std::mem::take(&mut record.launch.started_by_user);
        let by_user = by_user && self.options.decider_name == "user";
        let ran = record.launch.package.clone().filter(|_| !by_user && record.supervision.is_restarting());
        let approved = self.launches.approved_package(&start.name, &start.config);
        let (version, brings_back) = match (ran, approved) {
            (Some(_), Some(approved)) => (Ok(approved.known_version().clone()), true),
            (Some(ran), None) => (ran.found, true),
            (None, Some(approved)) if !approved.is_outdated(by_user) => (Ok(approved.version.clone()), false),
            (None, _) => return self.look_up_package(start),
        };
        let looked_up = approved.map_or(0, |approved| approved.looked_up);
        let command = self.server_command(&start.name, &start.stdio);
        let pinning = async move {
            let pinned = start.pinned_command(command, version).await;
            (start, pinned)
        };
        self.run_concurrently(pinning, move |owner, (start, pinned)| {
            if owner.servers.starting_server(&start.name, &start.config).is_none() {
                return;
            }
            if !brings_back {
                if !owner.permissions.allows_start(&start.name, &pinned.hash(), owner.now()) {
                    return owner.look_up_package(start);
                }
                if owner.now().saturating_sub(looked_up) >= NEWER_VERSION_CHECK_INTERVAL {
                    owner.look_up_newer_version(&start);
                }
            }
            owner.decide_pinned_start(&start.name, pinned);
        });
    }

    /// Looks up the package of a command in the registry, and decides about starting the server with the version found.
    /// If the look-up fails, the approved version is started, unless the registry had offered different files for it.
    fn look_up_package(&mut self, start: PackageStart) {
        if let Some(record) = self.servers.records.get(&start.name) {
            record.log_activity_line(ActivityKind::State, &format!("looking up the package {}", start.reference.name));
        }
        let approved =
            self.launches.approved_package(&start.name, &start.config).filter(|package| !package.is_outdated(false));
        let approved = approved.map(|package| package.version.clone());
        let command = self.server_command(&start.name, &start.stdio);
        let looking = async move {
            let found = look_up_version(&start.reference, &command, &start.found.program, &start.path).await;
            let approved = match approved.filter(|_| found.is_err()) {
                Some(version) => Some(start.pinned_command(command.clone(), Ok(version)).await),
                None => None,
            };
            let found = start.pinned_command(command, found).await;
            (start, found, approved)
        };
        self.run_concurrently(looking, move |owner, (PackageStart { name, config, .. }, found, approved)| {
            if owner.servers.starting_server(&name, &config).is_some() {
                let approved =
                    approved.filter(|approved| owner.permissions.allows_start(&name, &approved.hash(), owner.now()));
                owner.decide_pinned_start(&name, approved.unwrap_or(found));
            }
        });
    }

    fn decide_pinned_start(&mut self, name: &str, pinned: PinnedCommand) {
        let PinnedCommand { config, found, package } = pinned;
        let package = LoadedPackage { before: self.launches.last_approved_version(name), ..package };
        self.decide_command(name, config, found, Some(package));
    }

    /// Looks up a newer version of a package while the server starts. It requires consent on the server's next start.
    fn look_up_newer_version(&mut self, start: &PackageStart) {
        let command = self.server_command(&start.name, &start.stdio);
        let PackageStart { name, config, reference, found, path, .. } = start.clone();
        let looking = async move { look_up_version(&reference, &command, &found.program, &path).await };
        self.run_concurrently(looking, move |owner, found| {
            let Ok(found) = found else { return };
            let Some(mut package) = owner.launches.approved_package(&name, &config).cloned() else { return };
            package.looked_up = owner.now();
            package.newer = Some(found.clone()).filter(|found| *found != package.version);
            if package.newer.is_some() && package.declined.as_ref() != Some(&found) {
                let words = if package.version.is_replaced_by(&found) {
                    format!("the registry now offers other files for {} {}", found.name, found.version)
                } else {
                    format!("{} {} is available; the next start requests consent for it", found.name, found.version)
                };
                if let Some(record) = owner.servers.records.get(&name) {
                    record.log_activity_line(ActivityKind::State, &words);
                }
            }
            owner.write_approved_package(&name, package);
        });
    }

    /// Stores the package version of an approved start, which is used for the server's next start.
    pub(super) fn store_approved_package(&mut self, name: &str) {
        let Some(record) = self.servers.records.get(name) else { return };
        let Some(Ok(version)) = record.launch.package.as_ref().map(|package| package.found.clone()) else { return };
        let config = config_hash(&record.config);
        let known = self.launches.packages.get(name).filter(|known| known.config == config && known.version == version);
        if known.is_none_or(|known| known.newer.as_ref() == Some(&version)) {
            let package = ApprovedPackage { config, version, looked_up: self.now(), newer: None, declined: None };
            self.write_approved_package(name, package);
        }
    }

    /// Handles the user's denial of a package version that a look-up found. The approved version remains approved, and
    /// the returned hint explains how to start it. Returns `None` if the denied start was not for such a version.
    pub(super) fn handle_denied_package_version(&mut self, name: &str, body: &ConsentRequestBody) -> Option<String> {
        let ConsentRequestBody::StartServer { package: Some(package), .. } = body else { return None };
        let found = package.found.as_ref().ok()?;
        let config = self.servers.records.get(name).map(|record| std::sync::Arc::clone(&record.config))?;
        let mut approved = self.launches.approved_package(name, &config)?.clone();
        if approved.version == *found || approved.version.is_replaced_by(found) || !self.is_approved(name, &config) {
            return None;
        }
        approved.newer = Some(found.clone());
        approved.declined = Some(found.clone());
        let version = approved.version.version.clone();
        self.write_approved_package(name, approved);
        Some(format!("Start it again to run {version}."))
    }

    fn write_approved_package(&mut self, name: &str, package: ApprovedPackage) {
        let value = serde_json::to_value(&package).ok();
        self.launches.packages.insert(name.to_owned(), package);
        // Approvals by an answers file apply to this run only, and don't replace the user's approvals.
        if self.options.decider_name != "user" {
            return;
        }
        self.write_entry_later(Document::Packages, "the version of a package could not be written", name, value);
    }

    pub(super) fn forget_approved_package(&mut self, name: &str) {
        if self.launches.packages.remove(name).is_some() {
            self.write_entry_later(Document::Packages, "the version of a package could not be removed", name, None);
        }
    }
}

/// Returns the package that a command loads, or `None` if the command is not a package launcher. If the launcher would
/// run a local copy in `directory` instead of the registry's package, the package is unknown.
pub(super) fn launched_package(config: &StdioConfig, directory: &Path) -> Option<launches::packages::LauncherPackage> {
    use launches::packages::{LauncherPackage, UnknownPackage, find_local_copy_of_npx_package};

    let launched = launches::packages::launched_package(&config.command, &config.args)?;
    let LauncherPackage::Package(reference) = &launched else { return Some(launched) };
    match find_local_copy_of_npx_package(reference, directory) {
        Some(copy) => {
            let cause = UnknownPackage::LocalCopy(copy.display().to_string());
            Some(LauncherPackage::Unknown(reference.launcher.name().to_owned(), cause))
        }
        None => Some(launched),
    }
}
