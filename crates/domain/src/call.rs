//! Calls of tools, prompts and resources, as an observer sees them.

use mcp_proto::session::{CallError, TaskView};
use mcp_proto::types as mcp;
use serde::{Deserialize, Serialize};

use crate::Millis;

/// Identifier of a call of a tool, a prompt or a resource, used from the page to the history. The caller chooses it,
/// unique among the calls in progress: the page uses a UUID, a model's reply the id of the item, and the command line a
/// constant, since it makes a single call.
///
/// The same value is [`ServerCall::id`], the `call` of consent requests, and the identifier for cancellation. For a tool call
/// in a conversation it is both the id of the [item](crate::item::ChatItem) and the `call` in its body. Servers never
/// receive it. Other identifiers of a call are:
///
/// - in the host, a `Ticket` for each request to a connection, including requests that are not calls;
/// - in the session, an [`mcp_proto::session::CallId`] for each ticket;
/// - on the wire, the integer id of a JSON-RPC request, which the activity log shows. A call sends several requests if
///   its server asks for input, each with a different id;
/// - the progress token: the wire id of the request that carries it.
///
/// The audit log does not name calls: an entry describes a decision and contains the hash of the payload.
pub type CallId = String;

/// A call and its current state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ServerCall {
    /// Identifier chosen by the caller.
    pub id: CallId,
    /// Name of the called server.
    pub server: String,
    /// Kind of call: a tool, a prompt or a resource.
    pub kind: CallKind,
    /// Name of the tool or prompt, or URI of the resource.
    pub name: String,
    /// Time at which the call was made.
    pub started_at: Millis,
    /// Current state: waiting for approval, running, or the outcome.
    pub state: CallState,
    /// Latest progress reported by the server, if any.
    pub progress: Option<CallProgress>,
    /// Task that the server runs for the call, if it runs one.
    pub task: Option<CallTask>,
    /// Identifier of the conversation that the call belongs to, if any.
    pub conversation: Option<String>,
}

/// The kind of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum CallKind {
    /// Call of a tool (`tools/call`).
    Tool,
    /// Retrieval of a prompt's messages (`prompts/get`).
    Prompt,
    /// Retrieval of a resource's contents (`resources/read`).
    Resource,
}

/// The state of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum CallState {
    /// Waiting for the user's approval. Nothing has been sent.
    AwaitingApproval,
    /// Sent, and waiting for the response.
    Running,
    /// Waiting for input that the server requested before it continues.
    AwaitingInput,
    /// Completed with a result.
    Done,
    /// Refused by the policy or the user.
    Refused,
    /// Cancelled before a result arrived.
    Cancelled,
    /// Ended with an error.
    Failed,
}

impl CallState {
    /// Returns `true` if the state is final.
    #[must_use]
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Done | Self::Refused | Self::Cancelled | Self::Failed)
    }
}

/// Progress of a call, as reported by its server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CallProgress {
    /// Number of progress notifications received. Observers are notified of the latest one per tick only.
    #[serde(skip)]
    pub count: u64,
    /// Amount of work done so far, in the server's unit.
    pub progress: f64,
    /// Total amount of work, or `None` if the server does not report one.
    pub total: Option<f64>,
    /// Description of the current step, written by the server.
    pub message: Option<String>,
}

/// A task that the server runs for a call. All fields are the server's claims.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct CallTask {
    /// Identifier of the task, assigned by the server.
    pub id: String,
    /// Status of the task, as of the last update.
    pub status: TaskStatus,
    /// Description of the status, written by the server.
    pub message: Option<String>,
    /// Time of creation, in ISO 8601.
    pub created_at: String,
    /// Time of the last change, in ISO 8601.
    pub updated_at: String,
}

/// The status of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    /// The server is working on the task.
    Working,
    /// The task waits for input that the server requested.
    InputRequired,
    /// The task completed with a result.
    Completed,
    /// The task ended with an error.
    Failed,
    /// The task was cancelled before completion.
    Cancelled,
}

