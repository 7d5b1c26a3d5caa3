//! Appends entries. Each batch is one transaction, which chains its entries to the last one, whichever process wrote
//! it, and seals the last entry.
//!
//! Damage of the log does not stop logging. It is recorded as an entry in the chain, whose number makes the gap
//! visible. Entries that another program wrote without a seal are recorded as well, because a seal over them would
//! prove that Drawbridge wrote them.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use domain::StoreError;
use ports::AuditEntry;
use rusqlite::{Connection, TransactionBehavior};

use super::chain::{ChainLink, hashed_entry_text, next_chain_link};
use super::encryption::{EncryptionProgress, UnencryptedContentSearch};
use super::mac_key::{LogSeal, MacKey, SealedEntryKind};
use super::{audit_tables, encryption, import, retention};
use crate::audit::chain::hex;
use crate::content_key::ContentKey;

/// Kind of an entry that records damage of the log.
pub(super) const LOG_DAMAGED_KIND: &str = "log-damaged";
/// Kind of an entry that lists a range of entries of unproven origin, which were written without a seal.
pub(super) const LOG_UNSEALED_KIND: &str = "log-unsealed";

/// The audit log, opened for writing by this process.
pub(super) struct AuditWriteLog {
    pub(super) path: PathBuf,
    connection: Connection,
    /// Identity (inode) of the opened log file. Distinguishes the file from another one that later has the same name.
    identity: u128,
    /// Number and hash of the last log entry that this process has written.
    last: Option<(u64, ChainLink)>,
    /// The last seal that this process has written to the log.
    sealed: Option<LogSeal>,
    /// Invalid seal for which a log entry about damage was already written, so that no second one is written.
    reported_invalid_seal: Option<LogSeal>,
    /// Set once the log was compared with its seal and with the mark (an entry's number and hash) in the keychain. The
    /// comparison requires the MAC key.
    is_checked: bool,
    /// Numbers of the first and the last entry without a seal that another program wrote, or `None` if there is none.
    unproven_range: Option<(u64, u64)>,
    /// Set if a log entry already records that damage prevents a removal of entries.
    has_reported_obstacle: bool,
    /// Set if the schema was repaired when the audit database was opened.
    was_schema_repaired: bool,
    /// Number of the last entry whose content [`AuditWriteLog::encrypt_batch`] has encrypted, or 0.
    encrypted_upto: i64,
    /// Progress of the search for unencrypted content that another program may have added.
    unencrypted_search: UnencryptedContentSearch,
}

/// Text of the damage entry for a log whose schema was repaired.
const SCHEMA_REPAIRED_ENTRY_TEXT: &str =
    "its tables were changed so that contents could not be encrypted; the change was reverted";
/// Text of the damage entry for a log that was marked as encrypted but had unencrypted content.
const UNENCRYPTED_CONTENT_ENTRY_TEXT: &str =
    "contents were plain on disk, although the log states that all are encrypted; they are encrypted now";

/// Maximum plausible number of missing entries at the end of the log. A seal for an entry that is farther beyond the
/// end is ignored.
const MAX_MISSING_ENTRIES: u64 = 1_000_000_000;

impl AuditWriteLog {
    /// Opens the log at `path`. If the log of an older version at `older` was not imported yet, imports it.
    pub(super) fn open(path: &Path, older: &Path) -> Result<Self, StoreError> {
        let (mut connection, was_schema_repaired) = audit_tables::open(path)?;
        let last = import::import_old_log(&mut connection, path, older)?;
        let metadata = path.metadata().map_err(|error| crate::files::file_error(path, "open it", &error))?;
        let identity = crate::private_files::file_identity(&metadata);
        let mut log = Self {
            path: path.to_owned(),
            connection,
            identity,
            last,
            sealed: None,
            reported_invalid_seal: None,
            is_checked: false,
            unproven_range: None,
            has_reported_obstacle: false,
            was_schema_repaired,
            encrypted_upto: 0,
            unencrypted_search: UnencryptedContentSearch::UpTo(0),
        };
        if was_schema_repaired {
            tracing::error!(path = %path.display(), "the tables of the audit log were changed by another program");
            log.append(&mut [new_log_entry(LOG_DAMAGED_KIND, SCHEMA_REPAIRED_ENTRY_TEXT.to_owned())], None)?;
        }
        Ok(log)
    }

