//! The outcome of an answer to a consent request. Callers: `owner/answers.rs` and `owner/gate.rs`.

use server_requests::form::FormProblem;
use server_requests::sampling::{Limit, Unfit};
use tokio::sync::oneshot;

use crate::HostClosed;

/// Why an answer could not be taken.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AnswerError {
    /// The request is not in the queue any more.
    #[error("this question is no longer open")]
    NotOpen,
    /// The payload is no longer what was shown.
    #[error("this question changed; look at it again")]
    Stale,
    /// A rule says that it must not cross. The question is refused.
    #[error("{0} says that it must not cross, so it was refused")]
    Denied(String),
    /// The answer does not fit the request.
    #[error("this answer does not fit: {0}")]
    WrongKind(&'static str),
    /// The form's content is not what the form asks for.
    #[error("some fields are not filled in as the form asks")]
    Form(Vec<FormProblem>),
    /// A folder can't be shared.
    #[error("{folder}: {cause}")]
    Folder {
        /// The folder.
        folder: String,
        /// Why not.
        cause: String,
    },
    /// The files of a command can't be looked at.
    #[error(
        "the program's files did not answer in time, so nothing was started; see if their disk can be reached, then try again"
    )]
    Files,
    /// The decision could not be written down, so nothing crossed.
    #[error("the audit log can't be written, so nothing was sent")]
    Audit,
    /// The server has used up what it may use of the user's models.
    #[error("{0} is the limit of this server; answer by hand, or raise the limit on its page, under Permissions")]
    Budget(Limit),
    /// No price is known of the model, and the server may only spend so much.
    #[error(
        "this server has a limit in money, and the price of {0} is not known; choose another model, or answer by hand"
    )]
    NoPrice(String),
    /// The request can't be put to a model.
    #[error("{0}")]
    Unfit(Unfit),
    /// There is no such model.
    #[error("{0}")]
    Model(String),
    /// The browser could not be opened.
    #[error("the browser could not be opened: {0}")]
    Browser(String),
    /// The host has ended.
    #[error(transparent)]
    Closed(#[from] HostClosed),
}

/// Where the outcome of an answer goes.
pub(crate) type AnswerReply = oneshot::Sender<Result<(), AnswerError>>;

/// The progress of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::owner) enum AnswerProgress {
    /// The act is done.
    Done,
    /// Something has to be written first; [`ConsentQueue::answered`](super::ConsentQueue::answered) tells its outcome.
    Later,
}
