//! Errors of calls and sessions.

use std::fmt;
use std::time::Duration;

use crate::jsonrpc::{InvalidMessage, RpcError};
use crate::types::ElicitParams;

/// Reason why a call has no result. Messages are human-readable, may quote the server, and contain no secret of the
/// client.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CallError {
    /// No response arrived in time. The session sent a cancellation to the server.
    #[error("{}", call_timeout_text(.after, *.total))]
    Timeout {
        /// Maximum duration that the call exceeded.
        after: Duration,
        /// `true` if the call exceeded its total time, `false` if it exceeded the time without a response or progress.
        total: bool,
    },
    /// The caller cancelled the call.
    #[error("cancelled")]
    Cancelled,
    /// The server responded with a JSON-RPC error.
    #[error("the server answered with an error: {0}")]
    Server(RpcError),
    /// The user must visit these URLs before the request can succeed (2025-11-25, error -32042). The caller can then
    /// repeat the call.
    #[error("the server requires {} page(s) to be opened first", .0.len())]
    UrlRequired(Vec<ElicitParams>),
    /// The response has an invalid structure.
    #[error("the server's answer does not fit: {cause}")]
    BadAnswer {
        /// Path of the invalid member in the response, and the reason why it is invalid.
        cause: String,
    },
    /// The response could not be decoded.
    #[error("the server's answer cannot be read: {0}")]
    Unreadable(Box<InvalidMessage>),
    /// The session ended before the call had a result.
    #[error("{0}")]
    Closed(CloseReason),
    /// The request was not sent, because the server or the revision does not support it, or because it is invalid.
    #[error("not possible with this server: {what}")]
    Unsupported {
        /// Missing feature or invalid value, as human-readable text.
        what: String,
    },
    /// The server requested input in too many rounds.
    #[error("the server requested input too often, and the call was abandoned")]
    TooManyRounds,
    /// The client refused a request of the server whose response the call needed.
    #[error("abandoned because a request of the server was refused")]
    Refused,
    /// The handshake of the session is not complete.
    #[error("the server is not ready yet")]
    NotReady,
    /// The transport failed to deliver the request or its response.
    #[error("{}{cause}", if *.sent { "the answer was lost: " } else { "the server was not reached: " })]
    Undelivered {
        /// Human-readable cause of the failure.
        cause: String,
        /// `true` if the server may have acted on the request.
        sent: bool,
    },
    /// The call continued as a task, which the server cancelled.
    #[error("the server stopped the task{}", .message.as_ref().map(|message| format!(": {message}")).unwrap_or_default())]
    TaskCancelled {
        /// Status message of the server. Untrusted text.
        message: Option<String>,
    },
    /// Too many calls are in flight. The caller may retry after one has ended.
    #[error("too many calls at the same time")]
    TooManyCalls,
}

fn call_timeout_text(after: &Duration, total: bool) -> String {
    if total {
        format!("no answer within {after:?} in all")
    } else {
        format!("no answer and no progress for {after:?}")
    }
}

/// Reason for the end of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CloseReason {
    /// The process of a local server exited.
    ServerExited {
        /// Exit status of the process, if it exited normally.
        status: Option<i32>,
        /// Signal that terminated the process.
        signal: Option<i32>,
    },
    /// The server closed its standard output.
    ServerClosedOutput,
    /// The caller of the session stopped the server, for example at the user's request.
    StoppedByOwner,
    /// A message could not be written to the server. Contains the cause.
    WriteFailed(String),
    /// The handshake failed. Contains the cause.
    HandshakeFailed(String),
    /// The server did not respond to a ping within this duration.
    Unresponsive(Duration),
    /// The connection to a remote server failed. Contains the cause.
    ConnectionLost(String),
    /// The server does not read its input. Contains the number of messages that were queued for it.
    NotReading(usize),
    /// The host stopped the server because it exceeded a resource limit. Contains a description of the limit.
    LimitReached(String),
}

impl fmt::Display for CloseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CloseReason::ServerExited { signal: Some(signal), .. } => {
                write!(f, "the server was ended by signal {signal}")
            }
            CloseReason::ServerExited { status: Some(status), .. } => {
                write!(f, "the server ended with exit status {status}")
            }
            CloseReason::ServerExited { .. } => f.write_str("the server ended"),
            CloseReason::ServerClosedOutput => f.write_str("the server closed its output"),
            CloseReason::StoppedByOwner => f.write_str("the server was stopped"),
            CloseReason::WriteFailed(cause) => write!(f, "writing to the server failed: {cause}"),
            CloseReason::HandshakeFailed(cause) => write!(f, "the connection could not be opened: {cause}"),
            CloseReason::Unresponsive(after) => write!(f, "the server did not answer a ping within {after:?}"),
            CloseReason::ConnectionLost(cause) => write!(f, "the connection was lost: {cause}"),
            CloseReason::LimitReached(cause) => write!(f, "the server was stopped: {cause}"),
            CloseReason::NotReading(waiting) => {
                write!(f, "the server does not read its input: {waiting} messages wait for it")
            }
        }
    }
}

/// Reason why [`Session::answer`](super::Session::answer) rejected a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ClientResponseError {
    /// The request was already answered or no longer needs an answer, or never existed.
    #[error("the request is not open")]
    NotOpen,
    /// The response is of another kind than the request, such as a list of folders for a sampling request. The request
    /// stays open.
    #[error("the answer is of another kind than the request")]
    WrongKind,
}