    /// Returns `true` if the log's schema was repaired when this process opened the log. There is then a new entry
    /// without a seal that records the repair.
    pub(super) const fn was_schema_repaired_at_open(&self) -> bool {
        self.was_schema_repaired
    }

    /// Returns number and hash of the last log entry that this process sealed.
    pub(super) fn last_entry_sealed_by_this_process(&self) -> Option<(u64, ChainLink)> {
        self.sealed.as_ref().map(|seal| (seal.number, seal.link))
    }

    /// Returns `true` if the path still refers to the opened log file.
    pub(super) fn is_current_file(&self) -> bool {
        self.path.metadata().is_ok_and(|metadata| crate::private_files::file_identity(&metadata) == self.identity)
    }

    /// Appends log entries, seals the last one, and returns the number of the first one. If `entries` is empty, only
    /// the seal is renewed.
    pub(super) fn append(&mut self, entries: &mut [AuditEntry], key: Option<&MacKey>) -> Result<u64, StoreError> {
        self.append_all(entries, key, None)
            .map_err(|error| audit_tables::database_error(&self.path, "write the decision down", &error.into_sql()))
    }

    /// Appends log entries. If `shorten` is set, it is the number of the last entry to remove, and a checkpoint and an
    /// entry are written that record the removal. The entries can be removed afterwards.
    fn append_all(
        &mut self,
        entries: &mut [AuditEntry],
        key: Option<&MacKey>,
        shorten: Option<u64>,
    ) -> Result<u64, AppendError> {
        // Only the key decides whether content is encrypted, not the file. A table that does not accept encrypted
        // content rejects the write.
        let content = key.map(|key| key.content.as_ref());
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        if content.is_none() && entries.iter().any(|entry| entry.content.is_some()) {
            encryption::record_unencrypted_content(&transaction)?;
        }
        let (found, mut previous) = audit_tables::last_entry(&transaction)?;
        let mut number = found;
        let stored_seal = audit_tables::read_log_seal(&transaction)?;
        let own = match self.last {
            Some((own, _)) => own,
            None => audit_tables::last_removed_entry_number(&transaction)?
                .max(stored_seal.as_ref().map_or(0, |seal| seal.number)),
        };
        let mut unproven_range = self.unproven_range;
        if found > own {
            unproven_range = Some((unproven_range.map_or(own + 1, |(from, _)| from), found));
        }
        let known = LogEndAfterLastWrite {
            last: self.last,
            sealed: self.sealed.as_ref(),
            reported_invalid_seal: self.reported_invalid_seal.as_ref(),
            is_checked: self.is_checked,
        };
        let problem = describe_end_damage(&transaction, (found, &previous), stored_seal.as_ref(), &known, key)?;
        if let Some(key) = key.filter(|key| problem.is_none() && stored_seal.is_none() && key.mark.is_none()) {
            // The log never had a seal, so its checkpoint has none either.
            retention::write_checkpoint_seal(&transaction, key)?;
        }
        if let Some(problem) = problem {
            tracing::error!(problem, "the audit log was changed since it was written");
            // Numbers of missing entries are not reused, so that the gap stays visible.
            let sealed = stored_seal.as_ref().map_or(0, |seal| seal.number);
            let sealed = if sealed > found + MAX_MISSING_ENTRIES { 0 } else { sealed };
            let sealed = sealed.max(key.and_then(|key| key.mark).map_or(0, |(marked, _)| marked));
            number = number.max(sealed).max(self.last.map_or(0, |(number, _)| number)) + 1;
            self.reported_invalid_seal.clone_from(&stored_seal);
            let mut entry = new_log_entry(LOG_DAMAGED_KIND, problem);
            entry.number = number;
            previous = write_entry(&transaction, &entry, &previous, content)?;
        }
        if let Some(key) = key {
            // Entries that another process sealed have a proven origin.
            let proved = stored_seal.as_ref().filter(|seal| is_sealed_by(key, seal)).map_or(0, |seal| seal.number);
            if let Some((from, to)) = unproven_range.take().filter(|(_, to)| *to > proved) {
                number += 1;
                let mut entry = new_log_entry(LOG_UNSEALED_KIND, format!("entries {} to {to}", from.max(proved + 1)));
                entry.number = number;
                previous = write_entry(&transaction, &entry, &previous, content)?;
            }
        }
        if let Some(link) =
            shorten.map(|upto| retention::write_removal_checkpoint(&transaction, upto, key)).transpose()?.flatten()
        {
            number += 1;
            let mut entry =
                new_log_entry(retention::LOG_SHORTENED_KIND, format!("entries up to {}", shorten.unwrap_or_default()));
            (entry.number, entry.hash) = (number, hex(&link));
            previous = write_entry(&transaction, &entry, &previous, content)?;
        }
        let first = number + 1;
        for entry in entries {
            number += 1;
            entry.number = number;
            previous = write_entry(&transaction, entry, &previous, content)?;
        }
        let mut sealed = None;
        if let Some(key) = key.filter(|_| number > 0) {
            let mac = key.compute_mac(SealedEntryKind::LastEntry, number, &previous);
            let seal = LogSeal { number, link: previous, key: key.id.clone(), mac };
            if stored_seal.as_ref() != Some(&seal) {
                audit_tables::write_log_seal(&transaction, &seal)?;
            }
            sealed = Some(seal);
        }
        transaction.commit()?;
        self.is_checked |= key.is_some();
        (self.last, self.sealed, self.unproven_range) = (Some((number, previous)), sealed, unproven_range);
        Ok(first)
    }

