//! Packages that launchers load: looked up before a start is asked about, and remembered once they are approved.
//!
//! What is remembered in `packages.json` is no approval: it only says which version to ask the policy about. The version and its
//! hash are part of the hash that an approval rests on, so a file that another program has changed asks again.

use std::path::Path;

use domain::Millis;
use launches::approvals::command_hash;
use launches::packages::{LoadedPackage, PackageReference, PackageVersion, UnknownPackage, look_up};
use policy::{Act, Decision, Hash};
use ports::Document;
use ports::server_config::{ServerConfig, StdioConfig, config_hash};
use process::{SearchPath, ServerCommand};
use supervision::activity::ActivityKind;

use super::Owner;
use super::starting::{Found, files};
use super::state::ApprovedPackage;
use crate::view::QuestionBody;

/// How long no newer version is looked for. In milliseconds.
const LOOKED_FOR: Millis = 24 * 60 * 60 * 1000;

/// A start of a server whose command loads a package.
#[derive(Debug, Clone)]
pub(super) struct PackageStart {
    pub(super) name: String,
    pub(super) config: ServerConfig,
    pub(super) stdio: StdioConfig,
    pub(super) reference: PackageReference,
    pub(super) found: Found,
    pub(super) path: SearchPath,
}

/// A command with one version of its package, or as it is configured where that is not known.
#[derive(Debug)]
struct Pinned {
    config: StdioConfig,
    found: Found,
    package: LoadedPackage,
}

impl PackageStart {
    /// The command that runs this version, and the files that decide what it runs.
    async fn pinned(&self, command: ServerCommand, version: Result<PackageVersion, UnknownPackage>) -> Pinned {
        let (mut config, mut found) = (self.stdio.clone(), self.found.clone());
        if let Ok(version) = &version {
            config = pinned(&config, self.reference.pinned(&config.args, version));
            let command = ServerCommand { arguments: config.args.clone(), ..command };
            found.files = files(command, found.program.clone(), self.path.clone()).await;
        }
        Pinned { config, found, package: LoadedPackage::of(&self.reference, version) }
    }
}

impl Pinned {
    fn hash(&self) -> Hash {
        let Found { program, plan, files, .. } = &self.found;
        command_hash(&self.config, program, plan.as_ref(), files, Some(&self.package))
    }
}

/// The command that runs exactly this version of a package.
fn pinned(config: &StdioConfig, args: Vec<String>) -> StdioConfig {
    StdioConfig { args, ..config.clone() }
}

impl Owner {
    /// Starts a server whose command loads a package: with the version that was approved, else with the one that a look-up
    /// finds, which is asked about. A server that is brought back is asked about with the version that ran before, since nobody
    /// asked for a look-up.
    ///
    /// The look-up uses the network before the command is approved. It is made since the user asked for the start, or had
    /// approved the server before; it goes only to the registry, through the launcher's own package manager, and nothing of the
    /// package is run (`crate::packages`). The request waits for it beside the owner's turns, in place of being shown twice.
    pub(super) fn decide_package(&mut self, start: PackageStart) {
        let unpinned =
            command_hash(&start.stdio, &start.found.program, start.found.plan.as_ref(), &start.found.files, None);
        // Of a server that a rule keeps out nothing is looked up either.
        let act = Act::StartServer { server: &start.name, command: &unpinned };
        if let Decision::Deny { rule, .. } = self.permissions.policy.decide(&act, self.now()) {
            return self.fail(&start.name, rule.name());
        }
        let Some(record) = self.servers.records.get_mut(&start.name) else { return };
        let by_user = std::mem::take(&mut record.launch.started_by_user);
        let by_user = by_user && self.options.decides == "user";
        let ran = record.launch.package.clone().filter(|_| !by_user && record.supervision.is_bringing_back());
        let approved = self.launches.approved_package(&start.name, &start.config);
        let (version, brings_back) = match (ran, approved) {
            (Some(_), Some(approved)) => (Ok(approved.known().clone()), true),
            (Some(ran), None) => (ran.found, true),
            (None, Some(approved)) if !approved.is_outdated(by_user) => (Ok(approved.version.clone()), false),
            (None, _) => return self.look_up_package(start),
        };
        let looked_up = approved.map_or(0, |approved| approved.looked_up);
        let command = self.command(&start.name, &start.stdio);
        let pinning = async move {
            let pinned = start.pinned(command, version).await;
            (start, pinned)
        };
        self.beside(pinning, move |owner, (start, pinned)| {
            if owner.servers.awaited(&start.name, &start.config).is_none() {
                return;
            }
            if !brings_back {
                if !owner.permissions.starts_unasked(&start.name, &pinned.hash(), owner.now()) {
                    return owner.look_up_package(start);
                }
                if owner.now().saturating_sub(looked_up) >= LOOKED_FOR {
                    owner.look_for_newer(&start);
                }
            }
            owner.decide_pinned(&start.name, pinned);
        });
    }

