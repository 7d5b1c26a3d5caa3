//! Cache of the responses of registries, used when a registry is unreachable. All of its data can be fetched again, so
//! damaged data is dropped.
//!
//! Several processes may use the folder. Each change is applied to the index on disk under the folder's lock, so that
//! no process loses the changes of another.

mod index;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::{Millis, StoreError};
use policy::Hash;
use ports::CacheFiles;

use crate::client::{RegistryAddress, RegistryRequest};
use crate::server_json::RegistryEntry;
use index::{CacheIndex, CachedResponse, RegistryRecord};

pub use index::RecordedStatus;

pub(crate) use index::ChangesProgress;

/// Name of the file in the cache folder that contains the index.
const CACHE_INDEX_FILE: &str = "index.json";
/// Maximum size of the index file, in bytes. A larger file is treated as damaged.
const MAX_INDEX_BYTES: u64 = 16 * 1024 * 1024;

/// Limits for the number and the total size of the cached responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheLimits {
    /// Maximum total size of the cached responses, in bytes. Default: 32 MiB.
    pub bytes: u64,
    /// Maximum number of cached responses. Default: 2,000.
    pub responses: usize,
}

impl Default for CacheLimits {
    fn default() -> Self {
        Self { bytes: 32 * 1024 * 1024, responses: 2_000 }
    }
}

/// On-disk cache of the responses of registries, for [`crate::RegistryCatalog`]. Methods block unless stated otherwise.
pub struct RegistryCache {
    files: Arc<dyn CacheFiles>,
    limits: CacheLimits,
    /// Copy of the index on disk, from when this process last read or wrote it.
    index: Mutex<CacheIndex>,
}

/// Progress of reading a registry's changes, as recorded in the cache.
pub(crate) struct CachedChanges {
    /// Time up to which all changes were read, in milliseconds since 1970.
    pub(crate) until: Option<Millis>,
    /// Progress of reading a list of changes, or `None` if the last list was read to its end.
    pub(crate) unfinished: Option<ChangesProgress>,
}

/// Body of a cached response, with the time at which the response was received.
pub(crate) struct CachedBody {
    pub(crate) body: Vec<u8>,
    pub(crate) fetched: Millis,
}

impl RegistryCache {
    /// Opens a cache. A damaged index is treated as empty, and response files that are not in the index are removed.
    ///
    /// # Errors
    /// Returns [`StoreError`] if the folder can't be read or written.
    pub fn open(files: Arc<dyn CacheFiles>, limits: CacheLimits) -> Result<Self, StoreError> {
        let cache = Self { files, limits, index: Mutex::default() };
        // Another process may have written a response and not yet its index entry.
        let held = cache.files.lock();
        let index = cache.read_index();
        for name in cache.files.file_names()? {
            if held.is_ok() && is_response_file(&name) && !index.answers.contains_key(&name) {
                cache.files.remove(&name)?;
            }
        }
        *cache.lock_index() = index;
        Ok(cache)
    }

    /// Returns the recorded status of a server's version, or `None` if it is active or unknown. Doesn't block. Uses the
    /// index as this process last read or wrote it, so later changes by other processes are missing.
    #[must_use]
    pub fn status_of(&self, address: &RegistryAddress, name: &str, version: &str) -> Option<RecordedStatus> {
        self.lock_index().registries.get(address.as_str())?.status_of(name, version).cloned()
    }

    /// Returns the cached response of a registry to a request, or `None` if there is none.
    pub(crate) fn get(&self, address: &RegistryAddress, request: &RegistryRequest) -> Option<CachedBody> {
        let name = response_file_name(address, request);
        let response = self.reload_index().answers.get(&name)?.clone();
        self.read(&name, &response)
    }

    /// Returns all cached responses that are pages of a registry's list of servers, newest first.
    pub(crate) fn cached_lists(&self, address: &RegistryAddress) -> Vec<CachedBody> {
        let is_list = |response: &CachedResponse| {
            response.address == address.as_str() && response.request.starts_with(RegistryRequest::LIST_PREFIX)
        };
        let mut found: Vec<(String, CachedResponse)> = self
            .reload_index()
            .answers
            .iter()
            .filter(|(_, response)| is_list(response))
            .map(|(n, k)| (n.clone(), k.clone()))
            .collect();
        found.sort_by_key(|(_, response)| std::cmp::Reverse(response.fetched));
        found.iter().filter_map(|(name, response)| self.read(name, response)).collect()
    }

    fn read(&self, name: &str, response: &CachedResponse) -> Option<CachedBody> {
        let body = self.files.read(name, self.limits.bytes).ok().flatten()?;
        Some(CachedBody { body, fetched: response.fetched })
    }

