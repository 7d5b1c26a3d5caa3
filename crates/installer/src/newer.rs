//! Reports the status of installed versions in the registry, and newer versions. No version is installed here.

use std::time::Duration;

use domain::Millis;
use host::Host;
use host::view::ServerView;
use ports::server_config::{InstallationInfo, ServerOrigin};
use registry::{CachePolicy, ListingStatus, RegistryCatalog, RegistryEntry, RegistryError, find_newer_version};

use tokio::time::Instant;

use crate::{InstallError, Installer};

/// Result of comparing the installed version of one server with the registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionReport {
    /// Name of the server in the user's settings.
    pub server: String,
    /// Name of the server in the registry.
    pub name: String,
    /// Version of the server that is installed.
    pub version: String,
    /// Availability of the installed version in the registry.
    pub status: ListingStatus,
    /// The registry's reason for the status, or `None`.
    pub status_message: Option<String>,
    /// Newest version in the registry, if it is newer than the installed one.
    pub newer: Option<NewerVersion>,
    /// Reason why newer versions could not be determined, or `None`.
    pub problem: Option<String>,
}

/// A version in the registry that is newer than the installed one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewerVersion {
    /// Version text of the newer entry, as the publisher wrote it.
    pub version: String,
    /// Time at which that version was published, in milliseconds since 1970.
    pub published_at: Option<Millis>,
}

impl Installer {
    /// Returns a report for each server that was installed from the registry. If the registry doesn't respond to one
    /// request, the remaining reports use the cache.
    ///
    /// # Errors
    /// Returns an [`InstallError`] if the registry can't be opened, or the host has shut down.
    pub async fn version_reports(
        &self,
        host: &Host,
        freshness: CachePolicy,
    ) -> Result<Vec<VersionReport>, InstallError> {
        let catalog = &*self.catalog().await?;
        let mut reports = Vec::new();
        let servers = host.snapshot().await?.servers;
        let is_from_registry = |server: &ServerView| {
            let origin = server.installed.as_ref().map(|installed| &installed.origin);
            matches!(origin, Some(ServerOrigin::Registry { .. }))
        };
        let mut offline = None;
        if servers.iter().any(is_from_registry) {
            offline = self.read_registry_changes(catalog, freshness).await.filter(fails_for_every_server);
        }
        for server in servers {
            let Some(InstallationInfo { origin, .. }) = server.installed else { continue };
            let ServerOrigin::Registry { registry, name, version, .. } = origin else { continue };
            let mut report = report_from_cache(catalog, server.name, name, version);
            if registry != catalog.address().as_str() {
                report.problem = Some(format!("it was installed from another registry, {registry}"));
            } else if let Some(error) = &offline {
                report.problem = Some(error.to_string());
            } else {
                match catalog.versions(&report.name, freshness).await {
                    Ok(answer) => {
                        add_status_and_newer_version(&mut report, &answer.value.entries);
                        report.problem = answer.offline.as_ref().map(ToString::to_string);
                        offline = answer.offline.filter(fails_for_every_server);
                    }
                    Err(error) => {
                        report.problem = Some(error.to_string());
                        offline = Some(error).filter(fails_for_every_server);
                    }
                }
            }
            reports.push(report);
        }
        Ok(reports)
    }
}

/// Minimum time between two reads of a registry's changes, unless the user requests one.
const CHANGES_READ_INTERVAL: Duration = Duration::from_secs(60 * 60);

impl Installer {
    /// Reads the registry's changes, so that deprecated and deleted versions are known although older responses about
    /// them are cached. Returns the error if that fails, for instance because the registry doesn't support changes.
    async fn read_registry_changes(&self, catalog: &RegistryCatalog, freshness: CachePolicy) -> Option<RegistryError> {
        let mut read = self.lock_time_of_last_changes_read().await;
        let is_fresh = read.is_some_and(|at| at.elapsed() < CHANGES_READ_INTERVAL);
        if freshness == CachePolicy::Usual && is_fresh {
            return None;
        }
        let changes = catalog.refresh().await;
        if changes.is_ok() {
            *read = Some(Instant::now());
        }
        changes.err()
    }
}

/// Returns `true` if another request to the registry would fail as well, because the cause of the error is not specific
/// to one server.
const fn fails_for_every_server(error: &RegistryError) -> bool {
    matches!(
        error,
        RegistryError::Unreachable { .. }
            | RegistryError::TooSlow { .. }
            | RegistryError::Unavailable { .. }
            | RegistryError::Refused { .. }
            | RegistryError::Failed { status: 429 | 503, .. }
    )
}

/// Returns a report about a server without sending a request. It contains the status that the cache has recorded.
fn report_from_cache(catalog: &RegistryCatalog, server: String, name: String, version: String) -> VersionReport {
    let known = catalog.status_of(&name, &version);
    let status = known.as_ref().map_or(ListingStatus::Active, |known| known.status);
    let status_message = known.and_then(|known| known.message);
    VersionReport { server, name, version, status, status_message, newer: None, problem: None }
}

fn add_status_and_newer_version(report: &mut VersionReport, versions: &[RegistryEntry]) {
    let own = versions.iter().find(|entry| entry.server.version == report.version);
    if let Some(listing) = own.and_then(|entry| entry.listing.clone()) {
        report.status = listing.status;
        report.status_message = listing.status_message;
    }
    report.newer = find_newer_version(&report.version, versions).map(|newest| NewerVersion {
        version: newest.server.version.clone(),
        published_at: newest.listing.as_ref().and_then(|listing| listing.published_at),
    });
}
