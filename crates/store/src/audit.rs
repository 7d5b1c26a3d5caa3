//! The audit log: one file, one JSON object per line, only ever appended to.

use std::fs::File;
use std::io::{ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use host::ports::{AuditEntry, AuditLog, StoreError};

use crate::files;
use crate::lines_from_end::LinesFromEnd;
use crate::lock::Lock;

/// The longest subject, in characters.
const MAX_SUBJECT: usize = 2_000;

/// The log's file.
#[derive(Debug)]
pub(crate) struct AuditFile {
    path: PathBuf,
    lock: Lock,
    /// The file's length after the last append, and the number written then. Another length means that another program wrote.
    last: Mutex<Option<(u64, u64)>>,
}

impl AuditFile {
    pub(crate) fn new(path: PathBuf, lock: Lock) -> Self {
        Self { path, lock, last: Mutex::new(None) }
    }

    fn append_line(&self, mut entry: AuditEntry) -> std::io::Result<u64> {
        let mut file = crate::private::file_options().read(true).append(true).create(true).open(&self.path)?;
        let length = file.metadata()?.len();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let (number, torn) = match *last {
            Some((known, number)) if known == length => (number, false),
            _ => (last_number(&file)?, !ends_with_newline(&mut file, length)?),
        };
        entry.number = number + 1;
        // A line that was torn when the power went is ended first, so that this one stands alone.
        let mut line = if torn { String::from("\n") } else { String::new() };
        push_visible(&mut line, &serde_json::to_string(&entry)?);
        line.push('\n');
        if let Err(error) = file.write_all(line.as_bytes()) {
            // Half an entry would be no entry; the lock is held, so nobody wrote behind it.
            let _ = file.set_len(length);
            *last = None;
            return Err(error);
        }
        *last = Some((length + line.len() as u64, entry.number));
        Ok(entry.number)
    }
}

impl AuditLog for AuditFile {
    fn path(&self) -> PathBuf {
        self.path.clone()
    }

    fn append(&self, mut entry: AuditEntry) -> Result<u64, StoreError> {
        if let Some((end, _)) = entry.subject.char_indices().nth(MAX_SUBJECT) {
            entry.subject.truncate(end);
        }
        let _held = self.lock.hold()?;
        self.append_line(entry).map_err(|error| files::failed(&self.path, "write the decision down", &error))
    }

    fn read(&self, before: Option<u64>, limit: usize) -> Result<Vec<AuditEntry>, StoreError> {
        let fail = |error| files::failed(&self.path, "read it", &error);
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(fail(error)),
        };
        let mut entries = Vec::new();
        for line in LinesFromEnd::new(file).map_err(fail)? {
            if entries.len() >= limit {
                break;
            }
            let Ok(entry) = serde_json::from_slice::<AuditEntry>(&line.map_err(fail)?) else { continue };
            if before.is_none_or(|before| entry.number < before) {
                entries.push(entry);
            }
        }
        Ok(entries)
    }
}

/// The number of the last line that can be understood, or 0.
fn last_number(file: &File) -> std::io::Result<u64> {
    for line in LinesFromEnd::new(file)? {
        if let Ok(entry) = serde_json::from_slice::<AuditEntry>(&line?) {
            return Ok(entry.number);
        }
    }
    Ok(0)
}

fn ends_with_newline(file: &mut File, length: u64) -> std::io::Result<bool> {
    if length == 0 {
        return Ok(true);
    }
    let mut byte = [0];
    file.seek(SeekFrom::Start(length - 1))?;
    file.read_exact(&mut byte)?;
    Ok(byte == *b"\n")
}

/// Appends JSON with the characters escaped that a terminal or an editor would act on or hide. They are only in strings, where
/// JSON reads the escape as the character.
fn push_visible(line: &mut String, json: &str) {
    for c in json.chars() {
        let acts = c.is_control()
            || matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
            || matches!(c, '\u{e0000}'..='\u{e007f}');
        if acts {
            for unit in c.encode_utf16(&mut [0; 2]) {
                line.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            line.push(c);
        }
    }
}
