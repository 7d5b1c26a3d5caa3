//! HTTP requests of an authorization: rate-limited, validated, bounded and logged.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::{Method, Request, Response};
use mcp_transport::http::{UntrustedUrlClient, UntrustedUrlLimits};
use secrecy::{ExposeSecret, SecretString};
use url::Url;

use crate::clock::Clock;
use crate::error::{AuthError, AuthErrorCause, AuthPhase};
use crate::logged_auth_step::LoggedAuthStep;
use crate::metadata_address::{self, UserEnteredUrls};
use crate::request_budget::{MAX_REQUESTS_PER_WINDOW, RequestBudget};
use crate::step_log::StepLog;

/// Maximum size and duration of a response to a request of the authorization.
const AUTH_HTTP_RESPONSE_LIMITS: UntrustedUrlLimits =
    UntrustedUrlLimits { bytes: 512 * 1024, time: Duration::from_secs(30) };
/// Maximum number of redirects that a request for a document follows.
const MAX_METADATA_REDIRECTS: usize = 3;
/// Protocol version sent with metadata requests (2025-03-26, `basic/authorization`).
const METADATA_REQUEST_PROTOCOL_VERSION: &str = "2026-07-28";

/// HTTP client for all requests of one server's authorization. Limits their rate, and logs each request as a step.
pub(crate) struct AuthHttpClient {
    client: UntrustedUrlClient,
    now: Clock,
    named: UserEnteredUrls,
    state: Mutex<RequestBudgetAndLog>,
}

#[derive(Default)]
struct RequestBudgetAndLog {
    budget: RequestBudget,
    log: StepLog,
}

impl AuthHttpClient {
    pub(crate) fn new(client: UntrustedUrlClient, now: Clock, named: UserEnteredUrls) -> AuthHttpClient {
        AuthHttpClient { client, now, named, state: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, RequestBudgetAndLog> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn user_entered_urls(&self) -> &UserEnteredUrls {
        &self.named
    }

    /// Discards the logged steps of the previous sign-in, and starts the log of a new one.
    pub(crate) fn begin_sign_in_log(&self) {
        self.lock().log.begin_sign_in();
    }

    /// Ends the step log of the sign-in. Steps of later operations, such as renewals, are stored separately from it.
    pub(crate) fn end_sign_in_log(&self) {
        self.lock().log.end_sign_in();
    }

    pub(crate) fn steps(&self) -> Vec<LoggedAuthStep> {
        self.lock().log.steps()
    }

    /// Redacts this secret in all steps and messages from now on.
    pub(crate) fn register_secret(&self, secret: &SecretString) {
        self.lock().log.redactor.register_secret(secret.expose_secret());
    }

    /// Redacts all values in the query of this URL in all steps and messages from now on. Unlike other secrets, they
    /// are never forgotten.
    pub(crate) fn register_query_secrets(&self, url: &Url) {
        self.lock().log.redactor.register_query_secrets(url);
    }

    /// Formats untrusted text for display: redacted, escaped and truncated.
    pub(crate) fn redact_and_escape_untrusted(&self, text: &str) -> String {
        metadata_address::displayed_text(&self.lock().log.redactor.redact_text(text))
    }

    pub(crate) fn note(&self, phase: AuthPhase, conclusion: &str) {
        let now = (self.now)();
        self.lock().log.note(now, phase, conclusion);
    }

    pub(crate) fn log_browser_request(&self, phase: AuthPhase, url: &Url, conclusion: &str) {
        let now = (self.now)();
        self.lock().log.add_browser_request(now, phase, url, conclusion);
    }

    pub(crate) fn set_conclusion(&self, conclusion: &str) {
        self.lock().log.set_conclusion(conclusion);
    }

    /// Sends one request, and logs the request with its response as a step.
    ///
    /// # Errors
    /// Returns [`AuthErrorCause::TooManyRequests`] if the limit is exhausted, and [`AuthErrorCause::Unreachable`] if
    /// there is no response.
    pub(crate) async fn send(
        &self,
        phase: AuthPhase,
        request: Request<Vec<u8>>,
    ) -> Result<Response<Vec<u8>>, AuthError> {
        let at = (self.now)();
        let shown = {
            let mut state = self.lock();
            if !state.budget.try_take(MAX_REQUESTS_PER_WINDOW, at) {
                state.log.note(at, phase, "the request was not sent: too many requests within a minute");
                return Err(phase.error(AuthErrorCause::TooManyRequests));
            }
            // A server may echo the credentials that it received.
            let credentials = request.headers().get("authorization").and_then(|value| value.to_str().ok());
            if let Some((_, credentials)) = credentials.and_then(|value| value.split_once(' ')) {
                state.log.redactor.register_secret(credentials);
            }
            state.log.displayed_request(&request)
        };
        let address = request.uri().to_string();
        let began = std::time::Instant::now();
        let answer = self.client.send(request, AUTH_HTTP_RESPONSE_LIMITS).await;
        let took = began.elapsed();
        self.lock().log.add_http_request(at, took, phase, &shown, answer.as_ref().ok());
        answer.map_err(|error| {
            let address = Url::parse(&address).map_or_else(
                |_| metadata_address::displayed_text(&address),
                |url| metadata_address::displayed_url(&url),
            );
            let cause = self.redact_and_escape_untrusted(&error.to_string());
            self.set_conclusion(&cause);
            phase.error(AuthErrorCause::Unreachable { address, cause })
        })
    }

    /// Fetches a document and follows redirects to allowed URLs.
    ///
    /// # Errors
    /// Returns the errors of [`send`](Self::send), and [`AuthErrorCause::UnsafeUrl`] or [`AuthErrorCause::Unreadable`]
    /// for an invalid redirect.
    pub(crate) async fn get(&self, phase: AuthPhase, url: &Url) -> Result<Response<Vec<u8>>, AuthError> {
        let mut url = url.clone();
        for _ in 0..=MAX_METADATA_REDIRECTS {
            let request = Request::builder()
                .method(Method::GET)
                .uri(url.as_str())
                .header("accept", "application/json")
                .header("mcp-protocol-version", METADATA_REQUEST_PROTOCOL_VERSION)
                .body(Vec::new());
            let request = request.map_err(|_| phase.error(unusable_url_cause(&url)))?;
            let answer = self.send(phase, request).await?;
            if !matches!(answer.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
                return Ok(answer);
            }
            let location = answer.headers().get("location").and_then(|value| value.to_str().ok());
            let next = location.and_then(|location| url.join(location).ok());
            let Some(next) = next else {
                let cause = "it redirects without a valid address".to_owned();
                return Err(
                    phase.error(AuthErrorCause::Unreadable { address: metadata_address::displayed_url(&url), cause })
                );
            };
            self.set_conclusion("it is a redirect");
            // The redirect chooses the path, so it must not lead to another service on a host that the user entered.
            url = metadata_address::parse_endpoint_url_from_metadata("a redirect", next.as_str(), &url, &self.named)
                .map_err(|cause| phase.error(cause))?;
        }
        let cause = format!("it redirects more than {MAX_METADATA_REDIRECTS} times");
        Err(phase.error(AuthErrorCause::Unreadable { address: metadata_address::displayed_url(&url), cause }))
    }
}

fn unusable_url_cause(url: &Url) -> AuthErrorCause {
    AuthErrorCause::Unreadable {
        address: metadata_address::displayed_url(url),
        cause: "the request could not be built".to_owned(),
    }
}
