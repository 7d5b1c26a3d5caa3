//! Tests that every change of the log is detected and its position reported.

use std::path::Path;

use ports::{AuditSeal, AuditVerdict, TamperKind};
use proptest::prelude::*;
use rusqlite::Connection;

use super::support::{LogFolder, decision_entry, open_file_without_triggers};

const ENTRY_COUNT: u64 = 12;

/// Applies a change to the database file, and returns the verdict of a verification afterwards.
fn verdict_after(folder: &LogFolder, change: impl FnOnce(&Connection)) -> AuditVerdict {
    change(&folder.open_without_triggers());
    folder.log().verify().unwrap()
}

fn first_finding(verdict: &AuditVerdict) -> (TamperKind, u64) {
    let first = verdict.findings.first().unwrap_or_else(|| panic!("verification must report a finding: {verdict:?}"));
    (first.what, first.number)
}

#[test]
fn changed_removed_and_reordered_entries_are_located() {
    let changed = verdict_after(&LogFolder::with_entries(ENTRY_COUNT), |log| {
        log.execute_batch("UPDATE entry SET decision = 'denied' WHERE number = 5").unwrap();
    });
    assert_eq!(
        (first_finding(&changed), changed.findings.len()),
        ((TamperKind::Changed, 5), 1),
        "a change must be reported: {changed:?}"
    );
    let removed = verdict_after(&LogFolder::with_entries(ENTRY_COUNT), |log| {
        log.execute_batch("DELETE FROM entry WHERE number BETWEEN 5 AND 6").unwrap();
    });
    assert_eq!(
        (first_finding(&removed), removed.findings[0].to),
        ((TamperKind::Missing, 5), Some(6)),
        "a removal must be reported: {removed:?}"
    );
    let moved = verdict_after(&LogFolder::with_entries(ENTRY_COUNT), |log| {
        let swap = "UPDATE entry SET number = 100 WHERE number = 5; UPDATE entry SET number = 5 WHERE number = 6;
            UPDATE entry SET number = 6 WHERE number = 100";
        log.execute_batch(swap).unwrap();
    });
    assert_eq!(first_finding(&moved), (TamperKind::Changed, 5), "a reordering must be reported: {moved:?}");
    let renumbered = verdict_after(&LogFolder::with_entries(ENTRY_COUNT), |log| {
        log.execute_batch("DELETE FROM entry WHERE number = 5").unwrap();
        for number in 6..=ENTRY_COUNT {
            log.execute("UPDATE entry SET number = number - 1 WHERE number = ?1", [number as i64]).unwrap();
        }
    });
    assert_eq!(
        first_finding(&renumbered),
        (TamperKind::Changed, 5),
        "a removal with renumbering must be reported: {renumbered:?}"
    );
}

#[test]
fn removed_last_audit_entries_are_detected() {
    let cut = verdict_after(&LogFolder::with_entries(ENTRY_COUNT), |log| {
        log.execute_batch("DELETE FROM entry WHERE number > 8").unwrap();
    });
    assert_eq!(
        (first_finding(&cut), cut.findings[0].to),
        ((TamperKind::CutOff, 9), Some(ENTRY_COUNT)),
        "the seal shows the removal: {cut:?}"
    );
    assert_eq!(cut.seal, AuditSeal::Broken, "the seal must be reported as broken");
    // The seal is moved to another entry, although its MAC is valid only for its former entry.
    let moved = verdict_after(&LogFolder::with_entries(ENTRY_COUNT), |log| {
        log.execute_batch(
            "DELETE FROM entry WHERE number > 8;
            UPDATE seal SET number = 8, link = (SELECT link FROM entry WHERE number = 8)",
        )
        .unwrap();
    });
    assert_eq!(first_finding(&moved), (TamperKind::SealBroken, 8), "a moved seal is reported: {moved:?}");
    let folder = LogFolder::with_entries(ENTRY_COUNT);
    folder.keychain.make_keys_old();
    let without = verdict_after(&folder, |log| log.execute_batch("DELETE FROM seal").unwrap());
    assert_eq!(first_finding(&without).0, TamperKind::SealMissing, "a removed seal is reported: {without:?}");
}

