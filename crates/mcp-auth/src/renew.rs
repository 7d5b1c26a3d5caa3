//! Renewing tokens: one renewal at a time for all calls, and to its end even if nobody waits for it any more, because a
//! rotated refresh token that is not kept is lost.

use std::sync::Arc;
use std::time::Duration;

use crate::authorization::Shared;
use crate::dpop::seconds;
use crate::error::{AuthError, Cause, Phase};
use crate::identify::is_client_error;
use crate::record::{Record, Tokens};
use crate::resource;
use crate::token::TokenEndpoint;

/// After a failure, how long no renewal is tried that no refusal asks for.
const PAUSE: Duration = Duration::from_secs(10);

/// Renews the token of this generation, unless that has happened meanwhile. `refused`: the server refused the token.
///
/// # Errors
/// If it failed.
pub(crate) async fn renew(shared: &Arc<Shared>, generation: u64, refused: bool) -> Result<(), AuthError> {
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
        let (record, asked) = {
            let state = self.state();
            if state.generation != generation {
                return Ok(());
            }
            (state.record.clone(), state.asked.clone())
        };
        let renewed = if self.is_interactive() {
            self.refresh(record, generation, refused).await
        } else {
            let id_token = record.and_then(|record| record.id_token);
            self.by_itself(asked, id_token).await.map(|_| ())
        };
        if let Err(error) = &renewed {
            let after = self.now() + PAUSE;
            self.state().renew_after = Some(after);
            self.web.note(Phase::Refresh, &error.to_string());
            self.tell();
        }
        renewed
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
            nonce: &self.server_nonce,
            now: self.now(),
        };
        let granted = endpoint.refresh(&token.0, Some(&record.resource)).await;
        // A sign-in or sign-out in between counts for more.
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
            Err(error) => {
                let Cause::Refused { code, .. } = &error.cause else { return Err(error) };
                let is_unknown_client = is_client_error(code);
                if code != "invalid_grant" && !is_unknown_client {
                    return Err(error);
                }
                if is_unknown_client {
                    self.forget_client(&record.issuer).await?;
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
                self.forget(false).await?;
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
