//! The steps of a sign-in, from the rejected request that causes it until the server is running again.

use credentials::sign_in::{SignInError, SignInNeeded};
use mcp_auth::{AuthError, AuthReason, SignedInAccount};
use policy::Hash;
use supervision::activity::ActivityKind;

use super::super::state::ActionAfterSession;
use super::super::{AuditedDecision, Owner};
use super::{ServerSignIn, views};
use crate::view::ServerState;

/// Kind of the desktop notification that tells the user that a sign-in waits.
const SIGN_IN_NOTIFICATION_KIND: &str = "sign-in";

impl Owner {
    /// Starts a server on the user's request. If it requires a sign-in, that is started too, since the user is present.
    pub(crate) fn start_for_user(&mut self, name: &str) -> Result<(), super::super::ServerError> {
        if let Some(record) = self.servers.records.get_mut(name) {
            record.sign_in.mark_requested();
            record.sign_in.clear_sign_in_failures();
            record.launch.started_by_user =
                record.session.connection.is_none() || record.state == ServerState::Stopping;
        }
        self.record_start_request(name);
        self.start(name)
    }

    /// Handles a request that a remote server rejects without a sign-in, or a renewal that is refused.
    pub(in crate::owner) fn on_sign_in_required(&mut self, name: &str, cause: String) {
        let Some(record) = self.servers.records.get_mut(name) else { return };
        record.supervision.on_sign_in_awaited();
        let access = &mut record.sign_in;
        let Some(sign_in) = access.sign_in.clone() else { return };
        if access.then.take_if(|then| matches!(then, ActionAfterSession::Start)).is_some() {
            record.set_state(ServerState::Stopped);
            // Can't fail, since the server exists.
            let _ = self.start(name);
            return;
        }
        // If there is a token, the server rejected it. The same flow would only yield an equivalent token.
        let unattended = sign_in.signs_in_without_user()
            && !access.may_be_temporary()
            && !std::mem::replace(&mut access.tried_unattended, true);
        let is_requested = std::mem::take(&mut access.is_connection_requested) || unattended;
        let signing_in = access.flow.is_some();
        record.log_activity_line(ActivityKind::State, &format!("it requires its user to sign in: {cause}"));
        let cause = record.redacted(cause);
        record.set_state(ServerState::NeedsSignIn(SignInNeeded { cause: cause.clone(), signing_in }));
        if record.sign_in.then.is_some() || signing_in {
            return;
        }
        if is_requested {
            self.begin_sign_in(name, &sign_in, renewal_reason(&sign_in, cause));
        } else if !self.schedule_sign_in_retry(name) && self.settings.current.announce {
            self.ports.platform.announce(name, SIGN_IN_NOTIFICATION_KIND, None);
        }
    }

    pub(crate) fn sign_in(&mut self, name: &str) -> Result<(), SignInError> {
        let record = self.servers.records.get_mut(name).ok_or_else(|| SignInError::NotFound(name.to_owned()))?;
        if let Some(cause) = credentials::settings::unsupported_sign_in_reason(record.config.as_http()) {
            return Err(SignInError::NotOffered { server: name.to_owned(), cause: cause.to_owned() });
        }
        record.sign_in.mark_requested();
        record.sign_in.is_sign_in_requested = true;
        match (&record.state, record.usable_sign_in().cloned()) {
            (ServerState::NeedsSignIn(needed), Some(sign_in)) => {
                let reason = renewal_reason(&sign_in, needed.cause.clone());
                self.begin_sign_in(name, &sign_in, reason);
            }
            (ServerState::Ready, Some(_)) if record.sign_in.is_outdated => {
                // A new sign-in is created for the next connection.
                record.sign_in.reason.get_or_insert(AuthReason::SignIn);
                self.servers.restart_session(name, "it is restarted with its current settings");
            }
            (ServerState::Ready, Some(sign_in)) => self.begin_sign_in(name, &sign_in, AuthReason::SignIn),
            _ => {
                self.record_start_request(name);
                // Can't fail, since the server exists.
                let _ = self.start(name);
            }
        }
        Ok(())
    }

