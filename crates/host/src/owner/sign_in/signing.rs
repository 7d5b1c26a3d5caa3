//! Signs the requests of one server, and tells the owner when that no longer works.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use mcp_auth::{Authorization, Reason};
use mcp_transport::http::{Authorizer, Challenge, MOST_SENDINGS, Signed, Stop, Verdict};
use tokio::task::AbortHandle;
use url::Url;

use super::user::Asker;
use crate::activity::Activity;

/// No token was used yet.
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
    /// The token that was used last, so that each is hidden before the server has it.
    used: AtomicU64,
    /// Why the last refusal could not be healed.
    refused: Mutex<Option<String>>,
}

impl Signing {
    pub(super) fn new(authorization: Arc<Authorization>, asker: Arc<Asker>, activity: Arc<Mutex<Activity>>) -> Self {
        Self { authorization, asker, activity, used: AtomicU64::new(NONE_YET), refused: Mutex::default() }
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
        self.asker.tell_owner(Box::new(move |owner| owner.sign_in_wanted(&server))).await;
    }
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
            Ok(signed) if self.used.swap(signed.generation, Ordering::Relaxed) != signed.generation => {
                let tokens = self.authorization.tokens();
                self.activity.lock().unwrap_or_else(PoisonError::into_inner).hide(tokens);
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
