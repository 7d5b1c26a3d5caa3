//! Why a command failed, with the exit status for it.

use api::{ApiError, ErrorCode};
use serde_json::{Value, json};

/// Why a command failed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Failure {
    /// The code for programs.
    pub(crate) code: String,
    /// The cause in words.
    pub(crate) message: String,
    /// More for programs, by code.
    pub(crate) data: Option<Box<Value>>,
    /// What came back nevertheless.
    pub(crate) value: Option<Box<Value>>,
    /// The exit status.
    pub(crate) status: u8,
}

/// The call failed.
const FAILED: u8 = 1;
/// The command line, or a file named by it, can't be used.
const USAGE: u8 = 2;
/// The policy or the user refused.
const REFUSED: u8 = 3;

impl Failure {
    /// A failure by its code.
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        let status = match code {
            ErrorCode::Refused | ErrorCode::Cancelled => REFUSED,
            ErrorCode::BadRequest => USAGE,
            _ => FAILED,
        };
        let code =
            serde_json::to_value(code).ok().and_then(|code| code.as_str().map(str::to_owned)).unwrap_or_default();
        Self { code, message: message.into(), data: None, value: None, status }
    }

    /// The command line, or a file named by it, can't be used.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::BadRequest, message)
    }

    /// The tool says itself that it failed.
    pub(crate) fn tool(message: String, value: Value) -> Self {
        Self { code: String::from("tool"), message, data: None, value: Some(Box::new(value)), status: FAILED }
    }

    /// A signal ended it.
    pub(crate) fn interrupted(signal: u8) -> Self {
        Self { status: 128 + signal, ..Self::new(ErrorCode::Cancelled, "interrupted") }
    }

    /// As the last line shows it.
    pub(crate) fn to_json(&self) -> Value {
        let mut error = json!({ "code": self.code, "message": self.message });
        if let Some(data) = &self.data {
            error["data"] = (**data).clone();
        }
        error
    }
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        Self { data: error.data.map(Box::new), ..Self::new(error.code, error.message) }
    }
}
