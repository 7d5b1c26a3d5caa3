//! Tests of attacks on the recorded readings of a conversation (S26): its items prove the same readings.

use std::path::Path;
use std::sync::Arc;

use domain::history::{Conversation, NewHistoryItem, Reading, ReadingKind};
use ports::History;
use rusqlite::Connection;
use serde_json::json;

use super::encrypted::open_with_keychain;
use super::{new_conversation, user_message};
use crate::audit::support::TestKeychain;

/// Returns an item with a call of a tool whose definition declares `openWorldHint: false`.
fn call_item(id: &str, tool: &str) -> NewHistoryItem {
    let body = json!({"kind": "tool_call", "call": id, "server": "harbour", "tool": tool, "arguments": {},
        "result": {"content": [{"type": "text", "text": "a page"}], "structured": null, "structuredProblem": null,
            "isError": false, "arguments": {}}, "error": null, "took": 3});
    let readings = vec![tool_reading(tool, false)];
    NewHistoryItem { body, sources: vec!["harbour".into()], readings, ..user_message(id, "") }
}

fn tool_reading(tool: &str, open_world: bool) -> Reading {
    Reading { open_world, ..Reading::new("harbour", ReadingKind::Tool, tool) }
}

fn read_conversation(history: &dyn History) -> Conversation {
    history.conversation("c").unwrap().unwrap()
}

/// Creates a conversation with two calls, executes these SQL statements on the closed database as an attacker, and
/// returns the conversation as another instance reads it.
fn attacked_conversation(sql: &str) -> (tempfile::TempDir, Arc<TestKeychain>, Conversation) {
    let (folder, keychain) = (tempfile::tempdir().unwrap(), Arc::new(TestKeychain::default()));
    let ports = open_with_keychain(folder.path(), &keychain);
    ports.history.create(&new_conversation("c")).unwrap();
    ports.history.write("c", &[call_item("1", "list")]).unwrap();
    execute_sql(folder.path(), "CREATE TABLE old AS SELECT * FROM reading_seal");
    ports.history.write("c", &[user_message("2", "go on"), call_item("3", "fetch")]).unwrap();
    drop(ports);
    execute_sql(folder.path(), sql);
    let readings = read_conversation(open_with_keychain(folder.path(), &keychain).history.as_ref());
    (folder, keychain, readings)
}

fn execute_sql(folder: &Path, sql: &str) {
    Connection::open(folder.join("data/history.db")).unwrap().execute_batch(sql).unwrap();
}

#[test]
fn s26_unchanged_readings_are_read_as_written() {
    let (folder, keychain, readings) = attacked_conversation("");
    assert_eq!(
        readings.readings,
        [tool_reading("fetch", false), tool_reading("list", false)],
        "readings are read back as written"
    );
    let (one, two) = (open_with_keychain(folder.path(), &keychain), open_with_keychain(folder.path(), &keychain));
    one.history.write("c", &[call_item("4", "list"), user_message("5", "and on")]).unwrap();
    two.history.write("c", &[call_item("6", "look")]).unwrap();
    let all = [tool_reading("fetch", false), tool_reading("list", false), tool_reading("look", false)];
    assert_eq!(read_conversation(one.history.as_ref()).readings, all, "readings of all instances are merged");
    one.history.delete("c").unwrap();
    one.history.create(&new_conversation("c")).unwrap();
    assert_eq!(read_conversation(two.history.as_ref()).readings, [], "a deleted conversation has no readings");
}

#[test]
fn s26_externally_removed_readings_are_recovered_from_the_items() {
    let attacks = [
        "DELETE FROM reading",
        "DELETE FROM reading; DELETE FROM reading_seal; DELETE FROM source",
        "DELETE FROM reading WHERE name = 'fetch'; DELETE FROM reading_seal; INSERT INTO reading_seal SELECT * FROM old",
        "UPDATE reading SET name = 'not ' || name",
        "DELETE FROM reading; UPDATE conversation SET items = 0",
        "DROP TABLE reading; DROP TABLE reading_seal; DELETE FROM source",
    ];
    for sql in attacks {
        let (folder, keychain, readings) = attacked_conversation(sql);
        for tool in ["list", "fetch"] {
            assert!(readings.readings.contains(&tool_reading(tool, true)), "{sql}: {:?}", readings.readings);
        }
        assert!(readings.sources.contains(&"harbour".to_owned()), "{sql}: {:?}", readings.sources);
        open_with_keychain(folder.path(), &keychain).history.write("c", &[user_message("later", "go on")]).unwrap();
        let later = read_conversation(open_with_keychain(folder.path(), &keychain).history.as_ref());
        for tool in ["list", "fetch"] {
            assert!(
                later.readings.contains(&tool_reading(tool, true)),
                "after another write, {sql}: {:?}",
                later.readings
            );
        }
        assert!(later.sources.contains(&"harbour".to_owned()), "after another write, {sql}: {:?}", later.sources);
    }
}
