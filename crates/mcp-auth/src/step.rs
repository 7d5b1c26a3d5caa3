//! One step of a sign-in, as it may be shown and copied into a report: secrets are replaced before it is made.

use std::time::{Duration, SystemTime};

use crate::error::Phase;

/// A request with its answer, or something else that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// When it began.
    pub at: SystemTime,
    /// How long it took.
    pub took: Duration,
    /// What it was part of.
    pub phase: Phase,
    /// What was sent.
    pub request: Option<StepRequest>,
    /// What came back.
    pub answer: Option<StepAnswer>,
    /// What was made of it, in words.
    pub conclusion: String,
}

/// What was sent. Secrets read `[redacted]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepRequest {
    /// The method.
    pub method: String,
    /// The whole URL.
    pub url: String,
    /// Headers worth showing.
    pub headers: Vec<(String, String)>,
    /// The body, in part if it is long.
    pub body: String,
}

/// What came back. Secrets read `[redacted]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepAnswer {
    /// The status.
    pub status: u16,
    /// Headers worth showing.
    pub headers: Vec<(String, String)>,
    /// The body, in part if it is long.
    pub body: String,
}
