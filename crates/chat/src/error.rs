//! Why something can't be done with a conversation.

use domain::StoreError;
use host::HostClosed;
use models::ModelError;

use super::attachments::AttachmentError;

/// The most servers of one conversation.
pub const MAX_SERVERS: usize = 100;
/// The most answers that are under way at a time, over all conversations.
pub(super) const MAX_ANSWERS: usize = 32;

/// Why something can't be done with a conversation.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ConversationError {
    /// There is none.
    #[error("this {0} is not there any more")]
    NotFound(String),
    /// A model is answering.
    #[error("a model is answering in this conversation; wait for it, or stop it first")]
    Answering,
    /// Too many models are answering.
    #[error("models are answering in {MAX_ANSWERS} other conversations; wait for one of them, or stop it first")]
    TooMany,
    /// No model was chosen.
    #[error("no model is chosen for this conversation; choose one, or add a provider in Settings → Models")]
    NoModel,
    /// The model can't be asked.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// There is nothing to send.
    #[error("there is nothing to send: write something or attach a file")]
    Empty,
    /// It is too long.
    #[error("{what} may have {limit} KB at most; shorten it, or attach it as a file")]
    TooLong {
        /// What.
        what: &'static str,
        /// How many kilobytes.
        limit: usize,
    },
    /// Too many servers.
    #[error("a conversation has at most {MAX_SERVERS} servers; turn some off")]
    TooManyServers,
    /// Something can't be attached.
    #[error(transparent)]
    Attachment(#[from] AttachmentError),
    /// Only a message of the user can be written anew.
    #[error("only what you wrote can be edited")]
    NotYours,
    /// Only an answer can be had again.
    #[error("only an answer can be had again")]
    NotAnAnswer,
    /// It can't be written as a file.
    #[error("it can't be written as JSON: {0}; write it as Markdown instead")]
    NotWritten(String),
    /// The history can't be read or written.
    #[error(transparent)]
    Store(StoreError),
    /// The host ends.
    #[error("Drawbridge is closing")]
    Closing,
    /// A task of ours panicked.
    #[error("an internal error stopped this; Drawbridge's log has the details")]
    Internal,
}

impl From<tokio::task::JoinError> for ConversationError {
    fn from(error: tokio::task::JoinError) -> Self {
        tracing::error!(%error, "a task of a conversation ended without a result");
        if error.is_panic() { Self::Internal } else { Self::Closing }
    }
}

impl From<HostClosed> for ConversationError {
    fn from(_: HostClosed) -> Self {
        Self::Closing
    }
}
