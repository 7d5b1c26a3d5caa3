//! Tests of attacks on the tables of a history while the instance can't read the key from the keychain (S28): no
//! unencrypted text is written any more.

use ports::Ports;
use rusqlite::Connection;
use std::path::Path;
use std::sync::Arc;

use super::encrypted::{files_containing, open_with_keychain, open_without_keychain, write_conversations};
use super::{branch, new_conversation, user_message};
use crate::audit::support::TestKeychain;

/// Text that the tests write after an attack on the tables.
const LATER_TEXT: &str = "qvheron";

/// SQL statements that make `protection` a view that seems empty as soon as a message has been written.
const CONDITIONAL_VIEW_SQL: &str = "PRAGMA legacy_alter_table = ON;
    ALTER TABLE protection RENAME TO p; CREATE TABLE f (flag); INSERT INTO f VALUES (1);
    CREATE VIEW protection AS SELECT id, key, left FROM p WHERE (SELECT flag FROM f) = 1;
    CREATE TRIGGER p1 INSTEAD OF INSERT ON protection BEGIN UPDATE f SET flag = 1; END;
    CREATE TRIGGER p2 INSTEAD OF UPDATE ON protection BEGIN UPDATE p SET left = NEW.left; END;
    CREATE TRIGGER i1 AFTER INSERT ON said BEGIN UPDATE f SET flag = 0; END;";

/// SQL statements that make `protection` a view that is always empty.
const EMPTY_VIEW_SQL: &str = "DELETE FROM item; DELETE FROM conversation; DELETE FROM said; DELETE FROM folded;
    DROP TABLE protection; CREATE VIEW protection AS SELECT 1 AS id, '' AS key, 0 AS left WHERE 0;
    CREATE TRIGGER p1 INSTEAD OF INSERT ON protection BEGIN SELECT 1; END;";

/// SQL statement that removes the table `protection`, as if the history were unencrypted.
const DROP_TABLE_SQL: &str = "DROP TABLE protection;";

/// SQL statements that remove the trigger that rejects unencrypted text, and add one that copies each text into another
/// table.
const REPLACE_TRIGGER_SQL: &str = "DROP TRIGGER said_is_encrypted; CREATE TABLE copy (text);
    CREATE TRIGGER copies AFTER INSERT ON said BEGIN INSERT INTO copy VALUES (NEW.text); END;";

fn execute_sql(folder: &Path, sql: &str) {
    Connection::open(folder.join("data/history.db")).unwrap().execute_batch(sql).unwrap();
}

/// Returns a folder with an encrypted history.
fn encrypted_history() -> (tempfile::TempDir, Arc<TestKeychain>) {
    let (folder, keychain) = (tempfile::tempdir().unwrap(), Arc::new(TestKeychain::default()));
    write_conversations(open_with_keychain(folder.path(), &keychain).history.as_ref(), 2);
    (folder, keychain)
}

/// Calls every function that writes to the history, and returns the errors.
fn write_errors(ports: &Ports) -> Vec<String> {
    let mut conversation = new_conversation("later");
    conversation.title = LATER_TEXT.to_owned();
    let history = &ports.history;
    let created = history.create(&conversation).err();
    let written = ["c", "later"].map(|id| history.write(id, &[user_message("later", LATER_TEXT)]).err());
    let again = history.write("c", &[user_message("again", LATER_TEXT)]).err();
    created.into_iter().chain(written.into_iter().flatten()).chain(again).map(|error| error.to_string()).collect()
}

