//! Tests of importing conversations of older versions, one JSON file each.

use std::fs;

use serde_json::{Value, json};

use super::{branch, item_ids, message_text};
use crate::common::{TestStore, open_store};

fn old_conversation(id: &str, items: Value) -> Value {
    json!({"id": id, "title": format!("Old {id}"), "updated_at": 77, "items": items})
}

#[test]
fn older_conversations_are_imported() {
    let store = TestStore::new();
    let folder = store.data().join("conversations");
    fs::create_dir_all(&folder).unwrap();
    let say = |id: &str, text: &str| json!({"id": id, "at": 5, "body": {"kind": "message", "role": "user", "content": [{"type": "text", "text": text}]}});
    let called = json!({"id": "call", "at": 6, "body": {"kind": "tool_call", "call": "call", "server": "harbour", "tool": "add",
        "arguments": {}, "result": {"content": [], "structured": null, "structured_problem": null, "structuredProblem": null,
        "isError": false, "arguments": {}}, "error": null, "took": 3}});
    let newer = json!({"id": "new", "at": 7, "body": {"kind": "of a newer version", "x": [1]}});
    let write = |name: &str, value: String| fs::write(folder.join(name), value).unwrap();
    write("c1.json", old_conversation("c1", json!([say("1", "the fjord"), called, newer])).to_string());
    write("c2.json", old_conversation("c2", json!([])).to_string());
    write("broken.json", "{".into());
    write("other.json", old_conversation("c1", json!([])).to_string());
    let ports = open_store(store.folder.path());
    let history = &ports.history;
    let list = history.list().unwrap();
    let mut listed: Vec<_> = list.iter().map(|(id, title, at)| (id.as_str(), title.as_str(), *at)).collect();
    listed.sort_unstable();
    assert_eq!(listed, [("c1", "Old c1", 77), ("c2", "Old c2", 77)], "readable conversations are imported");
    let items = branch(history.as_ref(), "c1");
    assert_eq!(
        (item_ids(&items), message_text(&items[0].body)),
        (vec!["1", "call", "new"], "the fjord"),
        "items keep their order"
    );
    assert_eq!(items[2].body["x"], json!([1]), "unknown fields are kept");
    assert_eq!(history.conversation("c1").unwrap().unwrap().sources, ["harbour"], "the sources are known");
    assert_eq!(
        history.search(&super::searching::search_query("fjord")).unwrap().len(),
        1,
        "the imported conversation is found"
    );
    let mut left: Vec<_> =
        fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    left.sort();
    assert_eq!(
        left,
        ["broken.json", "c1.json.imported", "c2.json.imported", "other.json"],
        "unreadable files are left in place"
    );
    drop(ports);
    fs::rename(folder.join("c1.json.imported"), folder.join("c1.json")).unwrap();
    let again = open_store(store.folder.path());
    assert_eq!(branch(again.history.as_ref(), "c1").len(), 3, "a conversation is imported only once");
}