    /// Stores a response of a registry and the statuses of its entries.
    ///
    /// # Errors
    /// Returns [`StoreError`] if the cache can't be written.
    pub(crate) fn put(
        &self,
        address: &RegistryAddress,
        request: &RegistryRequest,
        body: &[u8],
        entries: &[RegistryEntry],
        now: Millis,
    ) -> Result<(), StoreError> {
        let bytes = body.len() as u64;
        self.update_index(|index| {
            if bytes <= self.limits.bytes {
                let name = response_file_name(address, request);
                self.files.write(&name, body)?;
                let response = CachedResponse {
                    address: address.as_str().to_owned(),
                    request: request.as_str().to_owned(),
                    fetched: now,
                    bytes,
                };
                index.answers.insert(name, response);
                self.evict_responses(index)?;
            }
            index.registry_mut(address).record_statuses(entries, now);
            Ok(())
        })
    }

    /// Records the statuses in a page of changes, and the progress of reading the list of changes that contains the
    /// page.
    ///
    /// # Errors
    /// Returns [`StoreError`] if the cache can't be written.
    pub(crate) fn record_changes(
        &self,
        address: &RegistryAddress,
        entries: &[RegistryEntry],
        read: ChangesProgress,
        now: Millis,
    ) -> Result<(), StoreError> {
        self.update_index(|index| {
            let progress = index.registry_mut(address);
            progress.record_statuses(entries, now);
            if read.cursor.is_some() {
                progress.unfinished = Some(read);
            } else {
                progress.changes_until = Some(read.until);
                progress.unfinished = None;
            }
            Ok(())
        })
    }

    /// Returns the progress of reading the changes of a registry.
    pub(crate) fn changes_progress(&self, address: &RegistryAddress) -> CachedChanges {
        let index = self.reload_index();
        let entry = index.registries.get(address.as_str());
        CachedChanges {
            until: entry.and_then(|entry| entry.changes_until),
            unfinished: entry.and_then(|entry| entry.unfinished.clone()),
        }
    }

    /// Removes the oldest cached responses until the cache is within its limits.
    fn evict_responses(&self, index: &mut CacheIndex) -> Result<(), StoreError> {
        let by_age: BTreeSet<(Millis, String)> =
            index.answers.iter().map(|(name, response)| (response.fetched, name.clone())).collect();
        let mut total: u64 = index.answers.values().map(|response| response.bytes).sum();
        for (_, name) in by_age {
            if total <= self.limits.bytes && index.answers.len() <= self.limits.responses {
                break;
            }
            self.files.remove(&name)?;
            total -= index.answers.remove(&name).map_or(0, |response| response.bytes);
        }
        Ok(())
    }

    /// Reads the index from disk, applies `act` to it and writes it back, under the lock of the cache folder.
    fn update_index(&self, act: impl FnOnce(&mut CacheIndex) -> Result<(), StoreError>) -> Result<(), StoreError> {
        let _held = self.files.lock()?;
        let mut index = self.read_index();
        act(&mut index)?;
        let bytes = serde_json::to_vec(&index).map_err(|error| StoreError {
            path: CACHE_INDEX_FILE.to_owned(),
            cause: format!("it can't be written as JSON: {error}"),
        })?;
        self.files.write(CACHE_INDEX_FILE, &bytes)?;
        *self.lock_index() = index;
        Ok(())
    }

    /// Reads the index from disk, since another process may have changed it, and locks this process's copy. Needs no
    /// lock of the folder, because writers replace the file atomically.
    fn reload_index(&self) -> MutexGuard<'_, CacheIndex> {
        // Read while the mutex is held, so that an older state never overwrites a newer one.
        let mut index = self.lock_index();
        *index = self.read_index();
        index
    }

    fn read_index(&self) -> CacheIndex {
        let bytes = self.files.read(CACHE_INDEX_FILE, MAX_INDEX_BYTES).unwrap_or_else(|error| {
            tracing::warn!(%error, "the cache of registries is cleared");
            None
        });
        bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    fn lock_index(&self) -> MutexGuard<'_, CacheIndex> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for RegistryCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RegistryCache").field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl CacheIndex {
    fn registry_mut(&mut self, address: &RegistryAddress) -> &mut RegistryRecord {
        self.registries.entry(address.as_str().to_owned()).or_default()
    }
}

/// Returns `true` if a file name has the form that [`response_file_name`] creates.
fn is_response_file(name: &str) -> bool {
    let hash = name.strip_suffix(".json");
    hash.is_some_and(|hash| hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

fn response_file_name(address: &RegistryAddress, request: &RegistryRequest) -> String {
    let hash = Hash::of_bytes(format!("{address}\n{}", request.as_str()).as_bytes());
    format!("{}.json", hash.as_str())
}
