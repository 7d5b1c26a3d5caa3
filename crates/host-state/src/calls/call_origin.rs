//! The originator of a call. Used by `host/src/handle/calls.rs`, and by code of the owner that decides about calls.

use policy::UsedBy;

/// The originator of a call: the user, a model in a conversation, an app, or the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallOrigin {
    /// The user, in the window of Drawbridge.
    User {
        /// Conversation that the call belongs to, if any.
        conversation: Option<String>,
    },
    /// A model that replies in a conversation.
    Model {
        /// Identifier of the conversation.
        conversation: String,
    },
    /// An app: a page that the called server provides and the user has opened (MCP Apps). A click in it is not the
    /// user's consent, since the page can click for itself.
    App {
        /// Conversation in which the app is shown, if any.
        conversation: Option<String>,
        /// Name of the tool to which the app belongs.
        tool: String,
        /// Set if the page may load content of other hosts or contact them. Its calls then count as made after
        /// untrusted content, since that content may have caused them.
        reaches_other_hosts: bool,
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
            Self::App { .. } => "app",
        }
    }

    /// Returns the originator as displayed as the last user of a permission.
    pub const fn used_by(&self) -> UsedBy {
        match self {
            Self::User { .. } => UsedBy::User,
            Self::Model { .. } => UsedBy::Model,
            Self::App { .. } => UsedBy::App,
            Self::CommandLine => UsedBy::CommandLine,
        }
    }

    /// Returns the conversation that the call belongs to.
    #[must_use]
    pub fn conversation(&self) -> Option<&str> {
        match self {
            Self::User { conversation } | Self::App { conversation, .. } => conversation.as_deref(),
            Self::Model { conversation } => Some(conversation),
            Self::CommandLine => None,
        }
    }
}
