//! A registry with its cache, for the page and the command line.

use std::sync::Arc;

use domain::Millis;
use ports::time::{SharedClock, time_after};

use crate::cache::{CachedBody, RecordedStatus, RegistryCache};
use crate::client::{RegistryAddress, RegistryClient, RegistryError, RegistryRequest};
use crate::server_json::read::{check_server_name, check_server_version, quote_untrusted_text, read_entry, read_page};
use crate::server_json::{EntryError, EntryPage, ListingMetadata, ListingStatus, RegistryEntry};

/// Maximum age of a cached response that is used without a request. The official registry expects aggregators to copy
/// its entries about once an hour.
const MAX_FRESH_RESPONSE_AGE: std::time::Duration = std::time::Duration::from_secs(60 * 60);
/// Name by which requests refer to the newest version of a server.
pub const LATEST_VERSION: &str = "latest";
/// Number of entries in a page of search results if [`SearchQuery::limit`] is `None`.
const DEFAULT_PAGE_SIZE: usize = 30;
pub(crate) const MAX_PAGE_SIZE: usize = 100;
/// Maximum length of a search text in bytes.
const MAX_SEARCH_BYTES: usize = 200;

/// A registry, and a cache of its responses for when it is unreachable. The page and the command line use it to search
/// for servers.
#[derive(Debug, Clone)]
pub struct RegistryCatalog {
    pub(crate) registry: RegistryClient,
    cache: Arc<RegistryCache>,
    pub(crate) clock: SharedClock,
}

/// Query for one page of search results.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchQuery {
    /// Text to search for in server names, and in descriptions if the registry supports that. An empty text matches
    /// all servers.
    pub text: String,
    /// [`EntryPage::next_cursor`] of the previous page, or `None` for the first page.
    pub cursor: Option<String>,
    /// Number of entries in the page, at most 100. `None` for 30.
    pub limit: Option<usize>,
}

/// Condition under which a request is answered from the cache, without asking the registry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CachePolicy {
    /// Uses the cached response if it is less than an hour old, and otherwise asks the registry.
    #[default]
    Usual,
    /// Asks the registry even if a recent response is cached.
    Now,
}

/// Result of a request to a registry, and the time at which the registry returned it.
#[derive(Debug, Clone, PartialEq)]
pub struct DatedResponse<T> {
    /// Result of the request, from the registry or from the cache.
    pub value: T,
    /// Time at which the registry returned the result, in milliseconds since 1970.
    pub fetched: Millis,
    /// Error of the request, if the result is from the cache because the request failed, otherwise `None`.
    pub offline: Option<RegistryError>,
}

impl RegistryCatalog {
    /// Creates a catalog for a registry and its cache.
    #[must_use]
    pub fn new(registry: RegistryClient, cache: Arc<RegistryCache>, clock: SharedClock) -> Self {
        Self { registry, cache, clock }
    }

    /// Returns the address of the registry that this catalog queries.
    #[must_use]
    pub fn address(&self) -> &RegistryAddress {
        self.registry.address()
    }

    /// Returns one page of the servers in the registry that match a query, with the newest version of each.
    ///
    /// If the registry is unreachable and this page is not cached, all cached pages are searched by name and
    /// description, and the result is a single page.
    ///
    /// # Errors
    /// Returns [`RegistryError`] if the registry doesn't respond and nothing is cached, if its response can't be used,
    /// or if the search text is too long.
    pub async fn search(
        &self,
        search: &SearchQuery,
        freshness: CachePolicy,
    ) -> Result<DatedResponse<EntryPage>, RegistryError> {
        if search.text.len() > MAX_SEARCH_BYTES {
            return Err(RegistryError::InvalidInput(EntryError::TooLarge(MAX_SEARCH_BYTES)));
        }
        let limit = search.limit.unwrap_or(DEFAULT_PAGE_SIZE).clamp(1, MAX_PAGE_SIZE).to_string();
        let mut parameters = vec![("version", LATEST_VERSION), ("limit", &limit)];
        if !search.text.is_empty() {
            parameters.push(("search", &search.text));
        }
        parameters.extend(search.cursor.as_deref().map(|cursor| ("cursor", cursor)));
        let request = RegistryRequest::list(&parameters);
        let what = "a list of servers (/v0.1/servers)";
        let found = self.fetch(&request, what, freshness, read_page, |page| &page.entries).await;
        match found {
            Ok(found) if found.value.next_cursor.is_some() && found.value.next_cursor == search.cursor => {
                Err(RegistryError::RepeatedPage { address: self.registry.displayed_address() })
            }
            Err(error) if search.cursor.is_none() && error.allows_cached_response() => {
                self.search_cached(search, error).await
            }
            found => found,
        }
    }

