//! Entries of the audit log, and grants.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{ApprovalScope, AuditFinding, AuditSeal, LastUse, RuleRef};

/// Filter for the audit log. Members without a value match all entries.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct AuditRange {
    /// Maximum number of returned entries.
    pub limit: u32,
    /// Number below which entries are returned.
    pub before: Option<u64>,
    /// Name of the server.
    pub server: Option<String>,
    /// Kind of the entry, as in [`AuditEntry::kind`].
    pub kind: Option<String>,
    /// Decision, as in [`AuditEntry::decision`].
    pub decision: Option<String>,
    /// Start of the time range, in milliseconds since 1970, inclusive.
    pub since: Option<u64>,
    /// End of the time range, in milliseconds since 1970, exclusive.
    pub until: Option<u64>,
    /// Words that must all appear somewhere in the entry.
    pub search: Option<String>,
}

/// Page of the audit log, newest entry first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AuditPage {
    /// Matching entries, newest first.
    pub entries: Vec<AuditEntry>,
    /// `true` if older entries match too.
    pub more: bool,
}

/// Entry of the audit log.
///
/// The log's record is a different type: it uses the member names of the file and omits empty members. The page and the
/// output of `drawbridge-cli audit` have all members.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AuditEntry {
    /// Number of the entry, from 1.
    pub number: u64,
    /// Time of the decision, in milliseconds since 1970.
    pub at: u64,
    /// Originator of the act: `user`, `model`, `server` or `host`. Empty in entries of older versions.
    pub asker: String,
    /// Name of the server.
    pub server: String,
    /// Kind of the act: `start-server`, `tool`, `sampling`, `sampling-answer`, `elicitation`, `url`, `roots`, `revoke`
    /// and others. The page has a label for each.
    pub kind: String,
    /// Subject of the decision: the command line, the tool, the message or the URL.
    pub subject: String,
    /// Payload without secrets, or its beginning, even if it was denied.
    pub content: Option<String>,
    /// Full size of the payload in bytes, if `content` is only its beginning.
    pub content_bytes: Option<u64>,
    /// Decision: `allowed`, `denied`, `cancelled` or `withdrawn`.
    pub decision: String,
    /// Duration of the approval, if it was allowed.
    pub scope: Option<ApprovalScope>,
    /// Source of the decision: `user`, `grant`, `answers` or `policy`.
    pub by: String,
    /// Rule or grant that decided. Empty if none did.
    pub rule: String,
    /// Identifier of the conversation, if the act belongs to one.
    pub conversation: Option<String>,
    /// Hash of the payload.
    pub hash: String,
    /// `true` if the entry was imported from an older log without a hash chain.
    pub imported: bool,
}

/// Result of verifying the audit log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AuditVerdict {
    /// `true` if no problem was found.
    pub whole: bool,
    /// `true` if it is also proved that Drawbridge wrote all entries.
    pub proved: bool,
    /// Number of entries in the log.
    pub entries: u64,
    /// Number of the first entry.
    pub first: Option<u64>,
    /// Number of the last entry.
    pub last: Option<u64>,
    /// Number up to which entries were removed because of their age or the size of the log.
    pub removed: Option<u64>,
    /// State of the seal over the end of the log.
    pub seal: AuditSeal,
    /// First problems that were found.
    pub findings: Vec<AuditFinding>,
    /// Number of further problems.
    pub more: u64,
    /// Entries whose author is not proved: they are not sealed, or were found without a seal.
    pub unproved: Vec<AuditSpan>,
}

/// Range of consecutive entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AuditSpan {
    /// Number of the first entry.
    pub from: u64,
    /// Number of the last entry.
    pub to: u64,
}

/// All grants that are in effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Grants {
    /// Grants that are in effect.
    pub grants: Vec<Grant>,
    /// Last uses of rules since Drawbridge started.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<RuleUse>>", optional)]
    pub rule_uses: Vec<RuleUse>,
    /// Last times at which servers received their shared folders, since Drawbridge started.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<FolderUse>>", optional)]
    pub folder_uses: Vec<FolderUse>,
}

/// Last act that a rule allowed without consent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RuleUse {
    /// Reference to the rule.
    pub rule: RuleRef,
    /// Time and originator of the act.
    pub last_use: LastUse,
}

/// Last time at which a server received the folders that are shared with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FolderUse {
    /// Name of the server in the settings.
    pub server: String,
    /// Time of the request.
    pub last_use: LastUse,
}

/// Approval that covers later acts too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Grant {
    /// Identifier by which the grant is revoked.
    pub id: String,
    /// Name of the server in the settings.
    pub server: String,
    /// Name of the tool, or `None` if the grant covers the server's command.
    pub tool: Option<String>,
    /// Duration of the grant.
    pub scope: ApprovalScope,
    /// Identifier of the conversation that the grant is limited to.
    pub conversation: Option<String>,
    /// Time at which the grant was given, in milliseconds since 1970.
    pub since: u64,
    /// Time at which the grant expires, in milliseconds since 1970.
    pub expires_at: Option<u64>,
    /// Hash that the grant is bound to: of the command, or of the tool's whole definition.
    pub rests_on: String,
    /// Last act that the grant allowed, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub last_use: Option<LastUse>,
}

/// Reference to a grant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct GrantRef {
    /// Identifier of the grant.
    pub id: String,
}
