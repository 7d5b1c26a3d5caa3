//! Decisions that were made, and approvals that stand.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{AuditFinding, AuditSeal, Scope};

/// Which decisions to read. What is not said fits all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct AuditRange {
    /// At most so many.
    pub limit: u32,
    /// Only those with a smaller number.
    pub before: Option<u64>,
    /// Only of this server.
    pub server: Option<String>,
    /// Only of this kind.
    pub kind: Option<String>,
    /// Only with this decision.
    pub decision: Option<String>,
    /// Only from this time on, in milliseconds since 1970.
    pub since: Option<u64>,
    /// Only before this time, in milliseconds since 1970.
    pub until: Option<u64>,
    /// Only with all of these words, in whatever stands in the entry.
    pub search: Option<String>,
}

/// Some decisions, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AuditPage {
    /// The decisions.
    pub entries: Vec<AuditEntry>,
    /// Whether there are older ones.
    pub more: bool,
}

/// One decision. A shape of its own beside the log's record: that one spells its members as the file does and leaves out what
/// is empty; the page and the output of `drawbridge-cli audit` have every member.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AuditEntry {
    /// Its number, from 1.
    pub number: u64,
    /// When, in milliseconds since 1970.
    pub at: u64,
    /// Who asked for it: `user`, `model`, `server` or `host`; nothing in entries of older versions.
    pub asker: String,
    /// The server.
    pub server: String,
    /// `start-server`, `tool`, `sampling`, `sampling-answer`, `elicitation`, `url`, `roots`, `revoke`
    /// and others, which the page has words for.
    pub kind: String,
    /// What it was about: the command line, the tool, the message, the URL.
    pub subject: String,
    /// What crossed or would have, without secrets, or the beginning of it.
    pub content: Option<String>,
    /// How many bytes all of it has, if only its beginning is there.
    pub content_bytes: Option<u64>,
    /// `allowed`, `denied`, `cancelled` or `withdrawn`.
    pub decision: String,
    /// For how long, if allowed.
    pub scope: Option<Scope>,
    /// `user`, `grant`, `answers` or `policy`.
    pub by: String,
    /// The rule or the grant that decided; nothing if there was none.
    pub rule: String,
    /// The conversation it belongs to.
    pub conversation: Option<String>,
    /// The hash of what crossed.
    pub hash: String,
    /// Whether it was taken over from a log that was not chained.
    pub imported: bool,
}

/// What a check of the audit log found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AuditVerdict {
    /// Whether nothing is wrong.
    pub whole: bool,
    /// Whether it is also proved that Drawbridge wrote all of it.
    pub proved: bool,
    /// How many entries there are.
    pub entries: u64,
    /// The first one's number.
    pub first: Option<u64>,
    /// The last one's number.
    pub last: Option<u64>,
    /// Up to which number entries were removed because of their age, or for want of room.
    pub removed: Option<u64>,
    /// What can be said of the end.
    pub seal: AuditSeal,
    /// What is wrong; the first of it.
    pub findings: Vec<AuditFinding>,
    /// How much more is wrong.
    pub more: u64,
    /// Of which entries nothing proves who wrote them: they are not sealed, or were found without a seal.
    pub unproved: Vec<AuditSpan>,
}

/// Entries that follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AuditSpan {
    /// The first one's number.
    pub from: u64,
    /// The last one's number.
    pub to: u64,
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
    /// The conversation it holds in, if it holds in one only.
    pub conversation: Option<String>,
    /// Since when, in milliseconds since 1970.
    pub since: u64,
    /// Until when, in milliseconds since 1970, if not for good.
    pub expires_at: Option<u64>,
    /// The hash of what it rests on: the command, or the tool's whole definition.
    pub rests_on: String,
}

/// An approval by id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct GrantRef {
    /// The approval.
    pub id: String,
}
