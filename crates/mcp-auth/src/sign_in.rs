//! Serialization and cancellation of sign-ins.

use tokio::sync::MutexGuard;
use tokio_util::sync::CancellationToken;

use crate::account::{Account, InProgress};
use crate::challenge::Asked;
use crate::error::{AuthError, Cause, Phase};
use crate::shared::Shared;
use crate::user::Reason;

/// Outcome of waiting for the turn to sign in.
enum Ready<'a> {
    /// A previous sign-in succeeded meanwhile.
    Done(Account),
    /// The turn was obtained. The error is set if the vault could not be read.
    Turn(MutexGuard<'a, ()>, Option<AuthError>),
}

impl Shared {
    pub(crate) async fn sign_in(&self, why: Reason) -> Result<Account, AuthError> {
        let cancelled = self.cancellation();
        let ready = tokio::select! {
            biased;
            () = cancelled.cancelled() => return Err(Phase::ResourceMetadata.error(Cause::Cancelled)),
            ready = self.turn_to_sign_in() => ready,
        };
        let (_turn, unread) = match ready {
            Ready::Done(account) => return Ok(account),
            Ready::Turn(turn, unread) => (turn, unread),
        };
        let asked = self.state().asked.clone();
        self.run(why, asked, &cancelled, unread.as_ref()).await
    }

    /// Waits until a sign-in may begin. An unreadable vault does not prevent it, as the user requested it.
    async fn turn_to_sign_in(&self) -> Ready<'_> {
        let unread = self.load().await.err();
        let before = {
            let mut state = self.state();
            state.failed = None;
            state.generation
        };
        if let Ok(turn) = self.signing_in.try_lock() {
            return Ready::Turn(turn, unread);
        }
        let turn = self.signing_in.lock().await;
        let is_done = {
            let state = self.state();
            let has_tokens = state.record.as_ref().is_some_and(|record| record.tokens.is_some());
            state.generation != before && has_tokens
        };
        match self.account().filter(|_| is_done) {
            Some(account) => Ready::Done(account),
            None => Ready::Turn(turn, unread),
        }
    }

    /// Runs one flow until it ends or is cancelled. The caller must have the turn. `unread` is the error of reading the
    /// vault.
    pub(crate) async fn run(
        &self,
        why: Reason,
        asked: Option<Asked>,
        cancelled: &CancellationToken,
        unread: Option<&AuthError>,
    ) -> Result<Account, AuthError> {
        // Resets the progress in any case, including dropped futures.
        let _ending = Ending(self);
        self.web.begin();
        if let Some(unread) = unread {
            self.web.note(Phase::Storage, &format!("the stored sign-in could not be read: {}", unread.cause));
        }
        self.state().progress = Some(InProgress { phase: Phase::ResourceMetadata, authorize_url: None });
        self.tell();
        let ended = tokio::select! {
            biased;
            () = cancelled.cancelled() => {
                let phase = self.state().progress.as_ref().map_or(Phase::Callback, |progress| progress.phase);
                Err(phase.error(Cause::Cancelled))
            }
            ended = self.flow(why, asked) => ended,
        };
        match &ended {
            Ok(account) => {
                self.web.note(Phase::Storage, &format!("signed in with {}", crate::address::shown(&account.issuer)))
            }
            Err(error) => self.web.note(error.phase, &error.to_string()),
        }
        ended
    }
}

struct Ending<'a>(&'a Shared);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.state().progress = None;
        self.0.web.end();
        self.0.tell();
    }
}
