//! Steps of a sign-in, for display to the user and for reports. Secrets are redacted before a step is created.

use std::time::{Duration, SystemTime};

use crate::error::AuthPhase;

/// One step of a sign-in, as shown to the user: a request with its response, or another event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedAuthStep {
    /// Time at which the step started.
    pub at: SystemTime,
    /// Time from the start of the step until the response arrived.
    pub duration: Duration,
    /// Phase of the sign-in to which the step belongs.
    pub phase: AuthPhase,
    /// Request that was sent, if any.
    pub request: Option<LoggedHttpRequest>,
    /// Response to the request, or `None` if no response arrived.
    pub response: Option<LoggedHttpResponse>,
    /// Human-readable result of the step, such as what the app read from the response.
    pub conclusion: String,
}

/// A request in the form in which it is shown to the user. Secrets are replaced with `[redacted]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedHttpRequest {
    /// HTTP method of the request.
    pub method: String,
    /// Complete URL of the request.
    pub url: String,
    /// Names and values of the request's headers, as far as steps display them.
    pub headers: Vec<(String, String)>,
    /// Body of the request, truncated if it is long.
    pub body: String,
}

/// A response in the form in which it is shown to the user. Secrets are replaced with `[redacted]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedHttpResponse {
    /// HTTP status of the response.
    pub status: u16,
    /// Names and values of the response's headers, as far as steps display them.
    pub headers: Vec<(String, String)>,
    /// Body of the response, truncated if it is long.
    pub body: String,
}
