//! State for restarting one server automatically: the approved command or address, the number of attempts, and the time
//! since which it is ready. Used by `host/src/owner/supervision.rs`.

use std::time::Duration;

use policy::Hash;
use supervision::backoff::RestartBackoff;
use tokio::time::Instant;

use crate::view::{FailureReason, ServerFailure};

/// Minimum pause before the first retry of a sign-in without the user. Before retry number n, the minimum pause is n
/// times as long. For this time after a failed token refresh, requests fail with the same error without another refresh
/// attempt.
const MIN_SIGN_IN_RETRY_PAUSE: Duration = Duration::from_secs(10);

/// State for restarting one server automatically after it exits or disconnects.
#[derive(Debug, Default)]
pub struct RestartState {
    backoff: RestartBackoff,
    /// Hash of the approved command or address that was launched. `None` before the first launch, and after the
    /// automatic restarts have ended.
    approved: Option<Hash>,
    /// Reason why the server ended. Set while the server is being restarted or its restart waits for consent.
    restart_cause: Option<String>,
    /// Hash of the approved address of a server whose restarts ended because it was unreachable. Used by
    /// [`begin_restarts_after_outage`](Self::begin_restarts_after_outage).
    out_of_reach: Option<Hash>,
    /// Time since which the server is ready, or `None` if it is not ready.
    ready: Option<Instant>,
    /// Set once the server has become ready after its launch.
    was_ready: bool,
    /// Set when the server starts to wait for the user's sign-in. Reset on the next launch.
    awaits_sign_in: bool,
    /// Set after a sign-in that allows the next connection: a sign-in by the user, or one without the user if the
    /// server has not been ready since its launch.
    signed_in: bool,
    /// Number of the current pause before a restart. A restart scheduled under another number is obsolete.
    wait: u64,
    /// Saved state of a running server whose approval was revoked. Used by
    /// [`on_approval_restored`](Self::on_approval_restored).
    revoked: Option<StateBeforeRevocation>,
}

/// Supervision state of a running server, saved when its approval was revoked. It is restored if the approval is
/// restored.
#[derive(Debug)]
struct StateBeforeRevocation {
    backoff: RestartBackoff,
    approved: Option<Hash>,
    ready: Option<Instant>,
    was_ready: bool,
}

impl RestartState {
    /// Records that an approved command or address was launched.
    pub fn on_launched(&mut self, approved: Hash) {
        self.approved = Some(approved);
        self.restart_cause = None;
        self.out_of_reach = None;
        self.revoked = None;
        (self.awaits_sign_in, self.signed_in, self.was_ready) = (false, false, false);
    }

    /// Records that the remote server was reached and requires the user to sign in.
    pub fn on_sign_in_awaited(&mut self) {
        self.backoff.reset_after_run(self.ready.take().map(|since| since.elapsed()).unwrap_or_default());
        self.wait += 1;
        self.revoked = None;
        self.awaits_sign_in = true;
    }

    /// Records a successful sign-in. With `by_user` set, the user took part in it, so that the user's approval applies
    /// to the next connection. A sign-in without the user only allows a connection if the server was not ready since
    /// its launch.
    pub const fn on_signed_in(&mut self, by_user: bool) {
        self.signed_in = by_user || !self.was_ready;
    }

    /// Records that the host restarts the server automatically. `cause` is the reason why the server ended.
    pub fn record_restart(&mut self, cause: String) {
        self.restart_cause = Some(cause);
    }

    /// Records that the server became ready.
    pub fn on_ready(&mut self) {
        self.ready = Some(Instant::now());
        self.was_ready = true;
        self.revoked = None;
    }

    /// Returns `true` if a connection with this hash was approved and only waited for a sign-in, which has succeeded.
    /// Other automatic connections need their own decision.
    pub fn may_continue_after_sign_in(&self, hash: &Hash) -> bool {
        self.awaits_sign_in && self.signed_in && self.approved.as_ref() == Some(hash)
    }

    /// Returns the hash of the approved command or address that was launched, or `None` before the first launch and
    /// after the automatic restarts have ended.
    pub const fn launched(&self) -> Option<&Hash> {
        self.approved.as_ref()
    }

    /// Returns the reason why the server ended, if the host is restarting it automatically.
    pub fn restart_cause(&self) -> Option<String> {
        self.restart_cause.clone()
    }

