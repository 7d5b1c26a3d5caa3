//! Errors of operations on conversations.

use domain::StoreError;
use host::HostClosed;
use models::{MAX_TEMPERATURE, ModelError};

use super::attachments::AttachmentError;

/// Maximum number of servers of one conversation.
pub const MAX_SERVERS_PER_CONVERSATION: usize = 100;
/// Maximum value that the user can set for the maximum number of tokens of a reply.
pub const MAX_REPLY_TOKENS: u32 = 1_000_000;
/// Maximum number of saved system prompts.
pub const MAX_SAVED_PROMPTS: usize = 100;
/// Maximum length of the name of a saved system prompt, in characters.
pub const MAX_SAVED_PROMPT_NAME_CHARS: usize = 100;
/// Maximum number of conversations in which models reply at the same time.
pub(super) const MAX_CONCURRENT_REPLIES: usize = 32;

/// Error of an operation on a conversation.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ConversationError {
    /// The conversation or item doesn't exist.
    #[error("this {0} is not there any more")]
    NotFound(String),
    /// A model is already replying in the conversation.
    #[error("a model is answering in this conversation; wait for it, or stop it first")]
    Answering,
    /// The maximum number of concurrent replies is reached.
    #[error(
        "models are answering in {MAX_CONCURRENT_REPLIES} other conversations; wait for one of them, or stop it first"
    )]
    TooMany,
    /// The user has chosen no model for the conversation, and there is no default model.
    #[error("no model is chosen for this conversation; choose one, or add a provider in Models")]
    NoModel,
    /// The request to the model failed, or the model or its provider is not available.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The message has neither text nor attachments.
    #[error("there is nothing to send: write something or attach a file")]
    Empty,
    /// A text that the user entered is longer than its maximum size.
    #[error("{what} may have {limit} KB at most; shorten it, or attach it as a file")]
    TooLong {
        /// Kind of the text that is too long, such as "a message". Part of the error message.
        what: &'static str,
        /// Maximum size of the text, in KiB.
        limit: usize,
    },
    /// The conversation has more than [`MAX_SERVERS_PER_CONVERSATION`] servers.
    #[error("a conversation has at most {MAX_SERVERS_PER_CONVERSATION} servers; turn some off")]
    TooManyServers,
    /// The sampling temperature of the conversation is out of bounds.
    #[error("a temperature is a number from 0 to {MAX_TEMPERATURE}")]
    Temperature,
    /// The maximum number of reply tokens is out of bounds.
    #[error("the maximum of reply tokens is a number from 1 to {MAX_REPLY_TOKENS}")]
    ReplyTokens,
    /// The name of a saved system prompt is empty, too long or not a single line.
    #[error("a saved system prompt needs a name of one line and at most {MAX_SAVED_PROMPT_NAME_CHARS} characters")]
    PromptName,
    /// Another saved system prompt has this name.
    #[error("a saved system prompt has the name \"{0}\" already; choose another name, or delete that one")]
    PromptExists(String),
    /// The maximum number of saved system prompts is reached.
    #[error("at most {MAX_SAVED_PROMPTS} system prompts can be saved; delete one first")]
    TooManyPrompts,
    /// An attachment of a message is invalid.
    #[error(transparent)]
    Attachment(#[from] AttachmentError),
    /// The item is not a message of the user, so that it can't be edited.
    #[error("only your own messages can be edited")]
    NotYours,
    /// The item is not a reply of a model, so that no other reply can be requested in its place.
    #[error("only a reply can be repeated")]
    NotAnAnswer,
    /// The conversation can't be serialized as JSON, for this reason.
    #[error("it can't be written as JSON: {0}; write it as Markdown instead")]
    NotWritten(String),
    /// The history can't be read or written, for this reason.
    #[error(transparent)]
    Store(StoreError),
    /// The host is shutting down.
    #[error("Drawbridge is closing")]
    Closing,
    /// An internal task panicked.
    #[error("an internal error stopped this; Drawbridge's log has the details")]
    Internal,
}

impl From<tokio::task::JoinError> for ConversationError {
    fn from(error: tokio::task::JoinError) -> Self {
        tracing::error!(%error, "a task of a conversation panicked or was cancelled");
        if error.is_panic() { Self::Internal } else { Self::Closing }
    }
}

impl From<HostClosed> for ConversationError {
    fn from(_: HostClosed) -> Self {
        Self::Closing
    }
}
