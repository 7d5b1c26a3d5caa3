//! Verifies the chain and its seal, for the log and for exported files.

use std::path::Path;

use domain::StoreError;
use ports::{AuditFinding, AuditSeal, AuditVerdict, TamperKind};
use rusqlite::Connection;

use super::audit_tables::{self, RemovalCheckpoint};
use super::chain::{CHAIN_LINK_BEFORE_FIRST_ENTRY, ChainLink, hashed_entry_text, hex, next_chain_link};
use super::encryption;
use super::mac_key::{LogSeal, MacKey, SealedEntryKind};
use super::retention::LOG_SHORTENED_KIND;
use super::write_log::{LOG_DAMAGED_KIND, LOG_UNSEALED_KIND, parse_unsealed_range};

/// Maximum number of findings (detected changes of the log) that the result of a verification lists. Further findings
/// are only counted.
const MAX_LISTED_FINDINGS: usize = 100;
/// Maximum number of ranges of entries of unproven origin that the result of a verification lists. If there are more,
/// the last range is extended.
const MAX_UNPROVED_RANGES: usize = 100;

/// The key that verifies seals of the audit log, or the reason why it is unavailable.
pub(super) type VerificationKey<'a> = Result<&'a MacKey, String>;

/// State of a verification of the audit log, which checks the entries of the hash chain in order.
pub(super) struct ChainVerification {
    /// Hash of the log entry that was checked last. The next entry must be chained to it.
    previous: ChainLink,
    /// Number of the log entry that was checked last.
    number: u64,
    verdict: AuditVerdict,
    /// Hash of the last removed entry, as the checkpoint records it. A later entry in the chain must record the same
    /// hash.
    removed: Option<String>,
    /// Number of the entry that records the same removal as the checkpoint, or `None` if no such entry was found yet.
    confirmed: Option<u64>,
    /// Seal of the log, and `true` if the chain contains the entry with the number and the hash that the seal covers.
    seal: Option<(LogSeal, bool)>,
    /// Number and hash of an entry that the keychain records (the mark), and `true` if the chain contains that entry.
    mark: Option<((u64, ChainLink), bool)>,
    /// Numbers of the first and the last entry whose content can't be decrypted with the key, or `None` if there is no
    /// such entry.
    undecipherable: Option<(u64, u64)>,
    /// Numbers of the first and the last entry with unencrypted content, although the log is marked as encrypted.
    /// `None` if there is no such entry.
    plain: Option<(u64, u64)>,
}

impl ChainVerification {
    /// Starts a verification. The first entry to check is the one after the removed ones, which `checkpoint` records.
    pub(super) fn new(
        checkpoint: Option<&RemovalCheckpoint>,
        seal: Option<LogSeal>,
        key: &VerificationKey<'_>,
    ) -> Self {
        let verdict = AuditVerdict {
            entries: 0,
            first: None,
            last: None,
            removed: checkpoint.map(|checkpoint| checkpoint.number),
            seal: AuditSeal::None,
            findings: Vec::new(),
            more: 0,
            unproved: Vec::new(),
        };
        let (number, previous) =
            checkpoint.map_or((0, CHAIN_LINK_BEFORE_FIRST_ENTRY), |checkpoint| (checkpoint.number, checkpoint.link));
        let removed = checkpoint.map(|checkpoint| hex(&checkpoint.link));
        let seal = seal.map(|seal| (seal, false));
        let mut walk = Self {
            previous,
            number,
            verdict,
            removed,
            confirmed: None,
            seal,
            mark: None,
            undecipherable: None,
            plain: None,
        };
        if let (Some(checkpoint), Ok(key)) = (checkpoint, key)
            && !checkpoint.is_sealed_with(key)
        {
            walk.report_finding(TamperKind::CheckpointBroken, checkpoint.number);
        }
        walk
    }

    /// Requires that the log contains the entry whose number and hash are in the keychain (the mark). Not called for
    /// exported files, which may be older than the mark.
    fn require_marked_entry(&mut self, mark: Option<(u64, ChainLink)>) {
        self.mark = mark.filter(|(number, _)| *number > self.number).map(|mark| (mark, false));
    }

    fn add_unproved_range(&mut self, from: u64, to: u64) {
        let unproved = &mut self.verdict.unproved;
        let is_full = unproved.len() == MAX_UNPROVED_RANGES;
        match unproved.last_mut().filter(|_| is_full) {
            Some(last) => last.1 = last.1.max(to),
            None => unproved.push((from, to)),
        }
    }

    fn report_finding(&mut self, what: TamperKind, number: u64) {
        self.add_finding(AuditFinding { what, number, to: None, detail: None });
    }

    pub(super) fn add_finding(&mut self, finding: AuditFinding) {
        if self.verdict.findings.len() < MAX_LISTED_FINDINGS {
            self.verdict.findings.push(finding);
        } else {
            self.verdict.more += 1;
        }
    }

