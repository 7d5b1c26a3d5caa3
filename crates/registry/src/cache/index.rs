//! Index of the cache, stored in one file: the cached responses, the versions that are not active, and the time up to
//! which changes were read.

use std::collections::BTreeMap;

use domain::Millis;
use serde::{Deserialize, Serialize};

use crate::server_json::{ListingStatus, RegistryEntry};

/// Maximum number of versions whose statuses are stored for one registry.
const MAX_RECORDED_STATUSES: usize = 5_000;
/// Maximum length of a stored status message, in characters.
const MAX_STATUS_MESSAGE_CHARS: usize = 500;

/// Statuses of versions, by server name and then by version.
type StatusMap = BTreeMap<String, BTreeMap<String, RecordedStatus>>;

/// Status of a deprecated or deleted version of a server, as the registry reported it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedStatus {
    /// Status of the version. Never [`ListingStatus::Active`].
    pub status: ListingStatus,
    /// The registry's reason for the status, escaped for display.
    pub message: Option<String>,
    /// Time at which the registry set the status, in milliseconds since 1970.
    pub changed_at: Option<Millis>,
    /// Time at which the status was received from the registry, in milliseconds since 1970.
    pub read_at: Millis,
}

/// Description of a cached response in the index of the cache. The response itself is in a file of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CachedResponse {
    /// Address of the registry that sent the response.
    pub(super) address: String,
    /// Path and query of the request that the response answers.
    pub(super) request: String,
    /// Time at which the registry sent the response, in milliseconds since 1970.
    pub(super) fetched: Millis,
    /// Size of the response body on disk, in bytes.
    pub(super) bytes: u64,
}

/// Data about one registry in the index of the cache: the statuses of versions, and the progress of reading changes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct RegistryRecord {
    /// Time up to which all changes of the registry were read, in milliseconds since 1970.
    pub(super) changes_until: Option<Millis>,
    /// Progress of reading a list of changes, or `None` if the last list was read to its end.
    pub(super) unfinished: Option<ChangesProgress>,
    pub(super) statuses: StatusMap,
}

/// Progress of reading a registry's list of changes page by page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ChangesProgress {
    /// Start of the period whose changes the list contains, in milliseconds since 1970.
    pub(crate) since: Millis,
    /// Time at which the first page was requested, in milliseconds since 1970.
    pub(crate) began: Millis,
    /// Time up to which all changes will have been read when the last page is read, in milliseconds since 1970.
    pub(crate) until: Millis,
    /// Cursor of the next page, or `None` after the last page.
    pub(crate) cursor: Option<String>,
}

impl ChangesProgress {
    pub(crate) const fn starting_at(since: Millis, began: Millis) -> Self {
        Self { since, began, until: since, cursor: None }
    }
}

/// Contents of the cache's index file: the cached responses, and the record of each registry.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct CacheIndex {
    /// Descriptions of the cached responses, by the names of the files that contain the responses.
    pub(super) answers: BTreeMap<String, CachedResponse>,
    pub(super) registries: BTreeMap<String, RegistryRecord>,
}

impl RegistryRecord {
    /// Records the statuses of all entries in a response that was received at the time `now`.
    pub(super) fn record_statuses(&mut self, entries: &[RegistryEntry], now: Millis) {
        for entry in entries {
            let (name, version) = (&entry.server.name, &entry.server.version);
            let Some(listing) = &entry.listing else { continue };
            if listing.status == ListingStatus::Active {
                if let Some(versions) = self.statuses.get_mut(name) {
                    versions.remove(version);
                }
                continue;
            }
            let recorded = RecordedStatus {
                status: listing.status,
                message: listing
                    .status_message
                    .as_ref()
                    .map(|text| text.chars().take(MAX_STATUS_MESSAGE_CHARS).collect()),
                changed_at: listing.status_changed_at,
                read_at: now,
            };
            self.statuses.entry(name.clone()).or_default().insert(version.clone(), recorded);
        }
        self.statuses.retain(|_, versions| !versions.is_empty());
        self.drop_oldest_statuses();
    }

    pub(super) fn status_of(&self, name: &str, version: &str) -> Option<&RecordedStatus> {
        self.statuses.get(name)?.get(version)
    }

    /// Removes the statuses that were received longest ago, so that at most [`MAX_RECORDED_STATUSES`] remain.
    fn drop_oldest_statuses(&mut self) {
        let count: usize = self.statuses.values().map(BTreeMap::len).sum();
        let mut ages: Vec<Millis> =
            self.statuses.values().flat_map(BTreeMap::values).map(|status| status.read_at).collect();
        let Some(mut surplus) = count.checked_sub(MAX_RECORDED_STATUSES).filter(|surplus| *surplus > 0) else { return };
        ages.sort_unstable();
        let oldest = ages[surplus - 1];
        for versions in self.statuses.values_mut() {
            versions.retain(|_, status| {
                let goes = surplus > 0 && status.read_at <= oldest;
                surplus -= usize::from(goes);
                !goes
            });
        }
        self.statuses.retain(|_, versions| !versions.is_empty());
    }
}
