//! Reads the changes of a registry, to warn about installed servers ([`RegistryCatalog::status_of`]).
//!
//! A long list of changes is read in several steps: each refresh reads some pages, and stores the cursor of the next
//! one.

use std::time::Duration;

use chrono::{DateTime, SecondsFormat};
use domain::Millis;
use tokio::time::Instant;

use crate::cache::ChangesProgress;
use crate::catalog::{MAX_PAGE_SIZE, RegistryCatalog};
use crate::client::{RegistryError, RegistryRequest};
use crate::server_json::EntryPage;
use crate::server_json::read::read_page;

/// Period before the first refresh whose changes are also read. If a list of changes took several refreshes, this
/// period before its first page is read again, since the clocks of this computer and the registry may differ.
const CHANGES_OVERLAP: Duration = Duration::from_secs(24 * 60 * 60);
/// Time limit of a refresh, as a multiple of the timeout of one response. No further page is requested after it.
const MAX_REFRESH_TIME_IN_TIMEOUTS: u32 = 10;

/// Result of one refresh, which reads the changes of a registry's entries since the previous refresh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangesSummary {
    /// Number of changed entries in the pages that this refresh has read.
    pub changed: usize,
    /// Number of changed entries that could not be parsed.
    pub unreadable: usize,
    /// Set if this refresh has read the last page of changes. Otherwise, the next refresh continues with the next page.
    pub complete: bool,
}

impl RegistryCatalog {
    /// Reads the changes of the registry's entries since the last refresh, so that [`Self::status_of`] knows deprecated
    /// and deleted versions. The first refresh reads the changes of one day.
    ///
    /// Reads at most [`RegistryLimits::pages`](crate::RegistryLimits::pages) pages, and fewer from a slow registry.
    /// Later refreshes read the remaining ones.
    ///
    /// # Errors
    /// Returns [`RegistryError`] if the registry doesn't respond, or repeats a page. Pages that were read before the
    /// error are stored.
    pub async fn refresh(&self) -> Result<ChangesSummary, RegistryError> {
        let began = self.clock.now();
        let margin = u64::try_from(CHANGES_OVERLAP.as_millis()).unwrap_or(u64::MAX);
        let progress = self.run_blocking(|cache, address| cache.changes_progress(address)).await;
        let anew = ChangesProgress::starting_at(progress.until.unwrap_or_else(|| began.saturating_sub(margin)), began);
        let (mut is_resumed, mut current) = match progress.unfinished {
            Some(unfinished) => (true, unfinished),
            None => (false, anew.clone()),
        };
        let mut cursors: Vec<String> = current.cursor.iter().cloned().collect();
        let mut changes = ChangesSummary { changed: 0, unreadable: 0, complete: false };
        let limits = self.registry.limits();
        let end = Instant::now() + limits.time * MAX_REFRESH_TIME_IN_TIMEOUTS;
        for at in 0..limits.pages {
            if Instant::now() > end {
                break;
            }
            let page = match self.read_changes_page(&current).await {
                // Registries may forget cursors.
                Err(error) if is_resumed && at == 0 && is_cursor_rejection(&error) => {
                    (is_resumed, current) = (false, anew.clone());
                    cursors.clear();
                    self.read_changes_page(&current).await?
                }
                page => page?,
            };
            changes.changed += page.entries.len();
            changes.unreadable += page.unreadable.len();
            let newest = page.entries.iter().filter_map(|entry| entry.listing.as_ref()?.updated_at).max();
            // A time in the future would hide all changes until then.
            current.until = current.until.max(newest.unwrap_or(0).min(current.began));
            let is_loop = page.next_cursor.as_ref().is_some_and(|cursor| cursors.contains(cursor));
            current.cursor = page.next_cursor.filter(|_| !is_loop);
            if is_loop {
                current.until = current.since;
            } else if current.cursor.is_none() && is_resumed {
                // Entries of the first pages may have changed again since those were read.
                current.until = current.until.min(current.began.saturating_sub(margin)).max(current.since);
            }
            let (entries, read, now) = (page.entries, current.clone(), self.clock.now());
            self.run_blocking(move |cache, address| cache.record_changes(address, &entries, read, now)).await?;
            if is_loop {
                return Err(RegistryError::RepeatedPage { address: self.registry.displayed_address() });
            }
            let Some(cursor) = &current.cursor else { return Ok(ChangesSummary { complete: true, ..changes }) };
            cursors.push(cursor.clone());
        }
        Ok(changes)
    }

    async fn read_changes_page(&self, progress: &ChangesProgress) -> Result<EntryPage, RegistryError> {
        let (since, limit) = (changes_since_text(progress.since), MAX_PAGE_SIZE.to_string());
        let mut parameters = vec![("updated_since", since.as_str()), ("limit", &limit)];
        parameters.extend(progress.cursor.as_deref().map(|cursor| ("cursor", cursor)));
        let body = self.registry.get(&RegistryRequest::list(&parameters), "a list of changes").await?;
        read_page(&body).map_err(|cause| self.unusable_error(cause))
    }
}

/// Returns `true` if the registry may have rejected the cursor in a request: it responded with an error other than that
/// it is overloaded.
const fn is_cursor_rejection(error: &RegistryError) -> bool {
    match error {
        RegistryError::Failed { status, .. } => !matches!(status, 429 | 503),
        RegistryError::NotFound { .. } | RegistryError::Unusable { .. } => true,
        _ => false,
    }
}

fn changes_since_text(time: Millis) -> String {
    let time = i64::try_from(time).ok().and_then(DateTime::from_timestamp_millis).unwrap_or_default();
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}
