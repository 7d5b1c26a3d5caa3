//! Requested refreshes of lists, and the callers that wait for them.

use std::sync::Arc;

use offers::catalog::{CatalogListKind, ServerCatalog};
use tokio::sync::oneshot;

/// Maximum number of callers that wait for lists to be read again. Others receive the current catalog immediately.
const MAX_REFRESH_WAITERS: usize = 64;

/// Callers that wait until lists of a server are read again.
#[derive(Debug, Default)]
pub struct PendingRefreshes(Vec<PendingRefresh>);

#[derive(Debug)]
struct PendingRefresh {
    /// Awaited lists, each with a flag that is set once a read has begun after the request. A read that had begun
    /// before may miss recent changes.
    lists: Vec<(CatalogListKind, bool)>,
    reply: oneshot::Sender<Arc<ServerCatalog>>,
}

impl PendingRefreshes {
    /// Registers a caller that waits until these lists are read again. If too many callers wait, `known` is returned
    /// immediately.
    pub fn add(
        &mut self,
        lists: Vec<CatalogListKind>,
        reply: oneshot::Sender<Arc<ServerCatalog>>,
        known: &Arc<ServerCatalog>,
    ) {
        if lists.is_empty() || self.0.len() >= MAX_REFRESH_WAITERS {
            // The caller may have stopped waiting.
            let _ = reply.send(Arc::clone(known));
            return;
        }
        self.0.push(PendingRefresh { lists: lists.into_iter().map(|list| (list, false)).collect(), reply });
    }

    /// Returns `true` if a caller waits for a read of this list that has not begun yet.
    #[must_use]
    pub fn is_requested(&self, list: CatalogListKind) -> bool {
        self.0.iter().any(|refresh| refresh.lists.contains(&(list, false)))
    }

    /// Records that a read of this list begins.
    pub fn begin(&mut self, list: CatalogListKind) {
        for (own, begun) in self.0.iter_mut().flat_map(|refresh| &mut refresh.lists) {
            *begun |= *own == list;
        }
    }

    /// Records that a read of this list ended, completely or not, and replies to the callers whose lists have all been
    /// read.
    pub fn finish(&mut self, list: CatalogListKind, found: &Arc<ServerCatalog>) {
        for refresh in &mut self.0 {
            refresh.lists.retain(|waiting| *waiting != (list, true));
        }
        for done in self.0.extract_if(.., |refresh| refresh.lists.is_empty()) {
            // The caller may have stopped waiting.
            let _ = done.reply.send(Arc::clone(found));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_in_progress_does_not_complete_a_refresh() {
        let (reply, mut replied) = oneshot::channel();
        let (known, mut refreshes) = (Arc::new(ServerCatalog::default()), PendingRefreshes::default());
        refreshes.add(vec![CatalogListKind::Tools], reply, &known);
        refreshes.finish(CatalogListKind::Tools, &known);
        assert!(replied.try_recv().is_err(), "a reading that began before the request doesn't count");
        assert!(refreshes.is_requested(CatalogListKind::Tools), "another reading is required");
        refreshes.begin(CatalogListKind::Tools);
        refreshes.finish(CatalogListKind::Tools, &known);
        assert!(replied.try_recv().is_ok(), "the next reading completes the refresh");
    }

    #[test]
    fn refresh_waits_for_all_its_lists() {
        let (reply, mut replied) = oneshot::channel();
        let (known, mut refreshes) = (Arc::new(ServerCatalog::default()), PendingRefreshes::default());
        refreshes.add(vec![CatalogListKind::Resources, CatalogListKind::Templates], reply, &known);
        refreshes.begin(CatalogListKind::Resources);
        refreshes.begin(CatalogListKind::Templates);
        refreshes.finish(CatalogListKind::Templates, &known);
        assert!(replied.try_recv().is_err(), "resources are not read yet");
        refreshes.finish(CatalogListKind::Resources, &known);
        assert!(replied.try_recv().is_ok(), "the refresh ends when both lists are read");
    }
}
