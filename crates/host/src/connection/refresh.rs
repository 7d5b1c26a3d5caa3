//! Lists that are read again because someone asked for it, and who waits for them.

use std::sync::Arc;

use offers::catalog::{Catalog, List};
use tokio::sync::oneshot;

/// The most that wait at a time. More are told at once what is known.
const MAX_WAITING: usize = 64;

/// Who waits for lists to be read.
#[derive(Debug, Default)]
pub(super) struct Refreshes(Vec<Refresh>);

#[derive(Debug)]
struct Refresh {
    /// The lists, each with whether its reading began after it was asked for: one that was under way before may miss what
    /// has changed.
    lists: Vec<(List, bool)>,
    reply: oneshot::Sender<Arc<Catalog>>,
}

impl Refreshes {
    /// Someone wants these lists to be read again.
    pub(super) fn wanted(&mut self, lists: Vec<List>, reply: oneshot::Sender<Arc<Catalog>>, known: &Arc<Catalog>) {
        if lists.is_empty() || self.0.len() >= MAX_WAITING {
            // Whoever asked may have gone away.
            let _ = reply.send(Arc::clone(known));
            return;
        }
        self.0.push(Refresh { lists: lists.into_iter().map(|list| (list, false)).collect(), reply });
    }

    /// Whether someone waits for a reading of this list that has not begun.
    pub(super) fn wants(&self, list: List) -> bool {
        self.0.iter().any(|refresh| refresh.lists.contains(&(list, false)))
    }

    /// The reading of this list begins.
    pub(super) fn begun(&mut self, list: List) {
        for (own, begun) in self.0.iter_mut().flat_map(|refresh| &mut refresh.lists) {
            *begun |= *own == list;
        }
    }

    /// A list was read, whole or not.
    pub(super) fn read(&mut self, list: List, found: &Arc<Catalog>) {
        for refresh in &mut self.0 {
            refresh.lists.retain(|waiting| *waiting != (list, true));
        }
        for done in self.0.extract_if(.., |refresh| refresh.lists.is_empty()) {
            // Whoever asked may have gone away.
            let _ = done.reply.send(Arc::clone(found));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reading_that_was_under_way_does_not_count() {
        let (reply, mut replied) = oneshot::channel();
        let (known, mut refreshes) = (Arc::new(Catalog::default()), Refreshes::default());
        refreshes.wanted(vec![List::Tools], reply, &known);
        refreshes.read(List::Tools, &known);
        assert!(replied.try_recv().is_err(), "it began before it was asked for");
        assert!(refreshes.wants(List::Tools), "it has to be read once more");
        refreshes.begun(List::Tools);
        refreshes.read(List::Tools, &known);
        assert!(replied.try_recv().is_ok(), "the next reading is told");
    }

    #[test]
    fn both_lists_are_waited_for() {
        let (reply, mut replied) = oneshot::channel();
        let (known, mut refreshes) = (Arc::new(Catalog::default()), Refreshes::default());
        refreshes.wanted(vec![List::Resources, List::Templates], reply, &known);
        refreshes.begun(List::Resources);
        refreshes.begun(List::Templates);
        refreshes.read(List::Templates, &known);
        assert!(replied.try_recv().is_err(), "resources are not read yet");
        refreshes.read(List::Resources, &known);
        assert!(replied.try_recv().is_ok(), "both are read");
    }
}
