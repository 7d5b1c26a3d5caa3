//! Checking the whole chain and its seal, of the log and of a file that was exported.

use std::path::Path;

use host::ports::{AuditFinding, AuditSeal, AuditVerdict, StoreError, Tampered};
use rusqlite::Connection;

use super::chain::{Link, START, hex, link, text_of};
use super::file::{self, Checkpoint};
use super::log::DAMAGE;
use super::retention::REMOVED;
use super::seal::{Seal, SealKey, Sealed};

/// The most findings that are listed; the others are counted.
const MAX_FINDINGS: usize = 100;

/// The key, or why there is none.
pub(super) type Key<'a> = Result<&'a SealKey, String>;

/// Walks along a chain.
pub(super) struct Walk {
    /// The hash that the next entry must follow.
    previous: Link,
    /// The number of the last entry.
    number: u64,
    verdict: AuditVerdict,
    /// What the checkpoint says of the last entry that was removed, as an entry in the chain must say it as well.
    removed: Option<String>,
    /// The seal, and whether the entry it is over has its hash.
    seal: Option<(Seal, bool)>,
}

impl Walk {
    /// Begins after what was removed.
    pub(super) fn new(checkpoint: Option<&Checkpoint>, seal: Option<Seal>, key: &Key<'_>) -> Self {
        let verdict = AuditVerdict {
            entries: 0,
            first: None,
            last: None,
            removed: checkpoint.map(|checkpoint| checkpoint.number),
            seal: AuditSeal::None,
            findings: Vec::new(),
            more: 0,
        };
        let (number, previous) = checkpoint.map_or((0, START), |checkpoint| (checkpoint.number, checkpoint.link));
        let removed = checkpoint.map(|checkpoint| hex(&checkpoint.link));
        let mut walk = Self { previous, number, verdict, removed, seal: seal.map(|seal| (seal, false)) };
        if let (Some(checkpoint), Ok(key)) = (checkpoint, key)
            && !holds(key, checkpoint)
        {
            walk.found(Tampered::CheckpointBroken, checkpoint.number);
        }
        walk
    }

    fn found(&mut self, what: Tampered, number: u64) {
        self.found_more(AuditFinding { what, number, to: None, detail: None });
    }

    pub(super) fn found_more(&mut self, finding: AuditFinding) {
        if self.verdict.findings.len() < MAX_FINDINGS {
            self.verdict.findings.push(finding);
        } else {
            self.verdict.more += 1;
        }
    }

    /// The next entry: its number, its text, its kind with what it says, and the hash that it is said to have.
    pub(super) fn next(&mut self, number: u64, text: &str, (kind, subject, hash): (&str, &str, &str), stored: &Link) {
        let is_next = number == self.number + 1;
        if number <= self.number {
            self.found(Tampered::Changed, number);
        } else if !is_next {
            let to = (number - 1 > self.number + 1).then_some(number - 1);
            self.found_more(AuditFinding { what: Tampered::Missing, number: self.number + 1, to, detail: None });
        } else if link(&self.previous, text) != *stored {
            self.found(Tampered::Changed, number);
        }
        match kind {
            DAMAGE => {
                let detail = Some(subject.to_owned());
                self.found_more(AuditFinding { what: Tampered::Noted, number, to: None, detail });
            }
            REMOVED if self.removed.as_deref() == Some(hash) => self.removed = None,
            _ => {}
        }
        if let Some((seal, is_there)) = &mut self.seal
            && seal.number == number
        {
            *is_there = seal.link == *stored;
        }
        self.verdict.entries += 1;
        self.verdict.first.get_or_insert(number);
        self.verdict.last = Some(number);
        (self.previous, self.number) = (*stored, number.max(self.number));
    }

    /// An entry that can't be read.
    pub(super) fn unreadable(&mut self, detail: String) {
        let number = self.number + 1;
        self.found_more(AuditFinding { what: Tampered::Unreadable, number, to: None, detail: Some(detail) });
    }

