//! Calls in flight, and the time of their next timeout.

use std::ops::Deref;
use std::time::Instant;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use super::CallId;
use super::calls::PendingCall;
use super::timers::earliest_instant;

/// The calls that have not ended, with a cached lower bound of their earliest timeout.
///
/// Scanning hundreds of calls after each message would cost more than processing the message. The timeouts of a call
/// change only while the call is borrowed mutably, so only the call that was borrowed last is examined again.
#[derive(Debug, Default)]
pub(super) struct PendingCalls {
    /// All pending calls. The session generates the keys, so no peer can choose keys whose hashes collide. Calls are
    /// boxed to keep the spare capacity of an idle session small.
    calls: IndexMap<CallId, Box<PendingCall>, FxBuildHasher>,
    /// Call that was borrowed mutably last. Its timeouts are not included in the field `soonest`.
    changed: Option<CallId>,
    /// Lower bound of the next timeouts of all calls except `changed`.
    soonest: Option<Instant>,
}

impl Deref for PendingCalls {
    type Target = IndexMap<CallId, Box<PendingCall>, FxBuildHasher>;

    fn deref(&self) -> &Self::Target {
        &self.calls
    }
}

impl PendingCalls {
    pub(super) fn insert(&mut self, id: CallId, call: PendingCall) {
        self.mark_timeouts_changed(id);
        self.calls.insert(id, Box::new(call));
    }

    pub(super) fn get_mut(&mut self, id: &CallId) -> Option<&mut PendingCall> {
        self.mark_timeouts_changed(*id);
        self.calls.get_mut(id).map(Box::as_mut)
    }

    pub(super) fn remove(&mut self, id: CallId) -> Option<Box<PendingCall>> {
        let call = self.calls.swap_remove(&id);
        if self.changed == Some(id) {
            self.changed = None;
        }
        if self.calls.is_empty() {
            self.soonest = None;
        }
        call
    }

    /// Returns the earliest time at which a call may time out. May be earlier than the first timeout, but never later.
    pub(super) fn next_due(&self) -> Option<Instant> {
        earliest_instant([self.soonest, self.next_due_of_changed_call()])
    }

    /// Recomputes the lower bound from all calls, so that [`PendingCalls::next_due`] is exact.
    pub(super) fn recompute_next_due(&mut self) {
        self.changed = None;
        self.soonest = earliest_instant(self.calls.values().map(|call| call.next_due()));
    }

    fn next_due_of_changed_call(&self) -> Option<Instant> {
        self.calls.get(&self.changed?)?.next_due()
    }

    fn mark_timeouts_changed(&mut self, id: CallId) {
        if self.changed != Some(id) {
            self.soonest = self.next_due();
            self.changed = Some(id);
        }
    }
}
