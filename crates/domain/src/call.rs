//! Calls of tools, prompts and resources, with their state and failures.

mod refusal;

use mcp_proto::session::{CallError, TaskState};
use mcp_proto::types as mcp;
use serde::{Deserialize, Serialize};

pub use refusal::CallRefusal;

use crate::{Millis, StoreError};

/// Identifier of a call of a tool, a prompt or a resource, used in every layer from the page to the history. The caller
/// chooses it, unique among the calls in progress: the page uses a UUID, a model's reply the id of the item, and the
/// command line a constant, since it makes a single call.
///
/// The same value is [`ServerCall::id`], the `call` of consent requests, and the identifier for cancellation. For a tool call
/// in a conversation it is both the id of the [item](crate::item::ChatItem) and the `call` in its body. Servers never
/// receive it. Other identifiers of a call are:
///
/// - in the host, a `CallTicket` for each request to a connection, including requests that are not calls;
/// - in the session, an [`mcp_proto::session::CallId`] for each ticket;
/// - on the wire, the integer id of a JSON-RPC request, which the activity log shows. A call sends several requests if
///   its server asks for input, each with a different id;
/// - the progress token: the wire id of the request that carries it.
///
/// The audit log does not name calls: an entry describes a decision and contains the hash of the payload.
pub type CallId = String;

/// Call of a tool, a prompt or a resource, with its current state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ServerCall {
    /// Identifier of the call, chosen by its caller.
    pub id: CallId,
    /// Name of the called server in the settings.
    pub server: String,
    /// Kind of the call: a tool, a prompt or a resource.
    pub kind: CallKind,
    /// Name of the tool or prompt, or URI of the resource.
    pub name: String,
    /// Name, on the server, of the tool whose shown MCP app provides the called tool and receives the call. `None` if
    /// the server itself does both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub app: Option<String>,
    /// Time at which the caller made the call.
    pub started_at: Millis,
    /// Current state of the call.
    pub state: CallState,
    /// Latest progress that the server reported, or `None` if it reported none.
    pub progress: Option<CallProgress>,
    /// Task that the server runs for the call, or `None` if it runs none.
    pub task: Option<CallTask>,
    /// Identifier of the conversation that the call belongs to, if any.
    pub conversation: Option<String>,
    /// Time until which the user can repeat the completed call without another consent request. `None` if each call
    /// requires its own decision, and for calls that did not complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub repeatable_until: Option<Millis>,
}

/// Kind of a call, which determines the MCP method.
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

/// State of a call, from the consent request to its outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum CallState {
    /// The call waits for the user's approval. Nothing has been sent.
    AwaitingApproval,
    /// The request was sent, and its response is pending.
    Running,
    /// The server waits for input that it requested, such as a sampling response.
    AwaitingInput,
    /// The call completed with a result.
    Done,
    /// The policy or the user denied the call.
    Refused,
    /// The call was cancelled before a result arrived.
    Cancelled,
    /// The call ended with an error.
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
    /// Number of progress notifications received so far. Of several notifications in a short time, observers receive
    /// only the latest one.
    #[serde(skip)]
    pub count: u64,
    /// Amount of work done so far, in the server's unit.
    pub progress: f64,
    /// Total amount of work, or `None` if the server does not report one.
    pub total: Option<f64>,
    /// Description of the call's current step, written by the server, or `None` if it sent none.
    pub message: Option<String>,
}

/// Task that a server runs for a call (`tasks` in MCP). All fields contain values that the server reported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct CallTask {
    /// Identifier of the task, assigned by the server.
    pub id: String,
    /// Status of the task, as last reported by the server.
    pub status: TaskStatus,
    /// Description of the task's status, written by the server, or `None` if it sent none.
    pub message: Option<String>,
    /// Time at which the server created the task, in ISO 8601.
    pub created_at: String,
    /// Time at which the server last changed the task, in ISO 8601.
    pub updated_at: String,
}

/// Status of a task that a server runs for a call, as defined by `tasks` in MCP.
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

