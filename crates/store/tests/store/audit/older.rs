//! Tests of importing logs of older versions, `audit.jsonl`.

use std::fs;

use ports::AuditQuery;

use super::support::{LogFolder, decision_entry, entry_numbers};

const OLD_LOG: &str = concat!(
    r#"{"number":1,"at":5,"server":"demo","kind":"tool","subject":"one","decision":"allowed","scope":"once","by":"user","hash":"a"}"#,
    "\n\u{fffd} garbage\n{\"number\":2,\"at\":17950\n",
    r#"{"number":7,"at":6,"server":"demo","kind":"url","subject":"two","decision":"denied","by":"user","hash":"b"}"#,
    "\n",
);

#[test]
fn older_log_is_imported_once() {
    let folder = LogFolder::new();
    fs::create_dir_all(folder.data()).unwrap();
    fs::write(folder.data().join("audit.jsonl"), OLD_LOG).unwrap();
    let log = folder.log();
    let entries = log.read(&AuditQuery::latest(10)).unwrap();
    assert_eq!(entry_numbers(&*log), [3, 2, 1], "the imported entries with new numbers, and one about the import");
    assert_eq!(entries[0].kind, "log-imported", "the log has an entry about the import");
    assert!(
        entries[0].subject.contains("2 entries") && entries[0].subject.contains("2 lines"),
        "{}",
        entries[0].subject
    );
    assert!(entries[1].imported && entries[2].imported && !entries[0].imported, "imported entries are marked");
    assert_eq!((entries[1].subject.as_str(), entries[1].at), ("two", 6), "an imported entry is unchanged");
    assert!(!folder.data().join("audit.jsonl").exists(), "the old file has another name");
    log.append(decision_entry("with a key")).unwrap();
    log.verify().unwrap();
    assert!(log.is_encrypted().unwrap(), "the log is encrypted");
    assert!(
        !folder.data().join("audit.jsonl.imported").exists(),
        "the renamed file is deleted once the contents are encrypted"
    );
    // Restoring the old file does not duplicate its entries.
    fs::write(folder.data().join("audit.jsonl"), OLD_LOG).unwrap();
    let again = folder.log();
    again.append(decision_entry("new")).unwrap();
    assert_eq!(
        entry_numbers(&*again),
        [5, 4, 3, 2, 1],
        "the file is imported once, and an entry notes that it was not sealed"
    );
    assert!(again.verify().unwrap().is_intact(), "the entries form one chain");
}

#[test]
fn concurrently_started_processes_import_the_log_once() {
    let folder = LogFolder::new();
    fs::create_dir_all(folder.data()).unwrap();
    fs::write(folder.data().join("audit.jsonl"), OLD_LOG).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let log = folder.log();
            scope.spawn(move || log.append(decision_entry("new")).unwrap());
        }
    });
    let log = folder.log();
    let entries = log.read(&AuditQuery::latest(100)).unwrap();
    let entries = entries.iter().filter(|entry| entry.kind != "log-unsealed").count();
    assert_eq!(entries, 3 + 4, "no entry is duplicated or lost");
    assert!(log.verify().unwrap().is_intact(), "the entries form one chain");
}
