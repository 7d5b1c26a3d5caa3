//! The facts for bringing one server back: what was approved, how often it was tried, and since when it is in use. Caller:
//! `owner/supervision.rs`.

use std::time::Duration;

use ::supervision::backoff::Backoff;
use policy::Hash;
use tokio::time::Instant;

use crate::view::{Failure, FailureReason};

/// After a renewal that failed, for how long signing gives the same answer without trying.
const RENEWAL_PAUSE: Duration = Duration::from_secs(10);

/// The facts for bringing a server back.
#[derive(Debug, Default)]
pub(in crate::owner) struct Supervision {
    backoff: Backoff,
    /// The approved hash, for as long as the user has not stopped it.
    approved: Option<Hash>,
    /// The cause of its end, while it is brought back or asked about for that.
    ended: Option<String>,
    /// The approved hash of a server that was in use and then could not be reached any more, until it is tried again.
    out_of_reach: Option<Hash>,
    /// Since when it is in use.
    ready: Option<Instant>,
    /// Set once it was in use since its launch.
    was_ready: bool,
    /// Set while it waits for its user to sign in, and then runs again.
    awaits_sign_in: bool,
    /// A sign-in has ended well that its user took part in, or that belongs to the start which the user approved.
    signed_in: bool,
    /// Which wait counts; one that was given up has another number.
    wait: u64,
}

impl Supervision {
    /// The approved command or address is launched.
    pub(in crate::owner) fn launched(&mut self, approved: Hash) {
        self.approved = Some(approved);
        self.ended = None;
        self.out_of_reach = None;
        (self.awaits_sign_in, self.signed_in, self.was_ready) = (false, false, false);
    }

    /// The server was reached, and waits for its user to sign in.
    pub(in crate::owner) fn awaits_sign_in(&mut self) {
        self.backoff.was_in_use(self.ready.take().map(|since| since.elapsed()).unwrap_or_default());
        self.wait += 1;
        self.awaits_sign_in = true;
    }

    /// A sign-in has ended well. One that its user took part in is the user's act. One without the user belongs to the start that was
    /// approved, unless the server has been in use since: then nobody asked for another connection.
    pub(in crate::owner) const fn signed_in(&mut self, by_user: bool) {
        self.signed_in = by_user || !self.was_ready;
    }

    /// The host tries it again of its own accord, for this cause.
    pub(in crate::owner) fn tries_again(&mut self, cause: String) {
        self.ended = Some(cause);
    }

    pub(in crate::owner) fn is_ready(&mut self) {
        self.ready = Some(Instant::now());
        self.was_ready = true;
    }

    /// Returns true if exactly this was approved, waited for a sign-in, and goes on now that there was one. A connection that is tried again
    /// without one is another act.
    pub(in crate::owner) fn signed_in_to(&self, hash: &Hash) -> bool {
        self.awaits_sign_in && self.signed_in && self.approved.as_ref() == Some(hash)
    }

    /// The cause of its end, if nobody but the host would start it again.
    pub(in crate::owner) fn ended_because(&self) -> Option<String> {
        self.ended.clone()
    }

    /// Returns true if the host starts it again of its own accord.
    pub(in crate::owner) const fn is_bringing_back(&self) -> bool {
        self.ended.is_some()
    }

    /// The user stopped or changed it, or it is left to the user.
    pub(in crate::owner) fn give_up(&mut self) {
        *self = Self { wait: self.wait + 1, ..Self::default() };
    }

    /// The server was tried often enough. If only the way to it was the trouble, [`Supervision::resume`] may try it again.
    pub(in crate::owner) fn exhausted(&mut self, failure: &Failure) {
        let may_resume = self.backoff.is_trying() && failure.is_out_of_reach();
        let out_of_reach = self.approved.take().filter(|_| may_resume);
        *self = Self { wait: self.wait, out_of_reach, ..Self::default() };
    }

    /// Begins anew with a server that was out of reach; whether it was. The attempt that follows is the first one.
    pub(in crate::owner) fn resume(&mut self) -> bool {
        let Some(approved) = self.out_of_reach.take() else { return false };
        self.approved = Some(approved);
        self.ended = Some("it could not be reached".to_owned());
        self.backoff = Backoff::default();
        self.backoff.next(Instant::now(), 0.0).is_some()
    }

