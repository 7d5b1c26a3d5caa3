//! What a server's record knows of signing in to it, and what changes it.

use credentials::settings::not_offered;
use mcp_auth::{AuthError, Reason};
use ports::server_config::HttpConfig;

use super::{SignIn, ending};

/// What a server's record knows of signing in.
#[derive(Default)]
pub(in crate::owner) struct Access {
    pub(super) sign_in: Option<SignIn>,
    /// The user saved the settings since it was made; secrets that they name may be others.
    pub(super) is_outdated: bool,
    /// The user wants the connection that is being made, and is there to sign in.
    pub(super) wanted_now: bool,
    /// The user asked to sign in, not only for a connection.
    pub(super) asked: bool,
    /// Why the next sign-in is made, if not because nobody is signed in.
    pub(super) reason: Option<Reason>,
    /// The sign-in under way that the host began.
    pub(super) flow: Option<u64>,
    /// Why the last one did not come to its end.
    pub(super) failed: Option<AuthError>,
    /// One without the user was tried since the server was last in use.
    pub(super) tried_unattended: bool,
    /// Once the session has ended: why the user has to sign in.
    pub(super) when_ended: Option<String>,
    /// Once the session has ended: what is to be done with the sign-in.
    pub(super) then: Option<ending::Then>,
}

impl Access {
    /// Whether the user can sign in.
    pub(in crate::owner) const fn is_offered(&self) -> bool {
        self.sign_in.is_some()
    }

    /// Why the server refused what could not be signed any better, in words; once.
    pub(in crate::owner) fn refusal(&self) -> Option<String> {
        self.sign_in.as_ref().and_then(|sign_in| sign_in.signing.take_refusal())
    }

    /// Why the session that has ended was ended for a sign-in, if it was; once.
    pub(in crate::owner) fn take_cause(&mut self) -> Option<String> {
        self.when_ended.take()
    }

    /// The sign-in, unless what it was made of may be others.
    pub(super) fn current(&self) -> Option<&SignIn> {
        self.sign_in.as_ref().filter(|_| !self.is_outdated)
    }

    /// The user wants a connection now.
    pub(super) const fn want_now(&mut self) {
        self.wanted_now = true;
    }

    /// The connection that the user wanted came to nothing; what is tried later is not asked for.
    pub(in crate::owner) const fn is_not_now(&mut self) {
        (self.wanted_now, self.asked) = (false, false);
    }

    /// The server is in use. Gives the sign-in that the user asked for, if it has not happened on the way: the server lets in
    /// whoever comes.
    pub(super) fn is_ready(&mut self) -> Option<SignIn> {
        (self.wanted_now, self.tried_unattended, self.failed) = (false, false, None);
        // A refusal that is there already is that of the first request after the opening, and is told of at once.
        if !std::mem::take(&mut self.asked) {
            self.reason = None;
            return None;
        }
        let is_signed_in = |s: &SignIn| s.authorization.account().is_some_and(|account| account.ended.is_none());
        self.sign_in.clone().filter(|sign_in| self.reason.is_some() || !is_signed_in(sign_in))
    }

    /// The server is not wanted any more, or not as it was: a sign-in under way ends.
    pub(in crate::owner) fn give_up(&mut self) {
        (self.wanted_now, self.asked, self.flow, self.reason) = (false, false, None, None);
        self.when_ended = None;
        if let Some(sign_in) = &self.sign_in {
            sign_in.authorization.cancel();
        }
    }

    /// The settings are these now.
    pub(in crate::owner) fn set_up_as(&mut self, config: Option<&HttpConfig>) {
        let stays = |sign_in: &SignIn| not_offered(config).is_none() && config.is_some_and(|c| sign_in.is_for(c));
        if self.sign_in.as_ref().is_some_and(|sign_in| !stays(sign_in)) {
            self.give_up();
            (self.sign_in, self.failed) = (None, None);
        }
    }

    /// The user saved the settings: the next connection reads the secrets anew.
    pub(in crate::owner) const fn outdate(&mut self) {
        self.is_outdated = true;
    }

    /// Keeps a sign-in that was made. There is one for each server: one that was made meanwhile counts.
    pub(in crate::owner) fn keep(&mut self, made: SignIn) -> SignIn {
        let is_unapproved = self.sign_in.as_ref().is_some_and(|kept| !kept.is_approved) && made.is_approved;
        if (std::mem::take(&mut self.is_outdated) || is_unapproved)
            && let Some(outdated) = self.sign_in.take()
        {
            self.flow = None;
            outdated.authorization.cancel();
        }
        self.sign_in.get_or_insert(made).clone()
    }

    /// What failed a moment ago may work now: the user asks for it, or the network is another.
    pub(in crate::owner) fn try_again(&self) {
        if let Some(sign_in) = &self.sign_in {
            sign_in.authorization.try_again();
        }
    }

    /// Whether the same may work without the user, a while later: the tokens could only not be renewed.
    pub(in crate::owner) fn may_pass(&self) -> bool {
        let account = self.sign_in.as_ref().and_then(|sign_in| sign_in.authorization.account());
        self.flow.is_none() && account.is_some_and(|account| account.can_refresh && account.ended.is_none())
    }
}
