//! Activity log: all messages of a server, including its log messages and standard error.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::ActivityKind;

/// Range of entries to read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ActivityRange {
    /// Name of the server in the settings.
    pub server: String,
    /// Number after which entries are returned, or `None` for all entries.
    #[serde(default)]
    pub after: Option<u64>,
    /// Maximum number of entries. The latest ones are returned.
    pub limit: u32,
}

/// Consecutive entries of the activity log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ActivityPage {
    /// Entries of the page, in order.
    pub entries: Vec<ActivityEntry>,
    /// Number of older entries that were dropped because the log is bounded.
    pub dropped: u64,
}

/// Entry of a server's activity log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ActivityEntry {
    /// Number of the entry in the server's log.
    pub seq: u64,
    /// Time of the message, in milliseconds since 1970.
    pub at: u64,
    /// Kind of the message.
    pub kind: ActivityKind,
    /// `true` if Drawbridge sent the message, `false` if it was received.
    pub sent: bool,
    /// Method of the request or notification, or of the request that a response belongs to.
    pub method: Option<String>,
    /// JSON-RPC identifier as serialized.
    pub id: Option<String>,
    /// Size of the message in bytes.
    pub bytes: u64,
    /// Time from the request to this response, in milliseconds.
    pub latency: Option<f64>,
    /// Beginning of the message.
    pub preview: String,
    /// Reason why the message is invalid or unusual, if it is.
    pub note: Option<String>,
}

/// Reference to an entry of a server's activity log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ActivityRef {
    /// Name of the server in the settings.
    pub server: String,
    /// Number of the entry.
    pub seq: u64,
}

/// Full text of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ActivityBody {
    /// Message as sent or received, with the server's secrets replaced by `[redacted]`.
    pub text: String,
    /// `true` if the end is missing because the stored size is bounded.
    pub truncated: bool,
    /// `true` if a secret was replaced.
    pub redacted: bool,
}

/// Result of a ping.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct PingAnswer {
    /// Round-trip time in milliseconds.
    pub milliseconds: f64,
}

/// Result of an export to a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SavedFile {
    /// Path of the written file, or `None` if the user closed the dialog.
    pub path: Option<String>,
}
