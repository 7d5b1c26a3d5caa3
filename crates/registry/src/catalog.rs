//! A registry together with what is kept of it: what a page or a command line asks.

use std::sync::Arc;

use domain::Millis;
use ports::time::{SharedClock, after};

use crate::cache::{Kept, RecordedStatus, RegistryCache};
use crate::client::{Registry, RegistryAddress, RegistryError, RegistryRequest};
use crate::server_json::read::{check_name, check_version, quoted, read_entry, read_page};
use crate::server_json::{EntryError, Listing, Page, RegistryEntry, Status};

/// For how long an answer is used without asking again: aggregators are meant to copy the official registry about once an hour.
const FRESH_FOR: std::time::Duration = std::time::Duration::from_secs(60 * 60);
/// The entries of a page, and the most that may be asked for.
const PAGE: usize = 30;
pub(crate) const MAX_LIMIT: usize = 100;
/// The longest text to search for, in bytes.
const MAX_SEARCH: usize = 200;

/// A registry and what is kept of it.
#[derive(Debug, Clone)]
pub struct Catalog {
    pub(crate) registry: Registry,
    cache: Arc<RegistryCache>,
    pub(crate) clock: SharedClock,
}

/// A page of a search.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Search {
    /// What names (and descriptions, where the registry looks there) contain; all servers if empty.
    pub text: String,
    /// [`Page::next_cursor`] of the page before.
    pub cursor: Option<String>,
    /// The entries of a page, at most 100; 30 if none.
    pub limit: Option<usize>,
}

/// Whether the registry is asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Freshness {
    /// If what is kept is older than an hour.
    #[default]
    Usual,
    /// In any case.
    Now,
}

/// An answer and how old it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer<T> {
    /// What was answered.
    pub value: T,
    /// When the registry answered it. It may be shown as an age.
    pub fetched: Millis,
    /// Why the registry could not be asked now, if it was tried. What is kept stands in for its answer.
    pub offline: Option<RegistryError>,
}

impl Catalog {
    /// A registry with what is kept of it.
    #[must_use]
    pub fn new(registry: Registry, cache: Arc<RegistryCache>, clock: SharedClock) -> Self {
        Self { registry, cache, clock }
    }

    /// Where the registry is.
    #[must_use]
    pub fn address(&self) -> &RegistryAddress {
        self.registry.address()
    }

    /// Servers in their newest version, page by page.
    ///
    /// Without the registry and this page, what is kept of other pages is searched: by name and description, without further pages.
    ///
    /// # Errors
    /// If the registry does not answer and nothing is kept, or if its answer can't be used.
    pub async fn search(&self, search: &Search, freshness: Freshness) -> Result<Answer<Page>, RegistryError> {
        if search.text.len() > MAX_SEARCH {
            return Err(RegistryError::Question(EntryError::TooLarge(MAX_SEARCH)));
        }
        let limit = search.limit.unwrap_or(PAGE).clamp(1, MAX_LIMIT).to_string();
        let mut parameters = vec![("version", "latest"), ("limit", &limit)];
        if !search.text.is_empty() {
            parameters.push(("search", &search.text));
        }
        parameters.extend(search.cursor.as_deref().map(|cursor| ("cursor", cursor)));
        let request = RegistryRequest::list(&parameters);
        let what = "a list of servers (/v0.1/servers)";
        let found = self.ask(&request, what, freshness, read_page, |page| &page.entries).await;
        match found {
            Ok(found) if found.value.next_cursor.is_some() && found.value.next_cursor == search.cursor => {
                Err(RegistryError::SamePage { address: self.registry.shown() })
            }
            Err(error) if search.cursor.is_none() && error.is_failure() => self.search_kept(search, error).await,
            found => found,
        }
    }

    /// All versions of a server, the newest first as the registry has them, with deleted ones.
    ///
    /// # Errors
    /// As for [`Self::search`], or if the registry does not have the server.
    pub async fn versions(&self, name: &str, freshness: Freshness) -> Result<Answer<Page>, RegistryError> {
        check_name(name).map_err(RegistryError::Question)?;
        let request = RegistryRequest::versions(name);
        let mut found = self
            .ask(&request, &format!("a server {}", quoted(name)), freshness, read_page, |page| &page.entries)
            .await?;
        found.value.entries.retain(|entry| entry.server.name == name);
        Ok(found)
    }

    /// A server in one version, or in `latest`.
    ///
    /// # Errors
    /// As for [`Self::versions`].
    pub async fn version(
        &self,
        name: &str,
        version: &str,
        freshness: Freshness,
    ) -> Result<Answer<RegistryEntry>, RegistryError> {
        check_name(name).and_then(|()| check_version(version)).map_err(RegistryError::Question)?;
        let request = RegistryRequest::version(name, version);
        let what = format!("version {} of a server {}", quoted(version), quoted(name));
        // An answer about another version is none, and is not kept.
        let read = |json: &[u8]| {
            let entry = read_entry(json)?;
            let server = &entry.server;
            if server.name == name && (version == LATEST || server.version == version) {
                return Ok(entry);
            }
            let other = format!("it is about {} {}", quoted(&server.name), quoted(&server.version));
            Err(EntryError::Unreadable(other))
        };
        self.ask(&request, &what, freshness, read, std::slice::from_ref).await
    }

