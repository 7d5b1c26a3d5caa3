//! Signing out, and the actions that can follow a sign-out.

use std::sync::Arc;

use credentials::sign_in::SignInError;
use credentials::vault::EmptiedVault;
use mcp_auth::{AuthError, AuthReason, RevocationOutcome, SignOutOutcome as Done};
use policy::Hash;
use ports::server_config::{ServerConfig, ServerEntry};
use tokio::sync::oneshot;

use super::super::state::{ActionAfterSession, ActionAfterSignOut, SignOutReply};
use super::super::{AuditedDecision, Owner, ServerRecord};
use super::{ServerSignIn, views};
use crate::view::ServerState;

/// Sender for the result of deleting the stored tokens. Dropped if there were none.
pub(crate) type TokenDeletionReply = oneshot::Sender<Result<(), String>>;

impl Owner {
    pub(crate) fn sign_out(&mut self, name: &str, reply: SignOutReply) {
        self.sign_out_then(name, reply, ActionAfterSignOut::Nothing);
    }

    pub(crate) fn change_account(&mut self, name: &str, reply: SignOutReply) {
        self.sign_out_then(name, reply, ActionAfterSignOut::SignIn);
    }

    fn sign_out_then(&mut self, name: &str, reply: SignOutReply, after: ActionAfterSignOut) {
        self.with_sign_in(name, move |owner, name, sign_in| {
            let sign_in = match sign_in {
                Ok(sign_in) => sign_in,
                Err(error) => return drop(reply.send(Err(error))),
            };
            sign_in.authorization.cancel();
            let Some(record) = owner.servers.records.get_mut(name) else { return };
            record.sign_in.flow = None;
            if record.session.connection.is_some() {
                // The sign-out is delayed until the session has ended, since ending the session is a signed request.
                record.sign_in.then = Some(ActionAfterSession::SignOut(reply, after));
                record.set_state(ServerState::Stopping);
                owner.servers.end_session(name, "you signed out".to_owned());
                owner.emit_server_change(name);
            } else {
                owner.revoke_and_sign_out(name, &sign_in, reply, after);
            }
        });
    }

    /// Executes the restart or sign-out that waited for the end of a server's session.
    pub(in crate::owner) fn run_act_waiting_for_session_end(&mut self, name: &str) {
        let Some(access) = self.servers.records.get_mut(name).map(|record| &mut record.sign_in) else { return };
        if let (Some(ActionAfterSession::SignOut(reply, after)), Some(sign_in)) =
            (access.then.take(), access.sign_in.clone())
        {
            self.revoke_and_sign_out(name, &sign_in, reply, after);
        }
    }

    fn revoke_and_sign_out(
        &mut self,
        name: &str,
        sign_in: &ServerSignIn,
        reply: SignOutReply,
        after: ActionAfterSignOut,
    ) {
        let (authorization, name) = (sign_in.authorization.clone(), name.to_owned());
        let issuer = authorization.account().map(|account| account.issuer).unwrap_or_default();
        self.run_concurrently(async move { authorization.sign_out().await }, move |owner, done| {
            owner.on_signed_out(&name, &issuer, done, reply, after);
        });
    }

    fn on_signed_out(
        &mut self,
        name: &str,
        issuer: &str,
        done: Result<Done, AuthError>,
        reply: SignOutReply,
        after: ActionAfterSignOut,
    ) {
        if let Some(record) = self.servers.records.get_mut(name) {
            record.set_signing_in(false, Some("you signed out".to_owned()));
        }
        let done = match done {
            Ok(done) => Ok(views::to_sign_out_outcome(done.revoked)),
            Err(error) => Err(SignInError::NotRemoved { server: name.to_owned(), cause: views::error_text(&error) }),
        };
        if !issuer.is_empty() {
            self.audit_signed_out(name, issuer);
        }
        let goes_on = after == ActionAfterSignOut::SignIn && done.is_ok();
        // The caller may have stopped waiting.
        let _ = reply.send(done);
        self.emit_server_change(name);
        self.events.authorization_changed(name);
        if goes_on {
            if let Some(record) = self.servers.records.get_mut(name) {
                record.sign_in.reason = Some(AuthReason::AnotherAccount);
            }
            // Can't fail, since the server exists and supports signing in.
            let _ = self.sign_in(name);
        }
    }

    fn audit_signed_out(&mut self, name: &str, issuer: &str) {
        let hash = Hash::of_bytes(issuer.as_bytes());
        let decided = AuditedDecision {
            server: name,
            kind: "sign-out",
            subject: issuer,
            decision: "allowed",
            scope: None,
            by: self.options.decider_name,
            hash: hash.as_str(),
            ..AuditedDecision::default()
        };
        self.audit_without_waiting(decided);
    }

    /// Deletes the tokens of a server whose name or address the user is about to change. `entry` is the new entry.
    pub(in crate::owner) fn forget_tokens(&mut self, was: &str, entry: &ServerEntry, forgotten: TokenDeletionReply) {
        let url = |config: &ServerConfig| config.as_http().map(|config| config.url.clone());
        let is_same = |record: &ServerRecord| entry.name == was && url(&record.config) == url(&entry.config);
        if self.servers.records.get(was).is_some_and(|record| !is_same(record)) {
            self.forget_sign_in(was, forgotten);
        }
    }

    /// Deletes all tokens and client registrations of a server, and then revokes the tokens if the authorization server
    /// supports it.
    pub(in crate::owner) fn forget_sign_in(&mut self, name: &str, forgotten: TokenDeletionReply) {
        let Some((record, factory)) = self.servers.records.get(name).zip(self.sign_in_factory(name)) else { return };
        // The sign-in in use also knows tokens that are being requested.
        let used = record.sign_in.sign_in.as_ref().map(|sign_in| Arc::clone(&sign_in.authorization));
        let config = record.config.as_http().cloned();
        let (emptying, name) = (self.sign_ins.vaults.empty_vault(name), name.to_owned());
        tokio::spawn(async move {
            let EmptiedVault { was, removed } = emptying.await;
            let is_remote = config.is_some();
            // The secrets that the settings refer to are read now, since the caller may delete them when notified.
            let stored_authorization = match config.zip(was) {
                Some((config, was)) => Some(factory.create_for_revocation(config, was).await),
                None => None,
            };
            // A local server has no tokens unless its entry was a remote server before, so a failure doesn't matter.
            // The caller may have stopped waiting.
            let _ = forgotten.send(removed.or_else(|error| if is_remote { Err(error.cause) } else { Ok(()) }));
            for authorization in used.map(Ok).into_iter().chain(stored_authorization) {
                let ended = match authorization {
                    Ok(authorization) => authorization.sign_out().await.map_err(|error| error.to_string()),
                    Err(unmade) => Err(unmade.to_string()),
                };
                match ended.map(|done| done.revoked) {
                    Ok(RevocationOutcome::Failed { cause }) | Err(cause) => {
                        tracing::warn!(server = name, cause, "the tokens of a removed server could not be revoked");
                    }
                    Ok(RevocationOutcome::Yes | RevocationOutcome::NotOffered | RevocationOutcome::NothingToRevoke) => {
                    }
                }
            }
        });
    }
}