    /// All entries were seen.
    pub(super) fn end(mut self, key: &Key<'_>) -> AuditVerdict {
        if self.removed.is_some() && self.verdict.removed.is_some() {
            let number = self.verdict.removed.unwrap_or_default();
            self.found(Tampered::CheckpointBroken, number);
        }
        self.verdict.seal = match (self.seal.take(), key) {
            (None, Err(_)) => AuditSeal::None,
            (None, Ok(key)) => {
                if key.is_old && self.verdict.entries > 0 {
                    self.found(Tampered::SealMissing, self.number);
                }
                AuditSeal::None
            }
            (Some((seal, is_there)), key) => self.end_of_sealed(&seal, is_there, key),
        };
        self.verdict
    }

    fn end_of_sealed(&mut self, seal: &Seal, is_there: bool, key: &Key<'_>) -> AuditSeal {
        let before = self.verdict.findings.len();
        if seal.number > self.number {
            let (number, to) = (self.number + 1, (seal.number > self.number + 1).then_some(seal.number));
            self.found_more(AuditFinding { what: Tampered::CutOff, number, to, detail: None });
        } else if !is_there {
            self.found(Tampered::SealBroken, seal.number);
        }
        match key {
            Ok(key) if !is_of(key, seal) => {
                if self.verdict.findings.len() == before {
                    self.found(Tampered::SealBroken, seal.number);
                }
                AuditSeal::Broken
            }
            _ if self.verdict.findings.len() > before => AuditSeal::Broken,
            Ok(_) => AuditSeal::Holds { number: seal.number },
            Err(cause) => AuditSeal::Unchecked { cause: cause.clone() },
        }
    }
}

fn is_of(key: &SealKey, seal: &Seal) -> bool {
    seal.key == key.id && key.holds(Sealed::Head, seal.number, &seal.link, &seal.mac)
}

/// Whether a checkpoint is sealed with this key. One that was made while there was no keychain has no seal; the chain says the same.
fn holds(key: &SealKey, checkpoint: &Checkpoint) -> bool {
    match (&checkpoint.key, &checkpoint.mac) {
        (Some(id), Some(mac)) => {
            *id != key.id || key.holds(Sealed::Checkpoint, checkpoint.number, &checkpoint.link, mac)
        }
        (None, None) => true,
        _ => false,
    }
}

/// Checks the log.
pub(super) fn log(path: &Path, key: &Key<'_>) -> Result<AuditVerdict, StoreError> {
    let Some(mut connection) = file::open_to_read(path)? else { return Ok(Walk::new(None, None, key).end(key)) };
    tables(&mut connection, key).map_err(|error| file::failed(path, "check it", &error))
}

fn tables(connection: &mut Connection, key: &Key<'_>) -> rusqlite::Result<AuditVerdict> {
    // Others may append meanwhile; all of it is looked at as it was at one moment.
    let snapshot = connection.transaction()?;
    let mut walk = Walk::new(file::checkpoint(&snapshot)?.as_ref(), file::seal(&snapshot)?, key);
    let sound: String = snapshot.pragma_query_value(None, "integrity_check", |row| row.get(0))?;
    if sound != "ok" {
        walk.found_more(AuditFinding { what: Tampered::Unreadable, number: 0, to: None, detail: Some(sound) });
    }
    let sql = format!(
        "SELECT {} FROM entry WHERE number > (SELECT coalesce(max(number), 0) FROM checkpoint) ORDER BY number",
        file::COLUMNS
    );
    let mut statement = snapshot.prepare(&sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        match file::entry(row) {
            Ok((entry, stored)) => match text_of(&entry) {
                Ok(text) => walk.next(entry.number, &text, (&entry.kind, &entry.subject, &entry.hash), &stored),
                Err(error) => walk.unreadable(error.to_string()),
            },
            Err(error) => walk.unreadable(error.to_string()),
        }
    }
    Ok(walk.end(key))
}
