//! Consent requests: their origin and their outcome.

use serde::{Deserialize, Serialize};

use crate::call::CallKind;
use crate::history::Reading;

/// Identifier of a consent request, unique in the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConsentRequestId(pub u64);

/// The origin of a consent request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "by", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ConsentRequestOrigin {
    /// An action of the user.
    User {
        /// Conversation of the action, if any.
        conversation: Option<String>,
    },
    /// A model's request in a conversation.
    Model {
        /// Identifier of the conversation.
        conversation: String,
        /// Other servers whose content the model has read in the conversation. None of them is trusted.
        after: Vec<String>,
        /// Content of this server that the model has read in the conversation, and after which its calls of the server
        /// require consent.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "typescript", ts(as = "Option<Vec<Reading>>", optional))]
        read: Vec<Reading>,
    },
    /// A request of the server while it works on a call.
    Call {
        /// Identifier of the call, chosen by its caller.
        call: String,
        /// Kind of the call: a tool, a prompt or a resource.
        kind: CallKind,
        /// Name of the tool or prompt, or URI of the resource.
        name: String,
    },
    /// A request of the server that is not related to a call, or doesn't name the call.
    Server,
    /// The restart of a server that exited by itself. No caller waits for it.
    Ended {
        /// Reason for the exit.
        cause: String,
    },
}

/// The outcome of a consent request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ConsentRequestOutcome {
    /// Approved, and the payload was sent.
    Allowed,
    /// Denied, and nothing was sent.
    Denied,
    /// Dismissed without a decision.
    Cancelled,
    /// Withdrawn by the server, or its call or session ended.
    Withdrawn,
}

impl ConsentRequestOutcome {
    /// Returns the name of this outcome in the audit log.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Denied => "denied",
            Self::Cancelled => "cancelled",
            Self::Withdrawn => "withdrawn",
        }
    }
}
