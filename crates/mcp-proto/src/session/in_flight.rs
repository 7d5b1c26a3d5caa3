//! The calls that have not ended, and when the first of them is due.

use std::ops::Deref;
use std::time::Instant;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use super::CallId;
use super::calls::Call;
use super::timers::earliest;

/// The calls. Reading goes to the map.
///
/// With hundreds in flight, looking through all of them after each message would cost more than the message.
/// A call's times change only while it is changed, so it is enough to look at the one that was changed last.
#[derive(Debug, Default)]
pub(super) struct InFlight {
    /// Their names are our own counter: nobody can choose them so that they collide.
    /// In boxes, so that an idle session keeps little room for the next ones.
    calls: IndexMap<CallId, Box<Call>, FxBuildHasher>,
    /// The call that was changed last. Its times are not yet in `soonest`.
    changed: Option<CallId>,
    /// No other call is due before; it may be earlier than any is.
    soonest: Option<Instant>,
}

impl Deref for InFlight {
    type Target = IndexMap<CallId, Box<Call>, FxBuildHasher>;

    fn deref(&self) -> &Self::Target {
        &self.calls
    }
}

impl InFlight {
    pub(super) fn insert(&mut self, id: CallId, call: Call) {
        self.changes(id);
        self.calls.insert(id, Box::new(call));
    }

    pub(super) fn get_mut(&mut self, id: &CallId) -> Option<&mut Call> {
        self.changes(*id);
        self.calls.get_mut(id).map(Box::as_mut)
    }

    pub(super) fn remove(&mut self, id: CallId) -> Option<Box<Call>> {
        let call = self.calls.swap_remove(&id);
        if self.changed == Some(id) {
            self.changed = None;
        }
        if self.calls.is_empty() {
            self.soonest = None;
        }
        call
    }

    /// When to look for what is due: not later than that is, and seldom earlier.
    pub(super) fn next(&self) -> Option<Instant> {
        earliest([self.soonest, self.next_of_changed()])
    }

    /// Looks through all of them, so that [`InFlight::next`] is exact.
    pub(super) fn look_through(&mut self) {
        self.changed = None;
        self.soonest = earliest(self.calls.values().map(|call| call.next()));
    }

    fn next_of_changed(&self) -> Option<Instant> {
        self.calls.get(&self.changed?)?.next()
    }

    fn changes(&mut self, id: CallId) {
        if self.changed != Some(id) {
            self.soonest = self.next();
            self.changed = Some(id);
        }
    }
}
