//! The port of the audit log: its entries, queries, and verification results. The crate `store` implements it.

use std::borrow::Cow;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use domain::StoreError;
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

/// Maximum length of the subject in an audit entry, in characters.
pub const MAX_AUDIT_SUBJECT_CHARS: usize = 2_000;
/// Maximum size of the payload in an audit entry, in bytes.
pub const MAX_AUDIT_CONTENT_BYTES: usize = 16 * 1024;

/// An entry of the audit log: one decision, a change of settings, or an event of the log itself.
///
/// Its serde form is only that of `audit.jsonl`, the log of older versions, from which `store` imports entries. The
/// audit database has a column for each field (`store/src/audit/audit_tables.rs`), and the text that is hashed and
/// exported is that of `HashedLogEntry` (`store/src/audit/chain.rs`). A new field has `#[serde(default)]`, since old
/// logs lack it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// Number of the entry, from 1, which the audit log assigns.
    #[serde(default)]
    pub number: u64,
    /// Time of the decision or event, in milliseconds since 1970.
    pub at: u64,
    /// Initiator of the action that was decided: `user`, `model`, `app`, `server`, `host` or `file`. Empty in entries
    /// of older versions.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub asker: Cow<'static, str>,
    /// Name of the server that the action concerns.
    pub server: String,
    /// Kind of the action or event: that of the consent request, such as `tool` or `url`, of a change, such as `rule`
    /// or `mute`, or of an event of the log, such as `log-damaged` or `log-shortened`.
    pub kind: Cow<'static, str>,
    /// Description of the action, such as the tool or URL, at most [`MAX_AUDIT_SUBJECT_CHARS`] characters.
    pub subject: String,
    /// Payload without secrets, at most its first [`MAX_AUDIT_CONTENT_BYTES`] bytes. `None` if only the hash is
    /// recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Size of the whole payload in bytes, if only its beginning is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_bytes: Option<u64>,
    /// The decision that the entry records: `allowed`, `denied`, `cancelled`, `revoked` (a permission) or `withdrawn`,
    /// or `noted` for a change or event that needed no decision.
    pub decision: Cow<'static, str>,
    /// Scope of an approval: `once`, `session`, `conversation` or `always`. `None` for other decisions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Cow<'static, str>>,
    /// Origin of the decision: `user`, `grant`, `answers` (a file of prepared decisions for `drawbridge-cli`) or
    /// `policy`.
    pub by: Cow<'static, str>,
    /// Rule or grant that led to the decision, either its text or its identifier.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub rule: Cow<'static, str>,
    /// Identifier of the conversation that the action belongs to, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// Hash of the payload. The decision is valid only for a payload with this hash. In a `log-shortened` entry, the
    /// chain hash of the last removed entry. In other entries without a payload, a hash of what the subject names, or
    /// empty.
    pub hash: String,
    /// Set if the entry was imported from an audit log of an older version, without a hash chain.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub imported: bool,
}

impl AuditEntry {
    /// Truncates the subject and the content to the limits of an entry.
    pub fn truncate_fields(&mut self) {
        if let Some((end, _)) = self.subject.char_indices().nth(MAX_AUDIT_SUBJECT_CHARS) {
            self.subject.truncate(end);
        }
        if let Some(content) = self.content.as_mut().filter(|content| content.len() > MAX_AUDIT_CONTENT_BYTES) {
            self.content_bytes = Some(content.len() as u64);
            content.truncate(content.floor_char_boundary(MAX_AUDIT_CONTENT_BYTES));
        }
    }
}

/// Filter for reading entries. An unset field matches every entry, except `limit`, which must be set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditQuery {
    /// Upper limit, exclusive, of the numbers of matching entries. `None` matches all numbers.
    pub before: Option<u64>,
    /// Maximum number of entries to return.
    pub limit: usize,
    /// Name of the server that matching entries concern.
    pub server: Option<String>,
    /// Kind of the consent requests that matching entries concern.
    pub kind: Option<String>,
    /// Decision of matching entries, as in [`AuditEntry::decision`].
    pub decision: Option<String>,
    /// Earliest time of matching entries, inclusive, in milliseconds since 1970.
    pub since: Option<u64>,
    /// Latest time of matching entries, exclusive, in milliseconds since 1970.
    pub until: Option<u64>,
    /// Words that must all occur in a matching entry, ignoring case, in server, kind, subject, content, decision, rule
    /// or origin of the decision.
    pub words: Vec<String>,
}