    /// Starts the sign-in that the user requested, if the server became ready without requiring it.
    pub(in crate::owner) fn sign_in_if_requested(&mut self, name: &str) {
        let Some(record) = self.servers.records.get_mut(name) else { return };
        if let Some(sign_in) = record.sign_in.on_ready() {
            self.begin_sign_in(name, &sign_in, AuthReason::SignIn);
        }
    }

    /// Runs a sign-in in a spawned task, and handles its result with the host's state locked.
    pub(super) fn begin_sign_in(&mut self, name: &str, sign_in: &ServerSignIn, reason: AuthReason) {
        let id = self.events.next_unique_id();
        let Some(record) = self.servers.records.get_mut(name) else { return };
        record.sign_in.is_sign_in_requested = false;
        if record.sign_in.flow.is_some() || self.lifetime.is_closing {
            return;
        }
        let reason = record.sign_in.reason.take().unwrap_or(reason);
        record.sign_in.is_connection_requested = false;
        record.sign_in.failed = None;
        record.sign_in.flow = Some(id);
        record.set_signing_in(true, None);
        record.log_activity_line(ActivityKind::State, "a sign-in begins");
        sign_in.user.reset_progress(reason.clone());
        let (authorization, name) = (sign_in.authorization.clone(), name.to_owned());
        self.emit_server_change(&name);
        self.events.authorization_changed(&name);
        self.run_concurrently(async move { authorization.sign_in(reason).await }, move |owner, ended| {
            owner.on_signed_in(&name, id, ended);
        });
    }

    fn on_signed_in(&mut self, name: &str, id: u64, ended: Result<SignedInAccount, AuthError>) {
        let Some(record) = self.servers.records.get_mut(name).filter(|record| record.sign_in.flow == Some(id)) else {
            return;
        };
        record.sign_in.flow = None;
        match ended {
            Ok(account) => {
                let words = views::account_log_text(&account);
                record.log_activity_line(ActivityKind::State, &format!("signed in: {words}"));
                let by_user = record.sign_in.sign_in.as_ref().is_some_and(|sign_in| !sign_in.signs_in_without_user());
                record.supervision.on_signed_in(by_user);
                record.set_signing_in(false, None);
                self.audit_signed_in(name, &words);
                match self.servers.records.get(name).map(|record| &record.state) {
                    // The server may offer less in a session that was opened without a sign-in.
                    Some(ServerState::Ready) => self.servers.restart_session(name, "it is restarted after the sign-in"),
                    Some(ServerState::NeedsSignIn(_)) => {
                        if by_user {
                            self.record_start_request(name);
                        }
                        // Can't fail, since the server exists.
                        let _ = self.start(name);
                    }
                    _ => {}
                }
            }
            Err(error) => {
                let words = views::error_text(&error);
                record.log_activity_line(ActivityKind::State, &format!("the sign-in failed: {words}"));
                record.sign_in.failed = Some(error);
                record.set_signing_in(false, Some(words));
            }
        }
        self.emit_server_change(name);
        self.events.authorization_changed(name);
    }

    fn audit_signed_in(&mut self, name: &str, words: &str) {
        let hash = Hash::of_bytes(words.as_bytes());
        let decided = AuditedDecision {
            server: name,
            kind: "signed-in",
            subject: words,
            decision: "allowed",
            scope: None,
            by: self.options.decider_name,
            hash: hash.as_str(),
            ..AuditedDecision::default()
        };
        self.audit_without_waiting(decided);
    }
}

/// Returns the reason for the next sign-in to a server that rejected a request.
fn renewal_reason(sign_in: &ServerSignIn, cause: String) -> AuthReason {
    if sign_in.authorization.account().is_some() { AuthReason::Again { cause } } else { AuthReason::SignIn }
}