    /// Checks the next log entry: its number, its kind, subject and hash, its text if the text is readable, and its
    /// stored chain hash.
    pub(super) fn check_entry(
        &mut self,
        number: u64,
        text: Option<&str>,
        (kind, subject, hash): (&str, &str, &str),
        stored: &ChainLink,
    ) {
        let is_next = number == self.number + 1;
        if number <= self.number {
            self.report_finding(TamperKind::Changed, number);
        } else if !is_next {
            let to = (number - 1 > self.number + 1).then_some(number - 1);
            self.add_finding(AuditFinding { what: TamperKind::Missing, number: self.number + 1, to, detail: None });
        } else if text.is_some_and(|text| next_chain_link(&self.previous, text) != *stored) {
            self.report_finding(TamperKind::Changed, number);
        }
        match kind {
            LOG_DAMAGED_KIND => {
                let detail = Some(subject.to_owned());
                self.add_finding(AuditFinding { what: TamperKind::Noted, number, to: None, detail });
            }
            LOG_UNSEALED_KIND => {
                let (from, to) = parse_unsealed_range(subject).unwrap_or((1, number));
                // Entries that were removed later need no proof.
                let from = self.verdict.removed.map_or(from, |removed| from.max(removed + 1));
                if from <= to {
                    self.add_unproved_range(from, to);
                }
            }
            LOG_SHORTENED_KIND if self.confirmed.is_none() && self.removed.as_deref() == Some(hash) => {
                self.confirmed = Some(number);
            }
            _ => {}
        }
        if let Some((seal, is_there)) = &mut self.seal
            && seal.number == number
        {
            *is_there = seal.link == *stored;
        }
        if let Some(((marked, mark), is_there)) = &mut self.mark
            && *marked == number
        {
            *is_there = mark == stored;
        }
        self.verdict.entries += 1;
        self.verdict.first.get_or_insert(number);
        self.verdict.last = Some(number);
        (self.previous, self.number) = (*stored, number.max(self.number));
    }

    /// Records in the verdict that the content of a log entry can't be decrypted with the key.
    pub(super) fn report_unreadable_content(&mut self, number: u64) {
        let (first, _) = *self.undecipherable.get_or_insert((number, number));
        self.undecipherable = Some((first, number));
    }

    /// Records in the verdict that a log entry has unencrypted content although the log is marked as encrypted.
    fn report_unencrypted_content(&mut self, number: u64) {
        let (first, _) = *self.plain.get_or_insert((number, number));
        self.plain = Some((first, number));
    }

    /// Records in the verdict that the next log entry can't be parsed.
    pub(super) fn report_unreadable(&mut self, detail: String) {
        let number = self.number + 1;
        self.add_finding(AuditFinding { what: TamperKind::Unreadable, number, to: None, detail: Some(detail) });
    }

    /// Completes the verification after the last entry, and returns the verdict.
    pub(super) fn finish(mut self, key: &VerificationKey<'_>) -> AuditVerdict {
        let sealed = self.seal.as_ref().map(|(seal, _)| seal.number);
        let mut is_missing = false;
        self.verdict.seal = match (self.seal.take(), key) {
            (None, Err(_)) => AuditSeal::None,
            (None, Ok(key)) => {
                is_missing = self.mark.is_some();
                if key.is_old && self.verdict.entries > 0 {
                    self.report_finding(TamperKind::SealMissing, self.number);
                }
                AuditSeal::None
            }
            (Some((seal, is_there)), key) => self.check_seal(&seal, is_there, key),
        };
        if let Some(removed) = self.verdict.removed {
            // Any program could have added the confirming entry after the seal.
            let is_proved = |number| key.is_err() || sealed.is_some_and(|sealed| number <= sealed);
            let is_known = self.verdict.findings.iter().any(|finding| finding.what == TamperKind::CheckpointBroken);
            if !is_known && !self.confirmed.is_some_and(is_proved) {
                self.report_finding(TamperKind::CheckpointBroken, removed);
            }
        }
        if let Some(((marked, _), false)) = self.mark
            && self.verdict.findings.is_empty()
        {
            if marked > self.number {
                let to = (marked > self.number + 1).then_some(marked);
                self.add_finding(AuditFinding { what: TamperKind::CutOff, number: self.number + 1, to, detail: None });
            } else {
                self.report_finding(TamperKind::SealBroken, marked);
            }
        }
        if is_missing && self.verdict.findings.is_empty() {
            self.report_finding(TamperKind::SealMissing, self.number);
        }
        if let (Some(first), Some(last)) = (self.verdict.first, self.verdict.last) {
            match self.verdict.seal {
                AuditSeal::Holds { number } if number >= last => {}
                AuditSeal::Holds { number } => self.add_unproved_range(number + 1, last),
                AuditSeal::None | AuditSeal::Unchecked { .. } | AuditSeal::Broken => {
                    self.verdict.unproved = vec![(first, last)];
                }
            }
        }
        if let Some((first, last)) = self.plain {
            let detail =
                Some("its content is plain on disk, although the log states that all are encrypted".to_owned());
            let to = (last > first).then_some(last);
            self.add_finding(AuditFinding { what: TamperKind::Changed, number: first, to, detail });
        }
        if let Some((first, last)) = self.undecipherable {
            let detail = Some("the key in the keychain does not decrypt its content".to_owned());
            let to = (last > first).then_some(last);
            self.add_finding(AuditFinding { what: TamperKind::Unreadable, number: first, to, detail });
        }
        self.verdict
    }

