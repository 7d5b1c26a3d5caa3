//! Tests of a history encrypted with the keychain's key (S28): no unencrypted text in any file, the same results, and a
//! migration without loss.

use std::path::Path;
use std::sync::Arc;

use domain::history::NewHistoryItem;
use domain::item::ItemState;
use ports::{History, Ports};
use serde_json::json;

use super::searching::search_query;
use super::{branch, message_text, new_conversation, reply_item, user_message};
use crate::audit::support::{NoPlatform, TestKeychain};

const CANARY: &str = "zqkestrel";

/// Opens the store of the folder in another instance with this keychain.
pub(super) fn open_with_keychain(folder: &Path, keychain: &Arc<TestKeychain>) -> Ports {
    store::open_with(&folder.join("mcp.json"), &folder.join("data"), Arc::new(NoPlatform), keychain.clone()).unwrap()
}

/// Opens the store of the folder in another instance without a keychain.
pub(super) fn open_without_keychain(folder: &Path) -> Ports {
    let secrets = Arc::new(ports::secrets::SecretsInMemory::default());
    store::open_with(&folder.join("mcp.json"), &folder.join("data"), Arc::new(NoPlatform), secrets).unwrap()
}

/// Returns the files in a folder and its subfolders that contain this text, ignoring case.
pub(super) fn files_containing(folder: &Path, bytes: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_containing(&path, bytes));
        } else {
            let held = std::fs::read(&path).unwrap().to_ascii_lowercase();
            if held.windows(bytes.len()).any(|window| window == bytes.as_bytes()) {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

/// Writes conversations that contain the text [`CANARY`] in a title, a message, a tool's result, a picture, a long text
/// and the settings.
pub(super) fn write_conversations(history: &dyn History, items: usize) {
    let mut conversation = new_conversation("c");
    conversation.title = format!("About {CANARY}");
    conversation.settings = json!({"instructions": CANARY});
    history.create(&conversation).unwrap();
    for n in 0..items {
        let long = format!("{CANARY} {}", "a long text ".repeat(1_000));
        let result = json!({"kind": "tool_call", "call": format!("{n}"), "server": "demo", "tool": "read", "arguments": {"q": CANARY},
            "result": {"content": [{"type": "text", "text": long}], "structured": {CANARY: long}}, "error": null, "took": 3});
        let call = NewHistoryItem { body: result, ..user_message(&format!("call{n}"), "") };
        history.write("c", &[user_message(&format!("m{n}"), &format!("{CANARY} number {n} 港口见面")), call]).unwrap();
    }
}

/// Asserts that everything that [`write_conversations`] has written can be read, and found by a search.
fn assert_complete(history: &dyn History, items: usize) {
    let read = history.conversation("c").unwrap().expect("the conversation exists");
    assert_eq!((read.title, read.settings), (format!("About {CANARY}"), json!({"instructions": CANARY})));
    assert_eq!(read.items, items as u64 * 2, "no item is lost");
    let all = branch(history, "c");
    assert_eq!(all.len(), items * 2, "all items are in one branch");
    assert_eq!(message_text(&all[0].body), format!("{CANARY} number 0 港口见面"), "a message is unchanged");
    let long = all[1].body.pointer("/result/content/0/text").and_then(serde_json::Value::as_str).unwrap();
    assert!(long.starts_with(CANARY) && long.len() > 10_000, "a tool result is complete");
    assert!(all[1].body["result"]["structured"][CANARY].as_str().is_some_and(|text| text.len() > 10_000));
    for words in [CANARY, "zqkes", "港口", "number 0"] {
        let found = history.search(&search_query(words)).unwrap();
        let expected = (items * 2).min(200);
        let expected = if words == "港口" {
            items.min(200)
        } else if words == "number 0" {
            1
        } else {
            expected
        };
        assert!(found.len() >= expected, "{words:?} finds {} of {expected}", found.len());
        let mut own = found.iter().filter(|found| found.conversation == "c");
        assert!(
            own.all(|found| found.title == format!("About {CANARY}")),
            "a result has the title of its conversation"
        );
    }
    assert!(history.search(&search_query("口港")).unwrap().is_empty(), "text that does not occur is not found");
}

#[test]
fn s28_encrypted_history_has_no_plain_text_in_any_file() {
    let (folder, keychain) = (tempfile::tempdir().unwrap(), Arc::new(TestKeychain::default()));
    let ports = open_with_keychain(folder.path(), &keychain);
    write_conversations(ports.history.as_ref(), 5);
    ports.history.write("c", &[reply_item("r", &format!("{CANARY} comes in"), ItemState::Streaming)]).unwrap();
    assert_eq!(
        files_containing(folder.path(), CANARY),
        Vec::<String>::new(),
        "no file has the canary while the history is open"
    );
    drop(ports);
    assert_eq!(
        files_containing(folder.path(), CANARY),
        Vec::<String>::new(),
        "no file has the canary after the history is closed"
    );
    let again = open_with_keychain(folder.path(), &keychain);
    let last = branch(again.history.as_ref(), "c").pop().unwrap();
    assert_eq!(
        (last.state, message_text(&last.body)),
        (ItemState::Cut, "zqkestrel comes in"),
        "an interrupted reply must be readable"
    );
    assert_eq!(again.history.search(&search_query("comes")).unwrap().len(), 1, "an interrupted reply must be found");
    again.history.delete("c").unwrap();
    assert!(again.history.search(&search_query(CANARY)).unwrap().is_empty(), "a deleted conversation is not found");
}

#[test]
fn s28_plain_history_is_encrypted_once_a_keychain_is_available() {
    let (folder, keychain) = (tempfile::tempdir().unwrap(), Arc::new(TestKeychain::default()));
    let plain = open_without_keychain(folder.path());
    write_conversations(plain.history.as_ref(), 30);
    assert_complete(plain.history.as_ref(), 30);
    drop(plain);
    assert!(!files_containing(folder.path(), CANARY).is_empty(), "the history must be unencrypted without a keychain");
    std::fs::create_dir_all(folder.path().join("data/conversations")).unwrap();
    std::fs::write(folder.path().join("data/conversations/old.json.imported"), CANARY).unwrap();
    let ports = open_with_keychain(folder.path(), &keychain);
    assert_complete(ports.history.as_ref(), 30);
    assert_eq!(files_containing(folder.path(), CANARY), Vec::<String>::new(), "no unencrypted content must remain");
    for start in ["zqke", "lertse"] {
        assert_eq!(
            files_containing(folder.path(), start),
            Vec::<String>::new(),
            "no file contains a part of the canary"
        );
    }
    write_more_items(ports.history.as_ref());
    drop(ports);
    let again = open_with_keychain(folder.path(), &keychain);
    assert_eq!(branch(again.history.as_ref(), "c").len(), 61, "the history can be extended");
    assert_eq!(files_containing(folder.path(), CANARY), Vec::<String>::new(), "no file has the canary");
}

fn write_more_items(history: &dyn History) {
    assert!(history.write("c", &[user_message("more", CANARY)]).unwrap());
}

/// SQL statements that create the schema of version 1.
const VERSION_1_SQL: &str = include_str!("version_1.sql");

/// Replaces an unencrypted history with a file of schema version 1 that has the same content.
fn downgrade_to_version_1(folder: &Path) {
    let (file, newer) = (folder.join("data/history.db"), folder.join("data/newer.db"));
    rusqlite::Connection::open(&file).unwrap().pragma_update(None, "journal_mode", "delete").unwrap();
    std::fs::rename(&file, &newer).unwrap();
    let connection = rusqlite::Connection::open(&file).unwrap();
    connection.execute_batch(VERSION_1_SQL).unwrap();
    connection.execute("ATTACH ?1 AS newer", [newer.to_str().unwrap()]).unwrap();
    connection.execute_batch("DELETE FROM word_data; DELETE FROM word_idx; DELETE FROM word_docsize").unwrap();
    let columns = "number, hash, size, bytes";
    connection.execute_batch(&format!("INSERT INTO blob ({columns}) SELECT {columns} FROM newer.blob")).unwrap();
    for table in ["conversation", "gone", "source", "item", "large", "said", "word_data", "word_idx", "word_docsize"] {
        connection.execute_batch(&format!("INSERT INTO {table} SELECT * FROM newer.{table}")).unwrap();
    }
    connection.execute_batch("DETACH newer; PRAGMA user_version = 1").unwrap();
    drop(connection);
    std::fs::remove_file(newer).unwrap();
}

#[test]
fn s28_history_of_the_first_version_is_upgraded() {
    let (folder, keychain) = (tempfile::tempdir().unwrap(), Arc::new(TestKeychain::default()));
    let plain = open_without_keychain(folder.path());
    write_conversations(plain.history.as_ref(), 30);
    drop(plain);
    downgrade_to_version_1(folder.path());
    let plain = open_without_keychain(folder.path());
    assert_complete(plain.history.as_ref(), 30);
    write_more_items(plain.history.as_ref());
    assert_eq!(branch(plain.history.as_ref(), "c").len(), 61, "an old history can be extended without a keychain");
    drop(plain);
    let ports = open_with_keychain(folder.path(), &keychain);
    assert_eq!(branch(ports.history.as_ref(), "c").len(), 61, "the history is read with a keychain");
    assert_eq!(
        files_containing(folder.path(), CANARY),
        Vec::<String>::new(),
        "no unencrypted content must remain afterwards"
    );
}

#[test]
fn s28_concurrent_processes_upgrade_the_history_once() {
    let (folder, keychain) = (tempfile::tempdir().unwrap(), Arc::new(TestKeychain::default()));
    let plain = open_without_keychain(folder.path());
    write_conversations(plain.history.as_ref(), 30);
    drop(plain);
    downgrade_to_version_1(folder.path());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_complete(open_with_keychain(folder.path(), &keychain).history.as_ref(), 30));
        }
    });
    assert_eq!(files_containing(folder.path(), CANARY), Vec::<String>::new(), "no unencrypted content must remain");
}