impl From<TaskView> for CallTask {
    fn from(task: TaskView) -> Self {
        Self {
            id: task.id,
            status: match task.status {
                mcp::TaskStatus::Working => TaskStatus::Working,
                mcp::TaskStatus::InputRequired => TaskStatus::InputRequired,
                mcp::TaskStatus::Completed => TaskStatus::Completed,
                mcp::TaskStatus::Failed => TaskStatus::Failed,
                mcp::TaskStatus::Cancelled => TaskStatus::Cancelled,
            },
            message: task.status_message,
            created_at: task.created_at,
            updated_at: task.updated_at,
        }
    }
}

/// Reason why a call ended without a result.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CallFailure {
    /// The named server, tool, prompt or consent request does not exist.
    #[error("there is no {0}")]
    NotFound(String),
    /// The server is not running.
    #[error("{server} is not ready; start it first")]
    NotReady {
        /// Name of the server.
        server: String,
    },
    /// The server is running, and its tools are still being listed.
    #[error("the tools of {server} are still being listed; try again in a moment")]
    NotListed {
        /// Name of the server.
        server: String,
    },
    /// Another call with this id is in progress.
    #[error("a call with the id {0} is under way")]
    IdInUse(String),
    /// Refused by the user or the policy, with the reason.
    #[error("refused: {0}")]
    Refused(String),
    /// Cancelled before a result arrived.
    #[error("cancelled")]
    Cancelled,
    /// The session refused the call, or the call failed on the server.
    #[error("{server}: {error}")]
    Session {
        /// Name of the server.
        server: String,
        /// Error reported by the session.
        error: Box<CallError>,
    },
    /// The server has too many calls in progress.
    #[error("{server} has too many calls under way; wait for some to end")]
    Busy {
        /// Name of the server.
        server: String,
    },
    /// The host is shutting down.
    #[error("Drawbridge is closing")]
    Closing,
    /// An internal task panicked. If it was about to send something, the payload may have been sent.
    #[error("an internal error stopped this; Drawbridge's log has the details")]
    Internal,
}

/// Stable identifier of the cause for which a call has no result. The page has words and a button for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum CallFailureCode {
    /// The server, tool, prompt or resource does not exist.
    NotFound,
    /// The server is not in use, its tools are still being listed, or it has too many calls under way.
    NotReady,
    /// A call with the same id is under way.
    BadRequest,
    /// The user or a rule refused.
    Refused,
    /// The call was cancelled.
    Cancelled,
    /// The server did not answer in time.
    Timeout,
    /// The server answered with an error.
    Server,
    /// The server's answer can't be understood.
    BadAnswer,
    /// The server ended while the call was under way.
    ServerGone,
    /// The server or its revision of the protocol does not offer the call.
    Unsupported,
    /// Drawbridge is closing, or itself failed. Also any code of a newer version of Drawbridge.
    #[serde(other)]
    Internal,
}

impl CallFailure {
    /// Returns the stable identifier of the failure.
    #[must_use]
    pub fn code(&self) -> CallFailureCode {
        match self {
            Self::NotFound(_) => CallFailureCode::NotFound,
            Self::NotReady { .. } | Self::NotListed { .. } | Self::Busy { .. } => CallFailureCode::NotReady,
            Self::IdInUse(_) => CallFailureCode::BadRequest,
            Self::Refused(_) => CallFailureCode::Refused,
            Self::Cancelled => CallFailureCode::Cancelled,
            Self::Closing | Self::Internal => CallFailureCode::Internal,
            Self::Session { error, .. } => match &**error {
                CallError::Timeout { .. } => CallFailureCode::Timeout,
                CallError::Cancelled => CallFailureCode::Cancelled,
                CallError::Server(_) | CallError::UrlRequired(_) => CallFailureCode::Server,
                CallError::BadAnswer { .. } | CallError::Unreadable(_) | CallError::TooManyRounds => {
                    CallFailureCode::BadAnswer
                }
                CallError::Closed(_) | CallError::Undelivered { .. } | CallError::TaskCancelled { .. } => {
                    CallFailureCode::ServerGone
                }
                CallError::Unsupported { .. } => CallFailureCode::Unsupported,
                CallError::Refused => CallFailureCode::Refused,
                CallError::NotReady | CallError::TooManyCalls => CallFailureCode::NotReady,
            },
        }
    }
}
