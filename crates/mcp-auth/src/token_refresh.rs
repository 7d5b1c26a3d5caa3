//! Renewal of tokens: new tokens without the user. A *renewal* uses the refresh token (RFC 6749, 6) or, for an
//! authorization that signs in without the user, repeats the sign-in. Concurrent requests share one renewal. It is
//! never aborted, because a new refresh token that is not stored would be lost.

use std::sync::Arc;
use std::time::Duration;

use crate::authorization_context::{AuthorizationContext, FailedTokenRefresh};
use crate::client_selection::is_unknown_client_error;
use crate::dpop::unix_seconds;
use crate::error::{AuthError, AuthErrorCause, AuthPhase};
use crate::grant_approval::ConsentMode;
use crate::protected_resource;
use crate::request_budget::MAX_RENEWALS_AFTER_REFUSAL_PER_WINDOW;
use crate::settings::DpopUse;
use crate::sign_in_record::{SignInRecord, TokenSet};
use crate::token::TokenEndpoint;
use crate::vault::VaultEntryKind;

/// Minimum time between a failed token renewal and the next attempt.
const RENEWAL_RETRY_DELAY: Duration = Duration::from_secs(10);

/// Renews the access token if it expires soon. Called before a request is signed. Returns an error if the token has
/// expired and can't be renewed: without a token, a server that also allows anonymous requests would process the
/// request as anonymous.
///
/// # Errors
/// Returns the error of the renewal, or [`AuthErrorCause::SignInNeeded`] if the sign-in has ended.
pub(crate) async fn renew_if_due(shared: &Arc<AuthorizationContext>) -> Result<(), AuthError> {
    let due = {
        let state = shared.state();
        let tokens = state.record.as_ref().and_then(|record| record.tokens.as_ref());
        let can_renew = tokens.is_some_and(|tokens| tokens.refresh.is_some()) || !shared.is_interactive();
        let is_due = tokens.is_some_and(|tokens| tokens.needs_renewal(shared.now()));
        (can_renew && is_due).then_some(state.generation)
    };
    let renewed = match due {
        Some(generation) => renew_tokens(shared, generation, false).await,
        None => Ok(()),
    };
    // After a failed renewal, the token is used until it expires.
    if !shared.has_no_usable_token() {
        return Ok(());
    }
    renewed?;
    if shared.reload_record().await && !shared.has_no_usable_token() {
        return Ok(());
    }
    let Some(record) = shared.state().record.clone() else { return Ok(()) };
    let cause = record.ended.clone().unwrap_or_else(|| "the sign-in has ended and cannot be renewed".to_owned());
    if record.tokens.is_some() {
        shared.end_sign_in(record, &cause).await;
    }
    Err(AuthPhase::Refresh.error(AuthErrorCause::SignInNeeded { cause }))
}

/// Renews the tokens of this generation, unless they were already replaced. `refused` is `true` if the server refused
/// the access token.
///
/// # Errors
/// Returns the error of the renewal, or that of a recent one that failed.
pub(crate) async fn renew_tokens(
    shared: &Arc<AuthorizationContext>,
    generation: u64,
    refused: bool,
) -> Result<(), AuthError> {
    shared.check_no_recent_renewal_failure(generation)?;
    let task = {
        let shared = Arc::clone(shared);
        tokio::spawn(async move { shared.renew_unless_replaced(generation, refused).await })
    };
    let task_error =
        |_| AuthPhase::Refresh.error(AuthErrorCause::SignInNeeded { cause: "the renewal was interrupted".to_owned() });
    task.await.map_err(task_error)?
}

