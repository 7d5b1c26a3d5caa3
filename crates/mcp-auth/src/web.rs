//! Requests to the outside: counted, checked, bounded and written down.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::{Method, Request, Response};
use mcp_transport::http::{OutsideClient, OutsideLimits};
use secrecy::{ExposeSecret, SecretString};
use url::Url;

use crate::address::{self, Named};
use crate::budget::{Budget, MOST};
use crate::clock::Clock;
use crate::error::{AuthError, Cause, Phase};
use crate::log::Log;
use crate::step::Step;

/// The most bytes of an answer, and the longest that one may take.
const LIMITS: OutsideLimits = OutsideLimits { bytes: 512 * 1024, time: Duration::from_secs(30) };
/// The most redirects that are followed to a metadata document.
const REDIRECTS: usize = 3;
/// Sent when metadata is asked for (2025-03-26, `basic/authorization`).
const PROTOCOL_VERSION: &str = "2026-07-28";

/// The way to the outside of one server's authorization.
pub(crate) struct Web {
    client: OutsideClient,
    now: Clock,
    named: Named,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    budget: Budget,
    log: Log,
}

impl Web {
    pub(crate) fn new(client: OutsideClient, now: Clock, named: Named) -> Web {
        Web { client, now, named, kept: Mutex::default() }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn named(&self) -> &Named {
        &self.named
    }

    /// A new sign-in begins in the log.
    pub(crate) fn begin(&self) {
        self.kept().log.begin();
    }

    /// It has ended; what follows is kept apart.
    pub(crate) fn end(&self) {
        self.kept().log.end();
    }

    pub(crate) fn steps(&self) -> Vec<Step> {
        self.kept().log.steps()
    }

    /// From now on this is taken out of steps and messages.
    pub(crate) fn learn(&self, secret: &SecretString) {
        self.kept().log.redactor.learn(secret.expose_secret());
    }

    /// From now on, and for good, what stands in the query of this URL is taken out.
    pub(crate) fn learn_query(&self, url: &Url) {
        self.kept().log.redactor.learn_query(url);
    }

    /// Foreign text as it may be shown: without known secrets, visible and short.
    pub(crate) fn clean(&self, text: &str) -> String {
        address::shown(&self.kept().log.redactor.text(text))
    }

    pub(crate) fn note(&self, phase: Phase, conclusion: &str) {
        let now = (self.now)();
        self.kept().log.note(now, phase, conclusion);
    }

    pub(crate) fn opened(&self, phase: Phase, url: &Url, conclusion: &str) {
        let now = (self.now)();
        self.kept().log.opened(now, phase, url, conclusion);
    }

    pub(crate) fn conclude(&self, conclusion: &str) {
        self.kept().log.conclude(conclusion);
    }

    /// Sends one request.
    ///
    /// # Errors
    /// If the budget is spent or no answer came.
    pub(crate) async fn send(&self, phase: Phase, request: Request<Vec<u8>>) -> Result<Response<Vec<u8>>, AuthError> {
        let at = (self.now)();
        let shown = {
            let mut kept = self.kept();
            if !kept.budget.take(MOST, at) {
                kept.log.note(at, phase, "nothing more is sent: too many requests within a minute");
                return Err(phase.error(Cause::TooManyRequests));
            }
            // A server can repeat what it was sent.
            let credentials = request.headers().get("authorization").and_then(|value| value.to_str().ok());
            if let Some((_, credentials)) = credentials.and_then(|value| value.split_once(' ')) {
                kept.log.redactor.learn(credentials);
            }
            kept.log.request(&request)
        };
        let address = request.uri().to_string();
        let began = std::time::Instant::now();
        let answer = self.client.send(request, LIMITS).await;
        let took = began.elapsed();
        self.kept().log.sent(at, took, phase, &shown, answer.as_ref().ok());
        answer.map_err(|error| {
            let address = Url::parse(&address).map_or_else(|_| address::shown(&address), |url| address::plain(&url));
            let cause = self.clean(&error.to_string());
            self.conclude(&cause);
            phase.error(Cause::Unreachable { address, cause })
        })
    }

    /// Gets a document, following redirects to where it may be gone.
    ///
    /// # Errors
    /// If no answer came, or a redirect leads where it may not.
    pub(crate) async fn get(&self, phase: Phase, url: &Url) -> Result<Response<Vec<u8>>, AuthError> {
        let mut url = url.clone();
        for _ in 0..=REDIRECTS {
            let request = Request::builder()
                .method(Method::GET)
                .uri(url.as_str())
                .header("accept", "application/json")
                .header("mcp-protocol-version", PROTOCOL_VERSION)
                .body(Vec::new());
            let request = request.map_err(|_| phase.error(unusable_url(&url)))?;
            let answer = self.send(phase, request).await?;
            if !matches!(answer.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
                return Ok(answer);
            }
            let location = answer.headers().get("location").and_then(|value| value.to_str().ok());
            let next = location.and_then(|location| url.join(location).ok());
            let Some(next) = next else {
                let cause = "it redirects to no address".to_owned();
                return Err(phase.error(Cause::Unreadable { address: address::plain(&url), cause }));
            };
            self.conclude("it is a redirect");
            // The path is whatever the redirect says, so another program on a host that the user named must not get it.
            url = address::endpoint_of("a redirect", next.as_str(), &url, &self.named)
                .map_err(|cause| phase.error(cause))?;
        }
        let cause = format!("it redirects more than {REDIRECTS} times");
        Err(phase.error(Cause::Unreadable { address: address::plain(&url), cause }))
    }
}

fn unusable_url(url: &Url) -> Cause {
    Cause::Unreadable { address: address::plain(url), cause: "the request could not be made".to_owned() }
}
