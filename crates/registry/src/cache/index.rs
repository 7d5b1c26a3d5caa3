//! What is kept of registries, in one file: which answers, the versions that are not offered as usual, and up to when changes were read.

use std::collections::BTreeMap;

use domain::Millis;
use serde::{Deserialize, Serialize};

use crate::server_json::{RegistryEntry, Status};

/// The most versions of one registry whose status is kept.
const MAX_STATUSES: usize = 5_000;
/// The longest message of a status that is kept, in characters.
const MAX_MESSAGE: usize = 500;

/// Versions with their status, by name and version.
type Statuses = BTreeMap<String, BTreeMap<String, RecordedStatus>>;

/// What a registry said of a version that is not offered as usual.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedStatus {
    /// The status, none of which is active.
    pub status: Status,
    /// Why. Safe to print.
    pub message: Option<String>,
    /// When the registry set it.
    pub changed_at: Option<Millis>,
    /// When it was read.
    pub read_at: Millis,
}

/// An answer that is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct KeptAnswer {
    /// The registry.
    pub(super) address: String,
    /// Path and query of the request.
    pub(super) request: String,
    /// When it was read.
    pub(super) fetched: Millis,
    /// Its size.
    pub(super) bytes: u64,
}

/// What is kept of one registry beside its answers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct KeptOfRegistry {
    /// The time up to which all changes were read.
    pub(super) changes_until: Option<Millis>,
    /// A reading of changes that has pages left.
    pub(super) unfinished: Option<ChangesRead>,
    pub(super) statuses: Statuses,
}

/// How far a list of changes was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ChangesRead {
    /// The time of the oldest change in the list.
    pub(crate) since: Millis,
    /// When its first page was asked for.
    pub(crate) began: Millis,
    /// The time up to which all changes are known once the last page is read.
    pub(crate) until: Millis,
    /// Where the next page begins; none once the last one is read.
    pub(crate) cursor: Option<String>,
}

impl ChangesRead {
    pub(crate) const fn since(since: Millis, began: Millis) -> Self {
        Self { since, began, until: since, cursor: None }
    }
}

/// The file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Index {
    /// By the name of their file.
    pub(super) answers: BTreeMap<String, KeptAnswer>,
    pub(super) registries: BTreeMap<String, KeptOfRegistry>,
}

impl KeptOfRegistry {
    /// Takes the statuses of entries that were just read.
    pub(super) fn record(&mut self, entries: &[RegistryEntry], now: Millis) {
        for entry in entries {
            let (name, version) = (&entry.server.name, &entry.server.version);
            let Some(listing) = &entry.listing else { continue };
            if listing.status == Status::Active {
                if let Some(versions) = self.statuses.get_mut(name) {
                    versions.remove(version);
                }
                continue;
            }
            let recorded = RecordedStatus {
                status: listing.status,
                message: listing.status_message.as_ref().map(|text| text.chars().take(MAX_MESSAGE).collect()),
                changed_at: listing.status_changed_at,
                read_at: now,
            };
            self.statuses.entry(name.clone()).or_default().insert(version.clone(), recorded);
        }
        self.statuses.retain(|_, versions| !versions.is_empty());
        self.forget_oldest();
    }

    pub(super) fn status_of(&self, name: &str, version: &str) -> Option<&RecordedStatus> {
        self.statuses.get(name)?.get(version)
    }

    /// Of too many statuses, those that were read longest ago go.
    fn forget_oldest(&mut self) {
        let count: usize = self.statuses.values().map(BTreeMap::len).sum();
        let mut ages: Vec<Millis> =
            self.statuses.values().flat_map(BTreeMap::values).map(|kept| kept.read_at).collect();
        let Some(mut surplus) = count.checked_sub(MAX_STATUSES).filter(|surplus| *surplus > 0) else { return };
        ages.sort_unstable();
        let oldest = ages[surplus - 1];
        for versions in self.statuses.values_mut() {
            versions.retain(|_, kept| {
                let goes = surplus > 0 && kept.read_at <= oldest;
                surplus -= usize::from(goes);
                !goes
            });
        }
        self.statuses.retain(|_, versions| !versions.is_empty());
    }
}