#[test]
fn s28_running_process_continues_after_the_encryption() {
    let (folder, keychain) = (tempfile::tempdir().unwrap(), Arc::new(TestKeychain::default()));
    keychain.set_locked(true);
    let early = open_with_keychain(folder.path(), &keychain);
    write_conversations(early.history.as_ref(), 3);
    let none = open_without_keychain(folder.path());
    assert_complete(none.history.as_ref(), 3);
    keychain.set_locked(false);
    let late = open_with_keychain(folder.path(), &keychain);
    assert_complete(late.history.as_ref(), 3);
    assert_complete(early.history.as_ref(), 3);
    write_more_items(early.history.as_ref());
    assert_eq!(branch(late.history.as_ref(), "c").len(), 7, "both instances write to the same history");
    let error = none.history.list().expect_err("without the key it can't be read");
    assert!(error.cause.contains("encrypted"), "{error}");
    none.history.write("c", &[user_message("x", CANARY)]).expect_err("nor written");
    assert_eq!(
        files_containing(folder.path(), CANARY),
        Vec::<String>::new(),
        "no unencrypted content must be in the files"
    );
}

#[test]
fn s28_lost_key_is_reported_and_nothing_is_overwritten() {
    let (folder, keychain) = (tempfile::tempdir().unwrap(), Arc::new(TestKeychain::default()));
    let ports = open_with_keychain(folder.path(), &keychain);
    write_conversations(ports.history.as_ref(), 2);
    drop(ports);
    let file = folder.path().join("data/history.db");
    let before = std::fs::read(&file).unwrap();
    let other = Arc::new(TestKeychain::default());
    let wrong = open_with_keychain(folder.path(), &other);
    for error in [wrong.history.list().unwrap_err(), wrong.history.create(&new_conversation("new")).unwrap_err()] {
        assert!(error.cause.contains("another key") && error.cause.contains("move it away"), "{error}");
    }
    drop(wrong);
    let locked = open_without_keychain(folder.path());
    let error = locked.history.search(&search_query(CANARY)).unwrap_err();
    assert!(error.cause.contains("is encrypted"), "{error}");
    drop(locked);
    // The first 100 bytes are the file header, in which SQLite counts that the file was opened.
    assert!(std::fs::read(&file).unwrap()[100..] == before[100..], "the file is unchanged");
    assert_complete(open_with_keychain(folder.path(), &keychain).history.as_ref(), 2);
}