    /// Determines which log entries exceed the `limits` of age and size, and records their removal.
    /// [`Self::remove_batch`] then removes them.
    pub(super) fn apply_retention(
        &mut self,
        limits: ports::AuditRetention,
        key: Option<&MacKey>,
    ) -> Result<(), StoreError> {
        // Damage is detected before anything is removed.
        self.append(&mut [], key)?;
        let sealed = audit_tables::read_log_seal(&self.connection).map_err(|error| self.removal_error(&error))?;
        if key.is_none() && sealed.is_some() {
            // Without the key, the removal could not be distinguished from that of another program.
            return Ok(());
        }
        let removal =
            retention::find_due_removal(&self.connection, limits).map_err(|error| self.removal_error(&error))?;
        let Some(removal) = removal else { return Ok(()) };
        let doubt = retention::reason_against_entry_removal(&self.connection, &removal, key)
            .map_err(|error| self.removal_error(&error))?;
        match doubt {
            None => self
                .append_all(&mut [], key, Some(removal.upto))
                .map(drop)
                .map_err(|error| self.removal_error(&error.into_sql())),
            Some(_) if std::mem::replace(&mut self.has_reported_obstacle, true) => Ok(()),
            Some(doubt) => {
                tracing::error!(doubt, "nothing is removed from the audit log");
                let words = format!("nothing is removed: {doubt}");
                self.append(&mut [new_log_entry(LOG_DAMAGED_KIND, words)], key).map(drop)
            }
        }
    }

    /// Removes a batch of the log entries whose removal is recorded. Returns `true` if more of them remain.
    pub(super) fn remove_batch(&self) -> Result<bool, StoreError> {
        retention::remove_batch(&self.connection).map_err(|error| self.removal_error(&error))
    }

