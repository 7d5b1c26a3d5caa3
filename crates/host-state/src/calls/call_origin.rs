//! The originator of a call. Used by `host/src/handle/calls.rs`, and by code of the owner that decides about calls.

/// The originator of a call. If calls by an app that a server provides are ever supported, they need their own variant,
/// with a different originator in the audit log, and count as made after third-party content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallOrigin {
    /// The user, on the page.
    User {
        /// Conversation that the call belongs to, if any.
        conversation: Option<String>,
    },
    /// A model that replies in a conversation.
    Model {
        /// Identifier of the conversation.
        conversation: String,
    },
    /// The user, on the command line.
    CommandLine,
}

impl CallOrigin {
    /// Returns the name of the originator in the audit log.
    pub const fn audit_name(&self) -> &'static str {
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
