//! The audit log, changed by somebody who can write its file and does not have the key.

use std::sync::OnceLock;

use rusqlite::Connection;

use crate::log_fixture::{self, ENTRIES, OriginalLog};

const TEXTS: [&str; 6] = ["server", "kind", "subject", "decision", "decided_by", "hash"];
/// The most changes of one input: each costs a transaction.
const MAX_CHANGES: usize = 16;

/// Changes, of four bytes each: what is done, to which entry, and with what. If the check then finds nothing, every entry is as it was
/// written.
///
/// # Panics
/// If that does not hold.
pub fn audit_log(data: &[u8]) {
    let original = OriginalLog::get();
    let folder = crate::scratch::folder();
    let path = log_fixture::file(folder.path());
    let mut file = original.file.clone();
    for change in data.chunks_exact(4).take(MAX_CHANGES).filter(|change| change[0] >= 128) {
        let at = (usize::from(change[1]) << 8 | usize::from(change[2])) * usize::from(change[0] - 127);
        let length = file.len();
        file[at % length] = change[3];
    }
    std::fs::write(&path, &file).unwrap();
    if let Ok(connection) = Connection::open(&path) {
        // The guards of the log are in its file, so they stop nobody.
        let _ = connection.execute_batch(
            "DROP TRIGGER IF EXISTS entry_stays_as_it_is; DROP TRIGGER IF EXISTS entry_stays;
             DROP TRIGGER IF EXISTS checkpoint_stays_as_it_is; DROP TRIGGER IF EXISTS checkpoint_stays",
        );
        for change in data.chunks_exact(4).take(MAX_CHANGES).filter(|change| change[0] < 128) {
            // One that fails changes nothing.
            let _ = connection.execute_batch(&statement(change));
        }
        restore_guards(&connection);
    }
    let log = log_fixture::open(folder.path(), &original.keychain());
    let Ok(verdict) = log.verify() else { return };
    if !verdict.is_intact() {
        assert!(!verdict.findings.is_empty(), "a log that is not whole says why");
        return;
    }
    let mut entries = log_fixture::all(&*log);
    entries.reverse();
    let begun: Vec<_> = entries.iter().take(original.entries.len()).collect();
    assert_eq!(begun, original.entries.iter().collect::<Vec<_>>(), "nothing was found by the check");
}

/// Restores the guards to their original state, as a careful attacker would.
fn restore_guards(connection: &Connection) {
    static GUARDS: OnceLock<Vec<String>> = OnceLock::new();
    for guard in GUARDS.get_or_init(guards) {
        // One that is still there stays.
        let _ = connection.execute_batch(guard);
    }
}

/// The guards of the log as Drawbridge makes them.
fn guards() -> Vec<String> {
    let folder = crate::scratch::folder();
    let path = log_fixture::file(folder.path());
    std::fs::write(&path, &OriginalLog::get().file).unwrap();
    let connection = Connection::open(&path).unwrap();
    let mut statement = connection.prepare("SELECT sql FROM sqlite_schema WHERE type = 'trigger'").unwrap();
    let guards: Vec<String> = statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert_eq!(guards.len(), 4, "the log has its guards");
    guards
}

fn statement(change: &[u8]) -> String {
    let number = u64::from(change[1]) % (ENTRIES + 3);
    let (column, other) = (TEXTS[usize::from(change[2]) % TEXTS.len()], u64::from(change[3]) % (ENTRIES + 3));
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
