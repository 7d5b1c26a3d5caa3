//! Signs the requests of one server, and tells the owner when that no longer works.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use mcp_auth::{Authorization, Reason};
use mcp_transport::http::{Authorizer, Challenge, MOST_SENDINGS, Signed, Stop, Verdict};
use secrecy::SecretString;
use supervision::activity::Activity;
use tokio::task::AbortHandle;
use url::Url;

use super::user::Asker;

/// No token was hidden yet.
const NONE_YET: u64 = u64::MAX;
/// The status of a refusal for want of a token that is good.
const UNAUTHORIZED: u16 = 401;
/// The status of a refusal for want of scopes.
const FORBIDDEN: u16 = 403;

/// What signs for one server.
pub(super) struct Signing {
    authorization: Arc<Authorization>,
    asker: Arc<Asker>,
    activity: Arc<Mutex<Activity>>,
    /// The token that was hidden last: each is, before the server has it.
    hidden: AtomicU64,
    /// Why the last refusal could not be healed.
    refused: Mutex<Option<String>>,
}

impl Signing {
    pub(super) fn new(authorization: Arc<Authorization>, asker: Arc<Asker>, activity: Arc<Mutex<Activity>>) -> Self {
        Self { authorization, asker, activity, hidden: AtomicU64::new(NONE_YET), refused: Mutex::default() }
    }

    /// Why the server refused what could not be signed any better; once.
    pub(super) fn take_refusal(&self) -> Option<String> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Waits for the user, who may take longer than the call that led to it: once the browser is open, that goes on without it.
    async fn stepped_up(&self, challenge: Challenge) -> Verdict {
        let authorization = Arc::clone(&self.authorization);
        let stepping = tokio::spawn(async move { authorization.challenged(challenge).await });
        let _unwanted = Unwanted { asker: &self.asker, task: stepping.abort_handle() };
        stepping.await.unwrap_or_else(|error| Verdict::Stop(format!("it was broken off: {error}")))
    }

    async fn refuse(&self, cause: &str) {
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(cause.to_owned());
        let server = self.asker.server().to_owned();
        self.asker.tell_owner(move |owner| owner.sign_in_wanted(&server));
    }
}

/// The token that a request is signed with.
fn token(signed: &Signed) -> Option<SecretString> {
    let (_, header) = signed.headers.iter().find(|(name, _)| name.as_str() == "authorization")?;
    header.expose()?.split_once(' ').map(|(_, token)| token.into())
}

/// Ends a step-up that no call waits for any more, unless the user is at it.
struct Unwanted<'a> {
    asker: &'a Asker,
    task: AbortHandle,
}

impl Drop for Unwanted<'_> {
    fn drop(&mut self) {
        if self.asker.way().ends_at.is_none() {
            self.task.abort();
        }
    }
}

#[async_trait]
impl Authorizer for Signing {
    async fn sign(&self, method: &str, url: &Url) -> Result<Signed, Stop> {
        let signed = self.authorization.sign(method, url).await;
        match &signed {
            // Only what is hidden counts as such, or another request that is signed at the same time would go out before.
            Ok(signed) if self.hidden.load(Ordering::Acquire) != signed.generation => {
                // There may be newer ones already.
                let tokens = self.authorization.tokens().into_iter().chain(token(signed)).collect();
                self.activity.lock().unwrap_or_else(PoisonError::into_inner).hide(tokens);
                self.hidden.store(signed.generation, Ordering::Release);
            }
            Ok(_) => {}
            Err(stop) => self.refuse(&stop.to_string()).await,
        }
        signed
    }

    async fn challenged(&self, challenge: Challenge) -> Verdict {
        let status = challenge.status;
        if status == FORBIDDEN && self.authorization.in_progress().is_none() {
            self.asker.begins(Reason::StepUp { operation: challenge.operation.clone() });
        }
        let is_last = challenge.attempt + 1 >= MOST_SENDINGS;
        let mut verdict = if status == FORBIDDEN {
            self.stepped_up(challenge).await
        } else {
            self.authorization.challenged(challenge).await
        };
        if is_last && verdict == Verdict::Again {
            verdict = Verdict::Stop(format!("the server refused it {MOST_SENDINGS} times, each time signed anew"));
        }
        if let Verdict::Stop(cause) = &verdict
            && status == UNAUTHORIZED
        {
            self.refuse(cause).await;
        }
        verdict
    }

    fn answered(&self, dpop_nonce: Option<&str>) {
        self.authorization.answered(dpop_nonce);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use mcp_transport::http::{HeaderName, SecretHeader};
    use secrecy::ExposeSecret as _;

    use super::*;

    #[test]
    fn the_token_to_hide_is_that_of_the_request() {
        let signed = |headers: &[(&'static str, &str)]| Signed {
            headers: headers
                .iter()
                .map(|(name, text)| (HeaderName::from_static(name), SecretHeader::new(text).unwrap()))
                .collect(),
            generation: 1,
        };
        for (headers, wanted) in [
            (&[("authorization", "Bearer the-token")][..], Some("the-token")),
            (&[("dpop", "a.proof"), ("authorization", "DPoP the-token")], Some("the-token")),
            (&[("dpop", "a.proof")], None),
            (&[], None),
        ] {
            let found = token(&signed(headers));
            assert_eq!(found.as_ref().map(|found| found.expose_secret()), wanted, "the token in {headers:?}");
        }
    }
}