    /// Looks up the package of a command and asks about what was found. Where nothing was, the approved version starts as it did
    /// before, but not where the registry offered other files for it.
    fn look_up_package(&mut self, start: PackageStart) {
        if let Some(record) = self.servers.records.get(&start.name) {
            record.note(ActivityKind::State, &format!("looking up the package {}", start.reference.name));
        }
        let approved =
            self.launches.approved_package(&start.name, &start.config).filter(|package| !package.is_outdated(false));
        let approved = approved.map(|package| package.version.clone());
        let command = self.command(&start.name, &start.stdio);
        let looking = async move {
            let found = look_up(&start.reference, &command, &start.found.program, &start.path).await;
            let approved = match approved.filter(|_| found.is_err()) {
                Some(version) => Some(start.pinned(command.clone(), Ok(version)).await),
                None => None,
            };
            let found = start.pinned(command, found).await;
            (start, found, approved)
        };
        self.beside(looking, move |owner, (PackageStart { name, config, .. }, found, approved)| {
            if owner.servers.awaited(&name, &config).is_some() {
                let approved =
                    approved.filter(|approved| owner.permissions.starts_unasked(&name, &approved.hash(), owner.now()));
                owner.decide_pinned(&name, approved.unwrap_or(found));
            }
        });
    }

    fn decide_pinned(&mut self, name: &str, pinned: Pinned) {
        let Pinned { config, found, package } = pinned;
        let package = LoadedPackage { before: self.launches.package_seen(name), ..package };
        self.decide_command(name, config, found, Some(package));
    }

    /// Looks, beside a start, for what the registry offers now. It is announced, and asked about at the next start.
    fn look_for_newer(&mut self, start: &PackageStart) {
        let command = self.command(&start.name, &start.stdio);
        let PackageStart { name, config, reference, found, path, .. } = start.clone();
        let looking = async move { look_up(&reference, &command, &found.program, &path).await };
        self.beside(looking, move |owner, found| {
            let Ok(found) = found else { return };
            let Some(mut package) = owner.launches.approved_package(&name, &config).cloned() else { return };
            package.looked_up = owner.now();
            package.newer = Some(found.clone()).filter(|found| *found != package.version);
            if package.newer.is_some() && package.declined.as_ref() != Some(&found) {
                let words = if package.version.is_replaced_by(&found) {
                    format!("the registry now offers other files for {} {}", found.name, found.version)
                } else {
                    format!("{} {} is there; the next start asks about it", found.name, found.version)
                };
                if let Some(record) = owner.servers.records.get(&name) {
                    record.note(ActivityKind::State, &words);
                }
            }
            owner.keep_package(&name, package);
        });
    }

    /// A server starts as it was approved: its version is remembered for the next start.
    pub(super) fn remember_package(&mut self, name: &str) {
        let Some(record) = self.servers.records.get(name) else { return };
        let Some(Ok(version)) = record.launch.package.as_ref().map(|package| package.found.clone()) else { return };
        let config = config_hash(&record.config);
        let known = self.launches.packages.get(name).filter(|known| known.config == config && known.version == version);
        if known.is_none_or(|known| known.newer.as_ref() == Some(&version)) {
            let package = ApprovedPackage { config, version, looked_up: self.now(), newer: None, declined: None };
            self.keep_package(name, package);
        }
    }

    /// The user did not approve what a look-up found: what they approved before stays, and how it is started is told.
    pub(super) fn decline_package(&mut self, name: &str, body: &QuestionBody) -> Option<String> {
        let QuestionBody::StartServer { package: Some(package), .. } = body else { return None };
        let found = package.found.as_ref().ok()?;
        let config = self.servers.records.get(name).map(|record| std::sync::Arc::clone(&record.config))?;
        let mut approved = self.launches.approved_package(name, &config)?.clone();
        if approved.version == *found || approved.version.is_replaced_by(found) || !self.is_approved(name, &config) {
            return None;
        }
        approved.newer = Some(found.clone());
        approved.declined = Some(found.clone());
        let version = approved.version.version.clone();
        self.keep_package(name, approved);
        Some(format!("the other version was not approved; start it again to run {version}"))
    }

    fn keep_package(&mut self, name: &str, package: ApprovedPackage) {
        let value = serde_json::to_value(&package).ok();
        self.launches.packages.insert(name.to_owned(), package);
        // What a file of answers approved holds while it is used, and takes nothing from what a person approved.
        if self.options.decides != "user" {
            return;
        }
        self.write_entry_later(Document::Packages, "the version of a package could not be written", name, value);
    }

    pub(super) fn forget_package(&mut self, name: &str) {
        if self.launches.packages.remove(name).is_some() {
            self.write_entry_later(Document::Packages, "the version of a package could not be removed", name, None);
        }
    }
}

/// The package that a command loads, and a copy of it that would run instead.
pub(super) fn launched(config: &StdioConfig, directory: &Path) -> Option<launches::packages::Launched> {
    use launches::packages::{Launched, UnknownPackage, local_copy};

    let launched = launches::packages::launched(&config.command, &config.args)?;
    let Launched::Package(reference) = &launched else { return Some(launched) };
    match local_copy(reference, directory) {
        Some(copy) => {
            let cause = UnknownPackage::LocalCopy(copy.display().to_string());
            Some(Launched::Unknown(reference.launcher.name().to_owned(), cause))
        }
        None => Some(launched),
    }
}
