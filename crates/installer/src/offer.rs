//! Offers: the origin of a server that can be installed, and its plan.

use std::path::Path;

use installs::InstallPlan;
use registry::{
    CachePolicy, DatedResponse, LATEST_VERSION, ListingStatus, PackageInstall, Publisher, RegistryCatalog,
    RegistryEntry, plan_package, plan_remote,
};

use crate::bridge::unwrap_remote_bridge;
use crate::{BundleFile, InstallError, InstallSource, InstallTarget, Installer, NotInstallable};

/// A server that the user can install: its source, its origin, and the plan of its installation.
#[derive(Debug)]
pub struct InstallOffer {
    /// Source of the server, completed by the exact version and package, or by the SHA-256 of the bundle, so that it
    /// identifies the same offer later.
    pub source: InstallSource,
    /// The registry entry or bundle file that was read from the source.
    pub origin: InstallOrigin,
    /// Plan of the installation, or the reason why the server can't be installed.
    pub plan: Result<InstallPlan, NotInstallable>,
}

impl InstallOffer {
    /// Creates an offer. If `plan` is [`InstallError::NotInstallable`], the offer contains the reason.
    ///
    /// # Errors
    /// Returns the error of the plan, unless it is [`InstallError::NotInstallable`].
    fn new(
        source: InstallSource,
        origin: InstallOrigin,
        plan: Result<InstallPlan, InstallError>,
    ) -> Result<Self, InstallError> {
        let plan = match plan {
            Ok(plan) => Ok(plan),
            Err(InstallError::NotInstallable(problem)) => Err(problem),
            Err(error) => return Err(error),
        };
        Ok(Self { source, origin, plan })
    }
}

/// The registry entry or bundle file that describes a server to install.
#[derive(Debug)]
pub enum InstallOrigin {
    /// A registry entry, with its bundle if the chosen package is a bundle.
    Registry {
        /// Entry of the server, with the time at which the registry returned it.
        answer: Box<DatedResponse<RegistryEntry>>,
        /// Downloaded bundle, or `None` if the chosen package is not a bundle.
        bundle: Option<Box<BundleFile>>,
    },
    /// A bundle file that the user has chosen.
    Bundle(Box<BundleFile>),
}

impl InstallOrigin {
    /// Returns the opened bundle, or `None` if the server is not a bundle.
    #[must_use]
    pub fn bundle(&self) -> Option<&BundleFile> {
        match self {
            Self::Registry { bundle, .. } => bundle.as_deref(),
            Self::Bundle(file) => Some(file),
        }
    }

    pub(crate) fn into_bundle(self) -> Option<BundleFile> {
        match self {
            Self::Registry { bundle, .. } => bundle.map(|file| *file),
            Self::Bundle(file) => Some(*file),
        }
    }
}

impl Installer {
    /// Reads a source and returns the offer to install its server. If the registry lists a bundle, it is downloaded
    /// unless it is already on disk. Nothing is unpacked.
    ///
    /// # Errors
    /// Returns [`InstallError::Registry`] if the registry doesn't respond or doesn't have the server,
    /// [`InstallError::Download`] if the bundle can't be downloaded, [`InstallError::Bundle`] if the file is not a
    /// bundle, and [`InstallError::OtherBundle`] if it is not the expected one.
    pub async fn offer(&self, source: &InstallSource, freshness: CachePolicy) -> Result<InstallOffer, InstallError> {
        match source {
            InstallSource::Bundle { path, sha256 } => self.offer_bundle_file(path, sha256.as_deref()).await,
            InstallSource::Registry { name, version, target } => {
                let version = version.as_deref().unwrap_or(LATEST_VERSION);
                let answer = self.catalog().await?.version(name, version, freshness).await?;
                let (target, plan) = plan_registry_entry(&answer.value, *target);
                let (plan, bundle) = match plan {
                    Err(NotInstallable::Download(download)) => {
                        let file = self.download(&download).await?;
                        (plan_bundle_file(&file), Some(Box::new(file)))
                    }
                    plan => (plan.map_err(InstallError::NotInstallable), None),
                };
                let (name, version) = (name.clone(), Some(answer.value.server.version.clone()));
                let source = InstallSource::Registry { name, version, target };
                InstallOffer::new(source, InstallOrigin::Registry { answer: Box::new(answer), bundle }, plan)
            }
        }
    }

    async fn offer_bundle_file(&self, path: &Path, sha256: Option<&str>) -> Result<InstallOffer, InstallError> {
        let file = BundleFile::open(path, &self.bundles_folder().await?).await?;
        let found = file.bundle.archive.sha256().to_owned();
        if let Some(expected) = sha256.filter(|expected| !expected.eq_ignore_ascii_case(&found)) {
            return Err(InstallError::OtherBundle { found, expected: expected.to_owned() });
        }
        let (source, plan) =
            (InstallSource::Bundle { path: path.to_owned(), sha256: Some(found) }, plan_bundle_file(&file));
        InstallOffer::new(source, InstallOrigin::Bundle(Box::new(file)), plan)
    }
}

fn plan_bundle_file(file: &BundleFile) -> Result<InstallPlan, InstallError> {
    file.plan().map(|plan| plan.install)
}

/// Returns the plan for a package or remote endpoint of a registry entry: the one in `target`, or else the only one.
/// Also returns which one it is. There is no plan for a bundle before it is downloaded.
pub(crate) fn plan_registry_entry(
    entry: &RegistryEntry,
    target: Option<InstallTarget>,
) -> (Option<InstallTarget>, Result<InstallPlan, NotInstallable>) {
    let server = &entry.server;
    let target = target.or(match (&server.packages[..], &server.remotes[..]) {
        ([_], []) => Some(InstallTarget::Package { number: 1 }),
        ([], [_]) => Some(InstallTarget::Remote { number: 1 }),
        _ => None,
    });
    if entry.listing.as_ref().is_some_and(|listing| listing.status == ListingStatus::Deleted) {
        return (target, Err(NotInstallable::Deleted));
    }
    let plan = match target {
        None if server.packages.is_empty() && server.remotes.is_empty() => Err(NotInstallable::Nothing),
        None => Err(NotInstallable::NotChosen),
        Some(InstallTarget::Package { number }) => {
            install_target_with_number(&server.packages, number).and_then(|package| {
                match plan_package(server, package)? {
                    PackageInstall::Plan(plan) => Ok(unwrap_remote_bridge(plan)),
                    PackageInstall::Bundle(download) => Err(NotInstallable::Download(download)),
                }
            })
        }
        Some(InstallTarget::Remote { number }) => {
            install_target_with_number(&server.remotes, number).and_then(|remote| Ok(plan_remote(server, remote)?))
        }
    };
    (target, plan)
}

fn install_target_with_number<T>(all: &[T], number: usize) -> Result<&T, NotInstallable> {
    number.checked_sub(1).and_then(|index| all.get(index)).ok_or(NotInstallable::NoTarget)
}

/// Returns a sentence for display about the publisher that a server's name in the registry implies. For a registry other
/// than the official one, it adds that this registry decides if the publisher is verified.
#[must_use]
pub fn publisher_verification_text(catalog: &RegistryCatalog, name: &str) -> String {
    let who = Publisher::from_name(name);
    if catalog.address().is_official() {
        who.to_string()
    } else {
        format!("{who}, according to its name; {} decides if that is verified", catalog.address())
    }
}
