//! Who makes a call. Callers: `handle/calls.rs`, and the parts of the owner that decide about calls.

/// Who makes a call. An app of a server would be a variant of its own: with another asker in the audit log, and words of others before
/// its calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallOrigin {
    /// The user, from the page.
    User {
        /// The conversation it belongs to.
        conversation: Option<String>,
    },
    /// A model, in a conversation.
    Model {
        /// The conversation.
        conversation: String,
    },
    /// The user, from the command line.
    CommandLine,
}

impl CallOrigin {
    /// As the audit log names who makes it.
    pub(in crate::owner) const fn asker(&self) -> &'static str {
        match self {
            Self::User { .. } | Self::CommandLine => "user",
            Self::Model { .. } => "model",
        }
    }

    /// The conversation it belongs to.
    #[must_use]
    pub fn conversation(&self) -> Option<&str> {
        match self {
            Self::User { conversation } => conversation.as_deref(),
            Self::Model { conversation } => Some(conversation),
            Self::CommandLine => None,
        }
    }
}
