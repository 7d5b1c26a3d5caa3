//! The originator of a call. Used by `host/src/handle/calls.rs`, and by the parts of the owner that decide about calls.

/// The originator of a call. An app provided by a server would need a separate variant, with a different originator in
/// the audit log and third-party content before its calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallOrigin {
    /// The user, on the page.
    User {
        /// Conversation that the call belongs to, if any.
        conversation: Option<String>,
    },
    /// A model, in a conversation.
    Model {
        /// Identifier of the conversation.
        conversation: String,
    },
    /// The user, on the command line.
    CommandLine,
}

impl CallOrigin {
    /// Returns the name of the originator in the audit log.
    pub const fn asker(&self) -> &'static str {
        match self {
            Self::User { .. } | Self::CommandLine => "user",
            Self::Model { .. } => "model",
        }
    }

    /// Returns the conversation that the call belongs to.
    #[must_use]
    pub fn conversation(&self) -> Option<&str> {
        match self {
            Self::User { conversation } => conversation.as_deref(),
            Self::Model { conversation } => Some(conversation),
            Self::CommandLine => None,
        }
    }
}