    /// Returns all versions of a server, including deleted ones, in the order in which the registry returns them:
    /// newest first.
    ///
    /// # Errors
    /// Returns the errors of [`Self::search`], and [`RegistryError::NotFound`] if the registry doesn't have the server.
    pub async fn versions(
        &self,
        name: &str,
        freshness: CachePolicy,
    ) -> Result<DatedResponse<EntryPage>, RegistryError> {
        check_server_name(name).map_err(RegistryError::InvalidInput)?;
        let request = RegistryRequest::versions(name);
        let mut found = self
            .fetch(&request, &format!("a server {}", quote_untrusted_text(name)), freshness, read_page, |page| {
                &page.entries
            })
            .await?;
        found.value.entries.retain(|entry| entry.server.name == name);
        Ok(found)
    }

    /// Returns the registry's entry for one version of a server. [`LATEST_VERSION`] stands for the newest version.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::versions`].
    pub async fn version(
        &self,
        name: &str,
        version: &str,
        freshness: CachePolicy,
    ) -> Result<DatedResponse<RegistryEntry>, RegistryError> {
        check_server_name(name).and_then(|()| check_server_version(version)).map_err(RegistryError::InvalidInput)?;
        let request = RegistryRequest::version(name, version);
        let what = format!("version {} of a server {}", quote_untrusted_text(version), quote_untrusted_text(name));
        // A response about another version is an error, and is not cached.
        let read = |json: &[u8]| {
            let entry = read_entry(json)?;
            let server = &entry.server;
            if server.name == name && (version == LATEST_VERSION || server.version == version) {
                return Ok(entry);
            }
            let other =
                format!("it is about {} {}", quote_untrusted_text(&server.name), quote_untrusted_text(&server.version));
            Err(EntryError::Unreadable(other))
        };
        self.fetch(&request, &what, freshness, read, std::slice::from_ref).await
    }

    /// Returns the status of an installed version, as recorded at the last refresh or response. Returns `None` if the
    /// version is active, or nothing is known of it.
    #[must_use]
    pub fn status_of(&self, name: &str, version: &str) -> Option<RecordedStatus> {
        self.cache.status_of(self.address(), name, version)
    }

    /// Returns the result of a request: from the cache if it is recent enough, or else from the registry. If the
    /// request to the registry fails, an older response in the cache is used.
    async fn fetch<T>(
        &self,
        request: &RegistryRequest,
        what: &str,
        freshness: CachePolicy,
        read: impl Fn(&[u8]) -> Result<T, EntryError>,
        entries: fn(&T) -> &[RegistryEntry],
    ) -> Result<DatedResponse<T>, RegistryError>
    where
        T: HasEntryStatuses,
    {
        let requested = request.clone();
        let cached = self.run_blocking(move |cache, address| cache.get(address, &requested)).await;
        let now = self.clock.now();
        if let Some(cached) = &cached
            && freshness == CachePolicy::Usual
            && now < time_after(cached.fetched, MAX_FRESH_RESPONSE_AGE)
            && let Ok(value) = read(&cached.body)
        {
            return Ok(self.cached_response_with_statuses(value, cached, None));
        }
        let response = self.registry.get(request, what).await;
        let error = match response.and_then(|body| Ok((read(&body).map_err(|cause| self.unusable_error(cause))?, body)))
        {
            Ok((value, body)) => {
                self.cache_response(request, &body, entries(&value), now).await;
                return Ok(DatedResponse { value, fetched: now, offline: None });
            }
            Err(error) => error,
        };
        match cached.map(|cached| (read(&cached.body), cached)) {
            Some((Ok(value), cached)) if error.allows_cached_response() => {
                Ok(self.cached_response_with_statuses(value, &cached, Some(error)))
            }
            _ => Err(error),
        }
    }