impl AuditQuery {
    /// Creates a query for the latest entries of the audit log, at most `limit`.
    #[must_use]
    pub fn latest(limit: usize) -> Self {
        Self { limit, ..Self::default() }
    }
}

/// Limits for the age and size of the audit log. Entries beyond them are removed, and the removal is recorded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AuditRetention {
    /// Maximum age of an entry in days, or 0 for no limit.
    pub days: u32,
    /// Maximum size of the log in megabytes, or 0 for no limit.
    pub megabytes: u32,
}

/// Number and position of an entry that was written to the audit log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WrittenAuditEntry {
    /// Number of the entry in the log, from 1.
    pub number: u64,
    /// Position of the entry among those written by this process, from 1, for comparison with
    /// [`AuditLog::durable_position`]. Not its number in the log. 0 if an entry is durable as soon as it is written.
    pub position: u64,
}

/// Outcome of [`AuditLog::append_later`]: the entry is written, or queued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditAppendStatus {
    /// The audit log has already written the entry.
    Written(WrittenAuditEntry),
    /// The entry is queued, and [`AuditReceipts`] will receive the result.
    Later,
}

/// Channel through which the audit log reports to the host that queued entries were written. Neither side blocks.
#[derive(Debug, Default)]
pub struct AuditReceipts {
    /// Results that the host has not received yet, each with its ticket. Bounded, because the log limits the number of
    /// pending entries.
    written: Mutex<Vec<(u64, Result<WrittenAuditEntry, StoreError>)>>,
    arrived: Notify,
}

impl AuditReceipts {
    /// Reports the results of writing queued audit entries, each with the ticket that was passed to
    /// [`AuditLog::append_later`].
    pub fn report(&self, receipts: impl IntoIterator<Item = (u64, Result<WrittenAuditEntry, StoreError>)>) {
        self.written.lock().unwrap_or_else(PoisonError::into_inner).extend(receipts);
        self.arrived.notify_one();
    }

    /// Wakes the receiver because more entries have become durable, or because they can no longer become durable.
    pub fn notify_durable(&self) {
        self.arrived.notify_one();
    }