    /// What the registry said of an installed version: none if nothing speaks against it, or nothing is known.
    #[must_use]
    pub fn status_of(&self, name: &str, version: &str) -> Option<RecordedStatus> {
        self.cache.status_of(self.address(), name, version)
    }

    /// The answer to a request: what is kept if it is fresh, else the registry's, else what is kept.
    async fn ask<T>(
        &self,
        request: &RegistryRequest,
        what: &str,
        freshness: Freshness,
        read: impl Fn(&[u8]) -> Result<T, EntryError>,
        entries: fn(&T) -> &[RegistryEntry],
    ) -> Result<Answer<T>, RegistryError>
    where
        T: Overlaid,
    {
        let asked = request.clone();
        let kept = self.on_disk(move |cache, address| cache.get(address, &asked)).await;
        let now = self.clock.now();
        if let Some(kept) = &kept
            && freshness == Freshness::Usual
            && now < after(kept.fetched, FRESH_FOR)
            && let Ok(value) = read(&kept.body)
        {
            return Ok(self.kept_answer(value, kept, None));
        }
        let asked = self.registry.get(request, what).await;
        let error = match asked.and_then(|body| Ok((read(&body).map_err(|cause| self.unusable(cause))?, body))) {
            Ok((value, body)) => {
                self.keep(request, &body, entries(&value), now).await;
                return Ok(Answer { value, fetched: now, offline: None });
            }
            Err(error) => error,
        };
        match kept.map(|kept| (read(&kept.body), kept)) {
            Some((Ok(value), kept)) if error.is_failure() => Ok(self.kept_answer(value, &kept, Some(error))),
            _ => Err(error),
        }
    }

    /// Keeps an answer. It is of use even where it can't be kept.
    async fn keep(&self, request: &RegistryRequest, body: &[u8], entries: &[RegistryEntry], now: Millis) {
        let (request, body, entries) = (request.clone(), body.to_vec(), entries.to_vec());
        let kept = self.on_disk(move |cache, address| cache.put(address, &request, &body, &entries, now)).await;
        if let Err(error) = kept {
            tracing::warn!(%error, "an answer of a registry is not kept");
        }
    }

    fn kept_answer<T: Overlaid>(&self, mut value: T, kept: &Kept, offline: Option<RegistryError>) -> Answer<T> {
        value.overlay(&|entry| self.overlay(entry));
        Answer { value, fetched: kept.fetched, offline }
    }

    /// Puts what is known by now into an entry that was kept.
    fn overlay(&self, entry: &mut RegistryEntry) {
        if let Some(known) = self.status_of(&entry.server.name, &entry.server.version) {
            let listing = entry.listing.get_or_insert_with(Listing::default);
            listing.status = known.status;
            listing.status_message = known.message;
            listing.status_changed_at = known.changed_at;
        }
    }

    /// Searches all lists that are kept. Each server is found once, as it was fetched last; deleted ones are not.
    async fn search_kept(&self, search: &Search, error: RegistryError) -> Result<Answer<Page>, RegistryError> {
        let lists = self.on_disk(|cache, address| cache.lists(address)).await;
        let Some(fetched) = lists.iter().map(|list| list.fetched).min() else { return Err(error) };
        let wanted = search.text.to_lowercase();
        let mut page = Page::default();
        for mut entry in lists.iter().filter_map(|list| read_page(&list.body).ok()).flat_map(|page| page.entries) {
            self.overlay(&mut entry);
            let server = &entry.server;
            let texts = [Some(&server.name), server.title.as_ref(), server.description.as_ref()];
            let is_found = texts.into_iter().flatten().any(|text| text.to_lowercase().contains(&wanted));
            let is_deleted = entry.listing.as_ref().is_some_and(|listing| listing.status == Status::Deleted);
            if is_found && !is_deleted && !page.entries.iter().any(|other| other.server.name == server.name) {
                page.entries.push(entry);
            }
            // Each entry is compared with those that were found, so there must not be many.
            if page.entries.len() == MAX_LIMIT {
                break;
            }
        }
        Ok(Answer { value: page, fetched, offline: Some(error) })
    }

    pub(crate) async fn on_disk<T: Send + 'static>(
        &self,
        act: impl FnOnce(&RegistryCache, &RegistryAddress) -> T + Send + 'static,
    ) -> T {
        let (cache, address) = (Arc::clone(&self.cache), self.address().clone());
        match tokio::task::spawn_blocking(move || act(&cache, &address)).await {
            Ok(done) => done,
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        }
    }

    pub(crate) fn unusable(&self, cause: EntryError) -> RegistryError {
        RegistryError::Unusable { address: self.registry.shown(), cause }
    }
}

/// The word for the newest version.
const LATEST: &str = "latest";

/// What has entries whose status may be known better by now.
trait Overlaid {
    fn overlay(&mut self, change: &dyn Fn(&mut RegistryEntry));
}

impl Overlaid for Page {
    fn overlay(&mut self, change: &dyn Fn(&mut RegistryEntry)) {
        self.entries.iter_mut().for_each(change);
    }
}

impl Overlaid for RegistryEntry {
    fn overlay(&mut self, change: &dyn Fn(&mut RegistryEntry)) {
        change(self);
    }
}