    /// Performs the next step of encrypting contents that were written without a key. If a log that is marked as
    /// encrypted has unencrypted content, that is recorded as damage first.
    pub(super) fn encrypt_batch(&mut self, key: &MacKey) -> Result<EncryptionProgress, StoreError> {
        let fail =
            |path: &Path, error| audit_tables::database_error(path, "encrypt the contents of older decisions", &error);
        let has_plain = encryption::find_unencrypted_content(&self.connection, &mut self.unencrypted_search)
            .map_err(|error| fail(&self.path, error))?;
        if has_plain {
            tracing::error!(path = %self.path.display(), UNENCRYPTED_CONTENT_ENTRY_TEXT);
            self.append(&mut [new_log_entry(LOG_DAMAGED_KIND, UNENCRYPTED_CONTENT_ENTRY_TEXT.to_owned())], Some(key))?;
            encryption::record_unencrypted_content(&self.connection).map_err(|error| fail(&self.path, error))?;
        }
        if self.unencrypted_search != UnencryptedContentSearch::Complete {
            return Ok(EncryptionProgress::MoreSteps);
        }
        encryption::encryption_step(&mut self.connection, &key.content, &mut self.encrypted_upto)
            .map_err(|error| fail(&self.path, error))
    }

    /// Returns `true` if the audit database records that all contents are encrypted.
    pub(super) fn is_encrypted(&self) -> Result<bool, StoreError> {
        let is_done = encryption::is_fully_encrypted(&self.connection)
            .map_err(|error| audit_tables::database_error(&self.path, "read it", &error))?;
        Ok(is_done && self.unencrypted_search == UnencryptedContentSearch::Complete)
    }

    fn removal_error(&self, error: &rusqlite::Error) -> StoreError {
        audit_tables::database_error(&self.path, "remove old decisions", error)
    }
}