    fn check_seal(&mut self, seal: &LogSeal, is_there: bool, key: &VerificationKey<'_>) -> AuditSeal {
        let before = self.verdict.findings.len();
        if seal.number > self.number {
            let (number, to) = (self.number + 1, (seal.number > self.number + 1).then_some(seal.number));
            self.add_finding(AuditFinding { what: TamperKind::CutOff, number, to, detail: None });
        } else if !is_there {
            self.report_finding(TamperKind::SealBroken, seal.number);
        }
        match key {
            Ok(key) if !is_sealed_by(key, seal) => {
                if self.verdict.findings.len() == before {
                    self.report_finding(TamperKind::SealBroken, seal.number);
                }
                AuditSeal::Broken
            }
            _ if self.verdict.findings.len() > before => AuditSeal::Broken,
            Ok(_) => AuditSeal::Holds { number: seal.number },
            Err(cause) => AuditSeal::Unchecked { cause: cause.clone() },
        }
    }
}

fn is_sealed_by(key: &MacKey, seal: &LogSeal) -> bool {
    seal.key == key.id && key.verify_mac(SealedEntryKind::LastEntry, seal.number, &seal.link, &seal.mac)
}

/// Verifies the audit log. `mark` is the entry whose number and hash are in the keychain. The log must contain it.
pub(super) fn verify_log(
    path: &Path,
    key: &VerificationKey<'_>,
    mark: Option<(u64, ChainLink)>,
) -> Result<AuditVerdict, StoreError> {
    let Some(mut connection) = audit_tables::open_for_reading(path)? else {
        let mut walk = ChainVerification::new(None, None, key);
        walk.require_marked_entry(mark);
        return Ok(walk.finish(key));
    };
    verify_log_tables(&mut connection, key, mark)
        .map_err(|error| audit_tables::database_error(path, "check it", &error))
}

fn verify_log_tables(
    connection: &mut Connection,
    key: &VerificationKey<'_>,
    mark: Option<(u64, ChainLink)>,
) -> rusqlite::Result<AuditVerdict> {
    // Other processes may append meanwhile, so everything is read from one snapshot.
    let snapshot = connection.transaction()?;
    let unexpected = audit_tables::unexpected_schema_parts(&snapshot)?;
    let mut walk = ChainVerification::new(
        audit_tables::read_removal_checkpoint(&snapshot)?.as_ref(),
        audit_tables::read_log_seal(&snapshot)?,
        key,
    );
    walk.require_marked_entry(mark);
    if !unexpected.is_empty() {
        let detail = Some(format!("its tables are not those that Drawbridge made: {}", unexpected.join(", ")));
        walk.add_finding(AuditFinding { what: TamperKind::Unreadable, number: 0, to: None, detail });
    }
    let sound: String = snapshot.pragma_query_value(None, "integrity_check", |row| row.get(0))?;
    if sound != "ok" {
        walk.add_finding(AuditFinding { what: TamperKind::Unreadable, number: 0, to: None, detail: Some(sound) });
    }
    let sql = format!(
        "SELECT {} FROM entry WHERE number > (SELECT coalesce(max(number), 0) FROM checkpoint) ORDER BY number",
        audit_tables::ENTRY_COLUMNS
    );
    let mut statement = snapshot.prepare(&sql)?;
    let mut rows = statement.query([])?;
    let content = key.as_ref().ok().map(|key| key.content.as_ref());
    // A missing table was already reported as a finding of the schema.
    let is_encrypted = key.is_ok() && encryption::is_fully_encrypted(&snapshot).unwrap_or(false);
    while let Some(row) = rows.next()? {
        match audit_tables::read_entry(row, content) {
            Ok(audit_tables::StoredAuditEntry { entry, link, is_hidden, is_plain }) => {
                match hashed_entry_text(&entry) {
                    Ok(text) => {
                        let text = if is_hidden { None } else { Some(text.as_str()) };
                        // Without a key, encrypted contents can't be checked, and nothing is proven.
                        if is_hidden && key.is_ok() {
                            walk.report_unreadable_content(entry.number);
                        }
                        if is_plain && is_encrypted {
                            walk.report_unencrypted_content(entry.number);
                        }
                        walk.check_entry(entry.number, text, (&entry.kind, &entry.subject, &entry.hash), &link);
                    }
                    Err(error) => walk.report_unreadable(error.to_string()),
                }
            }
            Err(error) => walk.report_unreadable(error.to_string()),
        }
    }
    Ok(walk.finish(key))
}