impl AuthorizationContext {
    /// Renews the tokens of this generation as [`renew_tokens`] describes. Waits for another renewal in progress.
    ///
    /// A failure that does not end the sign-in delays the next attempt. It is logged as a step, which the sign-in tab
    /// shows. Requests fail with it if the server refused the access token, or once the token has expired.
    async fn renew_unless_replaced(&self, generation: u64, refused: bool) -> Result<(), AuthError> {
        let _lock = self.renewal_lock.lock().await;
        if self.state().generation != generation {
            return Ok(());
        }
        // Callers that waited for a failed renewal get its error instead of retrying.
        self.check_no_recent_renewal_failure(generation)?;
        let _held = self.settings.vault.lock_entry(&self.vault_key(VaultEntryKind::Account)).await;
        if self.reload_record().await {
            let (is_gone, is_good) = {
                let state = self.state();
                let tokens = state.record.as_ref().and_then(|record| record.tokens.as_ref());
                (state.record.is_none(), tokens.is_some_and(|tokens| !tokens.needs_renewal(self.now())))
            };
            if is_gone {
                let cause = "you signed out in another window or on the command line".to_owned();
                return Err(AuthPhase::Refresh.error(AuthErrorCause::SignInNeeded { cause }));
            }
            if is_good {
                return Ok(());
            }
        }
        if refused && !self.state().refusals.try_take(MAX_RENEWALS_AFTER_REFUSAL_PER_WINDOW, self.now()) {
            let cause = "the server refused several new tokens within a minute".to_owned();
            self.web.note(AuthPhase::Refresh, &cause);
            return Err(AuthPhase::Refresh.error(AuthErrorCause::SignInNeeded { cause }));
        }
        let (record, challenge, generation) = {
            let state = self.state();
            (state.record.clone(), state.last_challenge.clone(), state.generation)
        };
        let renewed = if self.is_interactive() {
            self.use_refresh_token(record, generation, refused).await
        } else {
            let id_token = record.and_then(|record| record.id_token);
            self.sign_in_without_browser(challenge, id_token, ConsentMode::Nobody).await.map(|_| ())
        };
        if let Err(error) = &renewed {
            let at = self.now();
            if refused {
                // The renewal issued no new token, so it does not count.
                self.state().refusals.refund();
            }
            self.state().failed_refresh = Some(FailedTokenRefresh { generation, at, error: error.clone() });
            self.end_unapproved_sign_in(error).await;
            self.web.note(AuthPhase::Refresh, &error.to_string());
            self.notify_change();
        }
        renewed
    }

    /// Ends the sign-in if the error says that a grant needed an endpoint or scope that the user has not approved. The
    /// user then has to sign in again and review it.
    async fn end_unapproved_sign_in(&self, error: &AuthError) {
        let record = self.state().record.clone().filter(|_| matches!(error.cause, AuthErrorCause::NotApproved { .. }));
        if let Some(record) = record {
            self.end_sign_in(record, &error.cause.to_string()).await;
        }
    }

    /// Checks that no renewal of the tokens of this generation has failed within [`RENEWAL_RETRY_DELAY`].
    ///
    /// # Errors
    /// Returns the error of the recent renewal.
    fn check_no_recent_renewal_failure(&self, generation: u64) -> Result<(), AuthError> {
        let state = self.state();
        let Some(failed) = state.failed_refresh.as_ref().filter(|failed| failed.generation == generation) else {
            return Ok(());
        };
        let is_recent = self.now().duration_since(failed.at).is_ok_and(|age| age < RENEWAL_RETRY_DELAY);
        if is_recent { Err(failed.error.clone()) } else { Ok(()) }
    }

    /// Returns `true` if there is a sign-in, but it has no access token that is still valid.
    fn has_no_usable_token(&self) -> bool {
        let state = self.state();
        let Some(record) = &state.record else { return false };
        match &record.tokens {
            Some(tokens) => tokens.is_expired(self.now()),
            None => self.is_interactive() && record.ended.is_some(),
        }
    }

