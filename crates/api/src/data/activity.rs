//! Activity log of a server: its MCP messages, log messages and standard error output.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::ActivityKind;

/// Request for a range of a server's activity log.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct ActivityRange {
    /// Name of the server in the settings.
    pub server: String,
    /// Number of the entry after which the range starts, or `None` to start with the oldest entry.
    #[serde(default)]
    pub after: Option<u64>,
    /// Maximum number of entries. If the range has more, the latest ones are returned.
    pub limit: u32,
}

/// Range of consecutive entries of a server's activity log.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
pub struct ActivityPage {
    /// Entries of the page, oldest first.
    pub entries: Vec<ActivityEntry>,
    /// Number of older entries that were removed from the log because its size is bounded.
    pub dropped: u64,
}

/// Entry of a server's activity log.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ActivityEntry {
    /// Sequence number of the entry in the server's log.
    pub seq: u64,
    /// Time at which the message was sent or received, in milliseconds since 1970.
    pub at: u64,
    /// Kind of the entry, such as a request, a response or standard error output.
    pub kind: ActivityKind,
    /// `true` if Drawbridge sent the message, `false` if it was received.
    pub sent: bool,
    /// MCP method of the request or notification. For a response, the method of its request. `None` for other entries.
    pub method: Option<String>,
    /// JSON-RPC identifier of the request or response, as JSON text. `None` for other entries.
    pub id: Option<String>,
    /// Size of the message in bytes.
    pub bytes: u64,
    /// Time between a request and this response, in milliseconds. `None` for other messages.
    pub latency: Option<f64>,
    /// Beginning of the message's text.
    pub preview: String,
    /// Reason why the message is invalid or unusual, or `None` for a normal message.
    pub note: Option<String>,
}

/// Reference to one entry of a server's activity log.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct ActivityRef {
    /// Name of the server in the settings.
    pub server: String,
    /// Sequence number of the entry in the server's log.
    pub seq: u64,
}

/// Full text of one message in the activity log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct ActivityBody {
    /// Message as sent or received, with the server's secrets replaced by `[redacted]`.
    pub text: String,
    /// `true` if the text is incomplete because the stored size of a message is bounded.
    pub truncated: bool,
    /// `true` if a secret in the text was replaced.
    pub redacted: bool,
}

/// Result of pinging a server.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
pub struct PingAnswer {
    /// Round-trip time in milliseconds.
    pub milliseconds: f64,
}

/// Result of saving an export or other data to a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct SavedFile {
    /// Path of the written file, or `None` if the user closed the dialog.
    pub path: Option<String>,
}
