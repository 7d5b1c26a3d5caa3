//! How a call or a session ends badly.

use std::fmt;
use std::time::Duration;

use crate::jsonrpc::{InvalidMessage, RpcError};
use crate::types::ElicitParams;

/// Why a call has no result. The texts are for people and carry no secret of ours, but may quote
/// the server.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CallError {
    /// Nothing came in time. The server was told to stop.
    #[error("{}", timeout_text(.after, *.total))]
    Timeout {
        /// The time that was allowed.
        after: Duration,
        /// Whether that was the time in all, and not the time without progress.
        total: bool,
    },
    /// It was cancelled here.
    #[error("cancelled")]
    Cancelled,
    /// The server answered with an error.
    #[error("the server answered with an error: {0}")]
    Server(RpcError),
    /// Pages have to be visited first (2025-11-25, error -32042). Repeat the call afterwards.
    #[error("the server wants {} page(s) to be visited first", .0.len())]
    UrlRequired(Vec<ElicitParams>),
    /// The answer has the wrong shape.
    #[error("the server's answer does not fit: {cause}")]
    BadAnswer {
        /// Where and why.
        cause: String,
    },
    /// The answer came and could not be read.
    #[error("the server's answer cannot be read: {0}")]
    Unreadable(Box<InvalidMessage>),
    /// The session ended first.
    #[error("{0}")]
    Closed(CloseReason),
    /// It was not sent, because the server or the revision does not have it, or because it is
    /// itself invalid.
    #[error("not possible with this server: {what}")]
    Unsupported {
        /// What is missing.
        what: String,
    },
    /// The server kept asking back.
    #[error("the server asked back too often; the call was given up")]
    TooManyRounds,
    /// A question of the server that the call depends on was refused, so the call was given up.
    #[error("given up, because a question of the server was refused")]
    Refused,
    /// The session is still opening.
    #[error("the server is not ready yet")]
    NotReady,
    /// The transport lost the request or its answer.
    #[error("{}{cause}", if *.sent { "the answer was lost: " } else { "the server was not reached: " })]
    Undelivered {
        /// Why.
        cause: String,
        /// Whether the server may have acted on it.
        sent: bool,
    },
    /// The call went on as a task, and the server stopped that.
    #[error("the server stopped the task{}", .message.as_ref().map(|message| format!(": {message}")).unwrap_or_default())]
    TaskCancelled {
        /// What the server says about it. Untrusted text.
        message: Option<String>,
    },
    /// Too many calls are in flight; wait until one has ended.
    #[error("too many calls at the same time")]
    TooManyCalls,
}

fn timeout_text(after: &Duration, total: bool) -> String {
    if total {
        format!("no answer within {after:?} in all")
    } else {
        format!("no answer and no progress for {after:?}")
    }
}

/// Why a session ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CloseReason {
    /// The process ended.
    ServerExited {
        /// Its exit status.
        status: Option<i32>,
        /// The signal that ended it.
        signal: Option<i32>,
    },
    /// The server closed its output.
    ServerClosedOutput,
    /// The user stopped it.
    StoppedByUser,
    /// A message could not be written.
    WriteFailed(String),
    /// The opening failed, for this cause.
    OpeningFailed(String),
    /// The server did not answer a ping in this time.
    Unresponsive(Duration),
    /// The connection to a remote server failed.
    ConnectionLost(String),
    /// The server does not read: this many messages wait for it.
    NotReading(usize),
    /// It used more of this computer than it may, in words, and was ended for it.
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
            CloseReason::StoppedByUser => f.write_str("the server was stopped"),
            CloseReason::WriteFailed(cause) => write!(f, "writing to the server failed: {cause}"),
            CloseReason::OpeningFailed(cause) => write!(f, "the connection could not be opened: {cause}"),
            CloseReason::Unresponsive(after) => write!(f, "the server did not answer a ping within {after:?}"),
            CloseReason::ConnectionLost(cause) => write!(f, "the connection was lost: {cause}"),
            CloseReason::LimitReached(cause) => write!(f, "the server was stopped: {cause}"),
            CloseReason::NotReading(waiting) => {
                write!(f, "the server does not read its input: {waiting} messages wait for it")
            }
        }
    }
}

/// An answer that cannot be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnknownRequest {
    /// The question is not open: answered before, withdrawn, or never asked.
    #[error("the question is not open any more")]
    NotOpen,
    /// The answer is of another kind than the question. The question stays open.
    #[error("the answer is of another kind than the question")]
    WrongKind,
}
