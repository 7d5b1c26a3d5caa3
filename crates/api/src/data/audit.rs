//! Decisions that were made, and approvals that stand.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::Scope;

/// Which decisions to read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AuditRange {
    /// At most so many.
    pub limit: u32,
    /// Only those with a smaller number.
    #[serde(default)]
    pub before: Option<u64>,
}

/// Some decisions, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AuditPage {
    /// The decisions.
    pub entries: Vec<AuditEntry>,
    /// Whether there are older ones.
    pub more: bool,
}

/// One decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AuditEntry {
    /// Its number, from 1.
    pub number: u64,
    /// When, in milliseconds since 1970.
    pub at: u64,
    /// The server.
    pub server: String,
    /// `start-server`, `tool`, `sampling`, `sampling-answer`, `elicitation`, `url`, `roots` or `revoke`.
    pub kind: String,
    /// What it was about: the command line, the tool, the message, the URL.
    pub subject: String,
    /// `allowed`, `denied`, `cancelled` or `withdrawn`.
    pub decision: String,
    /// For how long, if allowed.
    pub scope: Option<Scope>,
    /// `user`, `grant`, `answers` or `policy`.
    pub by: String,
    /// The hash of what crossed.
    pub hash: String,
}

/// Every standing approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Grants {
    /// The approvals.
    pub grants: Vec<Grant>,
}

/// A standing approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Grant {
    /// To revoke it by.
    pub id: String,
    /// The server.
    pub server: String,
    /// The tool, or nothing for the server's command.
    pub tool: Option<String>,
    /// For how long.
    pub scope: Scope,
    /// Since when, in milliseconds since 1970.
    pub since: u64,
    /// The hash of what it rests on: the command, or the tool's whole definition.
    pub rests_on: String,
}

/// An approval by id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct GrantRef {
    /// The approval.
    pub id: String,
}