    /// Returns `true` if the host is restarting the server automatically.
    pub const fn is_restarting(&self) -> bool {
        self.restart_cause.is_some()
    }

    /// Ends the automatic restarts, because the user stopped or changed the server, or must do something before it can
    /// start.
    pub fn give_up_restarting(&mut self) {
        *self = Self { wait: self.wait + 1, ..Self::default() };
    }

    /// Ends the automatic restarts of a running server because its approval was revoked.
    /// [`on_approval_restored`](Self::on_approval_restored) reverts that while the server runs.
    pub fn on_approval_revoked(&mut self) {
        let before = std::mem::take(self);
        let revoked = before.revoked.or(Some(StateBeforeRevocation {
            backoff: before.backoff,
            approved: before.approved,
            ready: before.ready,
            was_ready: before.was_ready,
        }));
        *self = Self { wait: before.wait + 1, revoked, ..Self::default() };
    }

    /// Reverts [`on_approval_revoked`](Self::on_approval_revoked) after the approval was restored: if the running
    /// server ends, it is restarted automatically, as before. Has no effect if the server has ended or was launched
    /// since.
    pub fn on_approval_restored(&mut self) {
        if let Some(StateBeforeRevocation { backoff, approved, ready, was_ready }) = self.revoked.take() {
            (self.backoff, self.approved, self.ready, self.was_ready) = (backoff, approved, ready, was_ready);
        }
    }

    /// Ends the automatic restarts, because there were too many attempts or because the failure permits no restart. If
    /// the server was unreachable, [`RestartState::begin_restarts_after_outage`] can begin a new series.
    pub fn end_restarts_after_failure(&mut self, failure: &ServerFailure) {
        let may_resume = self.backoff.has_recent_restart() && failure.may_depend_on_network();
        let out_of_reach = self.approved.take().filter(|_| may_resume);
        *self = Self { wait: self.wait, out_of_reach, ..Self::default() };
    }

    /// Begins a new series of restart attempts for a server that was unreachable. Returns `false` if the restarts did
    /// not end for that reason.
    pub fn begin_restarts_after_outage(&mut self) -> bool {
        let Some(approved) = self.out_of_reach.take() else { return false };
        self.approved = Some(approved);
        self.restart_cause = Some("it could not be reached".to_owned());
        self.backoff = RestartBackoff::default();
        self.backoff.next_attempt(Instant::now(), 0.0).is_some()
    }

    /// Returns the number of the next restart attempt and the pause before it, or `None` if the server must not be
    /// restarted.
    pub fn next_restart(&mut self, failure: &ServerFailure) -> Option<(u32, Duration)> {
        let was_ready = self.ready.take();
        self.wait += 1;
        // A server that was never ready is not restarted, since the user has to resolve the cause.
        if !failure.may_be_temporary() || was_ready.is_none() && !self.backoff.has_recent_restart() {
            return None;
        }
        self.backoff.reset_after_run(was_ready.map(|since| since.elapsed()).unwrap_or_default());
        self.backoff.next_attempt(Instant::now(), fastrand::f64())
    }

    /// Returns the number of the current pause before a restart, by which obsolete restarts are recognized.
    pub const fn restart_pause_number(&self) -> u64 {
        self.wait
    }

    /// Returns the number of the next attempt to sign in without the user and the pause before that attempt, or `None`
    /// if no attempt is left.
    pub fn next_sign_in_retry(&mut self) -> Option<(u32, Duration)> {
        let (attempt, pause) = self.backoff.next_attempt(Instant::now(), fastrand::f64())?;
        // Each attempt makes several requests, and a broken server must not cause more than twenty requests per minute.
        Some((attempt, MIN_SIGN_IN_RETRY_PAUSE * attempt + pause))
    }
}

impl ServerFailure {
    /// Returns `true` if the failure may be temporary, so that a restart may succeed.
    const fn may_be_temporary(&self) -> bool {
        match self.reason {
            FailureReason::Exited
            | FailureReason::ExitedEarly
            | FailureReason::NoAnswer
            | FailureReason::Unresponsive
            | FailureReason::CouldNotStart
            | FailureReason::Unreachable => true,
            FailureReason::CommandNotFound
            | FailureReason::Protocol
            | FailureReason::Refused
            | FailureReason::Unauthorized
            | FailureReason::NoSecret
            | FailureReason::LimitReached => false,
        }
    }

