//! Signs the HTTP requests to one server with its access token, and notifies the owner if there is no usable token.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use mcp_auth::{AuthReason, ServerAuthorization};
use mcp_transport::http::{
    AuthChallenge, Authorizer, ChallengeOutcome, MAX_SENDS_PER_REQUEST, RequestSignature, SigningRefusal,
};
use secrecy::SecretString;
use supervision::activity::SharedActivityLog;
use tokio::task::AbortHandle;
use url::Url;

use super::sign_in_user::SignInUser;

/// Initial value of [`RequestSigner`]'s field `hidden`, before the activity log redacts any token.
const NO_TOKEN_REDACTED: u64 = u64::MAX;
/// HTTP status of a response that rejects a missing or invalid token.
const HTTP_UNAUTHORIZED: u16 = 401;
/// HTTP status of a response that rejects a token with insufficient scopes.
const HTTP_FORBIDDEN: u16 = 403;

/// The [`Authorizer`] of one server, which adds tokens to its requests.
pub(super) struct RequestSigner {
    authorization: Arc<ServerAuthorization>,
    user: Arc<SignInUser>,
    activity: SharedActivityLog,
    /// Generation of the latest token that the activity log redacts. Each token is added to the redactions before it is
    /// sent to the server.
    hidden: AtomicU64,
    /// Reason why the server rejected a request although the request had the best available token, or `None`.
    refused: Mutex<Option<String>>,
}

impl RequestSigner {
    pub(super) fn new(
        authorization: Arc<ServerAuthorization>,
        user: Arc<SignInUser>,
        activity: SharedActivityLog,
    ) -> Self {
        Self { authorization, user, activity, hidden: AtomicU64::new(NO_TOKEN_REDACTED), refused: Mutex::default() }
    }

    /// Returns and clears the reason why the server rejected a request that had the best available token.
    pub(super) fn take_refusal_cause(&self) -> Option<String> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Requests the additional scopes of the server's challenge (step-up authorization), and waits for the user. Once
    /// the browser is open, the step-up continues even if the call that caused it ends.
    async fn step_up(&self, challenge: AuthChallenge) -> ChallengeOutcome {
        let authorization = Arc::clone(&self.authorization);
        let stepping = tokio::spawn(async move { authorization.on_challenge(challenge).await });
        let _unwanted = StepUpGuard { user: &self.user, task: stepping.abort_handle() };
        stepping.await.unwrap_or_else(|error| ChallengeOutcome::Stop(format!("the step-up was aborted: {error}")))
    }

    /// Stores the reason why the server rejected a request, and ends the session until the user signs in.
    async fn refuse_and_end_session(&self, cause: &str) {
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(cause.to_owned());
        let server = self.user.server().to_owned();
        self.user.with_owner(move |owner| owner.servers.end_session_for_sign_in(&server));
    }
}

/// Returns the access token in the headers that sign a request.
fn access_token_in_headers(signed: &RequestSignature) -> Option<SecretString> {
    let (_, header) = signed.headers.iter().find(|(name, _)| name.as_str() == "authorization")?;
    header.expose()?.split_once(' ').map(|(_, token)| token.into())
}

/// Cancels a step-up authorization when the call that caused it ends, unless the browser is already open.
struct StepUpGuard<'a> {
    user: &'a SignInUser,
    task: AbortHandle,
}

impl Drop for StepUpGuard<'_> {
    fn drop(&mut self) {
        if self.user.progress().ends_at.is_none() {
            self.task.abort();
        }
    }
}

#[async_trait]
impl Authorizer for RequestSigner {
    async fn sign(&self, method: &str, url: &Url) -> Result<RequestSignature, SigningRefusal> {
        let signed = self.authorization.sign(method, url).await;
        match &signed {
            // The generation is stored after the token is redacted, or else a concurrent request could be sent before.
            Ok(signed) if self.hidden.load(Ordering::Acquire) != signed.generation => {
                // All current tokens are redacted, since newer ones than that of this request may exist.
                let tokens = self.authorization.tokens().into_iter().chain(access_token_in_headers(signed)).collect();
                self.activity.redact_tokens(tokens);
                self.hidden.store(signed.generation, Ordering::Release);
            }
            Ok(_) => {}
            Err(stop) => self.refuse_and_end_session(&stop.to_string()).await,
        }
        signed
    }

    async fn on_challenge(&self, challenge: AuthChallenge) -> ChallengeOutcome {
        let status = challenge.status;
        if status == HTTP_FORBIDDEN && self.authorization.progress().is_none() {
            self.user.reset_progress(AuthReason::StepUp { operation: challenge.operation.clone() });
        }
        let is_last = challenge.attempt + 1 >= MAX_SENDS_PER_REQUEST;
        let mut verdict = if status == HTTP_FORBIDDEN {
            self.step_up(challenge).await
        } else {
            self.authorization.on_challenge(challenge).await
        };
        if is_last && verdict == ChallengeOutcome::Again {
            verdict = ChallengeOutcome::Stop(format!(
                "the server refused it {MAX_SENDS_PER_REQUEST} times, each time signed anew"
            ));
        }
        if let ChallengeOutcome::Stop(cause) = &verdict
            && status == HTTP_UNAUTHORIZED
        {
            self.refuse_and_end_session(cause).await;
        }
        verdict
    }

    fn on_response(&self, dpop_nonce: Option<&str>) {
        self.authorization.on_response(dpop_nonce);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use mcp_transport::http::{HeaderName, SecretHeader};
    use secrecy::ExposeSecret as _;

    use super::*;

    #[test]
    fn redacted_token_is_the_token_of_the_request() {
        let signed = |headers: &[(&'static str, &str)]| RequestSignature {
            headers: headers
                .iter()
                .map(|(name, text)| (HeaderName::from_static(name), SecretHeader::new(text).unwrap()))
                .collect(),
            generation: 1,
        };
        for (headers, expected) in [
            (&[("authorization", "Bearer the-token")][..], Some("the-token")),
            (&[("dpop", "a.proof"), ("authorization", "DPoP the-token")], Some("the-token")),
            (&[("dpop", "a.proof")], None),
            (&[], None),
        ] {
            let found = access_token_in_headers(&signed(headers));
            assert_eq!(
                found.as_ref().map(|found| found.expose_secret()),
                expected,
                "the token is found in {headers:?}"
            );
        }
    }
}
