//! Conversion of the host's errors to [`ApiError`].

use credentials::sign_in::SignInError;
use domain::call::{CallFailure, CallFailureCode};
use host::{
    DataFlowError, DecisionError, HostClosed, ReviewError, SamplingError, ServerError, SetupError, StorageError,
};
use installer::imports::{ImportError, ImportServerError};
use mcp_proto::session::CallError;
use serde_json::json;

use crate::{ApiError, ErrorCode};

pub(super) fn not_found_error(what: &str) -> ApiError {
    ApiError::new(ErrorCode::NotFound, format!("{what} was not found"))
}

pub(super) fn system_error(cause: impl Into<String>) -> ApiError {
    ApiError::new(ErrorCode::System, cause)
}

impl From<ImportError> for ApiError {
    fn from(error: ImportError) -> Self {
        match error {
            ImportError::Source(problem) => Self::new(ErrorCode::NotFound, problem.message),
            ImportError::NoProject(_) => Self::new(ErrorCode::NotFound, error.to_string()),
            ImportError::Closed(closed) => closed.into(),
        }
    }
}

impl From<ImportServerError> for ApiError {
    fn from(error: ImportServerError) -> Self {
        match error {
            ImportServerError::Unsupported(_) | ImportServerError::NameTaken(_) => {
                Self::new(ErrorCode::Invalid, error.to_string())
            }
            ImportServerError::Setup(error) => error.into(),
        }
    }
}

impl From<HostClosed> for ApiError {
    fn from(closed: HostClosed) -> Self {
        Self::new(ErrorCode::Internal, closed.to_string())
    }
}

impl From<StorageError> for ApiError {
    fn from(error: StorageError) -> Self {
        match error {
            StorageError::Closed(closed) => closed.into(),
            StorageError::Store(_) | StorageError::Secret(_) | StorageError::File(_) => system_error(error.to_string()),
        }
    }
}

impl From<ServerError> for ApiError {
    fn from(error: ServerError) -> Self {
        let code = match &error {
            ServerError::NotFound(_) => ErrorCode::NotFound,
            ServerError::Changed(_) => ErrorCode::Stale,
            ServerError::BadName { .. } => ErrorCode::BadName,
            ServerError::BadConfig { .. } => ErrorCode::Invalid,
            ServerError::Config(_) => ErrorCode::Config,
            ServerError::NotForgotten { .. } => ErrorCode::System,
            ServerError::Closed(_) => ErrorCode::Internal,
        };
        Self::new(code, error.to_string())
    }
}

impl From<SetupError> for ApiError {
    fn from(error: SetupError) -> Self {
        match error {
            SetupError::Server(error) => error.into(),
            SetupError::Storage(error) => error.into(),
            SetupError::Closed(error) => error.into(),
        }
    }
}

impl From<DataFlowError> for ApiError {
    fn from(error: DataFlowError) -> Self {
        match error {
            DataFlowError::Server(error) => error.into(),
            DataFlowError::TooMany => Self::new(ErrorCode::BadRequest, error.to_string()),
            DataFlowError::Store(error) => system_error(error.to_string()),
            DataFlowError::Closed(closed) => closed.into(),
        }
    }
}

impl From<SamplingError> for ApiError {
    fn from(error: SamplingError) -> Self {
        match error {
            SamplingError::Server(error) => error.into(),
            SamplingError::Store(error) => system_error(error.to_string()),
            SamplingError::Closed(closed) => closed.into(),
        }
    }
}

impl From<ReviewError> for ApiError {
    fn from(error: ReviewError) -> Self {
        let code = match &error {
            ReviewError::NotFound(_) => ErrorCode::NotFound,
            ReviewError::NotRunning(_) => ErrorCode::NotReady,
            ReviewError::Stale(_) => ErrorCode::Stale,
            ReviewError::Full(_) => ErrorCode::Invalid,
            ReviewError::Audit => ErrorCode::System,
            ReviewError::Closed(_) => ErrorCode::Internal,
        };
        Self::new(code, error.to_string())
    }
}

impl From<SignInError> for ApiError {
    fn from(error: SignInError) -> Self {
        let code = match &error {
            SignInError::NotFound(_) => ErrorCode::NotFound,
            SignInError::NotOffered { .. } => ErrorCode::Unsupported,
            SignInError::NotWaiting(_) => ErrorCode::NotReady,
            SignInError::BadRedirect(_) => ErrorCode::Invalid,
            SignInError::Closing => ErrorCode::Internal,
            _ => ErrorCode::System,
        };
        Self::new(code, error.to_string())
    }
}

impl From<DecisionError> for ApiError {
    fn from(error: DecisionError) -> Self {
        let message = error.to_string();
        match error {
            DecisionError::NotOpen | DecisionError::Stale => Self::new(ErrorCode::Stale, message),
            DecisionError::Denied(_) => Self::new(ErrorCode::Refused, message),
            DecisionError::WrongKind(_) => Self::new(ErrorCode::BadRequest, message),
            DecisionError::Form(problems) => {
                Self { data: Some(json!({ "problems": problems })), ..Self::new(ErrorCode::Invalid, message) }
            }
            DecisionError::Folder { .. }
            | DecisionError::Unfit(_)
            | DecisionError::Model(_)
            | DecisionError::NoPrice(_) => Self::new(ErrorCode::Invalid, message),
            DecisionError::Budget(_) => Self::new(ErrorCode::Refused, message),
            DecisionError::Audit | DecisionError::Files | DecisionError::Browser(_) => {
                Self::new(ErrorCode::System, message)
            }
            DecisionError::Closed(closed) => closed.into(),
        }
    }
}

impl From<CallFailure> for ApiError {
    fn from(failure: CallFailure) -> Self {
        let message = failure.to_string();
        let code: ErrorCode = failure.code().into();
        let data = match &failure {
            CallFailure::Session { error, .. } => match &**error {
                CallError::Server(rpc) => {
                    Some(json!({ "rpcCode": rpc.code, "rpcMessage": rpc.message, "rpcData": rpc.data }))
                }
                _ => None,
            },
            _ => None,
        };
        Self { data, refusal: failure.refusal().cloned().map(Box::new), ..Self::new(code, message) }
    }
}

impl From<CallFailureCode> for ErrorCode {
    fn from(code: CallFailureCode) -> Self {
        match code {
            CallFailureCode::NotFound => Self::NotFound,
            CallFailureCode::NotReady => Self::NotReady,
            CallFailureCode::BadRequest => Self::BadRequest,
            CallFailureCode::Refused => Self::Refused,
            CallFailureCode::Cancelled => Self::Cancelled,
            CallFailureCode::Timeout => Self::Timeout,
            CallFailureCode::Server => Self::Server,
            CallFailureCode::BadAnswer => Self::BadAnswer,
            CallFailureCode::ServerGone => Self::ServerGone,
            CallFailureCode::Unsupported => Self::Unsupported,
            CallFailureCode::Internal => Self::Internal,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_refused_call_has_the_cause_of_a_refusal() {
        let refused = serde_json::to_value(ApiError::from(CallFailure::denied_by_rule("rule 3"))).unwrap();
        let refusal = json!({ "is": "denied_by_rule", "rule": "rule 3" });
        assert_eq!(refused, json!({ "code": "refused", "message": "refused: by rule 3", "refusal": refusal }));
        let cancelled = serde_json::to_value(ApiError::from(CallFailure::Cancelled)).unwrap();
        assert_eq!(cancelled, json!({ "code": "cancelled", "message": "cancelled" }));
    }
}