    /// Returns `true` if the failure may be resolved by a change of the network.
    const fn may_depend_on_network(&self) -> bool {
        matches!(self.reason, FailureReason::NoAnswer | FailureReason::Unresponsive | FailureReason::Unreachable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(reason: FailureReason) -> ServerFailure {
        ServerFailure {
            reason,
            message: String::new(),
            stderr: Vec::new(),
            looked_in: Vec::new(),
            hint: None,
            blocked: Box::default(),
            sandbox: None,
            refusal: None,
        }
    }

    fn ready_supervision() -> RestartState {
        let mut supervision = RestartState::default();
        supervision.on_launched(Hash::of_bytes(b"approved"));
        supervision.on_ready();
        supervision
    }

    #[tokio::test(start_paused = true)]
    async fn only_used_servers_with_a_transient_failure_are_restarted() {
        assert!(
            ready_supervision().next_restart(&failure(FailureReason::Exited)).is_some(),
            "a server that exited is restarted"
        );
        assert!(
            ready_supervision().next_restart(&failure(FailureReason::Refused)).is_none(),
            "a permanent failure is not retried"
        );
        let mut never_ready = RestartState::default();
        never_ready.on_launched(Hash::of_bytes(b"approved"));
        assert!(
            never_ready.next_restart(&failure(FailureReason::Exited)).is_none(),
            "a server that never was ready is not restarted"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn unreachable_server_is_retried_once_after_a_network_change() {
        let mut supervision = ready_supervision();
        while supervision.next_restart(&failure(FailureReason::Unreachable)).is_some() {}
        supervision.end_restarts_after_failure(&failure(FailureReason::Unreachable));
        assert!(supervision.begin_restarts_after_outage(), "an unreachable server is tried again");
        assert!(!supervision.begin_restarts_after_outage(), "an unreachable server is resumed once");
        let mut crashing = ready_supervision();
        while crashing.next_restart(&failure(FailureReason::Exited)).is_some() {}
        crashing.end_restarts_after_failure(&failure(FailureReason::Exited));
        assert!(!crashing.begin_restarts_after_outage(), "a crashing server is not resumed");
    }

    #[tokio::test(start_paused = true)]
    async fn restored_approval_restarts_the_running_server() {
        let mut supervision = ready_supervision();
        supervision.on_approval_revoked();
        supervision.on_approval_revoked();
        supervision.on_approval_restored();
        assert!(supervision.next_restart(&failure(FailureReason::Exited)).is_some(), "the server is supervised again");
        let mut ended = ready_supervision();
        ended.on_approval_revoked();
        let exited = failure(FailureReason::Exited);
        assert!(ended.next_restart(&exited).is_none(), "without the approval, it is not restarted");
        ended.end_restarts_after_failure(&exited);
        ended.on_approval_restored();
        assert!(ended.next_restart(&exited).is_none(), "a server that ended meanwhile stays ended");
        let mut stopped = ready_supervision();
        stopped.on_approval_revoked();
        stopped.give_up_restarting();
        stopped.on_approval_restored();
        assert!(stopped.next_restart(&exited).is_none(), "a server that the user stopped stays stopped");
    }

    #[test]
    fn start_continues_after_a_sign_in_for_the_approved_command_only() {
        let (approved, other) = (Hash::of_bytes(b"approved"), Hash::of_bytes(b"other"));
        let mut supervision = RestartState::default();
        supervision.on_launched(approved.clone());
        supervision.on_sign_in_awaited();
        assert!(!supervision.may_continue_after_sign_in(&approved), "a start without a sign-in requires consent");
        supervision.on_signed_in(false);
        assert!(supervision.may_continue_after_sign_in(&approved), "the start continues after the sign-in");
        assert!(!supervision.may_continue_after_sign_in(&other), "another address was not approved");
        let mut used = ready_supervision();
        used.on_sign_in_awaited();
        used.on_signed_in(false);
        assert!(!used.may_continue_after_sign_in(&approved), "a server that was ready requires consent");
        used.on_signed_in(true);
        assert!(used.may_continue_after_sign_in(&approved), "a sign-in by the user continues the start");
    }
}
