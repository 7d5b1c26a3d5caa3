//! The state of the sign-in to one server. Used by `owner/sign_in`.

use credentials::settings::unsupported_sign_in_reason;
use credentials::sign_in::{SignInError, SignOutOutcome};
use mcp_auth::{AuthError, AuthReason};
use ports::server_config::HttpConfig;
use tokio::sync::oneshot;

use crate::owner::sign_in::ServerSignIn;

/// Sign-in to one remote server, the error of the last attempt, and the actions that wait for its session to end.
#[derive(Default)]
pub(in crate::owner) struct SignInState {
    pub(in crate::owner) sign_in: Option<ServerSignIn>,
    /// Set if the user saved the settings after the sign-in was created, since its secrets may have changed.
    pub(in crate::owner) is_outdated: bool,
    /// Set if the user requested the connection in progress, and is therefore present to sign in.
    pub(in crate::owner) is_connection_requested: bool,
    /// Set if the user requested a sign-in, not just a connection.
    pub(in crate::owner) is_sign_in_requested: bool,
    /// Reason for the next sign-in, or `None` if the user is simply not signed in.
    pub(in crate::owner) reason: Option<AuthReason>,
    /// Number of the sign-in that the owner started and that is in progress, or `None`.
    pub(in crate::owner) flow: Option<u64>,
    /// Error of the last sign-in, or `None` if it did not fail.
    pub(in crate::owner) failed: Option<AuthError>,
    /// Set if a sign-in without the user was attempted since the server was last ready.
    pub(in crate::owner) tried_unattended: bool,
    /// Reason why the session was ended for a new sign-in, which becomes the cause in the server's state.
    pub(in crate::owner) session_end_cause: Option<String>,
    /// Action to execute after the server's session has ended.
    pub(in crate::owner) then: Option<ActionAfterSession>,
}

impl SignInState {
    /// Returns `true` if the server supports signing in.
    pub(in crate::owner) const fn is_offered(&self) -> bool {
        self.sign_in.is_some()
    }

    /// Returns and clears the reason why the server rejected a request that had the best available token.
    pub(in crate::owner) fn take_refusal_cause(&self) -> Option<String> {
        self.sign_in.as_ref().and_then(|sign_in| sign_in.take_refusal_cause())
    }

    /// Returns and clears the reason why the session was ended for a new sign-in.
    pub(in crate::owner) fn take_end_cause(&mut self) -> Option<String> {
        self.session_end_cause.take()
    }

    /// Returns the sign-in, or `None` if the secrets that it uses may have changed.
    pub(in crate::owner) fn sign_in_with_current_secrets(&self) -> Option<&ServerSignIn> {
        self.sign_in.as_ref().filter(|_| !self.is_outdated)
    }

    /// Records that the user requested a connection.
    pub(in crate::owner) const fn mark_requested(&mut self) {
        self.is_connection_requested = true;
    }

    /// Records that the connection requested by the user has failed. Automatic attempts don't count as requested.
    pub(in crate::owner) const fn mark_not_requested(&mut self) {
        (self.is_connection_requested, self.is_sign_in_requested) = (false, false);
    }

    /// Records that the server is ready. Returns the sign-in that the user requested, if it was not needed for that.
    pub(in crate::owner) fn on_ready(&mut self) -> Option<ServerSignIn> {
        (self.is_connection_requested, self.tried_unattended, self.failed) = (false, false, None);
        // A rejection at this point belongs to the first request after initialization, and is reported immediately.
        if !std::mem::take(&mut self.is_sign_in_requested) {
            self.reason = None;
            return None;
        }
        let is_signed_in = |s: &ServerSignIn| s.authorization.account().is_some_and(|account| account.ended.is_none());
        self.sign_in.clone().filter(|sign_in| self.reason.is_some() || !is_signed_in(sign_in))
    }

    /// Cancels the sign-in in progress, because the server is being stopped or changed.
    pub(in crate::owner) fn cancel_in_progress(&mut self) {
        (self.is_connection_requested, self.is_sign_in_requested, self.flow, self.reason) = (false, false, None, None);
        self.session_end_cause = None;
        if let Some(sign_in) = &self.sign_in {
            sign_in.authorization.cancel();
        }
    }

    /// Applies changed settings, and drops the sign-in if it was created for other settings.
    pub(in crate::owner) fn apply_settings(&mut self, config: Option<&HttpConfig>) {
        let stays = |sign_in: &ServerSignIn| {
            unsupported_sign_in_reason(config).is_none() && config.is_some_and(|c| sign_in.matches_config(c))
        };
        if self.sign_in.as_ref().is_some_and(|sign_in| !stays(sign_in)) {
            self.cancel_in_progress();
            (self.sign_in, self.failed) = (None, None);
        }
    }

    /// Makes the next connection read the sign-in's secrets again, since the user saved the settings.
    pub(in crate::owner) const fn mark_secrets_outdated(&mut self) {
        self.is_outdated = true;
    }

    /// Stores a new sign-in and returns it, or returns the one that was stored meanwhile, since a server has only one.
    pub(in crate::owner) fn get_or_store(&mut self, made: ServerSignIn) -> ServerSignIn {
        let is_unapproved = self.sign_in.as_ref().is_some_and(|known| !known.is_approved) && made.is_approved;
        if (std::mem::take(&mut self.is_outdated) || is_unapproved)
            && let Some(outdated) = self.sign_in.take()
        {
            self.flow = None;
            outdated.authorization.cancel();
        }
        self.sign_in.get_or_insert(made).clone()
    }

    /// Lets the sign-in retry a failed step without a pause, because the user requested that or the network changed.
    pub(in crate::owner) fn clear_sign_in_failures(&self) {
        if let Some(sign_in) = &self.sign_in {
            sign_in.authorization.clear_renewal_and_vault_failures();
        }
    }

    /// Returns `true` if only the token refresh failed, so that a later retry may succeed without the user.
    pub(in crate::owner) fn may_be_temporary(&self) -> bool {
        let account = self.sign_in.as_ref().and_then(|sign_in| sign_in.authorization.account());
        self.flow.is_none() && account.is_some_and(|account| account.can_refresh && account.ended.is_none())
    }
}

/// Sender for the outcome of a sign-out to the caller that requested it.
pub(crate) type SignOutReply = oneshot::Sender<Result<SignOutOutcome, SignInError>>;

/// Action that is executed once the session of a server has ended.
pub(in crate::owner) enum ActionAfterSession {
    /// Starts the server again with a new session.
    Start,
    /// Signs the user out of the server.
    SignOut(SignOutReply, ActionAfterSignOut),
}

/// Action that is executed after a sign-out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::owner) enum ActionAfterSignOut {
    Nothing,
    SignIn,
}