impl From<TaskState> for CallTask {
    fn from(task: TaskState) -> Self {
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
    /// The server of the call is not running.
    #[error("{server} is not ready; start it first")]
    NotReady {
        /// Name of the server in the settings.
        server: String,
    },
    /// The server is running, and its tools are still being listed.
    #[error("the tools of {server} are still being listed; try again in a moment")]
    NotListed {
        /// Name of the server in the settings.
        server: String,
    },
    /// Another call with this identifier is in progress.
    #[error("a call with the id {0} is under way")]
    IdInUse(String),
    /// The call was refused, or its result is withheld.
    #[error("refused: {text}")]
    Refused {
        /// Cause of the refusal, by which programs distinguish refusals.
        refusal: CallRefusal,
        /// Description of the cause.
        text: String,
    },
    /// The call was cancelled before a result arrived.
    #[error("cancelled")]
    Cancelled,
    /// The MCP session rejected the call, or the server returned an error.
    #[error("{server}: {error}")]
    Session {
        /// Name of the server in the settings.
        server: String,
        /// Error reported by the MCP session.
        error: Box<CallError>,
    },
    /// The server has too many calls in progress.
    #[error("{server} has too many calls under way; wait for some to end")]
    Busy {
        /// Name of the server in the settings.
        server: String,
    },
    /// Drawbridge is shutting down, so the call has no result.
    #[error("Drawbridge is closing")]
    Closing,
    /// An asynchronous task of Drawbridge panicked. If it was about to send a payload, the payload may have been sent.
    #[error("an internal error stopped this; Drawbridge's log has the details")]
    Internal,
}

/// Stable identifier of the reason why a call has no result. Drawbridge's page has a message and suggested actions for
/// each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum CallFailureCode {
    /// The server, tool, prompt or resource does not exist.
    NotFound,
    /// The server is not running, its tools are still being listed, or it has too many calls in progress.
    NotReady,
    /// A call with the same identifier is in progress.
    BadRequest,
    /// The user or a policy rule denied the call.
    Refused,
    /// The call was cancelled before its result arrived.
    Cancelled,
    /// The server did not respond before the timeout.
    Timeout,
    /// The server responded with a JSON-RPC error.
    Server,
    /// The server's response violates the protocol.
    BadAnswer,
    /// The server's session ended while the call was in progress.
    ServerGone,
    /// The server or its protocol revision does not support the call.
    Unsupported,
    /// Drawbridge is shutting down or had an internal error. Also used for codes that this version does not know.
    #[serde(other)]
    Internal,
}

impl CallFailure {
    /// Creates the failure of a refused call, with the cause of the refusal and its description.
    #[must_use]
    pub fn refused(refusal: CallRefusal, text: impl Into<String>) -> Self {
        Self::Refused { refusal, text: text.into() }
    }

    /// Creates the failure of a call that a rule or the preset denies. `rule` is its stable name, such as `rule 3`.
    #[must_use]
    pub fn denied_by_rule(rule: impl Into<String>) -> Self {
        let rule = rule.into();
        Self::Refused { text: format!("by {rule}"), refusal: CallRefusal::DeniedByRule { rule } }
    }

    /// Creates the failure of a call that is not sent, since its audit entry could not be written.
    #[must_use]
    pub fn not_audited(error: &StoreError) -> Self {
        Self::refused(CallRefusal::NotAudited, error.to_string())
    }

    /// Returns the cause for which the call was refused, or `None` for another failure.
    #[must_use]
    pub const fn refusal(&self) -> Option<&CallRefusal> {
        match self {
            Self::Refused { refusal, .. } => Some(refusal),
            _ => None,
        }
    }

    /// Returns the stable identifier of this failure.
    #[must_use]
    pub fn code(&self) -> CallFailureCode {
        match self {
            Self::NotFound(_) => CallFailureCode::NotFound,
            Self::NotReady { .. } | Self::NotListed { .. } | Self::Busy { .. } => CallFailureCode::NotReady,
            Self::IdInUse(_) => CallFailureCode::BadRequest,
            Self::Refused { .. } => CallFailureCode::Refused,
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
