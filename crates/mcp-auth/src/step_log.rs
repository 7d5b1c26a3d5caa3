//! Log of the steps of the last sign-in, for display to the user.

use std::time::{Duration, SystemTime};

use http::{HeaderMap, Request, Response};
use url::Url;

use crate::error::AuthPhase;
use crate::logged_auth_step::{LoggedAuthStep, LoggedHttpRequest, LoggedHttpResponse};
use crate::secret_redactor::{REDACTED, SecretRedactor};

/// Maximum number of steps that are stored for the last sign-in, which usually has about a dozen, and also for the
/// operations after it.
const MAX_STORED_STEPS: usize = 60;
/// HTTP headers that a step displays. `true` if the header's value is a secret, which is then redacted.
const LOGGED_HTTP_HEADERS: [(&str, bool); 11] = [
    ("accept", false),
    ("authorization", true),
    ("cache-control", false),
    ("content-type", false),
    ("dpop", true),
    ("dpop-nonce", true),
    ("location", false),
    ("mcp-protocol-version", false),
    ("retry-after", false),
    ("set-cookie", true),
    ("www-authenticate", false),
];

/// Logged steps of a sign-in for display, and the redactor of the secrets in them.
#[derive(Default)]
pub(crate) struct StepLog {
    /// Steps of the last sign-in.
    steps: Vec<LoggedAuthStep>,
    /// Steps after the sign-in, such as renewals. The oldest are dropped.
    later_steps: Vec<LoggedAuthStep>,
    is_later: bool,
    pub(crate) redactor: SecretRedactor,
}

impl StepLog {
    /// Discards all logged steps when a new sign-in begins.
    pub(crate) fn begin_sign_in(&mut self) {
        (self.steps, self.later_steps, self.is_later) = (Vec::new(), Vec::new(), false);
    }

    /// Ends the log of the sign-in. From then on, steps are stored separately and do not displace those of the sign-in.
    pub(crate) fn end_sign_in(&mut self) {
        self.is_later = true;
    }

    /// Returns all logged steps. Secrets that became known later are redacted from earlier steps as well.
    pub(crate) fn steps(&self) -> Vec<LoggedAuthStep> {
        self.steps.iter().chain(&self.later_steps).map(|step| self.redact_step(step)).collect()
    }

    fn redact_step(&self, step: &LoggedAuthStep) -> LoggedAuthStep {
        let text = |text: &str| self.redactor.redact_text(text);
        let headers = |headers: &[(String, String)]| {
            headers.iter().map(|(name, value)| (name.clone(), text(value))).collect::<Vec<_>>()
        };
        let request = step.request.as_ref().map(|request| LoggedHttpRequest {
            method: request.method.clone(),
            url: text(&request.url),
            headers: headers(&request.headers),
            body: text(&request.body),
        });
        let response = step.response.as_ref().map(|response| LoggedHttpResponse {
            status: response.status,
            headers: headers(&response.headers),
            body: text(&response.body),
        });
        LoggedAuthStep { request, response, conclusion: text(&step.conclusion), ..step.clone() }
    }

    /// Adds a step that has only a conclusion and no HTTP request.
    pub(crate) fn note(&mut self, at: SystemTime, phase: AuthPhase, conclusion: &str) {
        let conclusion = self.redactor.redact_text(conclusion);
        self.push(LoggedAuthStep { at, duration: Duration::ZERO, phase, request: None, response: None, conclusion });
    }

    /// Adds a step for an authorization request that was opened in the browser.
    pub(crate) fn add_browser_request(&mut self, at: SystemTime, phase: AuthPhase, url: &Url, conclusion: &str) {
        let request = LoggedHttpRequest {
            method: "GET".to_owned(),
            url: self.redactor.redact_url(url),
            headers: Vec::new(),
            body: String::new(),
        };
        let conclusion = self.redactor.redact_text(conclusion);
        self.push(LoggedAuthStep {
            at,
            duration: Duration::ZERO,
            phase,
            request: Some(request),
            response: None,
            conclusion,
        });
    }

    /// Adds a step for an HTTP request and its response, or for a request without a response.
    pub(crate) fn add_http_request(
        &mut self,
        at: SystemTime,
        duration: Duration,
        phase: AuthPhase,
        request: &LoggedHttpRequest,
        response: Option<&Response<Vec<u8>>>,
    ) {
        if let Some(response) = response {
            self.redactor.register_body_secrets(response.body());
        }
        let response = response.map(|response| LoggedHttpResponse {
            status: response.status().as_u16(),
            headers: self.displayed_headers(response.headers()),
            body: self.redactor.redact_body(content_type(response.headers()), response.body()),
        });
        let conclusion = if response.is_some() { String::new() } else { "no response".to_owned() };
        self.push(LoggedAuthStep { at, duration, phase, request: Some(request.clone()), response, conclusion });
    }

    /// Formats a request for display. Must be called before the request is sent, because sending consumes it.
    pub(crate) fn displayed_request(&self, request: &Request<Vec<u8>>) -> LoggedHttpRequest {
        let url = request.uri().to_string();
        LoggedHttpRequest {
            method: request.method().to_string(),
            url: Url::parse(&url)
                .map_or_else(|_| self.redactor.redact_text(&url), |url| self.redactor.redact_url(&url)),
            headers: self.displayed_headers(request.headers()),
            body: self.redactor.redact_body(content_type(request.headers()), request.body()),
        }
    }

    /// Sets the conclusion of the latest step.
    pub(crate) fn set_conclusion(&mut self, conclusion: &str) {
        let conclusion = self.redactor.redact_text(conclusion);
        if let Some(step) = self.current_steps().last_mut() {
            step.conclusion = conclusion;
        }
    }

    fn push(&mut self, step: LoggedAuthStep) {
        let steps = self.current_steps();
        if steps.len() == MAX_STORED_STEPS {
            steps.remove(0);
        }
        steps.push(step);
    }

    fn current_steps(&mut self) -> &mut Vec<LoggedAuthStep> {
        if self.is_later { &mut self.later_steps } else { &mut self.steps }
    }

    fn displayed_headers(&self, headers: &HeaderMap) -> Vec<(String, String)> {
        let mut shown = Vec::new();
        for (name, is_secret) in LOGGED_HTTP_HEADERS {
            for value in headers.get_all(name) {
                let value = String::from_utf8_lossy(value.as_bytes());
                let value = match (is_secret, name, value.split_once(' ')) {
                    (true, "authorization", Some((scheme, _))) => format!("{scheme} {REDACTED}"),
                    (true, ..) => REDACTED.to_owned(),
                    (false, "location", _) => {
                        Url::parse(&value).map_or_else(|_| REDACTED.to_owned(), |url| self.redactor.redact_url(&url))
                    }
                    (false, ..) => self.redactor.redact_text(&value),
                };
                shown.push((name.to_owned(), foreign::escape_invisible(&value).chars().take(1000).collect()));
            }
        }
        shown
    }
}

fn content_type(headers: &HeaderMap) -> &str {
    headers.get("content-type").and_then(|value| value.to_str().ok()).unwrap_or_default()
}
