//! Signing in to remote servers: what begins it, what it asks, and what becomes of the server.

use policy::Scope;
use tokio::sync::oneshot;

use super::Owner;
use super::answers::AnswerError;
use crate::sign_in::{AuthorizationView, EnteredClient, SignInError, SignedOut};

/// Where the outcome of a sign-out goes.
type SignOutReply = oneshot::Sender<Result<SignedOut, SignInError>>;

impl Owner {
    pub(crate) fn sign_in(&mut self, name: &str) -> Result<(), SignInError> {
        self.authorization(name).map(|_| ())
    }

    pub(crate) fn cancel_sign_in(&mut self, name: &str) -> Result<(), SignInError> {
        self.authorization(name).map(|_| ())
    }

    pub(crate) fn sign_out(&mut self, name: &str, reply: SignOutReply) {
        let _ = reply.send(self.authorization(name).map(|_| SignedOut::NobodySignedIn));
    }

    pub(crate) fn change_account(&mut self, name: &str, reply: SignOutReply) {
        self.sign_out(name, reply);
    }

    pub(crate) fn authorization(&self, name: &str) -> Result<AuthorizationView, SignInError> {
        let _ = self.server(name).ok_or_else(|| SignInError::NotFound(name.to_owned()))?;
        Err(SignInError::NotOffered { server: name.to_owned(), cause: "it does not ask for it".to_owned() })
    }

    pub(crate) fn paste_redirect(&mut self, name: &str, _: &str) -> Result<(), SignInError> {
        Err(SignInError::NotWaiting(name.to_owned()))
    }

    pub(super) fn allow_sign_in(&mut self, _: usize, _: Scope) -> Result<(), AnswerError> {
        Err(AnswerError::NotOpen)
    }

    pub(super) fn identify(&mut self, _: usize, _: EnteredClient) -> Result<(), AnswerError> {
        Err(AnswerError::NotOpen)
    }
}
