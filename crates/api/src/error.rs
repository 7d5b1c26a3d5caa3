//! Errors as the page gets them: a code to act on, words to show.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What went wrong, to choose the next step by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The request has another shape than the table says.
    BadRequest,
    /// There is no such server, question, call, conversation or grant.
    NotFound,
    /// The name is taken or not usable.
    BadName,
    /// The settings file can't be read or written; nothing was changed.
    Config,
    /// The server is not running or not ready.
    NotReady,
    /// The server wants its user to sign in.
    SignInNeeded,
    /// The policy or the user refused.
    Refused,
    /// The user cancelled.
    Cancelled,
    /// The server did not answer in time.
    Timeout,
    /// The server answered with an error.
    Server,
    /// The server's answer can't be understood.
    BadAnswer,
    /// The server ended while the call was under way.
    ServerGone,
    /// The server does not offer this.
    Unsupported,
    /// The question changed or is no longer open; look at it again.
    Stale,
    /// What the user gave is not valid; `data` says where.
    Invalid,
    /// Something of the system failed (a file, the browser, the dialog).
    System,
    /// A fault of Drawbridge itself.
    Internal,
}

/// An error of a command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS, thiserror::Error)]
#[error("{message}")]
pub struct ApiError {
    /// To act on.
    pub code: ErrorCode,
    /// To show: what failed and why, in words.
    pub message: String,
    /// More, by code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub data: Option<serde_json::Value>,
}

impl ApiError {
    /// An error without data.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }
}
