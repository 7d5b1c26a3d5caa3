//! Entries of the audit log, and grants.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{ApprovalScope, AuditFinding, AuditSeal, LastUse, RuleRef};

/// Filter for the audit log. A member that is `None` does not restrict the entries.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, TS)]
#[serde(default)]
pub struct AuditRange {
    /// Maximum number of entries to return.
    pub limit: u32,
    /// Number below which the numbers of the returned entries must be, to request older entries. `None` starts with the
    /// newest entry.
    pub before: Option<u64>,
    /// Name of the server that the returned entries must concern.
    pub server: Option<String>,
    /// Kind that the returned entries must have, as in [`AuditEntry::kind`].
    pub kind: Option<String>,
    /// Decision that the returned entries must have, as in [`AuditEntry::decision`].
    pub decision: Option<String>,
    /// Start of the time range, in milliseconds since 1970, inclusive.
    pub since: Option<u64>,
    /// End of the time range, in milliseconds since 1970, exclusive.
    pub until: Option<u64>,
    /// Words to search for. An entry matches if it contains all of them, in any of its members.
    pub search: Option<String>,
}

/// Page of the audit log, newest entry first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct AuditPage {
    /// Matching entries, newest first.
    pub entries: Vec<AuditEntry>,
    /// `true` if the log has older matching entries.
    pub more: bool,
}

/// Entry of the audit log, as the page and the output of `drawbridge-cli audit` show it.
///
/// The record in the log file is a different type, with shorter member names and without empty members. This type
/// always has all members.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AuditEntry {
    /// Number of the entry, counted from 1.
    pub number: u64,
    /// Time of the decision, in milliseconds since 1970.
    pub at: u64,
    /// Originator of the act that was allowed or denied: `user`, `model`, `app`, `server`, `host`, or `file` for a
    /// change by another program. Empty in entries that older versions wrote.
    pub asker: String,
    /// Name of the server that the decided act concerns.
    pub server: String,
    /// Kind of the act, such as `start-server`, `tool`, `sampling`, `sampling-answer`, `elicitation`, `url`, `roots` or
    /// `revoke`.
    pub kind: String,
    /// Text that identifies what the act concerns: the command line, the name of the tool, the message or the URL.
    pub subject: String,
    /// Payload without its secrets, or the beginning of the payload. Also recorded for denied acts. `None` if only the
    /// hash is recorded.
    pub content: Option<String>,
    /// Size of the whole payload in bytes, if `content` is truncated.
    pub content_bytes: Option<u64>,
    /// Decision: `allowed`, `denied`, `cancelled` or `withdrawn`.
    pub decision: String,
    /// Scope for which the approval is valid. `None` for an act that was not approved.
    pub scope: Option<ApprovalScope>,
    /// Source of the decision: `user`, `grant`, `policy`, or `answers` for the answers file of `drawbridge-cli`.
    pub by: String,
    /// Name of the rule or grant that decided, or empty if none did.
    pub rule: String,
    /// Identifier of the conversation that the act belongs to, or `None` outside of conversations.
    pub conversation: Option<String>,
    /// SHA-256 hash of the whole payload.
    pub hash: String,
    /// `true` if the entry was imported from the log of an older version, which had no hash chain.
    pub imported: bool,
}

/// Result of verifying the audit log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct AuditVerdict {
    /// `true` if the verification found no problem.
    pub whole: bool,
    /// `true` if the log has no problem, and its seals prove that Drawbridge wrote all entries.
    pub proved: bool,
    /// Number of entries in the log.
    pub entries: u64,
    /// Number of the first entry in the log, or `None` if the log is empty.
    pub first: Option<u64>,
    /// Number of the last entry in the log, or `None` if the log is empty.
    pub last: Option<u64>,
    /// Number of the last entry that was deleted because of its age or the size of the log. `None` if no entry was
    /// deleted.
    pub removed: Option<u64>,
    /// State of the seal, a signature that protects the end of the log against changes.
    pub seal: AuditSeal,
    /// Problems that the verification found. The length of the list is limited, and `more` counts the remaining
    /// problems.
    pub findings: Vec<AuditFinding>,
    /// Number of problems that `findings` does not list.
    pub more: u64,
    /// Ranges of entries for which there is no proof that Drawbridge wrote them, because they have no seal.
    pub unproved: Vec<AuditSpan>,
}

/// Range of consecutive entries of the audit log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
pub struct AuditSpan {
    /// Number of the first entry in the range.
    pub from: u64,
    /// Number of the last entry in the range.
    pub to: u64,
}

/// All grants that are in effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Grants {
    /// Grants that have neither expired nor been revoked.
    pub grants: Vec<Grant>,
    /// Last use of each rule.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<RuleUse>>", optional)]
    pub rule_uses: Vec<RuleUse>,
    /// Last time at which each server received its shared folders.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<FolderUse>>", optional)]
    pub folder_uses: Vec<FolderUse>,
}

/// Last act that a policy rule allowed without a consent request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RuleUse {
    /// Reference to the rule that allowed the act.
    pub rule: RuleRef,
    /// Time of the last act that the rule allowed, and originator of the act.
    pub last_use: LastUse,
}

/// Last time at which a server received the folders that are shared with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FolderUse {
    /// Name of the server in the settings.
    pub server: String,
    /// Time at which the server received the folders.
    pub last_use: LastUse,
}

/// An approval by the user that also applies to later acts of the same kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Grant {
    /// Identifier by which the grant is revoked.
    pub id: String,
    /// Name of the server in the settings.
    pub server: String,
    /// Name of the tool, or `None` if the grant allows to start the server or connect to it.
    pub tool: Option<String>,
    /// Duration of the grant, such as the conversation or the session.
    pub scope: ApprovalScope,
    /// Identifier of the conversation that the grant is limited to, or `None` if it is not limited to one.
    pub conversation: Option<String>,
    /// Time at which the grant was given, in milliseconds since 1970.
    pub since: u64,
    /// Time at which the grant expires, in milliseconds since 1970, or `None` if it has no expiry.
    pub expires_at: Option<u64>,
    /// Hash that the grant is bound to: of the server's command or URL, or of the tool's whole definition. The grant
    /// does not apply if the hash changes.
    pub bound_hash: String,
    /// Last act that the grant allowed, or `None` if the grant was never used.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub last_use: Option<LastUse>,
}

/// Request that refers to a grant by its identifier.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct GrantRef {
    /// Identifier of the grant, by which it is revoked.
    pub id: String,
}
