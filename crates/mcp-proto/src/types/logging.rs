//! Log messages of servers (`server/utilities/logging`).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Map;

/// Log levels of RFC 5424, from least to most severe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// Debugging details for developers.
    Debug,
    /// Informational message about normal operation.
    Info,
    /// Normal but significant event.
    Notice,
    /// Possible problem, without a failure yet.
    Warning,
    /// Failure of an operation.
    Error,
    /// Failure of a component of the server.
    Critical,
    /// Condition that requires immediate action.
    Alert,
    /// The server is unusable.
    Emergency,
}

/// A log message of a server: the parameters of `notifications/message`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LogMessage {
    /// Severity that the server assigned to the message.
    pub level: LogLevel,
    /// Name of the server's component that logged the message, or `None`. Untrusted text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logger: Option<String>,
    /// Value that the server logged: any JSON. Untrusted.
    pub data: Value,
    /// Metadata of the object: its JSON member `_meta`.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map>,
    /// JSON members without a field in this type, retained unchanged.
    #[serde(flatten)]
    pub extra: Map,
}
