//! Calls of tools, prompts and resources, as an observer sees them.

use mcp_proto::session::{CallError, TaskView};
use mcp_proto::types as mcp;
use serde::{Deserialize, Serialize};

use crate::Millis;

/// The id of a call of a tool, a prompt or a resource, from the page to the history. Its caller chooses it, unique among the calls under
/// way: the page a UUID, a model's answer the id of the item, the command line a word, as it makes one call.
///
/// It is [`Call::id`], the `call` of consent requests, the name to cancel by, and for a tool in a conversation both the id of the
/// [item](crate::item::Item) and the `call` in its body. Servers never get it. Beside it there are:
///
/// - in the host, a `Ticket` for each request to a connection, also for those that are no calls;
/// - in the session, [`mcp_proto::session::CallId`] for each of these;
/// - on the wire, the integer id of a JSON-RPC request, which the activity shows. A call sends several requests if its server asks for
///   input, each with an id of its own;
/// - the progress token: the wire id of the request that carries it.
///
/// The audit log names no call: an entry stands for a decision and has the hash of what crossed.
pub type CallId = String;

/// A call as it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Call {
    /// The id its caller chose.
    pub id: CallId,
    /// The name of its server.
    pub server: String,
    /// Whether it calls a tool, gets a prompt or reads a resource.
    pub kind: CallKind,
    /// The tool, the prompt or the URI.
    pub name: String,
    /// When it was made.
    pub started_at: Millis,
    /// How far it has come: waiting for approval, running, or how it ended.
    pub state: CallState,
    /// How far it is.
    pub progress: Option<Progress>,
    /// The task that the server does it as, if it does.
    pub task: Option<Task>,
    /// The conversation it belongs to.
    pub conversation: Option<String>,
}

/// The kind of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum CallKind {
    /// To run a tool.
    Tool,
    /// A prompt's messages.
    Prompt,
    /// A resource's contents.
    Resource,
}

/// How a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum CallState {
    /// Nothing was sent yet.
    AwaitingApproval,
    /// Sent.
    Running,
    /// The server asks for something before it goes on.
    AwaitingInput,
    /// Answered.
    Done,
    /// Refused by the policy or the user.
    Refused,
    /// Cancelled.
    Cancelled,
    /// Failed.
    Failed,
}

impl CallState {
    /// Whether nothing more will happen.
    #[must_use]
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Done | Self::Refused | Self::Cancelled | Self::Failed)
    }
}

/// How far a call is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Progress {
    /// How many notifications of it have come. What is told of them between two ticks is only the latest.
    #[serde(skip)]
    pub count: u64,
    /// How much is done.
    pub progress: f64,
    /// Of how much.
    pub total: Option<f64>,
    /// What is being done.
    pub message: Option<String>,
}

/// A call that the server does as a task. All in it is the server's claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Task {
    /// The server's name for it.
    pub id: String,
    /// Where it is.
    pub status: TaskStatus,
    /// What the server says about that.
    pub message: Option<String>,
    /// When it began, in ISO 8601.
    pub created_at: String,
    /// When it last changed, in ISO 8601.
    pub updated_at: String,
}

/// Where a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    /// It is being done.
    Working,
    /// It waits for answers to questions of the server.
    InputRequired,
    /// It is done.
    Completed,
    /// It failed.
    Failed,
    /// It was cancelled.
    Cancelled,
}

impl From<TaskView> for Task {
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

/// Why a call did not end with an answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CallFailure {
    /// There is no such server, tool or question.
    #[error("there is no {0}")]
    NotFound(String),
    /// The server is not in use.
    #[error("{server} is not ready; start it first")]
    NotReady {
        /// The server.
        server: String,
    },
    /// The server is in use, and its tools are still being listed.
    #[error("the tools of {server} are still being listed; try again in a moment")]
    NotListed {
        /// The server.
        server: String,
    },
    /// A call with that id is under way.
    #[error("a call with the id {0} is under way")]
    IdInUse(String),
    /// Refused by the user or the policy.
    #[error("refused: {0}")]
    Refused(String),
    /// Cancelled.
    #[error("cancelled")]
    Cancelled,
    /// The session says no.
    #[error("{server}: {error}")]
    Session {
        /// The server.
        server: String,
        /// What went wrong.
        error: Box<CallError>,
    },
    /// Too much is under way.
    #[error("{server} has too many calls under way; wait for some to end")]
    Busy {
        /// The server.
        server: String,
    },
    /// The host ends.
    #[error("Drawbridge is closing")]
    Closing,
    /// A task of ours panicked. If it was about to send something, that may have left.
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