#[test]
fn s28_unexpected_tables_are_rejected() {
    for sql in [CONDITIONAL_VIEW_SQL, EMPTY_VIEW_SQL, DROP_TABLE_SQL, REPLACE_TRIGGER_SQL] {
        let (folder, keychain) = encrypted_history();
        execute_sql(folder.path(), sql);
        let ports = open_with_keychain(folder.path(), &keychain);
        let refused = write_errors(&ports);
        assert_eq!(
            files_containing(folder.path(), LATER_TEXT),
            Vec::<String>::new(),
            "no text must be stored unencrypted: {sql}"
        );
        assert_eq!(refused.len(), 4, "every write must be refused: {refused:?}");
        for error in refused {
            assert!(error.contains("history.db") && error.contains("tables"), "the error names the file: {error}");
        }
        let error = ports.history.list().unwrap_err();
        assert!(error.cause.contains("move it away"), "the error names the next step: {error}");
    }
}

#[test]
fn s28_tables_changed_while_running_are_rejected() {
    for sql in [CONDITIONAL_VIEW_SQL, EMPTY_VIEW_SQL, DROP_TABLE_SQL, REPLACE_TRIGGER_SQL] {
        let (folder, keychain) = encrypted_history();
        let ports = open_with_keychain(folder.path(), &keychain);
        assert_eq!(branch(ports.history.as_ref(), "c").len(), 4, "the history can be read");
        execute_sql(folder.path(), sql);
        let refused = write_errors(&ports);
        assert_eq!(
            files_containing(folder.path(), LATER_TEXT),
            Vec::<String>::new(),
            "no text must be stored unencrypted: {sql}"
        );
        assert_eq!(refused.len(), 4, "every write must be refused: {refused:?}");
        ports.history.list().expect_err("nor read");
    }
}

#[test]
fn s28_removed_protection_is_restored() {
    for is_running in [true, false] {
        let (folder, keychain) = encrypted_history();
        let mut ports = open_with_keychain(folder.path(), &keychain);
        assert_eq!(branch(ports.history.as_ref(), "c").len(), 4, "the history can be read");
        if !is_running {
            drop(ports);
            execute_sql(folder.path(), "DELETE FROM protection");
            ports = open_with_keychain(folder.path(), &keychain);
        } else {
            execute_sql(folder.path(), "DELETE FROM protection");
        }
        assert_eq!(write_errors(&ports), Vec::<String>::new(), "the history can be extended");
        assert!(ports.history.is_encrypted().unwrap(), "the history is encrypted");
        assert_eq!(
            files_containing(folder.path(), LATER_TEXT),
            Vec::<String>::new(),
            "no text must be stored unencrypted"
        );
    }
}

#[test]
fn s28_encrypted_history_is_not_written_without_its_key() {
    let (folder, keychain) = encrypted_history();
    execute_sql(folder.path(), "DELETE FROM protection");
    let none = open_without_keychain(folder.path());
    let refused = write_errors(&none);
    assert_eq!(refused.len(), 4, "an encrypted history is not extended without the key: {refused:?}");
    assert!(refused.iter().all(|error| error.contains("encrypted")), "{refused:?}");
    assert_eq!(files_containing(folder.path(), LATER_TEXT), Vec::<String>::new(), "no text must be stored unencrypted");
    drop(none);
    keychain.set_locked(true);
    assert_eq!(
        write_errors(&open_with_keychain(folder.path(), &keychain)).len(),
        4,
        "the history is not extended while the keychain is locked"
    );
    assert_eq!(files_containing(folder.path(), LATER_TEXT), Vec::<String>::new(), "no text must be stored unencrypted");
}

#[test]
fn additional_tables_of_a_newer_version_are_accepted() {
    let (folder, keychain) = encrypted_history();
    execute_sql(folder.path(), "CREATE TABLE of_a_newer_one (a); CREATE INDEX of_a_newer_one_too ON item (at)");
    assert_eq!(
        write_errors(&open_with_keychain(folder.path(), &keychain)),
        Vec::<String>::new(),
        "the history can be extended"
    );
    execute_sql(folder.path(), "DROP TABLE reading");
    assert_eq!(
        branch(open_with_keychain(folder.path(), &keychain).history.as_ref(), "c").len(),
        6,
        "an older history is read"
    );
}
