//! The port of the audit log: what is written down, how it is asked for, and what a check of it finds.

use std::borrow::Cow;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use domain::StoreError;
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

/// The most characters of a subject that are written down.
pub const MAX_SUBJECT: usize = 2_000;
/// The most bytes of what crossed that are written down.
pub const MAX_CONTENT: usize = 16 * 1024;

/// One decision, as it stands in the audit log.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// Its number, from 1; set by the log.
    #[serde(default)]
    pub number: u64,
    /// When, in milliseconds since 1970.
    pub at: u64,
    /// Who asked for it: `user`, `model`, `server` or `host`. Nothing in entries of older versions.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub asker: Cow<'static, str>,
    /// The server.
    pub server: String,
    /// What kind of question.
    pub kind: Cow<'static, str>,
    /// What it was about; at most [`MAX_SUBJECT`] characters.
    pub subject: String,
    /// What crossed or would have, without secrets; at most the first [`MAX_CONTENT`] bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// How many bytes the whole content has, if only its beginning is written down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_bytes: Option<u64>,
    /// `allowed`, `denied`, `cancelled` or `withdrawn`.
    pub decision: Cow<'static, str>,
    /// `once`, `session`, `conversation` or `always`, if allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Cow<'static, str>>,
    /// `user`, `grant`, `answers` or `policy`.
    pub by: Cow<'static, str>,
    /// The rule or the grant that decided, in words or by its id.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub rule: Cow<'static, str>,
    /// The conversation it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// The hash of what crossed or would have.
    pub hash: String,
    /// Whether it was taken over from a log that was not chained.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub imported: bool,
}

impl AuditEntry {
    /// Cuts what is longer than an entry may hold.
    pub fn bound(&mut self) {
        if let Some((end, _)) = self.subject.char_indices().nth(MAX_SUBJECT) {
            self.subject.truncate(end);
        }
        if let Some(content) = self.content.as_mut().filter(|content| content.len() > MAX_CONTENT) {
            self.content_bytes = Some(content.len() as u64);
            content.truncate(content.floor_char_boundary(MAX_CONTENT));
        }
    }
}

/// Which entries to read. What is not said fits all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditQuery {
    /// Only those with a smaller number.
    pub before: Option<u64>,
    /// At most so many.
    pub limit: usize,
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
    /// Only with all of these words, whatever their case, in server, kind, subject, content, decision, rule or who decided.
    pub words: Vec<String>,
}

impl AuditQuery {
    /// The latest entries.
    #[must_use]
    pub fn latest(limit: usize) -> Self {
        Self { limit, ..Self::default() }
    }
}

/// How long entries are kept. The older ones are removed, and that they were is written down.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AuditRetention {
    /// For so many days; 0 for ever.
    pub days: u32,
    /// In so many megabytes; 0 for no bound.
    pub megabytes: u32,
}

/// An entry that was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Written {
    /// Its number in the log.
    pub number: u64,
    /// Its place among those that this program wrote, from 1; 0 if it is durable as it is written.
    pub place: u64,
}

/// What becomes of an entry that is handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Appended {
    /// It is written.
    Written(Written),
    /// It will be told.
    Later,
}

/// What the log tells its host. Nothing waits to tell or to be told.
#[derive(Debug, Default)]
pub struct AuditReceipts {
    /// Bounded by the entries that were handed over and not answered, which the log bounds.
    written: Mutex<Vec<(u64, Result<Written, StoreError>)>>,
    told: Notify,
}

impl AuditReceipts {
    /// The entries that were handed over with these tickets are written, or are not.
    pub fn written(&self, receipts: impl IntoIterator<Item = (u64, Result<Written, StoreError>)>) {
        self.written.lock().unwrap_or_else(PoisonError::into_inner).extend(receipts);
        self.told.notify_one();
    }

    /// More entries are durable than before, or it turned out that they never will be.
    pub fn durable(&self) {
        self.told.notify_one();
    }

