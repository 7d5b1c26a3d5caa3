//! Implementation of the transport's [`Authorizer`]: adds authorization headers to requests and handles challenges.

use async_trait::async_trait;
use http::HeaderName;
use mcp_transport::http::{
    AuthChallenge, Authorizer, ChallengeOutcome, RequestSignature, SecretHeader, SigningRefusal,
};
use url::Url;

use crate::authorization::ServerAuthorization;
use crate::authorization_context::AuthorizationContext;
use crate::challenge::TokenChallenge;
use crate::dpop;
use crate::error::{AuthError, AuthErrorCause, AuthPhase};
use crate::scopes;
use crate::settings::GrantKind;
use crate::sign_in_record::SignInRecord;
use crate::token_refresh::{renew_if_due, renew_tokens};
use crate::user::AuthReason;

/// Maximum age, in seconds, of a token that counts as new. A new token that the server refuses is not renewed, because
/// the server would refuse a renewed one as well.
const MAX_NEW_TOKEN_AGE_SECONDS: u64 = 60;

/// Name and value of an HTTP header.
type HttpHeader = (&'static str, String);

#[async_trait]
impl Authorizer for ServerAuthorization {
    async fn sign(&self, method: &str, url: &Url) -> Result<RequestSignature, SigningRefusal> {
        let shared = &self.shared;
        let unsigned = |generation| RequestSignature { headers: Vec::new(), generation };
        if url.origin() != shared.settings.server.origin() {
            return Ok(unsigned(shared.state().generation));
        }
        shared.load_record_unless_recently_failed().await;
        renew_if_due(shared).await.map_err(|error| SigningRefusal(authorization_error_text(&error)))?;
        shared.sign(method, url)
    }

    async fn on_challenge(&self, challenge: AuthChallenge) -> ChallengeOutcome {
        let challenge_parameters = TokenChallenge::parse(&challenge.www_authenticate);
        let shared = &self.shared;
        let nonce = challenge.dpop_nonce.as_deref().and_then(dpop::parse_dpop_nonce);
        let requires_nonce = nonce.is_some() && challenge_parameters.error.as_deref() == Some("use_dpop_nonce");
        if nonce.is_some() {
            shared.state().resource_nonce = nonce;
        }
        if let Err(error) = shared.load_stored_sign_in().await {
            return ChallengeOutcome::Stop(authorization_error_text(&error));
        }
        if requires_nonce && challenge.attempt < 2 {
            return ChallengeOutcome::Again;
        }
        match challenge.status {
            401 => self.on_unauthorized(&challenge, challenge_parameters).await,
            _ => self.on_insufficient_scope(&challenge, challenge_parameters).await,
        }
    }

    fn on_response(&self, dpop_nonce: Option<&str>) {
        if let Some(nonce) = dpop_nonce.and_then(dpop::parse_dpop_nonce) {
            self.shared.state().resource_nonce = Some(nonce);
        }
    }
}

impl AuthorizationContext {
    fn sign(&self, method: &str, url: &Url) -> Result<RequestSignature, SigningRefusal> {
        let (texts, generation) =
            self.authorization_headers(method, url).map_err(|cause| SigningRefusal(cause.to_string()))?;
        let unfit = |_| {
            SigningRefusal(
                "the token cannot be sent because it contains characters that are not allowed in a header".to_owned(),
            )
        };
        let header =
            |(name, text): HttpHeader| Ok((HeaderName::from_static(name), SecretHeader::new(&text).map_err(unfit)?));
        Ok(RequestSignature { headers: texts.into_iter().map(header).collect::<Result<_, _>>()?, generation })
    }

    /// Returns the authorization headers of a request, and the generation of their token (a counter that increases
    /// whenever the tokens are replaced).
    ///
    /// # Errors
    /// Returns [`AuthErrorCause::Key`] if the token is bound to a key that is lost or cannot sign.
    pub(crate) fn authorization_headers(
        &self,
        method: &str,
        url: &Url,
    ) -> Result<(Vec<HttpHeader>, u64), AuthErrorCause> {
        let state = self.state();
        let generation = state.generation;
        let tokens = state.record.as_ref().and_then(|record| record.tokens.as_ref());
        let Some(tokens) = tokens.filter(|tokens| !tokens.is_expired(self.now())) else {
            return Ok((Vec::new(), generation));
        };
        let scheme = if tokens.bound { "DPoP" } else { "Bearer" };
        let mut headers = vec![("authorization", format!("{scheme} {}", tokens.access.text()))];
        if tokens.bound {
            let key = state.record.as_ref().and_then(SignInRecord::dpop_key);
            let key =
                key.ok_or(AuthErrorCause::Key { cause: "the key that the token is bound to is lost".to_owned() })?;
            let nonce = state.resource_nonce.as_deref();
            headers.push(("dpop", key.sign_proof(method, url, Some(tokens.access.text()), nonce, self.now())?));
        }
        Ok((headers, generation))
    }
}

impl ServerAuthorization {
    /// Handles a 401 response of the MCP server: the token is missing, expired or revoked. Stores the parameters of the
    /// challenge in `last_challenge`. `discover_resource` follows their metadata URL later, in a sign-in or renewal.
    async fn on_unauthorized(
        &self,
        challenge: &AuthChallenge,
        challenge_parameters: TokenChallenge,
    ) -> ChallengeOutcome {
        let shared = &self.shared;
        let (record, is_fresh) = {
            let mut state = shared.state();
            state.last_challenge = Some(challenge_parameters);
            if state.generation != challenge.generation && challenge.attempt < 3 {
                return ChallengeOutcome::Again;
            }
            let record = state.record.clone();
            let now = dpop::unix_seconds(shared.now());
            let tokens = record.as_ref().and_then(|record| record.tokens.as_ref());
            let is_fresh = tokens.is_some_and(|tokens| now < tokens.since.saturating_add(MAX_NEW_TOKEN_AGE_SECONDS));
            (record, is_fresh)
        };
        let tokens = record.as_ref().and_then(|record| record.tokens.as_ref());
        if challenge.attempt > 0 && is_fresh || challenge.attempt > 2 {
            return ChallengeOutcome::Stop("the server refuses a new token; sign in again".to_owned());
        }
        let needs_user = match &shared.settings.grant {
            GrantKind::AuthorizationCode => tokens.is_none_or(|tokens| tokens.refresh.is_none()),
            GrantKind::EnterpriseManaged(provider) => {
                provider.id_token.is_none() && record.as_ref().is_none_or(|record| record.id_token.is_none())
            }
            GrantKind::ClientCredentials | GrantKind::WorkloadIdentity { .. } => false,
        };
        if needs_user {
            // Another process may have signed in meanwhile.
            let has_tokens = || shared.state().record.as_ref().is_some_and(|record| record.tokens.is_some());
            if shared.reload_record().await && has_tokens() {
                return ChallengeOutcome::Again;
            }
            let record = shared.state().record.clone();
            let cause = match record {
                None => "the server requires a sign-in".to_owned(),
                Some(record) if record.tokens.is_none() => {
                    record.ended.unwrap_or_else(|| "the sign-in has ended; sign in again".to_owned())
                }
                Some(record) => {
                    let cause = "the server no longer accepts the token; sign in again";
                    shared.end_sign_in(record, cause).await;
                    cause.to_owned()
                }
            };
            return ChallengeOutcome::Stop(cause);
        }
        match renew_tokens(shared, challenge.generation, true).await {
            Ok(()) => ChallengeOutcome::Again,
            Err(error) => ChallengeOutcome::Stop(authorization_error_text(&error)),
        }
    }

    /// Handles a 403 response of the MCP server: the token is valid but lacks a scope.
    async fn on_insufficient_scope(
        &self,
        challenge: &AuthChallenge,
        challenge_parameters: TokenChallenge,
    ) -> ChallengeOutcome {
        let shared = &self.shared;
        let cancelled = shared.sign_in_cancellation();
        let _lock = shared.sign_in_lock.lock().await;
        let (had, granted) = {
            let state = shared.state();
            let Some(record) = &state.record else {
                let cause = "the server requires permissions, but you are not signed in; sign in first";
                return ChallengeOutcome::Stop(cause.to_owned());
            };
            let had = scopes::union_of_scopes(&record.requested, &record.granted);
            let has_all = challenge_parameters
                .scope
                .as_ref()
                .is_some_and(|scopes| scopes::missing_scopes(scopes, &had).is_empty());
            if state.generation != challenge.generation && has_all && challenge.attempt < 3 {
                return ChallengeOutcome::Again;
            }
            (had, record.granted.clone())
        };
        let scopes = challenge_parameters.scope.clone().unwrap_or_default();
        let names = scopes.join(" ");
        if scopes::missing_scopes(&scopes, &had).is_empty() {
            let problem = format!("the server requires the permissions \"{names}\", which were requested already");
            return ChallengeOutcome::Stop(if scopes.is_empty() {
                "the server requires more permissions without naming them; ask its operator".to_owned()
            } else if scopes::missing_scopes(&scopes, &granted).is_empty() {
                format!("{problem} and granted; ask its operator")
            } else {
                format!("{problem} and not granted; sign in again and grant them")
            });
        }
        let now = shared.now();
        if !shared.state().step_ups.is_allowed(&challenge.operation, now) {
            let most = crate::step_up::MAX_STEP_UPS_PER_OPERATION;
            let cause = format!("the server requested more permissions more than {most} times in a row");
            return ChallengeOutcome::Stop(format!(
                "{cause}; try again in ten minutes, or ask its operator which ones it requires"
            ));
        }
        // The user sees the added scopes for every kind of grant.
        let reason = AuthReason::StepUp { operation: crate::metadata_address::displayed_text(&challenge.operation) };
        let signed_in = shared.run_sign_in(reason, Some(challenge_parameters), &cancelled, None).await.map(|_| ());
        shared.state().step_ups.record(&challenge.operation, now);
        match signed_in {
            Ok(()) => ChallengeOutcome::Again,
            Err(error) => ChallengeOutcome::Stop(format!(
                "the server requires the permissions \"{names}\": {}",
                authorization_error_text(&error)
            )),
        }
    }
}

/// Returns the text of an error, followed by the action that the user can take.
fn authorization_error_text(error: &AuthError) -> String {
    match (&error.phase, &error.cause) {
        (AuthPhase::Refresh, AuthErrorCause::SignInNeeded { cause }) => format!("{cause}. {}", error.next_step()),
        _ => format!("{error}. {}", error.next_step()),
    }
}
