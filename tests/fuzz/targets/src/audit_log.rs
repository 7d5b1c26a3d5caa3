//! Fuzz target: an audit log that an attacker has changed, who can write its file but does not have the key.

use std::sync::OnceLock;

use rusqlite::Connection;

use crate::log_fixture::{self, AUDIT_ENTRY_COUNT, OriginalAuditLog};

const CHANGED_TEXT_COLUMNS: [&str; 6] = ["server", "kind", "subject", "decision", "decided_by", "hash"];
/// Maximum number of changes that one input makes, because each of them costs a transaction.
const MAX_LOG_CHANGES: usize = 16;

/// Tests the verification of an audit log that an attacker has changed. Each change in `data` has four bytes: its kind,
/// an entry or an offset in two bytes, and a value. If the verification reports no problem, all original entries must
/// be unchanged.
///
/// # Panics
/// Panics if one of these requirements is not met.
pub fn audit_log(data: &[u8]) {
    let original = OriginalAuditLog::get();
    let folder = crate::scratch::temporary_folder();
    let path = log_fixture::log_path(folder.path());
    let mut file = original.file.clone();
    for change in data.chunks_exact(4).take(MAX_LOG_CHANGES).filter(|change| change[0] >= 128) {
        let at = (usize::from(change[1]) << 8 | usize::from(change[2])) * usize::from(change[0] - 127);
        let length = file.len();
        file[at % length] = change[3];
    }
    std::fs::write(&path, &file).unwrap();
    if let Ok(connection) = Connection::open(&path) {
        // The attacker can remove the triggers that protect entries, because they are in the file.
        let _ = connection.execute_batch(
            "DROP TRIGGER IF EXISTS entry_stays_as_it_is; DROP TRIGGER IF EXISTS entry_stays;
             DROP TRIGGER IF EXISTS checkpoint_stays_as_it_is; DROP TRIGGER IF EXISTS checkpoint_stays",
        );
        for change in data.chunks_exact(4).take(MAX_LOG_CHANGES).filter(|change| change[0] < 128) {
            // A statement that fails has no effect.
            let _ = connection.execute_batch(&change_statement(change));
        }
        restore_triggers(&connection);
    }
    let log = log_fixture::open_log(folder.path(), &original.keychain());
    let Ok(verdict) = log.verify() else { return };
    if !verdict.is_intact() {
        assert!(!verdict.findings.is_empty(), "a log that is not intact has findings");
        return;
    }
    let mut entries = log_fixture::read_all_entries(&*log);
    entries.reverse();
    let begun: Vec<_> = entries.iter().take(original.entries.len()).collect();
    assert_eq!(
        begun,
        original.entries.iter().collect::<Vec<_>>(),
        "the verification found nothing, so the entries are unchanged"
    );
}

/// Creates the SQL triggers again that prevent changes of entries, as a careful attacker would.
fn restore_triggers(connection: &Connection) {
    static TRIGGER_STATEMENTS: OnceLock<Vec<String>> = OnceLock::new();
    for guard in TRIGGER_STATEMENTS.get_or_init(trigger_statements) {
        // Fails without effect if the trigger still exists.
        let _ = connection.execute_batch(guard);
    }
}

/// Returns the SQL statements with which Drawbridge creates the triggers that prevent changes of entries.
fn trigger_statements() -> Vec<String> {
    let folder = crate::scratch::temporary_folder();
    let path = log_fixture::log_path(folder.path());
    std::fs::write(&path, &OriginalAuditLog::get().file).unwrap();
    let connection = Connection::open(&path).unwrap();
    let mut statement = connection.prepare("SELECT sql FROM sqlite_schema WHERE type = 'trigger'").unwrap();
    let guards: Vec<String> = statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert_eq!(guards.len(), 4, "the log has all triggers");
    guards
}

fn change_statement(change: &[u8]) -> String {
    let number = u64::from(change[1]) % (AUDIT_ENTRY_COUNT + 3);
    let (column, other) = (
        CHANGED_TEXT_COLUMNS[usize::from(change[2]) % CHANGED_TEXT_COLUMNS.len()],
        u64::from(change[3]) % (AUDIT_ENTRY_COUNT + 3),
    );
    match change[0] % 12 {
        0 => format!("UPDATE entry SET {column} = '{}' WHERE number = {number}", change[3]),
        1 => format!("DELETE FROM entry WHERE number = {number}"),
        2 => format!("DELETE FROM entry WHERE number > {number}"),
        3 => format!("UPDATE entry SET number = {} WHERE number = {number}", other + 100),
        4 => format!("UPDATE entry SET at = {} WHERE number = {number}", change[3]),
        5 => format!("UPDATE entry SET link = (SELECT link FROM entry WHERE number = {other}) WHERE number = {number}"),
        6 => "DELETE FROM seal".to_owned(),
        7 => format!(
            "UPDATE seal SET number = {number}, link = (SELECT link FROM entry WHERE number = {number}) WHERE id = 1"
        ),
        8 => format!(
            "INSERT OR REPLACE INTO checkpoint (number, link, key, mac) SELECT {number}, link, (SELECT key FROM seal), \
             (SELECT mac FROM seal) FROM entry WHERE number = {number}; DELETE FROM entry WHERE number <= {number}"
        ),
        9 => format!(
            "UPDATE entry SET content = (SELECT content FROM entry WHERE number = {other}) WHERE number = {number}"
        ),
        10 => format!("UPDATE entry SET imported = 1 - imported WHERE number = {number}"),
        _ => format!("DELETE FROM entry; DELETE FROM seal; PRAGMA user_version = {}", change[3] % 3),
    }
}
