//! Exports the log as JSON Lines that can be verified independently: the first line contains the checkpoint, each entry
//! has its hash, and the last line contains the seal.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write};
use std::path::Path;

use domain::StoreError;
use ports::{AuditFinding, AuditVerdict, TamperKind};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::audit_tables::{self, RemovalCheckpoint};
use super::chain::{
    CHAIN_LINK_BEFORE_FIRST_ENTRY, exported_entry_number, exported_kind_hash_and_subject, from_hex, hashed_entry_text,
    hex,
};
use super::mac_key::LogSeal;
use super::verify::{ChainVerification, VerificationKey};
use crate::lines_from_end::LinesFromEnd;

/// Value of `format` in the first line of an exported log, which identifies the file type.
const EXPORT_FORMAT_NAME: &str = "drawbridge audit log";
/// Version of the format of exported logs, in the first line.
const EXPORT_FORMAT_VERSION: u32 = 1;
/// Maximum length of a line in an exported file, in bytes. Longer lines are reported as invalid.
const MAX_EXPORT_LINE_BYTES: u64 = 1 << 20;

/// The first line of an exported log: its format, and the last entry that was removed from the log.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExportHeader {
    format: String,
    version: u32,
    /// Number, hash and MAC of the last entry that was removed from the log, or `None` if no entry was removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    removed: Option<SealedEntryHash>,
}

/// A line of an exported log with one entry and its chain hash.
#[derive(Serialize, Deserialize)]
struct ExportLine<'a> {
    link: String,
    #[serde(borrow)]
    entry: &'a RawValue,
}

/// The last line of an exported log: the number of entries, and the seal (a MAC).
#[derive(Serialize, Deserialize)]
struct ExportTrailer {
    entries: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seal: Option<SealedEntryHash>,
}

/// Number and hash of a log entry, with a MAC over both.
#[derive(Serialize, Deserialize)]
struct SealedEntryHash {
    number: u64,
    link: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mac: Option<String>,
}

/// Writes all entries of the log at `path` to `out`, and returns their number.
pub(super) fn write_export(path: &Path, out: &mut dyn Write, key: &VerificationKey<'_>) -> Result<u64, StoreError> {
    let not_written = |error: std::io::Error| StoreError {
        path: path.display().to_string(),
        cause: format!("the export could not be written: {error}"),
    };
    let fail = |error| audit_tables::database_error(path, "read it", &error);
    let connection = audit_tables::open_for_reading(path)?;
    let mut line = |value: serde_json::Result<String>| {
        let value = value.map_err(|error| not_written(error.into()))?;
        writeln!(out, "{value}").map_err(not_written)
    };
    let begin =
        |removed| ExportHeader { format: EXPORT_FORMAT_NAME.to_owned(), version: EXPORT_FORMAT_VERSION, removed };
    let Some(mut connection) = connection else {
        line(serde_json::to_string(&begin(None)))?;
        line(serde_json::to_string(&ExportTrailer { entries: 0, seal: None }))?;
        return Ok(0);
    };
    let snapshot = connection.transaction().map_err(fail)?;
    let removed = audit_tables::read_removal_checkpoint(&snapshot).map_err(fail)?.map(|checkpoint| SealedEntryHash {
        number: checkpoint.number,
        link: hex(&checkpoint.link),
        key: checkpoint.key,
        mac: checkpoint.mac.as_deref().map(hex),
    });
    line(serde_json::to_string(&begin(removed)))?;
    let sql = format!(
        "SELECT {} FROM entry WHERE number > (SELECT coalesce(max(number), 0) FROM checkpoint) ORDER BY number",
        audit_tables::ENTRY_COLUMNS
    );
    let mut entries = 0;
    {
        let mut statement = snapshot.prepare(&sql).map_err(fail)?;
        let mut rows = statement.query([]).map_err(fail)?;
        while let Some(row) = rows.next().map_err(fail)? {
            let content = key.as_ref().ok().map(|key| key.content.as_ref());
            let audit_tables::StoredAuditEntry { entry, link, is_hidden, .. } =
                audit_tables::read_entry(row, content).map_err(fail)?;
            if is_hidden {
                let why = key.as_ref().err().map_or("the keychain has another key", String::as_str);
                let cause = format!("the content of entry {} is encrypted and can't be read: {why}", entry.number);
                return Err(StoreError { path: path.display().to_string(), cause });
            }
            let text = hashed_entry_text(&entry).and_then(RawValue::from_string);
            line(text.and_then(|text| serde_json::to_string(&ExportLine { link: hex(&link), entry: &text })))?;
            entries += 1;
        }
    }
    let seal = audit_tables::read_log_seal(&snapshot).map_err(fail)?;
    let seal = seal.map(|seal| SealedEntryHash {
        number: seal.number,
        link: hex(&seal.link),
        key: Some(seal.key),
        mac: Some(hex(&seal.mac)),
    });
    line(serde_json::to_string(&ExportTrailer { entries, seal }))?;
    out.flush().map_err(not_written)?;
    Ok(entries)
}

