//! Consent requests: their origin and their outcome.

use serde::{Deserialize, Serialize};

use crate::call::CallKind;
use crate::history::ReadContent;

/// Identifier of a consent request, unique in the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConsentRequestId(pub u64);

/// Initiator of a consent request: the user, a model, an app, a call, or the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "by", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ConsentRequestOrigin {
    /// An action of the user caused the request.
    User {
        /// Identifier of the conversation that the action belongs to, or `None` outside of conversations.
        conversation: Option<String>,
    },
    /// A model's request for a tool call in a conversation.
    Model {
        /// Identifier of the conversation in the history.
        conversation: String,
        /// Names of other servers whose content the model has read in the conversation and that are not trusted.
        untrusted_servers: Vec<String>,
        /// Content of the called server that the model has already read in the conversation, and because of which the
        /// data flow settings of the server require consent for this call.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "typescript", ts(as = "Option<Vec<ReadContent>>", optional))]
        same_server_readings: Vec<ReadContent>,
    },
    /// An app of the server, which is a web page that the server provides (MCP Apps), calls a tool, reads a resource or
    /// requests sampling.
    App {
        /// Identifier of the conversation that shows the MCP app, or `None` outside of conversations.
        conversation: Option<String>,
        /// Name of the tool whose result the MCP app displays.
        tool: String,
        /// Set if the MCP app's page may load content of other hosts or contact them.
        reaches_other_hosts: bool,
    },
    /// A request of the server, such as sampling, that belongs to a call. The request may remain pending after the call
    /// has ended.
    Call {
        /// Identifier of the call, which its caller chose.
        call: String,
        /// Kind of the call: a tool, a prompt or a resource.
        kind: CallKind,
        /// Name of the tool or prompt, or URI of the resource.
        name: String,
        /// Identifier of the conversation that the call belongs to, or `None` outside of conversations.
        conversation: Option<String>,
    },
    /// A request of the server outside of any call, or during a call that is unknown.
    Server,
    /// The automatic restart of a server that exited. No caller waits for it.
    Ended {
        /// Reason why the server exited.
        cause: String,
    },
}

impl ConsentRequestOrigin {
    /// Returns the identifier of the conversation that led to the request, or `None` if none did.
    #[must_use]
    pub fn conversation(&self) -> Option<&str> {
        match self {
            Self::User { conversation } | Self::App { conversation, .. } | Self::Call { conversation, .. } => {
                conversation.as_deref()
            }
            Self::Model { conversation, .. } => Some(conversation),
            Self::Server | Self::Ended { .. } => None,
        }
    }
}

/// Outcome of a consent request that left the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ConsentRequestOutcome {
    /// The user or a rule approved the request, and the payload was sent.
    Allowed,
    /// The user or a rule denied the request, and nothing was sent.
    Denied,
    /// The user closed the request without a decision.
    Cancelled,
    /// The server withdrew its request, or the call or session that the request belongs to ended.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_belongs_to_the_conversation_that_led_to_it() {
        let user =
            |conversation: Option<&str>| ConsentRequestOrigin::User { conversation: conversation.map(str::to_owned) };
        let call = |conversation: Option<&str>| ConsentRequestOrigin::Call {
            call: "1".to_owned(),
            kind: CallKind::Tool,
            name: "read".to_owned(),
            conversation: conversation.map(str::to_owned),
        };
        let model = ConsentRequestOrigin::Model {
            conversation: "c3".to_owned(),
            untrusted_servers: Vec::new(),
            same_server_readings: Vec::new(),
        };
        for (origin, expected) in [
            (user(Some("c1")), Some("c1")),
            (user(None), None),
            (call(Some("c2")), Some("c2")),
            (call(None), None),
            (model, Some("c3")),
            (ConsentRequestOrigin::Server, None),
            (ConsentRequestOrigin::Ended { cause: "exit code 1".to_owned() }, None),
        ] {
            assert_eq!(origin.conversation(), expected, "{origin:?}");
        }
    }
}
