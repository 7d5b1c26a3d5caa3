//! Failure of a command, with its exit status.

use api::{ApiError, ErrorCode};
use serde_json::{Value, json};

/// Failure of a command, as reported to the user and to scripts.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CommandFailure {
    /// Error code for scripts, which stays the same in later versions.
    pub(crate) code: String,
    /// Cause of the failure, as text for the user.
    pub(crate) message: String,
    /// Additional data for scripts, with a structure that depends on the code.
    pub(crate) data: Option<Box<Value>>,
    /// Result of the command, if it produced one despite the failure.
    pub(crate) value: Option<Box<Value>>,
    /// Exit status with which the program ends.
    pub(crate) status: u8,
}

/// Exit status of a failed command, unless a more specific one applies.
const EXIT_FAILED: u8 = 1;
/// Exit status for an invalid command line, or for an invalid file that it names.
const EXIT_USAGE_ERROR: u8 = 2;
/// Exit status for an operation that the policy or the user denied.
const EXIT_REFUSED: u8 = 3;

impl CommandFailure {
    /// Creates a failure with this code and the corresponding exit status.
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        let status = match code {
            ErrorCode::Refused | ErrorCode::Cancelled => EXIT_REFUSED,
            ErrorCode::BadRequest => EXIT_USAGE_ERROR,
            _ => EXIT_FAILED,
        };
        let code =
            serde_json::to_value(code).ok().and_then(|code| code.as_str().map(str::to_owned)).unwrap_or_default();
        Self { code, message: message.into(), data: None, value: None, status }
    }

    /// Creates a failure for an invalid command line, or for an invalid file that it names.
    pub(crate) fn usage_error(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::BadRequest, message)
    }

    /// Creates a failure for a tool result with `isError`, which is included as `value`.
    pub(crate) fn tool_error(message: String, value: Value) -> Self {
        Self { code: String::from("tool"), message, data: None, value: Some(Box::new(value)), status: EXIT_FAILED }
    }

    /// Creates a failure for a signal that ended the program. The exit status is 128 plus the number of the signal.
    pub(crate) fn from_signal(signal: u8) -> Self {
        Self { status: 128 + signal, ..Self::new(ErrorCode::Cancelled, "interrupted") }
    }

    /// Returns the failure as JSON, as it appears in the last line of the output.
    pub(crate) fn to_json(&self) -> Value {
        let mut error = json!({ "code": self.code, "message": self.message });
        if let Some(data) = &self.data {
            error["data"] = (**data).clone();
        }
        error
    }
}

impl From<ApiError> for CommandFailure {
    fn from(error: ApiError) -> Self {
        Self { data: error.data.map(Box::new), ..Self::new(error.code, error.message) }
    }
}
