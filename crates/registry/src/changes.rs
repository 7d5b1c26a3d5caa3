//! What changed in a registry since it was read last, for warnings about installed servers ([`Catalog::status_of`]).
//!
//! A long list is read in several steps: each refresh reads some pages and keeps the cursor for the next one.

use std::time::Duration;

use chrono::{DateTime, SecondsFormat};
use domain::Millis;
use tokio::time::Instant;

use crate::cache::ChangesRead;
use crate::catalog::{Catalog, MAX_LIMIT};
use crate::client::{RegistryError, RegistryRequest};
use crate::server_json::Page;
use crate::server_json::read::read_page;

/// By how much the first reading of changes goes back, and one that took several refreshes, since clocks differ.
const CLOCK_MARGIN: Duration = Duration::from_secs(24 * 60 * 60);
/// After how many times the limit of one answer a refresh asks for no further page.
const MAX_SLOW_ANSWERS: u32 = 10;

/// What came of reading the changes of a registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Changes {
    /// The versions that changed.
    pub changed: usize,
    /// The entries among them that can't be read.
    pub unreadable: usize,
    /// False if there are more pages than one refresh reads. The next refresh goes on from there.
    pub complete: bool,
}

impl Catalog {
    /// Reads what changed since the last time, for [`Self::status_of`]. The first time it reads the changes of one day: what was asked before
    /// has told its status itself.
    ///
    /// At most [`RegistryLimits::pages`](crate::RegistryLimits::pages) are read at once, and fewer of a slow registry; the rest by the next
    /// refreshes.
    ///
    /// # Errors
    /// If the registry does not answer, or gives the same page again. What was read is kept.
    pub async fn refresh(&self) -> Result<Changes, RegistryError> {
        let began = self.clock.now();
        let margin = u64::try_from(CLOCK_MARGIN.as_millis()).unwrap_or(u64::MAX);
        let kept = self.on_disk(|cache, address| cache.changes_read(address)).await;
        let anew = ChangesRead::since(kept.until.unwrap_or_else(|| began.saturating_sub(margin)), began);
        let (mut is_resumed, mut reading) = match kept.unfinished {
            Some(unfinished) => (true, unfinished),
            None => (false, anew.clone()),
        };
        let mut seen: Vec<String> = reading.cursor.iter().cloned().collect();
        let mut changes = Changes { changed: 0, unreadable: 0, complete: false };
        let limits = self.registry.limits();
        let end = Instant::now() + limits.time * MAX_SLOW_ANSWERS;
        for at in 0..limits.pages {
            if Instant::now() > end {
                break;
            }
            let page = match self.changes_page(&reading).await {
                // Registries forget cursors.
                Err(error) if is_resumed && at == 0 && refuses_cursor(&error) => {
                    (is_resumed, reading) = (false, anew.clone());
                    seen.clear();
                    self.changes_page(&reading).await?
                }
                page => page?,
            };
            changes.changed += page.entries.len();
            changes.unreadable += page.unreadable.len();
            let newest = page.entries.iter().filter_map(|entry| entry.listing.as_ref()?.updated_at).max();
            // A time that has not come yet would hide all changes until then.
            reading.until = reading.until.max(newest.unwrap_or(0).min(reading.began));
            let is_loop = page.next_cursor.as_ref().is_some_and(|cursor| seen.contains(cursor));
            reading.cursor = page.next_cursor.filter(|_| !is_loop);
            if is_loop {
                reading.until = reading.since;
            } else if reading.cursor.is_none() && is_resumed {
                // Since the first pages were read, what they list may have changed again.
                reading.until = reading.until.min(reading.began.saturating_sub(margin)).max(reading.since);
            }
            let (entries, read, now) = (page.entries, reading.clone(), self.clock.now());
            self.on_disk(move |cache, address| cache.record(address, &entries, read, now)).await?;
            if is_loop {
                return Err(RegistryError::SamePage { address: self.registry.shown() });
            }
            let Some(cursor) = &reading.cursor else { return Ok(Changes { complete: true, ..changes }) };
            seen.push(cursor.clone());
        }
        Ok(changes)
    }

    async fn changes_page(&self, reading: &ChangesRead) -> Result<Page, RegistryError> {
        let (since, limit) = (time_text(reading.since), MAX_LIMIT.to_string());
        let mut parameters = vec![("updated_since", since.as_str()), ("limit", &limit)];
        parameters.extend(reading.cursor.as_deref().map(|cursor| ("cursor", cursor)));
        let body = self.registry.get(&RegistryRequest::list(&parameters), "a list of changes").await?;
        read_page(&body).map_err(|cause| self.unusable(cause))
    }
}

/// Returns true if the answer may be about the cursor: the registry answered, and not that it has too much to do.
const fn refuses_cursor(error: &RegistryError) -> bool {
    match error {
        RegistryError::Failed { status, .. } => !matches!(status, 429 | 503),
        RegistryError::NotFound { .. } | RegistryError::Unusable { .. } => true,
        _ => false,
    }
}

fn time_text(time: Millis) -> String {
    let time = i64::try_from(time).ok().and_then(DateTime::from_timestamp_millis).unwrap_or_default();
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}
