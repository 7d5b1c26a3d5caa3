//! Log messages of servers (`server/utilities/logging`).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Map;

/// The eight levels of RFC 5424, from least to most severe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// Details for developers.
    Debug,
    /// Ordinary news.
    Info,
    /// Ordinary but significant.
    Notice,
    /// Something may be wrong.
    Warning,
    /// Something failed.
    Error,
    /// A part of the server failed.
    Critical,
    /// Someone has to act at once.
    Alert,
    /// The server is unusable.
    Emergency,
}

/// One log message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LogMessage {
    /// How severe it is.
    pub level: LogLevel,
    /// Which part of the server speaks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logger: Option<String>,
    /// Any JSON value.
    pub data: Value,
    /// `_meta`.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map>,
    /// Fields that are not known here.
    #[serde(flatten)]
    pub extra: Map,
}
