//! The outcome of a decision on a consent request, which the owner's decision code and the gate return. Used by
//! `host/src/owner/decisions.rs` and `host/src/owner/gate.rs`.

use server_requests::form::FormProblem;
use server_requests::sampling::{ReachedLimit, SamplingConversionError};
use tokio::sync::oneshot;

use crate::HostClosed;

/// Error of the user's decision on a consent request. In each case nothing was sent.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DecisionError {
    /// The consent request is no longer in the queue.
    #[error("this request is no longer open")]
    NotOpen,
    /// The payload has changed since it was displayed to the user.
    #[error("this request changed; review it again")]
    Stale,
    /// A rule denies the payload, with this explanation. The consent request was refused.
    #[error("{0} does not allow this, so it was refused")]
    Denied(String),
    /// The decision is not applicable to this kind of request.
    #[error("this answer does not fit: {0}")]
    WrongKind(&'static str),
    /// The content that the user entered in the form has validation errors.
    #[error("some fields are not filled in as the form asks")]
    Form(Vec<FormProblem>),
    /// A folder can't be shared with the server.
    #[error("{folder}: {cause}")]
    Folder {
        /// Path of the folder.
        folder: String,
        /// Cause as text for the user.
        cause: String,
    },
    /// The files that a server's command runs could not be read in time.
    #[error(
        "the program's files could not be read in time, so nothing was started; check if their disk can be reached, then try again"
    )]
    Files,
    /// The decision can't be written to the audit log.
    #[error("the audit log can't be written, so nothing was sent")]
    Audit,
    /// The server has reached the limit on its use of the user's models.
    #[error("{0} is the limit of this server; answer by hand, or raise the limit on its page, under Permissions")]
    Budget(ReachedLimit),
    /// The price of the model is unknown, but the server's budget is limited in money.
    #[error(
        "this server has a cost limit, and the price of {0} is unknown; choose another model, or write the response yourself"
    )]
    NoPrice(String),
    /// The sampling request can't be converted for a model.
    #[error("{0}")]
    Unfit(SamplingConversionError),
    /// The chosen model is not available, with the cause.
    #[error("{0}")]
    Model(String),
    /// The browser could not be opened, with the cause.
    #[error("the browser could not be opened: {0}")]
    Browser(String),
    /// The host has shut down.
    #[error(transparent)]
    Closed(#[from] HostClosed),
}

/// Sender for the outcome of a decision to the caller that made it.
pub type DecisionReply = oneshot::Sender<Result<(), DecisionError>>;

/// Progress of the execution of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecisionProgress {
    /// The decision was executed completely.
    Done,
    /// A write has to finish first. [`ConsentQueue::report_decision`](super::ConsentQueue::report_decision) sends the
    /// outcome later.
    Later,
}
