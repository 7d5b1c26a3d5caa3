//! Pending requests of the client: their ids, and the handler of each response.

use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxBuildHasher;

use crate::jsonrpc::RequestId;

use super::CallId;

/// Maximum number of stored ids of abandoned requests, by which late responses to them are recognized.
const MAX_ABANDONED_REQUEST_IDS: usize = 1024;

/// Purpose of a pending request of the client, which determines the handler of its response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestPurpose {
    /// `tools/list`, sent because the server refused the HTTP headers of a call.
    Relist { call: CallId, page: u32 },
    /// `tasks/get` of a call that continues as a task.
    TaskGet(CallId),
    /// `tasks/result` of a call that continues as a task.
    TaskResult(CallId),
    /// `tasks/update` of a call that continues as a task.
    TaskUpdate(CallId),
    /// `tasks/cancel`, whose response is ignored.
    TaskCancel,
    /// Request that restores state of the previous session, such as `logging/setLevel`.
    Restore,
    /// `server/discover` in the handshake.
    Probe,
    /// `initialize`, which opens a session in revisions before 2026-07-28.
    Initialize,
    /// Request of a call that the session's caller started.
    Call(CallId),
    /// `subscriptions/listen`, whose response arrives when the subscription ends.
    Listen,
    /// A ping of the session's health check.
    HealthCheck,
}

impl RequestPurpose {
    /// Returns the call that this request carries out, or `None` for requests about a call, such as a poll of its task.
    pub(super) fn call_id(self) -> Option<CallId> {
        if let RequestPurpose::Call(call) = self { Some(call) } else { None }
    }
}

/// Outcome of matching a response to the pending requests.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ResponseMatch {
    Waiting(RequestPurpose),
    /// The client abandoned the request that the response is for. A late response is expected, and ignored.
    GivenUp,
    /// The request that the response is for already has a response.
    Answered,
    /// No request of the client had the response's id.
    Unknown,
}

/// Pending requests of the client. Ids are whole numbers that are never reused in a session, as the `basic` page
/// requires up to 2025-11-25, and no caller can choose them, so they do not collide.
#[derive(Debug)]
pub(super) struct PendingRequestTable {
    next: i64,
    waiting: IndexMap<i64, RequestPurpose, FxBuildHasher>,
    given_up: IndexSet<i64, FxBuildHasher>,
}

impl PendingRequestTable {
    pub(super) fn new() -> PendingRequestTable {
        PendingRequestTable { next: 1, waiting: IndexMap::default(), given_up: IndexSet::default() }
    }

    /// Registers a request of the client and returns its new id.
    pub(super) fn register(&mut self, purpose: RequestPurpose) -> i64 {
        let id = self.next;
        self.next += 1;
        self.waiting.insert(id, purpose);
        id
    }

    /// Removes the pending request with this id. Returns its purpose, or the reason why no request is pending.
    pub(super) fn match_response(&mut self, id: &RequestId) -> ResponseMatch {
        let RequestId::Number(id) = id else { return ResponseMatch::Unknown };
        if let Some(purpose) = self.waiting.swap_remove(id) {
            ResponseMatch::Waiting(purpose)
        } else if self.given_up.shift_remove(id) {
            ResponseMatch::GivenUp
        } else if (1..self.next).contains(id) {
            ResponseMatch::Answered
        } else {
            ResponseMatch::Unknown
        }
    }

    /// Moves a pending request to the abandoned ones, so that its late response is ignored.
    pub(super) fn abandon(&mut self, id: i64) {
        if self.waiting.swap_remove(&id).is_some() {
            if self.given_up.len() == MAX_ABANDONED_REQUEST_IDS {
                self.given_up.shift_remove_index(0);
            }
            self.given_up.insert(id);
        }
    }

    /// Returns the purpose of a pending request, or `None` if no request with this id is pending.
    pub(super) fn purpose(&self, id: i64) -> Option<RequestPurpose> {
        self.waiting.get(&id).copied()
    }

    /// Abandons a pending request that will get no response, and returns its purpose.
    pub(super) fn abandon_by_wire_id(&mut self, id: &RequestId) -> Option<RequestPurpose> {
        let RequestId::Number(id) = id else { return None };
        let purpose = self.purpose(*id)?;
        self.abandon(*id);
        Some(purpose)
    }

    /// Abandons all pending requests and returns their purposes.
    pub(super) fn abandon_all(&mut self) -> Vec<RequestPurpose> {
        let waiting: Vec<(i64, RequestPurpose)> = self.waiting.iter().map(|(id, purpose)| (*id, *purpose)).collect();
        waiting.iter().for_each(|(id, _)| self.abandon(*id));
        waiting.into_iter().map(|(_, purpose)| purpose).collect()
    }

    pub(super) fn is_pending(&self, id: &RequestId) -> bool {
        matches!(id, RequestId::Number(id) if self.waiting.contains_key(id))
    }

    /// Returns the id of the only pending request apart from `subscriptions/listen`, to which a response without an id
    /// must belong. Returns `None` if no or several requests are pending.
    pub(super) fn sole_pending_request_id(&self) -> Option<RequestId> {
        let mut soon = self.waiting.iter().filter(|(_, purpose)| **purpose != RequestPurpose::Listen);
        match (soon.next(), soon.next()) {
            (Some((id, _)), None) => Some(RequestId::Number(*id)),
            _ => None,
        }
    }
}