    /// Renews the tokens with the refresh token of the record. Ends the sign-in if the authorization server no longer
    /// accepts it.
    async fn use_refresh_token(
        &self,
        record: Option<SignInRecord>,
        generation: u64,
        refused: bool,
    ) -> Result<(), AuthError> {
        let sign_in_needed =
            |cause: &str| AuthPhase::Refresh.error(AuthErrorCause::SignInNeeded { cause: cause.to_owned() });
        let Some(mut record) = record else { return Err(sign_in_needed("you are not signed in")) };
        let token = record.tokens.as_ref().and_then(|tokens| tokens.refresh.clone());
        let Some(token) = token else { return Err(sign_in_needed("the sign-in has ended and cannot be renewed")) };
        if refused {
            self.verify_issuer(&record).await?;
        }
        let client = self.current_client(&record);
        let key = record.dpop_key();
        let endpoint = TokenEndpoint {
            web: &self.web,
            phase: AuthPhase::Refresh,
            url: &record.token_endpoint,
            issuer: &record.issuer,
            client: &client,
            dpop: key.as_ref(),
            requires_bound_token: self.settings.dpop == DpopUse::Always,
            nonces: &self.authorization_nonces,
            now: self.now(),
        };
        let granted = endpoint.refresh(&token.0, Some(&record.resource)).await;
        // A sign-in or sign-out meanwhile takes precedence, also in another process.
        self.reload_record().await;
        if self.state().generation != generation {
            return Ok(());
        }
        match granted {
            Ok(granted) => {
                let now = self.now();
                record.tokens = Some(TokenSet::new(&granted, Some(&token), now));
                if let Some(scopes) = granted.scopes {
                    record.granted = scopes;
                }
                record.refreshed_at = Some(unix_seconds(now));
                record.ended = None;
                self.store_record(record).await;
                Ok(())
            }
            // The request may have consumed the refresh token.
            Err(error) if error.cause == AuthErrorCause::Unbound => {
                self.end_sign_in(record, &error.cause.to_string()).await;
                Err(error)
            }
            Err(error) => {
                let AuthErrorCause::Refused { code, .. } = &error.cause else { return Err(error) };
                let is_unknown_client = is_unknown_client_error(code);
                if code != "invalid_grant" && !is_unknown_client {
                    return Err(error);
                }
                if is_unknown_client {
                    self.forget_client(&record.issuer).await;
                }
                let cause = "the authorization server no longer renews this sign-in";
                self.end_sign_in(record, cause).await;
                Err(sign_in_needed(cause))
            }
        }
    }

    /// Checks that the server's metadata still names the issuer of the tokens. Otherwise removes everything that the
    /// issuer issued: the tokens with the record of the sign-in, and the registration of the client. A temporary
    /// failure of the metadata request is ignored.
    async fn verify_issuer(&self, record: &SignInRecord) -> Result<(), AuthError> {
        let metadata_url =
            self.state().last_challenge.as_ref().and_then(|challenge| challenge.resource_metadata.clone());
        let found =
            protected_resource::discover_resource(&self.web, &self.settings.server, metadata_url.as_deref()).await;
        match found {
            Ok(Some(resource))
                if !resource.authorization_servers.is_empty()
                    && !resource.authorization_servers.contains(&record.issuer) =>
            {
                self.forget_previous_sign_in_data().await;
                let cause = "the server now has another authorization server".to_owned();
                Err(AuthPhase::Refresh.error(AuthErrorCause::SignInNeeded { cause }))
            }
            Err(error)
                if matches!(error.cause, AuthErrorCause::ResourceMismatch { .. } | AuthErrorCause::TooManyRequests) =>
            {
                Err(error)
            }
            _ => Ok(()),
        }
    }

    /// Removes the tokens, which have become invalid. The account is retained with `cause`, which the sign-in tab of
    /// the server shows (`ui/src/sign-in/SignInTab.svelte`).
    pub(crate) async fn end_sign_in(&self, mut record: SignInRecord, cause: &str) {
        record.tokens = None;
        record.ended = Some(cause.to_owned());
        self.store_record(record).await;
    }
}
