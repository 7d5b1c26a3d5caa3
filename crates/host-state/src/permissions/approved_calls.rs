//! Tool calls that the user approved once and may repeat for a short time without another consent request. Used by
//! `host/src/owner/calls/decision.rs`.

use std::collections::VecDeque;

use domain::Millis;
use domain::call::CallId;
use policy::Hash;

/// Time after the approval of a call in which the user can repeat the call, in milliseconds.
pub const CALL_REPETITION_PERIOD: Millis = 15 * 60 * 1_000;
/// Maximum number of approved calls that can be repeated. Beyond it, the oldest one is dropped.
const MAX_APPROVED_CALLS: usize = 100;

/// Payload and receiver of a tool call that the user approved, and the conversation of the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovedCall {
    /// Name of the called server.
    pub server: String,
    /// Identifier of the conversation that the call belongs to, if any.
    pub conversation: Option<String>,
    /// Hash of the call as its consent request shows it, which covers the definition of the tool and the arguments.
    pub hash: Hash,
    /// Hash of the tool's definition and the settings of its server, to which grants for the tool are bound, too.
    pub grant_hash: Hash,
}

/// The tool calls that the user can repeat.
#[derive(Debug, Default)]
pub struct ApprovedCalls {
    /// The calls, oldest first, each with its identifier and the time of the approval.
    calls: VecDeque<(CallId, ApprovedCall, Millis)>,
    /// Number of calls of [`Self::forget_server`] and [`Self::clear`].
    forgotten: u64,
}

impl ApprovedCalls {
    /// Returns how often [`Self::forget_server`] and [`Self::clear`] were called so far, even if there were no calls to
    /// drop. If the number has changed since the user approved a call, that call may no longer be repeated, so it must
    /// not be stored.
    pub const fn forget_count(&self) -> u64 {
        self.forgotten
    }

    /// Stores a call that the user approved at `at`, and drops the oldest one if there are too many.
    pub fn add(&mut self, call: CallId, approved: ApprovedCall, at: Millis) {
        self.calls.retain(|(id, ..)| *id != call);
        if self.calls.len() >= MAX_APPROVED_CALLS {
            self.calls.pop_front();
        }
        self.calls.push_back((call, approved, at));
    }

    /// Stores the call `call`, with which the user repeated the call `of`. It can be repeated as long as that one.
    pub fn add_repetition(&mut self, of: &str, call: CallId) {
        if let Some((_, approved, at)) = self.calls.iter().find(|(id, ..)| id == of).cloned() {
            self.add(call, approved, at);
        }
    }

    /// Returns `true` if the user approved the call `of` within the last [`CALL_REPETITION_PERIOD`], and `now_called`
    /// has the same payload, receiver and conversation.
    pub fn covers(&self, of: &str, now_called: &ApprovedCall, now: Millis) -> bool {
        self.calls.iter().any(|(id, approved, at)| id == of && approved == now_called && is_approval_recent(*at, now))
    }

    /// Returns the time until which the user can repeat a call, or `None` if that is not possible.
    pub fn repeatable_until(&self, call: &str, now: Millis) -> Option<Millis> {
        let (.., at) = self.calls.iter().find(|(id, _, at)| id == call && is_approval_recent(*at, now))?;
        Some(at.saturating_add(CALL_REPETITION_PERIOD))
    }

    /// Drops the calls of a server. Returns `true` if there were any.
    pub fn forget_server(&mut self, server: &str) -> bool {
        self.forgotten += 1;
        let before = self.calls.len();
        self.calls.retain(|(_, approved, _)| approved.server != server);
        self.calls.len() != before
    }

    /// Drops the calls of all servers.
    pub fn clear(&mut self) {
        self.forgotten += 1;
        self.calls.clear();
    }
}

