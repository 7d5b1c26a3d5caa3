//! What the registry says by now of the versions that are installed, and what newer ones would change. Nothing follows by itself.

use domain::Millis;
use host::Host;
use installs::InstallPlan;
use ports::server_config::{Installed, ServerOrigin};
use registry::{Catalog, Freshness, PlanDiff, RegistryEntry, RegistryError, Status, update_of};

use crate::offer::of_entry;
use crate::{InstallError, InstallTarget, Installer, NotInstallable};

/// What is known of the version of an installed server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionReport {
    /// The user's name for the server.
    pub server: String,
    /// Its name in the registry.
    pub name: String,
    /// The installed version.
    pub version: String,
    /// Whether that is still offered.
    pub status: Status,
    /// Why it has this status.
    pub status_message: Option<String>,
    /// A newer version.
    pub newer: Option<NewerVersion>,
    /// Why nothing newer is known, if it could not be looked for.
    pub problem: Option<String>,
}

/// A version that is newer than the installed one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewerVersion {
    /// The version.
    pub version: String,
    /// When it was published.
    pub published_at: Option<Millis>,
    /// What it would change.
    pub diff: Result<PlanDiff, NotInstallable>,
}

impl Installer {
    /// Compares all servers that were installed from the registry with what it lists. If it does not answer, it is asked once, and the rest is
    /// told from what is kept.
    ///
    /// # Errors
    /// If the registry can't be opened, or the host has ended.
    pub async fn version_reports(&self, host: &Host, freshness: Freshness) -> Result<Vec<VersionReport>, InstallError> {
        let catalog = self.catalog().await?;
        let mut reports = Vec::new();
        let mut offline: Option<RegistryError> = None;
        for server in host.snapshot().await?.servers {
            let Some(Installed { origin, .. }) = server.installed else { continue };
            let ServerOrigin::Registry { registry, name, version, target } = origin else { continue };
            let mut report = kept_report(catalog, server.name, name, version);
            if registry != catalog.address().as_str() {
                report.problem = Some(format!("it was installed from another registry, {registry}"));
            } else if let Some(error) = &offline {
                report.problem = Some(error.to_string());
            } else {
                match catalog.versions(&report.name, freshness).await {
                    Ok(answer) => {
                        compare(&mut report, &answer.value.entries, target);
                        report.problem = answer.offline.as_ref().map(ToString::to_string);
                        offline = answer.offline.filter(is_down);
                    }
                    Err(error) => {
                        report.problem = Some(error.to_string());
                        offline = Some(error).filter(is_down);
                    }
                }
            }
            reports.push(report);
        }
        Ok(reports)
    }
}

/// Returns true if the registry would not answer another question either: it is not the answer about one server that failed.
const fn is_down(error: &RegistryError) -> bool {
    matches!(
        error,
        RegistryError::Unreachable { .. }
            | RegistryError::TooSlow { .. }
            | RegistryError::Unavailable { .. }
            | RegistryError::Refused { .. }
            | RegistryError::Failed { status: 429 | 503, .. }
    )
}

/// What is known without asking.
fn kept_report(catalog: &Catalog, server: String, name: String, version: String) -> VersionReport {
    let known = catalog.status_of(&name, &version);
    let status = known.as_ref().map_or(Status::Active, |known| known.status);
    let status_message = known.and_then(|known| known.message);
    VersionReport { server, name, version, status, status_message, newer: None, problem: None }
}

fn compare(report: &mut VersionReport, versions: &[RegistryEntry], target: InstallTarget) {
    let own = versions.iter().find(|entry| entry.server.version == report.version);
    if let Some(listing) = own.and_then(|entry| entry.listing.clone()) {
        report.status = listing.status;
        report.status_message = listing.status_message;
    }
    let Some(newest) = update_of(&report.version, versions) else { return };
    let diff = match own {
        Some(own) => diff(own, newest, target),
        None => Err(NotInstallable::NoTarget),
    };
    let published_at = newest.listing.as_ref().and_then(|listing| listing.published_at);
    report.newer = Some(NewerVersion { version: newest.server.version.clone(), published_at, diff });
}

/// The targets with the same number are compared. The installed version may have been deleted by now; what it said still stands.
fn diff(own: &RegistryEntry, newest: &RegistryEntry, target: InstallTarget) -> Result<PlanDiff, NotInstallable> {
    let offered = RegistryEntry { listing: None, ..own.clone() };
    let plan = |entry| -> Result<InstallPlan, NotInstallable> { of_entry(entry, Some(target)).1 };
    Ok(PlanDiff::of(&plan(&offered)?, &plan(newest)?))
}