/// Verifies an exported log: its hash chain and, if the key is available, its seal (a MAC).
pub(super) fn verify_export(path: &Path, key: &VerificationKey<'_>) -> Result<AuditVerdict, StoreError> {
    let fail = |error| crate::files::file_error(path, "read it", &error);
    let not_one = |cause: &str| StoreError { path: path.display().to_string(), cause: cause.to_owned() };
    let mut lines = BoundedLines { file: BufReader::new(File::open(path).map_err(fail)?), line: Vec::new() };
    let begin = lines.next().map_err(fail)?.and_then(|line| serde_json::from_slice::<ExportHeader>(line).ok());
    let Some(begin) = begin.filter(|begin| begin.format == EXPORT_FORMAT_NAME) else {
        return Err(not_one("it is no exported audit log; select the file that `audit export` wrote"));
    };
    if begin.version != EXPORT_FORMAT_VERSION {
        return Err(not_one("a newer Drawbridge wrote it; check it with that one"));
    }
    let checkpoint = begin.removed.map(|signed| RemovalCheckpoint {
        number: signed.number,
        link: from_hex(&signed.link).unwrap_or(CHAIN_LINK_BEFORE_FIRST_ENTRY),
        key: signed.key,
        mac: signed.mac.map(|mac| from_hex(&mac).map(Vec::from).unwrap_or_default()),
    });
    let end = read_export_trailer(path).map_err(fail)?;
    let seal = end.and_then(|end| end.seal).map(|signed| LogSeal {
        number: signed.number,
        link: from_hex(&signed.link).unwrap_or(CHAIN_LINK_BEFORE_FIRST_ENTRY),
        key: signed.key.unwrap_or_default(),
        mac: signed.mac.and_then(|mac| from_hex(&mac)).map(Vec::from).unwrap_or_default(),
    });
    let mut walk = ChainVerification::new(checkpoint.as_ref(), seal, key);
    let (mut entries, mut ended) = (0_u64, None);
    while let Some(line) = lines.next().map_err(fail)? {
        if ended.is_some() {
            walk.report_unreadable("there is data after the last line".to_owned());
            break;
        }
        if let Ok(end) = serde_json::from_slice::<ExportTrailer>(line) {
            ended = Some(end.entries);
            continue;
        }
        let read = serde_json::from_slice::<ExportLine<'_>>(line).ok().and_then(|line| {
            let text = line.entry.get();
            let (kind, hash, subject) = exported_kind_hash_and_subject(text).ok()?;
            Some((exported_entry_number(text).ok()?, text, kind, subject, hash, from_hex(&line.link)?))
        });
        match read {
            Some((number, text, kind, subject, hash, link)) => {
                entries += 1;
                walk.check_entry(number, Some(text), (&kind, &subject, &hash), &link);
            }
            None => walk.report_unreadable("a line is no entry".to_owned()),
        }
    }
    if ended != Some(entries) {
        let detail = Some("the end of the file has changed since it was written".to_owned());
        walk.add_finding(AuditFinding { what: TamperKind::CutOff, number: entries, to: None, detail });
    }
    Ok(walk.finish(key))
}

/// Returns the last line of an exported file, which contains the seal.
fn read_export_trailer(path: &Path) -> std::io::Result<Option<ExportTrailer>> {
    let mut lines = LinesFromEnd::new(File::open(path)?)?;
    Ok(lines.next().transpose()?.and_then(|line| serde_json::from_slice(&line).ok()))
}

/// Reads lines from a file, each of at most [`MAX_EXPORT_LINE_BYTES`] bytes.
struct BoundedLines {
    file: BufReader<File>,
    line: Vec<u8>,
}

impl BoundedLines {
    /// Returns the next line. A line over [`MAX_EXPORT_LINE_BYTES`] bytes is returned in pieces, which are not valid
    /// entries.
    fn next(&mut self) -> std::io::Result<Option<&[u8]>> {
        self.line.clear();
        let read = self.file.by_ref().take(MAX_EXPORT_LINE_BYTES).read_until(b'\n', &mut self.line)?;
        Ok((read > 0).then_some(self.line.as_slice()))
    }
}
