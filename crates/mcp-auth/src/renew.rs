//! Renewing tokens: one renewal at a time for all calls, and to its end even if nobody waits for it any more, because a
//! rotated refresh token that is not kept is lost.

use std::sync::Arc;
use std::time::Duration;

use crate::approved::Consenting;
use crate::budget::REFUSALS;
use crate::dpop::seconds;
use crate::error::{AuthError, Cause, Phase};
use crate::identify::is_client_error;
use crate::record::{Record, Tokens};
use crate::resource;
use crate::settings::DpopUse;
use crate::shared::{Failed, Shared};
use crate::token::TokenEndpoint;
use crate::vault::VaultKind;

/// After a failure, how long no renewal is tried again without a reason to.
const PAUSE: Duration = Duration::from_secs(10);

/// Sees to it that requests can be signed: renews a token that is due. One that is over and cannot be renewed is an error;
/// without it, a server that lets strangers in would answer as to one.
///
/// # Errors
/// If somebody is signed in, and the token is of no use any more.
pub(crate) async fn renew_if_due(shared: &Arc<Shared>) -> Result<(), AuthError> {
    let due = {
        let state = shared.state();
        let tokens = state.record.as_ref().and_then(|record| record.tokens.as_ref());
        let can = tokens.is_some_and(|tokens| tokens.refresh.is_some()) || !shared.is_interactive();
        let is_due = tokens.is_some_and(|tokens| tokens.is_due(shared.now()));
        (can && is_due).then_some(state.generation)
    };
    let renewed = match due {
        Some(generation) => renew(shared, generation, false).await,
        None => Ok(()),
    };
    // If it failed, the token is used for as long as it lives.
    if !shared.is_stranded() {
        return Ok(());
    }
    renewed?;
    if shared.look_again().await && !shared.is_stranded() {
        return Ok(());
    }
    let Some(record) = shared.state().record.clone() else { return Ok(()) };
    let cause = record.ended.clone().unwrap_or_else(|| "the sign-in has ended and cannot be renewed".to_owned());
    if record.tokens.is_some() {
        shared.end(record, &cause).await;
    }
    Err(Phase::Refresh.error(Cause::SignInNeeded { cause }))
}

/// Renews the token of this generation, unless that has happened meanwhile. `refused`: the server refused the token.
///
/// # Errors
/// If it failed, or has failed just now.
pub(crate) async fn renew(shared: &Arc<Shared>, generation: u64, refused: bool) -> Result<(), AuthError> {
    shared.not_just_failed(generation)?;
    let task = {
        let shared = Arc::clone(shared);
        tokio::spawn(async move { shared.renew(generation, refused).await })
    };
    let gone = |_| Phase::Refresh.error(Cause::SignInNeeded { cause: "the renewal broke off".to_owned() });
    task.await.map_err(gone)?
}

impl Shared {
    async fn renew(&self, generation: u64, refused: bool) -> Result<(), AuthError> {
        let _turn = self.renewing.lock().await;
        if self.state().generation != generation {
            return Ok(());
        }
        // Whoever waited for a renewal that failed has the same error, and does not wait for one more.
        self.not_just_failed(generation)?;
        let _held = self.settings.vault.hold(&self.key(VaultKind::Account)).await;
        if self.look_again().await {
            let (is_gone, is_good) = {
                let state = self.state();
                let tokens = state.record.as_ref().and_then(|record| record.tokens.as_ref());
                (state.record.is_none(), tokens.is_some_and(|tokens| !tokens.is_due(self.now())))
            };
            if is_gone {
                let cause = "you signed out in another window or on the command line".to_owned();
                return Err(Phase::Refresh.error(Cause::SignInNeeded { cause }));
            }
            if is_good {
                return Ok(());
            }
        }
        if refused && !self.state().refusals.take(REFUSALS, self.now()) {
            let cause = "the server refused one token after the other within a minute".to_owned();
            self.web.note(Phase::Refresh, &cause);
            return Err(Phase::Refresh.error(Cause::SignInNeeded { cause }));
        }
        let (record, asked, generation) = {
            let state = self.state();
            (state.record.clone(), state.asked.clone(), state.generation)
        };
        let renewed = if self.is_interactive() {
            self.refresh(record, generation, refused).await
        } else {
            let id_token = record.and_then(|record| record.id_token);
            self.by_itself(asked, id_token, Consenting::Nobody).await.map(|_| ())
        };
        if let Err(error) = &renewed {
            let at = self.now();
            if refused {
                // It gave no token that could be refused once more.
                self.state().refusals.give_back();
            }
            self.state().failed = Some(Failed { generation, at, error: error.clone() });
            self.end_unapproved(error).await;
            self.web.note(Phase::Refresh, &error.to_string());
            self.tell();
        }
        renewed
    }

