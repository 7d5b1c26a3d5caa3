//! Consent requests: what led to one, and what became of it.

use serde::{Deserialize, Serialize};

use crate::call::CallKind;
use crate::history::Reading;

/// To refer to a question by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QuestionId(pub u64);

/// What led to a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "by", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Why {
    /// The user did something.
    User {
        /// In this conversation.
        conversation: Option<String>,
    },
    /// A model asks for it, in a conversation.
    Model {
        /// The conversation.
        conversation: String,
        /// The other servers whose words it has read there. None of them is trusted.
        after: Vec<String>,
        /// What it has read there of this server, after which its calls of the server ask.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "typescript", ts(as = "Option<Vec<Reading>>", optional))]
        read: Vec<Reading>,
    },
    /// The server asks while it works on a call.
    Call {
        /// The id its caller chose.
        call: String,
        /// Whether it calls a tool, gets a prompt or reads a resource.
        kind: CallKind,
        /// The tool, the prompt or the URI.
        name: String,
    },
    /// The server asks of its own accord, or does not say for which call.
    Server,
    /// The server ended by itself, and the host would start it again. Nobody waits for it.
    Ended {
        /// Why it ended.
        cause: String,
    },
}

/// What became of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum QuestionOutcome {
    /// It crossed.
    Allowed,
    /// Refused.
    Denied,
    /// Closed without an answer.
    Cancelled,
    /// Taken back by the server, or its call or session ended.
    Withdrawn,
}

impl QuestionOutcome {
    /// As the audit log names it.
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
