//! Tests of attacks on the recorded read contents of a conversation (S26): its items prove the same contents.

use std::path::Path;
use std::sync::Arc;

use domain::history::{Conversation, NewHistoryItem, ReadContent, ReadContentKind};
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
    let read_contents = vec![tool_output_read(tool, false)];
    NewHistoryItem { body, sources: vec!["harbour".into()], read_contents, ..user_message(id, "") }
}

fn tool_output_read(tool: &str, open_world: bool) -> ReadContent {
    ReadContent { open_world, ..ReadContent::new("harbour", ReadContentKind::Tool, tool) }
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
    let conversation = read_conversation(open_with_keychain(folder.path(), &keychain).history.as_ref());
    (folder, keychain, conversation)
}

fn execute_sql(folder: &Path, sql: &str) {
    Connection::open(folder.join("data/history.db")).unwrap().execute_batch(sql).unwrap();
}

#[test]
fn s26_unchanged_read_contents_are_returned_as_written() {
    let (folder, keychain, conversation) = attacked_conversation("");
    assert_eq!(
        conversation.read_contents,
        [tool_output_read("fetch", false), tool_output_read("list", false)],
        "contents are returned as written"
    );
    let (one, two) = (open_with_keychain(folder.path(), &keychain), open_with_keychain(folder.path(), &keychain));
    one.history.write("c", &[call_item("4", "list"), user_message("5", "and on")]).unwrap();
    two.history.write("c", &[call_item("6", "look")]).unwrap();
    let all = [tool_output_read("fetch", false), tool_output_read("list", false), tool_output_read("look", false)];
    assert_eq!(read_conversation(one.history.as_ref()).read_contents, all, "read contents of all instances are merged");
    one.history.delete("c").unwrap();
    one.history.create(&new_conversation("c")).unwrap();
    assert_eq!(
        read_conversation(two.history.as_ref()).read_contents,
        [],
        "a deleted conversation has no read contents"
    );
}

#[test]
fn s26_externally_removed_read_contents_are_recovered_from_the_items() {
    let attacks = [
        "DELETE FROM reading",
        "DELETE FROM reading; DELETE FROM reading_seal; DELETE FROM source",
        "DELETE FROM reading WHERE name = 'fetch'; DELETE FROM reading_seal; INSERT INTO reading_seal SELECT * FROM old",
        "UPDATE reading SET name = 'not ' || name",
        "DELETE FROM reading; UPDATE conversation SET items = 0",
        "DROP TABLE reading; DROP TABLE reading_seal; DELETE FROM source",
    ];
    for sql in attacks {
        let (folder, keychain, conversation) = attacked_conversation(sql);
        for tool in ["list", "fetch"] {
            assert!(
                conversation.read_contents.contains(&tool_output_read(tool, true)),
                "{sql}: {:?}",
                conversation.read_contents
            );
        }
        assert!(conversation.sources.contains(&"harbour".to_owned()), "{sql}: {:?}", conversation.sources);
        open_with_keychain(folder.path(), &keychain).history.write("c", &[user_message("later", "go on")]).unwrap();
        let later = read_conversation(open_with_keychain(folder.path(), &keychain).history.as_ref());
        for tool in ["list", "fetch"] {
            assert!(
                later.read_contents.contains(&tool_output_read(tool, true)),
                "after another write, {sql}: {:?}",
                later.read_contents
            );
        }
        assert!(later.sources.contains(&"harbour".to_owned()), "after another write, {sql}: {:?}", later.sources);
    }
}