#[test]
fn s28_history_is_encrypted_by_concurrent_processes() {
    let (folder, keychain) = (tempfile::tempdir().unwrap(), Arc::new(TestKeychain::default()));
    let plain = open_without_keychain(folder.path());
    write_conversations(plain.history.as_ref(), 40);
    drop(plain);
    std::thread::scope(|scope| {
        for n in 0..4 {
            let (folder, keychain) = (folder.path(), &keychain);
            scope.spawn(move || {
                let ports = open_with_keychain(folder, keychain);
                ports.history.create(&new_conversation(&format!("own{n}"))).unwrap();
                ports.history.write(&format!("own{n}"), &[user_message("1", CANARY)]).unwrap();
            });
        }
    });
    let ports = open_with_keychain(folder.path(), &keychain);
    assert_complete(ports.history.as_ref(), 40);
    assert_eq!(ports.history.search(&search_query(CANARY)).unwrap().len(), 84, "no item is lost or duplicated");
    assert_eq!(files_containing(folder.path(), CANARY), Vec::<String>::new(), "no unencrypted content must remain");
}

/// Environment variable with the folder in which a child process encrypts until the test kills it.
#[cfg(unix)]
const ENCRYPT_FOLDER_VARIABLE: &str = "HISTORY_TO_ENCRYPT";