#[test]
fn rewritten_log_is_detected() {
    let (folder, other) = (LogFolder::with_entries(ENTRY_COUNT), LogFolder::with_entries(ENTRY_COUNT + 1));
    for file in ["audit.db", "audit.db-wal", "audit.db-shm"] {
        let (from, to) = (other.data().join(file), folder.data().join(file));
        if from.exists() {
            std::fs::copy(from, to).unwrap();
        } else if to.exists() {
            std::fs::remove_file(to).unwrap();
        }
    }
    let verdict = folder.log().verify().unwrap();
    assert_eq!(
        first_finding(&verdict),
        (TamperKind::SealBroken, ENTRY_COUNT + 1),
        "a rewritten chain with another key is reported: {verdict:?}"
    );
}

#[test]
fn findings_stay_in_the_continued_log() {
    let folder = LogFolder::with_entries(ENTRY_COUNT);
    folder.open_without_triggers().execute_batch("DELETE FROM entry WHERE number > 8").unwrap();
    folder.append(0..2);
    let verdict = folder.log().verify().unwrap();
    let found: Vec<_> = verdict.findings.iter().map(|finding| (finding.what, finding.number, finding.to)).collect();
    assert_eq!(
        found,
        [(TamperKind::Missing, 9, Some(ENTRY_COUNT)), (TamperKind::Noted, ENTRY_COUNT + 1, None)],
        "the gap stays, and an entry notes the finding: {verdict:?}"
    );
    assert_eq!(verdict.seal, AuditSeal::Holds { number: ENTRY_COUNT + 3 }, "new entries are sealed");

    // The same change while an instance has the log open.
    let folder = LogFolder::with_entries(ENTRY_COUNT);
    let log = folder.log();
    log.append(decision_entry("before")).unwrap();
    folder.open_without_triggers().execute_batch("DELETE FROM entry WHERE number > 5").unwrap();
    log.append(decision_entry("after")).unwrap();
    let found = log.verify().unwrap().findings;
    assert!(
        found.iter().any(|f| f.what == TamperKind::Missing && f.number == 6),
        "the missing entry is reported: {found:?}"
    );
    assert!(found.iter().any(|f| f.what == TamperKind::Noted), "the finding must be recorded immediately: {found:?}");

    // The whole log is removed.
    let folder = LogFolder::with_entries(ENTRY_COUNT);
    folder.keychain.make_keys_old();
    for file in std::fs::read_dir(folder.data()).unwrap() {
        let path = file.unwrap().path();
        if path.is_file() {
            std::fs::remove_file(path).unwrap();
        }
    }
    folder.append(0..1);
    let verdict = folder.log().verify().unwrap();
    let found: Vec<_> = verdict.findings.iter().map(|f| (f.what, f.to)).collect();
    assert_eq!(
        found,
        [(TamperKind::Missing, Some(ENTRY_COUNT)), (TamperKind::Noted, None)],
        "a new log notes that there was another one"
    );
}

#[test]
fn own_connection_cannot_change_existing_entries() {
    let folder = LogFolder::with_entries(ENTRY_COUNT);
    let log = Connection::open(folder.file()).unwrap();
    for change in [
        "UPDATE entry SET subject = 'x'",
        "DELETE FROM entry WHERE number = 3",
        "DELETE FROM entry WHERE number = 12",
        "INSERT INTO checkpoint VALUES (3, x'00', NULL, NULL); UPDATE checkpoint SET number = 9",
        "INSERT INTO checkpoint VALUES (1, x'00', NULL, NULL); DELETE FROM checkpoint",
    ] {
        let refused = log.execute_batch(&format!("BEGIN; {change}; COMMIT"));
        let words = refused.expect_err(change).to_string();
        assert!(words.contains("of the audit log"), "{change}: {words}");
        log.execute_batch("ROLLBACK").unwrap();
    }
    assert!(folder.log().verify().unwrap().is_intact(), "the log is unchanged");
}

fn export_bytes(folder: &LogFolder) -> Vec<u8> {
    let mut out = Vec::new();
    assert_eq!(folder.log().export(&mut out).unwrap(), ENTRY_COUNT, "all entries are exported");
    out
}