/// The reason why log entries can't be appended.
#[derive(Debug, thiserror::Error)]
pub(super) enum AppendError {
    #[error(transparent)]
    Sql(#[from] rusqlite::Error),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

impl AppendError {
    /// Converts the error to an error of `rusqlite`.
    pub(super) fn into_sql(self) -> rusqlite::Error {
        match self {
            Self::Sql(error) => error,
            Self::Json(error) => rusqlite::Error::ToSqlConversionFailure(Box::new(error)),
        }
    }
}

/// The last entry and the seal of the log after the last write of this process. Compared with the present end of the
/// log.
struct LogEndAfterLastWrite<'a> {
    last: Option<(u64, ChainLink)>,
    sealed: Option<&'a LogSeal>,
    reported_invalid_seal: Option<&'a LogSeal>,
    is_checked: bool,
}

/// Writes a log entry and its chain hash to the database. The chain hash covers the entry and `previous`, the chain
/// hash of its predecessor. Returns the chain hash.
pub(super) fn write_entry(
    connection: &Connection,
    entry: &AuditEntry,
    previous: &ChainLink,
    key: Option<&ContentKey>,
) -> Result<ChainLink, AppendError> {
    let link = next_chain_link(previous, &hashed_entry_text(entry)?);
    audit_tables::insert_entry(connection, entry, &link, key)?;
    Ok(link)
}

/// Creates an entry about the log itself, for instance about damage of the log.
pub(super) fn new_log_entry(kind: &'static str, subject: String) -> AuditEntry {
    let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    AuditEntry {
        at: u64::try_from(at.as_millis()).unwrap_or(u64::MAX),
        asker: Cow::Borrowed("host"),
        kind: Cow::Borrowed(kind),
        subject,
        decision: Cow::Borrowed("noted"),
        by: Cow::Borrowed("policy"),
        ..AuditEntry::default()
    }
}

/// Parses the range of entries in the subject of a [`LOG_UNSEALED_KIND`] entry.
pub(super) fn parse_unsealed_range(subject: &str) -> Option<(u64, u64)> {
    let (from, to) = subject.strip_prefix("entries ")?.split_once(" to ")?;
    Some((from.parse().ok()?, to.parse().ok()?))
}

/// Returns `true` if this key made the seal of the log.
fn is_sealed_by(key: &MacKey, seal: &LogSeal) -> bool {
    seal.key == key.id && key.verify_mac(SealedEntryKind::LastEntry, seal.number, &seal.link, &seal.mac)
}

/// Returns a description of the damage at the end of the log, or `None` if the end is intact.
fn describe_end_damage(
    connection: &Connection,
    (number, last): (u64, &ChainLink),
    stored_seal: Option<&LogSeal>,
    known: &LogEndAfterLastWrite<'_>,
    key: Option<&MacKey>,
) -> rusqlite::Result<Option<String>> {
    if let Some((own, own_link)) = known.last {
        let there = if own == number { Some(*last) } else { audit_tables::entry_chain_link(connection, own)? };
        if own > 0 && there != Some(own_link) {
            return Ok(Some(format!("entry {own}, which was just written, is missing or changed")));
        }
    }
    if let Some(key) = key.filter(|key| !known.is_checked && (stored_seal.is_some() || key.mark.is_some()))
        && let Some(checkpoint) = audit_tables::read_removal_checkpoint(connection)?
        && !checkpoint.is_sealed_with(key)
    {
        let number = checkpoint.number;
        return Ok(Some(format!("the record that entries up to {number} were removed was not made by Drawbridge")));
    }
    if let Some((marked, mark)) = key.and_then(|key| key.mark).filter(|_| !known.is_checked) {
        if marked > number {
            return Ok(Some(format!(
                "the log was sealed up to entry {marked}, and ended at {number}: it was cut off, or replaced by an older copy"
            )));
        }
        if marked > audit_tables::last_removed_entry_number(connection)?
            && audit_tables::entry_chain_link(connection, marked)? != Some(mark)
        {
            return Ok(Some(format!("entry {marked} or one before it, which was sealed, was changed or removed")));
        }
    }
    if stored_seal.is_some() && stored_seal == known.reported_invalid_seal {
        return Ok(None);
    }
    if let Some(seal) = stored_seal.filter(|seal| seal.number > number) {
        return Ok(Some(format!("the entries {} to {} were cut off", number + 1, seal.number)));
    }
    let Some(key) = key else { return Ok(None) };
    let Some(seal) = stored_seal else {
        let was_sealed = known.sealed.is_some() || (key.is_old && !known.is_checked);
        return Ok(was_sealed.then(|| "there was a sealed log, and it or its seal was removed".to_owned()));
    };
    if known.sealed == Some(seal) && known.last == Some((number, *last)) {
        return Ok(None);
    }
    if seal.key != key.id {
        return Ok(Some(format!(
            "the log was sealed up to entry {} with a key that is not in the keychain",
            seal.number
        )));
    }
    if !is_sealed_by(key, seal) {
        return Ok(Some("the seal was changed".to_owned()));
    }
    if audit_tables::entry_chain_link(connection, seal.number)? != Some(seal.link) {
        return Ok(Some(format!("entry {} or one before it was changed or removed", seal.number)));
    }
    let broken = first_broken_link(connection, (seal.number, seal.link), None, Some(key))?;
    Ok(broken.map(|number| format!("entry {number} was changed or removed before it was sealed")))
}

/// Returns the number of the first entry in a range whose chain hash does not follow from its text and its predecessor,
/// or `None` if all do.
pub(super) fn first_broken_link(
    connection: &Connection,
    (after, link_after): (u64, ChainLink),
    upto: Option<u64>,
    key: Option<&MacKey>,
) -> rusqlite::Result<Option<u64>> {
    let sql =
        format!("SELECT {} FROM entry WHERE number > ?1 AND number <= ?2 ORDER BY number", audit_tables::ENTRY_COLUMNS);
    let mut statement = connection.prepare_cached(&sql)?;
    let upto = upto.map_or(i64::MAX, audit_tables::u64_to_sql_integer);
    let mut rows = statement.query([audit_tables::u64_to_sql_integer(after), upto])?;
    let (mut number, mut previous) = (after, link_after);
    while let Some(row) = rows.next()? {
        let audit_tables::StoredAuditEntry { entry, link: stored, is_hidden, .. } =
            audit_tables::read_entry(row, key.map(|key| key.content.as_ref()))?;
        number += 1;
        // Encrypted content can't be checked without the key.
        let is_unknown = is_hidden && key.is_none();
        let fits =
            is_unknown || hashed_entry_text(&entry).is_ok_and(|text| next_chain_link(&previous, &text) == stored);
        if entry.number != number || !fits {
            return Ok(Some(number));
        }
        previous = stored;
    }
    Ok(None)
}