    /// Ends the sign-in after something that was not approved: the user has to look at it.
    async fn end_unapproved(&self, error: &AuthError) {
        let record = self.state().record.clone().filter(|_| matches!(error.cause, Cause::NotApproved { .. }));
        if let Some(record) = record {
            self.end(record, &error.cause.to_string()).await;
        }
    }

    /// # Errors
    /// The error of a renewal of the same token that failed a moment ago.
    fn not_just_failed(&self, generation: u64) -> Result<(), AuthError> {
        let state = self.state();
        let Some(failed) = state.failed.as_ref().filter(|failed| failed.generation == generation) else {
            return Ok(());
        };
        let is_recent = self.now().duration_since(failed.at).is_ok_and(|age| age < PAUSE);
        if is_recent { Err(failed.error.clone()) } else { Ok(()) }
    }

    /// Whether somebody is signed in with nothing to sign with.
    fn is_stranded(&self) -> bool {
        let state = self.state();
        let Some(record) = &state.record else { return false };
        match &record.tokens {
            Some(tokens) => tokens.is_over(self.now()),
            None => self.is_interactive() && record.ended.is_some(),
        }
    }

    async fn refresh(&self, record: Option<Record>, generation: u64, refused: bool) -> Result<(), AuthError> {
        let nothing = |cause: &str| Phase::Refresh.error(Cause::SignInNeeded { cause: cause.to_owned() });
        let Some(mut record) = record else { return Err(nothing("nobody is signed in")) };
        let token = record.tokens.as_ref().and_then(|tokens| tokens.refresh.clone());
        let Some(token) = token else { return Err(nothing("the sign-in has ended and cannot be renewed")) };
        if refused {
            self.still_trusted(&record).await?;
        }
        let client = self.current_client(&record);
        let key = record.key();
        let endpoint = TokenEndpoint {
            web: &self.web,
            phase: Phase::Refresh,
            url: &record.token_endpoint,
            issuer: &record.issuer,
            client: &client,
            dpop: key.as_ref(),
            must_bind: self.settings.dpop == DpopUse::Always,
            nonces: &self.server_nonces,
            now: self.now(),
        };
        let granted = endpoint.refresh(&token.0, Some(&record.resource)).await;
        // A sign-in or sign-out in between counts for more, in another program too.
        self.look_again().await;
        if self.state().generation != generation {
            return Ok(());
        }
        match granted {
            Ok(granted) => {
                let now = self.now();
                record.tokens = Some(Tokens::new(&granted, Some(&token), now));
                if let Some(scopes) = granted.scopes {
                    record.granted = scopes;
                }
                record.refreshed_at = Some(seconds(now));
                record.ended = None;
                self.install(record).await;
                Ok(())
            }
            // The refresh token may have been used up by it.
            Err(error) if error.cause == Cause::Unbound => {
                self.end(record, &error.cause.to_string()).await;
                Err(error)
            }
            Err(error) => {
                let Cause::Refused { code, .. } = &error.cause else { return Err(error) };
                let is_unknown_client = is_client_error(code);
                if code != "invalid_grant" && !is_unknown_client {
                    return Err(error);
                }
                if is_unknown_client {
                    self.forget_client(&record.issuer).await;
                }
                let cause = "the authorization server does not renew this sign-in any more";
                self.end(record, cause).await;
                Err(nothing(cause))
            }
        }
    }

    /// Whether the server still names the authorization server that the tokens are from. If not, they are dropped. A
    /// server that cannot say at the moment is believed to.
    async fn still_trusted(&self, record: &Record) -> Result<(), AuthError> {
        let told = self.state().asked.as_ref().and_then(|asked| asked.resource_metadata.clone());
        let found = resource::discover(&self.web, &self.settings.server, told.as_deref()).await;
        match found {
            Ok(Some(resource))
                if !resource.authorization_servers.is_empty()
                    && !resource.authorization_servers.contains(&record.issuer) =>
            {
                self.drop_all().await;
                let cause = "the server now has another authorization server".to_owned();
                Err(Phase::Refresh.error(Cause::SignInNeeded { cause }))
            }
            Err(error) if matches!(error.cause, Cause::ResourceMismatch { .. } | Cause::TooManyRequests) => Err(error),
            _ => Ok(()),
        }
    }

    /// The tokens are void: the account stays, to say why.
    pub(crate) async fn end(&self, mut record: Record, cause: &str) {
        record.tokens = None;
        record.ended = Some(cause.to_owned());
        self.install(record).await;
    }
}