    /// Waits until something was told, and takes it.
    pub async fn next(&self) -> Vec<(u64, Result<Written, StoreError>)> {
        self.told.notified().await;
        std::mem::take(&mut self.written.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The audit log: append only, each entry chained to the one before.
pub trait AuditLog: Send + Sync {
    /// The file's path, to show.
    fn path(&self) -> PathBuf;
    /// Where the outcomes of [`append_later`](Self::append_later) and [`durable`](Self::durable) are told.
    fn report_to(&self, receipts: Arc<AuditReceipts>);
    /// Writes an entry. From then on it outlasts this program; whether also the loss of power, says
    /// [`durable`](Self::durable).
    ///
    /// # Errors
    /// If the file can't be written. Then nothing may cross.
    fn append(&self, entry: AuditEntry) -> Result<Written, StoreError>;
    /// Hands an entry over without waiting for it to be written. The outcome is told under `ticket`.
    ///
    /// # Errors
    /// If the log is known not to work, or has too much to do. Then nothing may cross.
    fn append_later(&self, entry: AuditEntry, ticket: u64) -> Result<Appended, StoreError>;
    /// Up to which place the entries of this program outlast the loss of power.
    ///
    /// # Errors
    /// If that can't be said any more of entries that were written.
    fn durable(&self) -> Result<u64, StoreError>;
    /// Waits until all that was handed over is durable.
    ///
    /// # Errors
    /// If it can't be made so.
    fn flush(&self) -> Result<(), StoreError>;
    /// The entries that fit, the newest first.
    ///
    /// # Errors
    /// If the file can't be read.
    fn read(&self, query: &AuditQuery) -> Result<Vec<AuditEntry>, StoreError>;
    /// Checks the whole chain and its seal.
    ///
    /// # Errors
    /// If the file can't be read at all.
    fn verify(&self) -> Result<AuditVerdict, StoreError>;
    /// Checks a file that [`export`](Self::export) wrote, with the same key.
    ///
    /// # Errors
    /// If the file can't be read at all.
    fn verify_export(&self, file: &std::path::Path) -> Result<AuditVerdict, StoreError>;
    /// Writes all entries as JSON Lines that can be verified by themselves. Returns how many.
    ///
    /// # Errors
    /// If the log can't be read or the output not be written.
    fn export(&self, out: &mut dyn Write) -> Result<u64, StoreError>;
    /// Whether the contents of all entries are encrypted on the disk, under the keychain's key.
    ///
    /// # Errors
    /// If the file can't be read.
    fn is_encrypted(&self) -> Result<bool, StoreError> {
        Ok(false)
    }
    /// Removes what is older or more than this, now and from time to time.
    fn retain(&self, keep: AuditRetention);
}

/// What a check of the log found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditVerdict {
    /// How many entries there are.
    pub entries: u64,
    /// The first one's number.
    pub first: Option<u64>,
    /// The last one's number.
    pub last: Option<u64>,
    /// Up to which number entries were removed because of their age or size.
    pub removed: Option<u64>,
    /// What can be said of the end.
    pub seal: AuditSeal,
    /// What is wrong; the first of it.
    pub findings: Vec<AuditFinding>,
    /// How much more is wrong.
    pub more: u64,
    /// Of which entries nothing proves who wrote them, from a first to a last one each: they are not sealed, or were found
    /// without a seal. Their links fit all the same.
    pub unproved: Vec<(u64, u64)>,
}

impl AuditVerdict {
    /// Whether nothing was found to be wrong.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.findings.is_empty()
    }

    /// Whether it is also proved that Drawbridge wrote all of it.
    #[must_use]
    pub const fn is_proved(&self) -> bool {
        self.is_whole() && self.unproved.is_empty()
    }
}

/// What the seal says of the log's end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum AuditSeal {
    /// It is sealed up to this number, by the key that is in the keychain. Entries after it are chained only.
    Holds {
        /// The last sealed entry.
        number: u64,
    },
    /// It is not sealed: there was no keychain.
    None,
    /// It is sealed, but the key can't be had to check that.
    Unchecked {
        /// Why not.
        cause: String,
    },
    /// It does not fit; the findings say how.
    Broken,
}

/// Something that is wrong with the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AuditFinding {
    /// What.
    pub what: Tampered,
    /// The entry, or the first of several.
    pub number: u64,
    /// The last of several.
    pub to: Option<u64>,
    /// More about it.
    pub detail: Option<String>,
}

/// What can be wrong with the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Tampered {
    /// An entry is not as it was written, or not where.
    Changed,
    /// Entries are missing.
    Missing,
    /// Entries are missing at the end.
    CutOff,
    /// The seal was not made with the key in the keychain, or not for this log.
    SealBroken,
    /// There is a key, and no seal made with it.
    SealMissing,
    /// The record of what was removed because of its age or size does not fit.
    CheckpointBroken,
    /// When Drawbridge wrote this entry, something was wrong already.
    Noted,
    /// The file itself is damaged, or an entry can't be read.
    Unreadable,
}
