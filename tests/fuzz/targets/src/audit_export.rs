//! Fuzz target: the verification of exported audit logs.

use serde_json::Value;
use serde_json::value::RawValue;

use crate::log_fixture::{self, OriginalAuditLog};

/// Tests the verification of exported audit logs. `data` is the exported file, or, if it begins with `@`, a list of
/// changes that are applied to a valid export. If the verification reports that Drawbridge wrote the whole file, it
/// must contain only entries of the valid export.
///
/// # Panics
/// Panics if one of these requirements is not met.
pub fn audit_export(data: &[u8]) {
    let original = OriginalAuditLog::get();
    let folder = crate::scratch::temporary_folder();
    let file = folder.path().join("export.jsonl");
    let bytes = match data.strip_prefix(b"@") {
        Some(changes) => apply_changes_to_export(&original.export, changes),
        None => data.to_vec(),
    };
    std::fs::write(&file, &bytes).unwrap();
    let log = log_fixture::open_log(folder.path(), &original.keychain());
    let Ok(verdict) = log.verify_export(&file) else { return };
    if verdict.is_proven() && verdict.entries > 0 {
        let known = entry_texts(original.export.as_bytes());
        for entry in entry_texts(&bytes) {
            assert!(known.contains(&entry), "Drawbridge did not write {entry}");
        }
    }
}

/// Returns the JSON texts of the entries in an exported file, without the other members of its lines.
fn entry_texts(file: &[u8]) -> Vec<String> {
    #[derive(serde::Deserialize)]
    struct ExportLine<'a> {
        #[serde(borrow)]
        entry: &'a RawValue,
    }
    let lines = file.split(|byte| *byte == b'\n');
    lines.filter_map(|line| Some(serde_json::from_slice::<ExportLine<'_>>(line).ok()?.entry.get().to_owned())).collect()
}

/// Returns an export after changes. Each change has four bytes: its kind, a line, a second line or an offset, and a
/// value.
fn apply_changes_to_export(export: &str, changes: &[u8]) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = export.lines().map(|line| line.as_bytes().to_vec()).collect();
    for change in changes.chunks_exact(4).take(64) {
        let count = lines.len();
        if count == 0 {
            break;
        }
        let (at, other) = (usize::from(change[1]) % count, usize::from(change[2]) % count);
        match change[0] % 6 {
            0 => lines.swap(at, other),
            1 => drop(lines.remove(at)),
            2 => lines.insert(at, lines[other].clone()),
            3 => {
                let line = &mut lines[at];
                let length = line.len();
                if length > 0 {
                    line[(usize::from(change[2]) * 3) % length] = change[3];
                }
            }
            4 => {
                let text = String::from_utf8_lossy(&lines[at]).into_owned();
                lines[at] = text.replacen("allowed", "denied", 1).into_bytes();
            }
            _ => {
                if let Ok(mut value) = serde_json::from_slice::<Value>(&lines[at]) {
                    value["number"] = change[2].into();
                    value["entries"] = change[3].into();
                    lines[at] = value.to_string().into_bytes();
                }
            }
        }
    }
    lines.iter().flat_map(|line| [line.as_slice(), b"\n"].concat()).collect()
}