fn verify_file(folder: &LogFolder, path: &Path, bytes: &[u8]) -> Option<AuditVerdict> {
    std::fs::write(path, bytes).unwrap();
    folder.log().verify_export(path).ok()
}

/// Returns the column names of a table.
fn column_names(connection: &Connection, table: &str) -> Vec<String> {
    let sql = format!("SELECT name FROM pragma_table_info('{table}')");
    let mut statement = connection.prepare(&sql).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn any_single_change_to_the_database_is_detected(row in 1..=ENTRY_COUNT, column in 0_usize..16, way in 0..4) {
        let folder = LogFolder::with_entries(ENTRY_COUNT);
        let name = column_names(&open_file_without_triggers(&folder.file()), "entry")[column].clone();
        let verdict = verdict_after(&folder, |log| {
            let new = match (name.as_str(), way) {
                ("link", 0) => "zeroblob(32)".to_owned(),
                ("link", _) => format!("(SELECT link FROM entry WHERE number = {})", row % ENTRY_COUNT + 1),
                ("number", _) => format!("{}", 1_000 + row),
                ("at" | "imported" | "content_bytes", _) => format!("coalesce({name}, 0) + 1 + {way}"),
                ("content" | "scope" | "conversation", 0) => "NULL".to_owned(),
                (_, 1) => format!("coalesce({name}, '') || ' '"),
                (_, 2) => "''".to_owned(),
                _ => format!("coalesce({name}, '') || char(0)"),
            };
            let changed = log.execute(&format!("UPDATE entry SET {name} = {new} WHERE number = {row}"), []).unwrap();
            assert_eq!(changed, 1, "one entry is changed");
        });
        prop_assert!(!verdict.is_intact(), "{name} of entry {row} in way {way}");
        let (what, number) = first_finding(&verdict);
        let place = if name == "number" { what == TamperKind::Missing || number == row } else { number == row };
        prop_assert!(place, "the verdict has the place: {name} of {row}, {verdict:?}");
    }

    #[test]
    fn any_single_change_to_an_export_is_detected(at in any::<prop::sample::Index>(), byte in 0x20_u8..0x7f) {
        let folder = LogFolder::with_entries(ENTRY_COUNT);
        let bytes = export_bytes(&folder);
        let path = folder.folder.path().join("export.jsonl");
        prop_assert!(verify_file(&folder, &path, &bytes).is_some_and(|verdict| verdict.is_intact()), "the unchanged export is whole");
        let at = at.index(bytes.len() - 1);
        prop_assume!(bytes[at] != byte);
        let mut changed = bytes.clone();
        changed[at] = byte;
        folder.keychain.make_keys_old();
        let verdict = verify_file(&folder, &path, &changed);
        // A hexadecimal digit in another case means the same.
        let same = bytes[at].eq_ignore_ascii_case(&byte) && bytes[at].is_ascii_hexdigit();
        prop_assert!(same || verdict.is_none_or(|verdict| !verdict.is_intact()), "byte {at} of {:?}", String::from_utf8_lossy(&changed));
        let mut cut = bytes.clone();
        cut.truncate(at);
        let verdict = verify_file(&folder, &path, &cut);
        prop_assert!(verdict.is_none_or(|verdict| !verdict.is_intact()), "cut off after {at} bytes");
    }

    #[test]
    fn any_removed_or_moved_line_of_an_export_is_detected(from in 0_usize..14, to in 0_usize..14) {
        let folder = LogFolder::with_entries(ENTRY_COUNT);
        let text = String::from_utf8(export_bytes(&folder)).unwrap();
        let mut lines: Vec<&str> = text.lines().collect();
        let path = folder.folder.path().join("export.jsonl");
        let line = lines.remove(from);
        let verdict = verify_file(&folder, &path, (lines.join("\n") + "\n").as_bytes());
        prop_assert!(verdict.is_none_or(|verdict| !verdict.is_intact()), "without line {from}");
        prop_assume!(from != to);
        lines.insert(to, line);
        let verdict = verify_file(&folder, &path, (lines.join("\n") + "\n").as_bytes());
        prop_assert!(verdict.is_none_or(|verdict| !verdict.is_intact()), "line {from} moved to {to}");
    }
}
