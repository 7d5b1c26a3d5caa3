//! Reads the lists of a server page by page, and again after a change, when a list is no longer fresh, or on request.

use std::sync::Arc;

use host_state::TICK_INTERVAL;
use mcp_proto::session::{CallDeadline, CallError, ClientRequest, DroppedListEntry, ListKind, ServerResult};
use mcp_transport::driver::SessionControl;
use offers::catalog::{CatalogListKind, CatalogListReader, NextListReadStep, ServerCatalog};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::{CallPurpose, ConnectionEvent, MIN_REREAD_INTERVAL, SessionRun, log_line};

/// Maximum number of invalid items of one list page that are named in the activity log.
const MAX_LOGGED_DROPPED_ITEMS: usize = 20;

impl SessionRun<'_> {
    pub(super) fn read_stale_lists(&mut self, session: &mut SessionControl<'_>) {
        let at = self.start.clock.now();
        for list in self.lists.offered.clone() {
            let is_stale = self.lists.catalog.fresh_until[list as usize].is_some_and(|until| until <= at);
            if is_stale && !self.lists.changed.contains(&list) {
                self.lists.changed.push(list);
            }
        }
        if self.ready {
            self.read_changed_lists(session);
        }
    }

    pub(super) fn reread_all_lists(&mut self) {
        self.lists.changed.clone_from(&self.lists.offered);
        self.mark_lists_outdated(&self.lists.offered.clone());
        self.ticks.schedule_soon();
    }

    /// Marks lists as outdated in the catalog, and reports this, since reading them again takes time and may fail.
    pub(super) fn mark_lists_outdated(&mut self, lists: &[CatalogListKind]) {
        if lists.iter().all(|list| self.lists.catalog.is_outdated(*list)) {
            return;
        }
        let catalog = Arc::make_mut(&mut self.lists.catalog);
        for list in lists {
            catalog.outdated[*list as usize] = true;
        }
        self.send_event(ConnectionEvent::Catalog(Arc::clone(&self.lists.catalog)));
    }

    /// Logs invalid entries that the session dropped from a page of a list, and adds a note about each to the list that
    /// is being read.
    pub(super) fn on_items_dropped(&mut self, kind: ListKind, items: Vec<DroppedListEntry>) {
        let dropped = items.into_iter().take(MAX_LOGGED_DROPPED_ITEMS);
        let Some(list) = lists_of_kind(kind).first() else { return };
        for item in dropped {
            let words = format!("\"{}\" was omitted from the {}: {}", item.name, list.plural_name(), item.cause);
            log_line(&self.activity, &words);
            let reading = self.calls.purposes.values_mut().find_map(|purpose| match purpose {
                CallPurpose::Page(reading) if reading.list == *list => Some(reading),
                _ => None,
            });
            if let Some(reading) = reading {
                reading.add_note_once(words);
            }
        }
    }

    pub(super) fn on_list_page(
        &mut self,
        mut reading: CatalogListReader,
        result: Result<ServerResult, CallError>,
        session: &mut SessionControl<'_>,
    ) {
        match result.map(|result| reading.add_page(result)) {
            Ok(NextListReadStep::Page(request)) => {
                self.request_page(reading, request, session);
                return;
            }
            Ok(NextListReadStep::Done) => {}
            Err(error) if reading.restart_if_cursor_rejected(&error) => {
                let request = reading.request(None);
                self.request_page(reading, request, session);
                return;
            }
            Err(error) => reading.add_failure_note(&error),
        }
        self.finish_list_read(reading);
    }

    fn request_page(&mut self, reading: CatalogListReader, request: ClientRequest, session: &mut SessionControl<'_>) {
        let list = reading.list;
        let (idle, total) = self.start.times.list;
        // If the request for a list can't be sent, the known entries of the list are retained.
        let page = CallPurpose::Page(Box::new(reading));
        if let Err(error) = self.send_call(page, request, CallDeadline { idle, total }, session) {
            let mut unread = CatalogListReader::new(list);
            unread.add_failure_note(&error);
            self.finish_list_read(unread);
        }
    }

    fn finish_list_read(&mut self, reading: CatalogListReader) {
        let list = reading.list;
        self.lists.last_read.insert(list, Instant::now());
        let catalog = Arc::make_mut(&mut self.lists.catalog);
        // A change reported while the list was being read may not be included in what was read.
        let is_outdated_again = catalog.is_outdated(list) && self.lists.changed.contains(&list);
        reading.finish(catalog, self.start.clock.now());
        catalog.outdated[list as usize] |= is_outdated_again;
        catalog.is_read = self.lists.offered.iter().all(|list| self.lists.last_read.contains_key(list));
        self.send_event(ConnectionEvent::Catalog(Arc::clone(&self.lists.catalog)));
        self.lists.refreshes.finish(list, &self.lists.catalog);
        if !self.lists.changed.is_empty() {
            self.ticks.schedule_soon();
        }
    }

    /// Reads lists again, after reads of the same lists that are in progress.
    pub(super) fn refresh_lists(
        &mut self,
        kind: ListKind,
        reply: oneshot::Sender<Arc<ServerCatalog>>,
        session: &mut SessionControl<'_>,
    ) {
        let lists: Vec<CatalogListKind> =
            lists_of_kind(kind).iter().copied().filter(|list| self.lists.offered.contains(list)).collect();
        for list in &lists {
            if !self.lists.changed.contains(list) {
                self.lists.changed.push(*list);
            }
        }
        self.lists.refreshes.add(lists, reply, &self.lists.catalog);
        if self.ready {
            self.read_changed_lists(session);
        }
    }

    pub(super) fn read_changed_lists(&mut self, session: &mut SessionControl<'_>) {
        let now = Instant::now();
        for list in std::mem::take(&mut self.lists.changed) {
            let being_read = self.calls.purposes.values().any(|p| matches!(p, CallPurpose::Page(r) if r.list == list));
            let read_at = self.lists.last_read.get(&list).filter(|_| !self.lists.refreshes.is_requested(list));
            let again_at = read_at.map_or(now, |read| *read + MIN_REREAD_INTERVAL);
            if being_read || again_at > now {
                self.lists.changed.push(list);
                self.ticks.schedule_by(again_at.max(now + TICK_INTERVAL));
            } else {
                self.lists.refreshes.begin(list);
                let reading = CatalogListReader::new(list);
                let request = reading.request(None);
                self.request_page(reading, request, session);
            }
        }
    }
}

pub(super) const fn lists_of_kind(kind: ListKind) -> &'static [CatalogListKind] {
    match kind {
        ListKind::Tools => &[CatalogListKind::Tools],
        ListKind::Prompts => &[CatalogListKind::Prompts],
        ListKind::Resources => &[CatalogListKind::Resources, CatalogListKind::Templates],
    }
}