/// Returns `true` if a call that was approved at `at` can still be repeated. Both parameters are times of the system
/// clock. If the clock was set back to before `at`, the call can't be repeated.
fn is_approval_recent(at: Millis, now: Millis) -> bool {
    now.checked_sub(at).is_some_and(|passed| passed <= CALL_REPETITION_PERIOD)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn approved(server: &str, arguments: &str) -> ApprovedCall {
        ApprovedCall {
            server: server.to_owned(),
            conversation: None,
            hash: Hash::of_bytes(arguments.as_bytes()),
            grant_hash: Hash::of_bytes(b"definition"),
        }
    }

    fn approved_calls_with_one(id: &str, server: &str, at: Millis) -> ApprovedCalls {
        let mut calls = ApprovedCalls::default();
        calls.add(id.to_owned(), approved(server, "a"), at);
        calls
    }

    #[test]
    fn only_the_same_call_is_covered() {
        let (calls, same) = (approved_calls_with_one("1", "s", 1_000), approved("s", "a"));
        assert!(calls.covers("1", &same, 1_000), "the same call is covered");
        assert!(!calls.covers("2", &same, 1_000), "another call was not approved");
        assert!(!calls.covers("1", &approved("other", "a"), 1_000), "another server");
        assert!(!calls.covers("1", &approved("s", "b"), 1_000), "other arguments");
        let conversation = Some("c".to_owned());
        assert!(!calls.covers("1", &ApprovedCall { conversation, ..same.clone() }, 1_000), "another conversation");
        let grant_hash = Hash::of_bytes(b"changed");
        assert!(!calls.covers("1", &ApprovedCall { grant_hash, ..same }, 1_000), "another definition");
    }

    #[test]
    fn call_can_be_repeated_for_a_short_time() {
        let (calls, same) = (approved_calls_with_one("1", "s", 1_000), approved("s", "a"));
        let end = 1_000 + CALL_REPETITION_PERIOD;
        assert_eq!(calls.repeatable_until("1", 1_000), Some(end));
        assert!(calls.covers("1", &same, end), "until the end of the period");
        assert!(!calls.covers("1", &same, end + 1), "the approval is too old");
        assert_eq!(calls.repeatable_until("1", end + 1), None, "the approval is too old");
        assert!(!calls.covers("1", &same, 999), "the clock was set back");
        assert_eq!(calls.repeatable_until("2", 1_000), None, "another call");
    }

    #[test]
    fn repetition_does_not_extend_the_period() {
        let (mut calls, same) = (approved_calls_with_one("1", "s", 1_000), approved("s", "a"));
        calls.add_repetition("1", "2".to_owned());
        calls.add_repetition("unknown", "3".to_owned());
        let end = 1_000 + CALL_REPETITION_PERIOD;
        assert!(calls.covers("2", &same, end), "a repeated call can be repeated");
        assert_eq!(calls.repeatable_until("2", end), Some(end), "the period begins with the approval");
        assert!(!calls.covers("3", &same, 1_000), "an unknown call gives no approval");
    }

    #[test]
    fn oldest_call_is_dropped_beyond_the_limit() {
        let mut calls = ApprovedCalls::default();
        for number in 0..=MAX_APPROVED_CALLS {
            calls.add(number.to_string(), approved("s", "a"), 1_000);
        }
        assert!(!calls.covers("0", &approved("s", "a"), 1_000), "the oldest one is dropped");
        assert!(calls.covers("1", &approved("s", "a"), 1_000));
        calls.add("1".to_owned(), approved("s", "b"), 1_000);
        assert!(!calls.covers("1", &approved("s", "a"), 1_000), "a later call with the same id replaces it");
        assert!(calls.covers("2", &approved("s", "a"), 1_000), "and no other one");
    }

    #[test]
    fn each_forgetting_of_approved_calls_is_counted() {
        let mut calls = approved_calls_with_one("1", "s", 1_000);
        let before = calls.forget_count();
        calls.add_repetition("1", "2".to_owned());
        assert_eq!(calls.forget_count(), before, "a repetition ends nothing");
        assert!(!calls.forget_server("without calls"), "there is none to forget");
        assert_ne!(calls.forget_count(), before, "a call of the server may wait for the audit entry of its approval");
        let before = calls.forget_count();
        calls.clear();
        assert_ne!(calls.forget_count(), before, "the same for all servers");
    }

    #[test]
    fn approved_calls_of_one_server_are_dropped() {
        let mut calls = approved_calls_with_one("1", "s", 1_000);
        calls.add("2".to_owned(), approved("other", "a"), 1_000);
        assert!(calls.forget_server("s"), "there was one");
        assert!(!calls.forget_server("s"), "there is none any more");
        assert_eq!(calls.repeatable_until("1", 1_000), None);
        assert!(calls.repeatable_until("2", 1_000).is_some(), "the other server is not affected");
        calls.clear();
        assert_eq!(calls.repeatable_until("2", 1_000), None);
    }
}
