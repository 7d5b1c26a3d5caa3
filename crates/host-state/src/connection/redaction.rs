//! Removes access tokens that a server repeats in its error messages.

use mcp_proto::session::{CallError, CloseReason};
use supervision::activity::SharedActivityLog;

use crate::view::ServerFailure;

/// Returns a call's error with all access tokens redacted.
pub fn redact_error(activity: &SharedActivityLog, error: CallError) -> CallError {
    let clean = |text: String| activity.redact_text(text);
    match error {
        CallError::Server(mut rpc) => {
            rpc.message = clean(rpc.message);
            rpc.data = rpc.data.map(|data| serde_json::from_str(&clean(data.to_string())).unwrap_or(data));
            CallError::Server(rpc)
        }
        CallError::BadAnswer { cause } => CallError::BadAnswer { cause: clean(cause) },
        CallError::Undelivered { cause, sent } => CallError::Undelivered { cause: clean(cause), sent },
        CallError::TaskCancelled { message } => CallError::TaskCancelled { message: message.map(clean) },
        CallError::Closed(CloseReason::ConnectionLost(cause)) => {
            CallError::Closed(CloseReason::ConnectionLost(clean(cause)))
        }
        other => other,
    }
}

/// Returns a server's failure with all access tokens redacted.
pub fn redact_failure(activity: &SharedActivityLog, failure: ServerFailure) -> ServerFailure {
    ServerFailure { message: activity.redact_text(failure.message), ..failure }
}

#[cfg(test)]
mod tests {
    use mcp_proto::RpcError;
    use serde_json::json;
    use supervision::activity::ActivityLog;

    use super::*;
    use crate::view::FailureReason;

    #[test]
    fn token_is_redacted_from_server_errors() {
        const TOKEN: &str = "t0ken-of-this-server";
        let activity = SharedActivityLog::new(ActivityLog::default());
        activity.redact_tokens(vec![TOKEN.into()]);
        let message = || format!("not with {TOKEN}");
        let rpc = RpcError { data: Some(json!({ TOKEN: [message()] })), ..RpcError::new(1, message()) };
        let errors = [
            CallError::Server(rpc),
            CallError::BadAnswer { cause: message() },
            CallError::Undelivered { cause: message(), sent: true },
            CallError::TaskCancelled { message: Some(message()) },
            CallError::Closed(CloseReason::ConnectionLost(message())),
        ];
        for error in errors {
            let shown = format!("{:?}", super::redact_error(&activity, error));
            assert!(
                !shown.contains(TOKEN) && shown.contains("not with [redacted]"),
                "only the token is redacted: {shown}"
            );
        }
        let failed = redact_failure(&activity, ServerFailure::new(FailureReason::Exited, message()));
        assert_eq!(failed.message, "not with [redacted]", "the failure of a server is redacted");
    }
}
