//! The state of signing in to one server. Callers: `owner/sign_in`.

use credentials::settings::not_offered;
use credentials::sign_in::{SignInError, SignedOut};
use mcp_auth::{AuthError, Reason};
use ports::server_config::HttpConfig;
use tokio::sync::oneshot;

use crate::owner::sign_in::SignIn;

/// The state of signing in to a server.
#[derive(Default)]
pub(in crate::owner) struct SignInState {
    pub(in crate::owner) sign_in: Option<SignIn>,
    /// The user saved the settings since it was made; secrets that they name may be others.
    pub(in crate::owner) is_outdated: bool,
    /// The user wants the connection that is being made, and is there to sign in.
    pub(in crate::owner) wanted_now: bool,
    /// The user asked to sign in, not only for a connection.
    pub(in crate::owner) asked: bool,
    /// The reason why the next sign-in is made, if not because nobody is signed in.
    pub(in crate::owner) reason: Option<Reason>,
    /// The sign-in under way that the host began.
    pub(in crate::owner) flow: Option<u64>,
    /// The cause why the last one did not come to its end.
    pub(in crate::owner) failed: Option<AuthError>,
    /// One without the user was tried since the server was last in use.
    pub(in crate::owner) tried_unattended: bool,
    /// Once the session has ended: why the user has to sign in.
    pub(in crate::owner) when_ended: Option<String>,
    /// Once the session has ended: what is to be done with the sign-in.
    pub(in crate::owner) then: Option<AfterSession>,
}

impl SignInState {
    /// Returns true if the user can sign in.
    pub(in crate::owner) const fn is_offered(&self) -> bool {
        self.sign_in.is_some()
    }

    /// The cause why the server refused what could not be signed any better, in words; once.
    pub(in crate::owner) fn refusal(&self) -> Option<String> {
        self.sign_in.as_ref().and_then(|sign_in| sign_in.take_refusal())
    }

    /// The cause why the session that has ended was ended for a sign-in, if it was; once.
    pub(in crate::owner) fn take_cause(&mut self) -> Option<String> {
        self.when_ended.take()
    }

    /// The sign-in, unless what it was made of may be others.
    pub(in crate::owner) fn current(&self) -> Option<&SignIn> {
        self.sign_in.as_ref().filter(|_| !self.is_outdated)
    }

    /// The user wants a connection now.
    pub(in crate::owner) const fn want_now(&mut self) {
        self.wanted_now = true;
    }

    /// The connection that the user wanted came to nothing; what is tried later is not asked for.
    pub(in crate::owner) const fn is_not_now(&mut self) {
        (self.wanted_now, self.asked) = (false, false);
    }

    /// The server is in use. Gives the sign-in that the user asked for, if it has not happened on the way: the server lets in
    /// whoever comes.
    pub(in crate::owner) fn is_ready(&mut self) -> Option<SignIn> {
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

    /// A step that failed a moment ago may work now: the user asks for it, or the network is another.
    pub(in crate::owner) fn try_again(&self) {
        if let Some(sign_in) = &self.sign_in {
            sign_in.authorization.try_again();
        }
    }

    /// Returns true if the same may work without the user, a while later: the tokens could only not be renewed.
    pub(in crate::owner) fn may_pass(&self) -> bool {
        let account = self.sign_in.as_ref().and_then(|sign_in| sign_in.authorization.account());
        self.flow.is_none() && account.is_some_and(|account| account.can_refresh && account.ended.is_none())
    }
}

/// Where the outcome of a sign-out goes.
pub(crate) type SignOutReply = oneshot::Sender<Result<SignedOut, SignInError>>;

/// The act that follows the end of a session.
pub(in crate::owner) enum AfterSession {
    /// The server is started again.
    Start,
    /// The user is signed out.
    SignOut(SignOutReply, AfterSignOut),
}

/// The act that follows a sign-out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::owner) enum AfterSignOut {
    Nothing,
    SignIn,
}