    /// Stores a response of the registry in the cache. Errors are only logged.
    async fn cache_response(&self, request: &RegistryRequest, body: &[u8], entries: &[RegistryEntry], now: Millis) {
        let (request, body, entries) = (request.clone(), body.to_vec(), entries.to_vec());
        let cached = self.run_blocking(move |cache, address| cache.put(address, &request, &body, &entries, now)).await;
        if let Err(error) = cached {
            tracing::warn!(%error, "a response of a registry is not cached");
        }
    }

    fn cached_response_with_statuses<T: HasEntryStatuses>(
        &self,
        mut value: T,
        cached: &CachedBody,
        offline: Option<RegistryError>,
    ) -> DatedResponse<T> {
        value.update_entries(&|entry| self.apply_recorded_status(entry));
        DatedResponse { value, fetched: cached.fetched, offline }
    }

    /// Replaces the status in a cached entry by the latest status that the cache has recorded.
    fn apply_recorded_status(&self, entry: &mut RegistryEntry) {
        if let Some(known) = self.status_of(&entry.server.name, &entry.server.version) {
            let listing = entry.listing.get_or_insert_with(ListingMetadata::default);
            listing.status = known.status;
            listing.status_message = known.message;
            listing.status_changed_at = known.changed_at;
        }
    }

    /// Searches all cached pages of the registry's list. Returns each server once, in the version that was received
    /// last, and omits deleted servers.
    async fn search_cached(
        &self,
        search: &SearchQuery,
        error: RegistryError,
    ) -> Result<DatedResponse<EntryPage>, RegistryError> {
        let lists = self.run_blocking(|cache, address| cache.cached_lists(address)).await;
        let Some(fetched) = lists.iter().map(|list| list.fetched).min() else { return Err(error) };
        let query = search.text.to_lowercase();
        let mut page = EntryPage::default();
        for mut entry in lists.iter().filter_map(|list| read_page(&list.body).ok()).flat_map(|page| page.entries) {
            self.apply_recorded_status(&mut entry);
            let server = &entry.server;
            let texts = [Some(&server.name), server.title.as_ref(), server.description.as_ref()];
            let is_found = texts.into_iter().flatten().any(|text| text.to_lowercase().contains(&query));
            let is_deleted = entry.listing.as_ref().is_some_and(|listing| listing.status == ListingStatus::Deleted);
            if is_found && !is_deleted && !page.entries.iter().any(|other| other.server.name == server.name) {
                page.entries.push(entry);
            }
            // Each entry is compared with those already found, so their number must stay small.
            if page.entries.len() == MAX_PAGE_SIZE {
                break;
            }
        }
        Ok(DatedResponse { value: page, fetched, offline: Some(error) })
    }

    pub(crate) async fn run_blocking<T: Send + 'static>(
        &self,
        act: impl FnOnce(&RegistryCache, &RegistryAddress) -> T + Send + 'static,
    ) -> T {
        let (cache, address) = (Arc::clone(&self.cache), self.address().clone());
        match tokio::task::spawn_blocking(move || act(&cache, &address)).await {
            Ok(done) => done,
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        }
    }

    pub(crate) fn unusable_error(&self, cause: EntryError) -> RegistryError {
        RegistryError::Unusable { address: self.registry.displayed_address(), cause }
    }
}

/// A parsed response with entries whose statuses can be replaced by newer ones, as is necessary after it was cached.
trait HasEntryStatuses {
    fn update_entries(&mut self, change: &dyn Fn(&mut RegistryEntry));
}

impl HasEntryStatuses for EntryPage {
    fn update_entries(&mut self, change: &dyn Fn(&mut RegistryEntry)) {
        self.entries.iter_mut().for_each(change);
    }
}

impl HasEntryStatuses for RegistryEntry {
    fn update_entries(&mut self, change: &dyn Fn(&mut RegistryEntry)) {
        change(self);
    }
}
