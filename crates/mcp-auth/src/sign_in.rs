//! Serialization and cancellation of sign-ins.

use tokio::sync::MutexGuard;
use tokio_util::sync::CancellationToken;

use crate::account::{AuthProgress, SignedInAccount};
use crate::authorization_context::AuthorizationContext;
use crate::challenge::TokenChallenge;
use crate::error::{AuthError, AuthErrorCause, AuthPhase};
use crate::user::AuthReason;

/// Result of waiting until a sign-in may run. Only one runs at a time.
enum SignInLock<'a> {
    /// No sign-in is necessary, because another one has succeeded while the caller waited. Contains its account.
    Done(SignedInAccount),
    /// The caller may sign in while it holds this guard. Also contains the error of reading the vault, if that failed.
    Locked(MutexGuard<'a, ()>, Option<AuthError>),
}

impl AuthorizationContext {
    pub(crate) async fn sign_in(&self, why: AuthReason) -> Result<SignedInAccount, AuthError> {
        let cancelled = self.sign_in_cancellation();
        let ready = tokio::select! {
            biased;
            () = cancelled.cancelled() => return Err(AuthPhase::ResourceMetadata.error(AuthErrorCause::Cancelled)),
            ready = self.wait_for_sign_in_lock() => ready,
        };
        let (_lock, unread) = match ready {
            SignInLock::Done(account) => return Ok(account),
            SignInLock::Locked(lock, unread) => (lock, unread),
        };
        let challenge = self.state().last_challenge.clone();
        self.run_sign_in(why, challenge, &cancelled, unread.as_ref()).await
    }

    /// Waits until no other sign-in is running. A sign-in may run even if the vault can't be read, since the user has
    /// requested it.
    async fn wait_for_sign_in_lock(&self) -> SignInLock<'_> {
        let unread = self.load_stored_sign_in().await.err();
        let before = {
            let mut state = self.state();
            state.failed_refresh = None;
            state.generation
        };
        if let Ok(lock) = self.sign_in_lock.try_lock() {
            return SignInLock::Locked(lock, unread);
        }
        let lock = self.sign_in_lock.lock().await;
        let is_done = {
            let state = self.state();
            let has_tokens = state.record.as_ref().is_some_and(|record| record.tokens.is_some());
            state.generation != before && has_tokens
        };
        match self.account().filter(|_| is_done) {
            Some(account) => SignInLock::Done(account),
            None => SignInLock::Locked(lock, unread),
        }
    }

    /// Runs one sign-in until it ends or is cancelled. The caller must hold `sign_in_lock`. `unread` is the error of
    /// reading the vault, if that failed.
    pub(crate) async fn run_sign_in(
        &self,
        why: AuthReason,
        challenge: Option<TokenChallenge>,
        cancelled: &CancellationToken,
        unread: Option<&AuthError>,
    ) -> Result<SignedInAccount, AuthError> {
        // Also resets the progress if the future is dropped.
        let _ending = SignInEndGuard(self);
        self.web.begin_sign_in_log();
        if let Some(unread) = unread {
            self.web.note(AuthPhase::Storage, &format!("the stored sign-in could not be read: {}", unread.cause));
        }
        self.state().progress = Some(AuthProgress { phase: AuthPhase::ResourceMetadata, authorize_url: None });
        self.notify_change();
        let ended = tokio::select! {
            biased;
            () = cancelled.cancelled() => {
                let phase = self.state().progress.as_ref().map_or(AuthPhase::Callback, |progress| progress.phase);
                Err(phase.error(AuthErrorCause::Cancelled))
            }
            ended = self.run_sign_in_flow(why, challenge) => ended,
        };
        match &ended {
            Ok(account) => self.web.note(
                AuthPhase::Storage,
                &format!("signed in with {}", crate::metadata_address::displayed_text(&account.issuer)),
            ),
            Err(error) => self.web.note(error.phase, &error.to_string()),
        }
        ended
    }
}

struct SignInEndGuard<'a>(&'a AuthorizationContext);

impl Drop for SignInEndGuard<'_> {
    fn drop(&mut self) {
        self.0.state().progress = None;
        self.0.web.end_sign_in_log();
        self.0.notify_change();
    }
}
