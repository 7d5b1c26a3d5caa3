//! Error of commands, with a code by which the page selects an action and a message that it displays.

use domain::call::CallRefusal;
use serde::Serialize;
use ts_rs::TS;

/// Kind of failure, by which Drawbridge's page selects the action that it offers to the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The command is unknown, or the request does not match its type in the command table.
    BadRequest,
    /// There is no server, consent request, call, conversation or grant with this name or identifier.
    NotFound,
    /// The requested name of a server is already in use or not valid.
    BadName,
    /// The settings file can't be read or written. Nothing was changed.
    Config,
    /// The server is not running or not ready.
    NotReady,
    /// No model is chosen for the conversation.
    NoModel,
    /// The server requires the user to sign in. Used by `drawbridge-cli`; the page has the state of the server.
    SignInNeeded,
    /// The policy or the user denied the operation.
    Refused,
    /// The user cancelled the operation.
    Cancelled,
    /// The server did not respond in time.
    Timeout,
    /// The server responded with an error.
    Server,
    /// The server's response violates the protocol.
    BadAnswer,
    /// The server's session ended while the call was in progress.
    ServerGone,
    /// The server does not support the operation.
    Unsupported,
    /// The consent request has changed or is no longer pending. The page has to read it again.
    Stale,
    /// The user's input is not valid. `data` lists the invalid fields.
    Invalid,
    /// An operation of the operating system failed, such as a file access, the browser or a dialog.
    System,
    /// An internal error, which is a bug in Drawbridge.
    Internal,
}

/// Error returned by a command.
#[derive(Debug, Clone, PartialEq, Serialize, TS, thiserror::Error)]
#[error("{message}")]
pub struct ApiError {
    /// Kind of failure, by which the page selects an action.
    pub code: ErrorCode,
    /// Message for the user that states which operation failed, and why.
    pub message: String,
    /// Further details as JSON, whose shape depends on `code`, or `None` if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub data: Option<serde_json::Value>,
    /// Cause for which a call was refused, or `None` for other errors.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub refusal: Option<Box<CallRefusal>>,
}

impl ApiError {
    /// Creates an error without details.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None, refusal: None }
    }
}
