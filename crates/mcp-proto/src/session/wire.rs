//! Our requests on the wire: which ids were used, who waits for which answer.

use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxBuildHasher;

use crate::jsonrpc::RequestId;

use super::CallId;

/// How many ids are remembered whose answers are not wanted any longer.
const REMEMBERED: usize = 1024;

/// Who waits for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// `tools/list`, because the headers of a call did not fit what the server lists.
    Relist { call: CallId, page: u32 },
    /// `tasks/get` of a call that became a task.
    TaskGet(CallId),
    /// `tasks/result` of such a call.
    TaskResult(CallId),
    /// `tasks/update` of such a call.
    TaskUpdate(CallId),
    /// `tasks/cancel`, whose answer says nothing.
    TaskCancel,
    /// Something that the session had before it was opened anew.
    Restore,
    /// `server/discover`, to find the era.
    Probe,
    /// `initialize`.
    Initialize,
    /// A call of the host.
    Call(CallId),
    /// `subscriptions/listen`, whose answer comes at its end.
    Listen,
    /// A ping of the session itself.
    HealthCheck,
}

impl Purpose {
    /// The call whose own request this is.
    pub(super) fn call(self) -> Option<CallId> {
        if let Purpose::Call(call) = self { Some(call) } else { None }
    }
}

/// What an id on an answer means.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    Waiting(Purpose),
    /// The request was given up; its late answer is expected and of no interest.
    GivenUp,
    /// The request was answered before.
    Answered,
    /// No request had this id.
    Unknown,
}

/// Our requests. Ids are whole numbers that are never used twice in a session, as up to 2025-11-25
/// the `basic` page demands, and nobody can choose them so that they collide.
#[derive(Debug)]
pub(super) struct Wire {
    next: i64,
    waiting: IndexMap<i64, Purpose, FxBuildHasher>,
    given_up: IndexSet<i64, FxBuildHasher>,
}

impl Wire {
    pub(super) fn new() -> Wire {
        Wire { next: 1, waiting: IndexMap::default(), given_up: IndexSet::default() }
    }

    /// A new id.
    pub(super) fn open(&mut self, purpose: Purpose) -> i64 {
        let id = self.next;
        self.next += 1;
        self.waiting.insert(id, purpose);
        id
    }

    /// An answer with this id came.
    pub(super) fn close(&mut self, id: &RequestId) -> Found {
        let RequestId::Number(id) = id else { return Found::Unknown };
        if let Some(purpose) = self.waiting.swap_remove(id) {
            Found::Waiting(purpose)
        } else if self.given_up.shift_remove(id) {
            Found::GivenUp
        } else if (1..self.next).contains(id) {
            Found::Answered
        } else {
            Found::Unknown
        }
    }

    /// The answer is not wanted any longer.
    pub(super) fn give_up(&mut self, id: i64) {
        if self.waiting.swap_remove(&id).is_some() {
            if self.given_up.len() == REMEMBERED {
                self.given_up.shift_remove_index(0);
            }
            self.given_up.insert(id);
        }
    }

    /// What a request that waits for its answer is for.
    pub(super) fn purpose(&self, id: i64) -> Option<Purpose> {
        self.waiting.get(&id).copied()
    }

    /// The answer will not come on its own way. Tells who waited for it.
    pub(super) fn withdraw(&mut self, id: &RequestId) -> Option<Purpose> {
        let RequestId::Number(id) = id else { return None };
        let purpose = self.purpose(*id)?;
        self.give_up(*id);
        Some(purpose)
    }

    /// No answer is wanted any longer.
    pub(super) fn give_up_all(&mut self) -> Vec<Purpose> {
        let waiting: Vec<(i64, Purpose)> = self.waiting.iter().map(|(id, purpose)| (*id, *purpose)).collect();
        waiting.iter().for_each(|(id, _)| self.give_up(*id));
        waiting.into_iter().map(|(_, purpose)| purpose).collect()
    }

    pub(super) fn is_waiting(&self, id: &RequestId) -> bool {
        matches!(id, RequestId::Number(id) if self.waiting.contains_key(id))
    }

    /// The only request that waits for an answer soon: an answer without an id can only be its.
    pub(super) fn only_one(&self) -> Option<RequestId> {
        let mut soon = self.waiting.iter().filter(|(_, purpose)| **purpose != Purpose::Listen);
        match (soon.next(), soon.next()) {
            (Some((id, _)), None) => Some(RequestId::Number(*id)),
            _ => None,
        }
    }
}