    /// When to bring it back, if it should be.
    pub(in crate::owner) fn after(&mut self, failure: &Failure) -> Option<(u32, Duration)> {
        let was_ready = self.ready.take();
        self.wait += 1;
        // What never ran has no reason to run now; its user looks at why.
        if !failure.may_pass() || was_ready.is_none() && !self.backoff.is_trying() {
            return None;
        }
        self.backoff.was_in_use(was_ready.map(|since| since.elapsed()).unwrap_or_default());
        self.backoff.next(Instant::now(), fastrand::f64())
    }

    /// The number of the wait that counts.
    pub(in crate::owner) const fn wait(&self) -> u64 {
        self.wait
    }

    /// The next attempt to sign in without the user, and the pause before it, if there is to be one.
    pub(in crate::owner) fn next_renewal(&mut self) -> Option<(u32, Duration)> {
        let (attempt, pause) = self.backoff.next(Instant::now(), fastrand::f64())?;
        // Each attempt is several requests, and a broken server must not bring about more than twenty in a minute.
        Some((attempt, RENEWAL_PAUSE * attempt + pause))
    }
}

impl Failure {
    /// Returns true if the same may work a moment later.
    const fn may_pass(&self) -> bool {
        match self.reason {
            FailureReason::Exited
            | FailureReason::ExitedEarly
            | FailureReason::NoAnswer
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

    /// Returns true if another network may be all that it takes.
    const fn is_out_of_reach(&self) -> bool {
        matches!(self.reason, FailureReason::NoAnswer | FailureReason::Unreachable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(reason: FailureReason) -> Failure {
        Failure {
            reason,
            message: String::new(),
            stderr: Vec::new(),
            looked_in: Vec::new(),
            hint: None,
            blocked: Box::default(),
            sandbox: None,
        }
    }

    fn in_use() -> Supervision {
        let mut supervision = Supervision::default();
        supervision.launched(Hash::of_bytes(b"approved"));
        supervision.is_ready();
        supervision
    }

    #[tokio::test(start_paused = true)]
    async fn only_what_was_in_use_and_may_pass_is_brought_back() {
        assert!(in_use().after(&failure(FailureReason::Exited)).is_some(), "it ended by itself");
        assert!(in_use().after(&failure(FailureReason::Refused)).is_none(), "the same would happen again");
        let mut never_ready = Supervision::default();
        never_ready.launched(Hash::of_bytes(b"approved"));
        assert!(never_ready.after(&failure(FailureReason::Exited)).is_none(), "its user looks at why it never ran");
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_is_out_of_reach_is_tried_again_with_another_network() {
        let mut supervision = in_use();
        while supervision.after(&failure(FailureReason::Unreachable)).is_some() {}
        supervision.exhausted(&failure(FailureReason::Unreachable));
        assert!(supervision.resume(), "only the way to it was the trouble");
        assert!(!supervision.resume(), "it is tried once");
        let mut crashing = in_use();
        while crashing.after(&failure(FailureReason::Exited)).is_some() {}
        crashing.exhausted(&failure(FailureReason::Exited));
        assert!(!crashing.resume(), "another network does not heal a program");
    }

    #[test]
    fn a_start_goes_on_after_a_sign_in_only_with_what_was_approved() {
        let (approved, other) = (Hash::of_bytes(b"approved"), Hash::of_bytes(b"other"));
        let mut supervision = Supervision::default();
        supervision.launched(approved.clone());
        supervision.awaits_sign_in();
        assert!(!supervision.signed_in_to(&approved), "nobody has signed in");
        supervision.signed_in(false);
        assert!(supervision.signed_in_to(&approved), "the sign-in belongs to the start");
        assert!(!supervision.signed_in_to(&other), "another address was not approved");
        let mut used = in_use();
        used.awaits_sign_in();
        used.signed_in(false);
        assert!(!used.signed_in_to(&approved), "nobody asked for another connection");
        used.signed_in(true);
        assert!(used.signed_in_to(&approved), "that its user signs in is the user's act");
    }
}
