//! Signing out, with what follows from it.

use std::sync::Arc;

use mcp_auth::{AuthError, Reason, SignedOut as Done, Vault as _, VaultKey, VaultKind};
use policy::Hash;
use tokio::sync::oneshot;
use url::Url;

use super::super::{Decided, Owner, ServerRecord};
use super::{SignIn, views};
use crate::server_config::{ServerConfig, ServerEntry};
use crate::sign_in::{SignInError, SignedOut};
use crate::vault::SecretsVault;
use crate::view::ServerState;

/// Where the outcome of a sign-out goes.
pub(crate) type Reply = oneshot::Sender<Result<SignedOut, SignInError>>;

/// What follows the end of a session.
pub(super) enum Then {
    /// The server is started again.
    Start,
    /// The user is signed out.
    SignOut(Reply, After),
}

/// What follows a sign-out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    Nothing,
    SignIn,
}

impl Owner {
    pub(crate) fn sign_out(&mut self, name: &str, reply: Reply) {
        self.sign_out_and(name, reply, After::Nothing);
    }

    pub(crate) fn change_account(&mut self, name: &str, reply: Reply) {
        self.sign_out_and(name, reply, After::SignIn);
    }

    fn sign_out_and(&mut self, name: &str, reply: Reply, after: After) {
        self.with_sign_in(name, move |owner, name, sign_in| {
            let sign_in = match sign_in {
                Ok(sign_in) => sign_in,
                Err(error) => return drop(reply.send(Err(error))),
            };
            sign_in.authorization.cancel();
            let Some(record) = owner.servers.get_mut(name) else { return };
            record.access.flow = None;
            if record.connection.is_some() {
                // The end of the session is still signed.
                record.access.then = Some(Then::SignOut(reply, after));
                record.set(ServerState::Stopping);
                owner.end_session(name, "you signed out".to_owned());
                owner.emit_server(name);
            } else {
                owner.sign_out_now(name, &sign_in, reply, after);
            }
        });
    }

    /// The session of a server has ended; what waited for that follows.
    pub(in crate::owner) fn after_session(&mut self, name: &str) {
        let Some(access) = self.servers.get_mut(name).map(|record| &mut record.access) else { return };
        if let (Some(Then::SignOut(reply, after)), Some(sign_in)) = (access.then.take(), access.sign_in.clone()) {
            self.sign_out_now(name, &sign_in, reply, after);
        }
    }

    fn sign_out_now(&mut self, name: &str, sign_in: &SignIn, reply: Reply, after: After) {
        let (authorization, name) = (sign_in.authorization.clone(), name.to_owned());
        let issuer = authorization.account().map(|account| account.issuer).unwrap_or_default();
        self.beside(async move { authorization.sign_out().await }, move |owner, done| {
            owner.on_signed_out(&name, &issuer, done, reply, after);
        });
    }

    fn on_signed_out(&mut self, name: &str, issuer: &str, done: Result<Done, AuthError>, reply: Reply, after: After) {
        if let Some(record) = self.servers.get_mut(name) {
            record.signs_in(false, Some("you signed out".to_owned()));
        }
        let done = match done {
            Ok(done) => Ok(views::signed_out(done.revoked)),
            Err(error) => Err(SignInError::NotRemoved { server: name.to_owned(), cause: views::words(&error) }),
        };
        if !issuer.is_empty() {
            self.note_signed_out(name, issuer);
        }
        let goes_on = after == After::SignIn && done.is_ok();
        // Whoever asked may have gone away.
        let _ = reply.send(done);
        self.emit_server(name);
        self.authorization_changed(name);
        if goes_on {
            if let Some(record) = self.servers.get_mut(name) {
                record.access.reason = Some(Reason::AnotherAccount);
            }
            // It is there, and offers it: nothing else can go wrong here.
            let _ = self.sign_in(name);
        }
    }

    fn note_signed_out(&mut self, name: &str, issuer: &str) {
        let hash = Hash::of_bytes(issuer.as_bytes());
        let decided = Decided {
            server: name,
            kind: "sign-out",
            subject: issuer,
            decision: "allowed",
            scope: None,
            by: self.options.decides,
            hash: hash.as_str(),
        };
        if let Err(error) = self.audit(decided) {
            tracing::error!(%error, "a sign-out could not be written down");
        }
    }

    /// A server is about to be set up otherwise, by the user: what was kept for the old name or address is of no more use.
    pub(in crate::owner) fn forget_old_sign_in(&mut self, was: &str, entry: &ServerEntry) {
        let url = |config: &ServerConfig| config.as_http().map(|config| config.url.clone());
        let is_same = |record: &ServerRecord| entry.name == was && url(&record.config) == url(&entry.config);
        if self.servers.get(was).is_some_and(|record| !is_same(record)) {
            self.forget_sign_in(was);
        }
    }

    /// What is kept of the sign-in to a server is removed. Nothing waits for it.
    pub(in crate::owner) fn forget_sign_in(&mut self, name: &str) {
        let config = self.servers.get(name).and_then(|record| record.config.as_http().cloned());
        let Some((maker, config)) = self.sign_in_maker(name).zip(config) else { return };
        let (name, secrets) = (name.to_owned(), Arc::clone(&self.ports.secrets));
        let vault = SecretsVault::new(&name, secrets);
        let forgetting = async move {
            let made = maker.make(config).await.map_err(|error| error.to_string())?;
            let Some(sign_in) = made else { return Ok(()) };
            let issuer = sign_in.authorization.account().map(|account| account.issuer);
            let signed_out = sign_in.authorization.sign_out().await.map_err(|error| error.to_string());
            // As the sign-in itself calls it.
            let server = Url::parse(&sign_in.config.url).map(String::from).unwrap_or_default();
            let client = issuer.map(|issuer| VaultKind::Client { issuer });
            for kind in client.into_iter().chain([VaultKind::FirstIssuer]) {
                let key = VaultKey { server: server.clone(), kind };
                vault.remove(&key).await.map_err(|error| error.to_string())?;
            }
            signed_out.map(drop)
        };
        self.beside(forgetting, move |_, done: Result<(), String>| {
            if let Err(error) = done {
                tracing::warn!(server = name, error, "what is kept of a sign-in could not be removed");
            }
        });
    }
}
