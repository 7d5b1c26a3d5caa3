//! Activity: every message of a server, with its log and what it wrote to standard error.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::ActivityKind;

/// Which entries to read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ActivityRange {
    /// The server.
    pub server: String,
    /// Only entries after this number.
    #[serde(default)]
    pub after: Option<u64>,
    /// At most so many, the latest ones.
    pub limit: u32,
}

/// Some entries, in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ActivityPage {
    /// The entries.
    pub entries: Vec<ActivityEntry>,
    /// How many older ones were let go, for the bound.
    pub dropped: u64,
}

/// One entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ActivityEntry {
    /// Its number.
    pub seq: u64,
    /// When, in milliseconds since 1970.
    pub at: u64,
    /// What it is.
    pub kind: ActivityKind,
    /// Whether Drawbridge sent it (else it was received).
    pub sent: bool,
    /// The method of a request or notification, or of the request that a response answers.
    pub method: Option<String>,
    /// The JSON-RPC id, as it is written.
    pub id: Option<String>,
    /// Its size in bytes.
    pub bytes: u64,
    /// From the request to this response, in milliseconds.
    pub latency: Option<f64>,
    /// Its beginning.
    pub preview: String,
    /// Why it is invalid or strange, if it is.
    pub note: Option<String>,
}

/// An entry by number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ActivityRef {
    /// The server.
    pub server: String,
    /// The entry.
    pub seq: u64,
}

/// One message, whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ActivityBody {
    /// As it crossed, but for secrets of the server, which `[redacted]` replaces.
    pub text: String,
    /// Whether the end is missing, for the bound.
    pub truncated: bool,
    /// Whether a secret in it is replaced.
    pub redacted: bool,
}

/// How a server answered a ping.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct PingAnswer {
    /// How long its answer took, in milliseconds.
    pub milliseconds: f64,
}

/// A file that was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SavedFile {
    /// Its path, or nothing when the user closed the dialog.
    pub path: Option<String>,
}