    /// Waits for the next report or change of durability, and returns the results that were not received yet.
    pub async fn wait_for_outcomes(&self) -> Vec<(u64, Result<WrittenAuditEntry, StoreError>)> {
        self.arrived.notified().await;
        std::mem::take(&mut self.written.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The audit log: append-only, with each entry chained to the previous one by its hash.
pub trait AuditLog: Send + Sync {
    /// Returns the path of the log file, for display.
    fn path(&self) -> PathBuf;
    /// Sets the receiver for results of [`append_later`](Self::append_later) and changes of
    /// [`durable_position`](Self::durable_position).
    fn set_receipts(&self, receipts: Arc<AuditReceipts>);
    /// Writes an entry to the audit log. A written entry survives a crash of this process.
    /// [`durable_position`](Self::durable_position) reports when it also survives a power failure.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] if the file can't be written. The payload must then not be sent.
    fn append(&self, entry: AuditEntry) -> Result<WrittenAuditEntry, StoreError>;
    /// Queues an audit entry without waiting for the write. The result is reported under `ticket` to the receiver that
    /// [`set_receipts`](Self::set_receipts) has set.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] if the log is known to fail, or its queue is full. The payload must then not be sent.
    fn append_later(&self, entry: AuditEntry, ticket: u64) -> Result<AuditAppendStatus, StoreError>;
    /// Returns the position up to which entries of this process survive a power failure.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] if written entries can no longer be made durable.
    fn durable_position(&self) -> Result<u64, StoreError>;
    /// Waits until all queued entries are durable.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] if they can't be made durable.
    fn flush(&self) -> Result<(), StoreError>;
    /// Returns the audit entries that match the query, newest first. Contents that can't be decrypted are omitted.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] if the file can't be read.
    fn read(&self, query: &AuditQuery) -> Result<Vec<AuditEntry>, StoreError>;
    /// Verifies the hash chain of the whole audit log, and its seal.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] if the file can't be read.
    fn verify(&self) -> Result<AuditVerdict, StoreError>;
    /// Verifies a file that [`export`](Self::export) wrote, with the key that sealed it.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] if the file can't be read.
    fn verify_export(&self, file: &std::path::Path) -> Result<AuditVerdict, StoreError>;
    /// Exports all entries as JSON Lines that can be verified independently. Returns the number of entries.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] if the log can't be read, a content can't be decrypted, or the output can't be written.
    fn export(&self, out: &mut dyn Write) -> Result<u64, StoreError>;
    /// Returns `true` if the contents of all entries are encrypted on disk with the key in the keychain.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] if the file can't be read.
    fn is_encrypted(&self) -> Result<bool, StoreError> {
        Ok(false)
    }
    /// Sets the maximum age of entries and the maximum size of the log. The log removes entries beyond these limits
    /// immediately and then periodically.
    fn set_retention(&self, keep: AuditRetention);
}

/// The result of verifying the audit log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditVerdict {
    /// Number of entries in the log.
    pub entries: u64,
    /// Number of the first entry in the log, or `None` if the log is empty.
    pub first: Option<u64>,
    /// Number of the last entry in the log, or `None` if the log is empty.
    pub last: Option<u64>,
    /// Number of the last entry that was removed because of the limits on age or size, or `None` if none was removed.
    pub removed: Option<u64>,
    /// State of the seal, which proves with a key in the keychain that the entries up to a certain number are
    /// unchanged.
    pub seal: AuditSeal,
    /// The first problems that were found. Empty if the log is intact.
    pub findings: Vec<AuditFinding>,
    /// Number of further problems that are not in `findings`.
    pub more: u64,
    /// Ranges of entries, each with its first and last number, that other programs may have written, because no seal
    /// covers them or because Drawbridge found them without a seal. Their hash chain is intact.
    pub unproved: Vec<(u64, u64)>,
}

impl AuditVerdict {
    /// Returns `true` if no problem was found.
    #[must_use]
    pub const fn is_intact(&self) -> bool {
        self.findings.is_empty()
    }

    /// Returns `true` if the log is intact and the seal proves that Drawbridge wrote all entries.
    #[must_use]
    pub const fn is_proven(&self) -> bool {
        self.is_intact() && self.unproved.is_empty()
    }
}

/// The state of the seal at the end of the audit log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum AuditSeal {
    /// The seal matches the log up to this entry, verified with the key in the keychain. Later entries are only chained
    /// by their hashes.
    Holds {
        /// Number of the last entry that the seal covers.
        number: u64,
    },
    /// The log is not sealed, because there was no keychain.
    None,
    /// The log is sealed, but the key to verify it is unavailable.
    Unchecked {
        /// The reason why the key that verifies the seal is unavailable.
        cause: String,
    },
    /// The seal doesn't match the log. The findings contain the details.
    Broken,
}

/// A problem that a verification of the audit log found, with the affected entries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AuditFinding {
    /// Kind of the problem, for which Drawbridge's page has a text.
    pub what: TamperKind,
    /// Number of the first entry that the problem affects.
    pub number: u64,
    /// Number of the last entry that the problem affects, if there are several.
    pub to: Option<u64>,
    /// Details of the problem as text, or `None` if there are none.
    pub detail: Option<String>,
}

/// The kind of a problem that a verification of the audit log found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum TamperKind {
    /// An entry was modified or moved to another position.
    Changed,
    /// Entries between two others are missing in the log.
    Missing,
    /// Entries are missing at the end of the audit log.
    CutOff,
    /// The seal was made with another key, or for another log.
    SealBroken,
    /// The log has no seal, although the keychain contains a key.
    SealMissing,
    /// The log's record of entries that were removed because of age or size doesn't match the log.
    CheckpointBroken,
    /// The entry records a problem that Drawbridge itself found when it wrote the entry.
    Noted,
    /// The file of the audit log is damaged, or an entry is unreadable.
    Unreadable,
}