/// Kills a process at different moments while it encrypts a history, and asserts that the encryption continues
/// afterwards.
#[cfg(unix)]
#[test]
#[allow(clippy::disallowed_methods, reason = "starts this test, not a server")]
fn s28_encryption_of_the_history_survives_kill_9() {
    let keychain = Arc::new(TestKeychain::default());
    keychain.put("seal of the audit log", &format!("{} 1", "07".repeat(32)));
    // The child process is this test as well, started with the variable.
    if let Some(folder) = std::env::var_os(ENCRYPT_FOLDER_VARIABLE) {
        open_with_keychain(folder.as_ref(), &keychain).history.list().unwrap();
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let plain = open_without_keychain(folder.path());
    write_conversations(plain.history.as_ref(), 200);
    drop(plain);
    let (mut killed, mut halfway) = (0, 0);
    for pause in (0..).map(|n| std::time::Duration::from_millis(30).mul_f64(1.25_f64.powi(n))) {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["history::encrypted::s28_encryption_of_the_history_survives_kill_9", "--exact"])
            .env(ENCRYPT_FOLDER_VARIABLE, folder.path())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        // sleep: kills the child process at a different moment in each round.
        std::thread::sleep(pause);
        let has_ended = child.try_wait().unwrap().is_some();
        child.kill().unwrap();
        child.wait().unwrap();
        if has_ended {
            break;
        }
        killed += 1;
        let file = rusqlite::Connection::open(folder.path().join("data/history.db")).unwrap();
        let left: Option<i64> = file.query_row("SELECT left FROM protection", [], |row| row.get(0)).ok();
        halfway += usize::from(left.is_some_and(|left| left < 3));
    }
    assert!(halfway > 0, "some rounds were killed halfway: {halfway} of {killed}");
    let ports = open_with_keychain(folder.path(), &keychain);
    assert_complete(ports.history.as_ref(), 200);
    assert_eq!(files_containing(folder.path(), CANARY), Vec::<String>::new(), "no unencrypted content must remain");
}
