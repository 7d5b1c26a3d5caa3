//! The data folder: documents and conversations.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[allow(dead_code, unreachable_pub, reason = "shared by several tests")]
mod common;

use std::fs;

use common::{Store, open};
use host::conversation::Conversation;
use host::ports::{AuditEntry, Document};
use serde_json::json;

#[test]
fn documents_come_back() {
    let store = Store::new();
    let all = [Document::Settings, Document::Grants, Document::Roots, Document::Running];
    for name in all {
        assert_eq!(store.ports.documents.read(name).unwrap(), None, "nothing before it is written");
        let value = json!({"z": 1, "a": [name.file_name(), "ä\u{1b}"]});
        store.ports.documents.write(name, &value).unwrap();
        assert_eq!(open(store.folder.path()).documents.read(name).unwrap(), Some(value), "what was written, in order");
        let text = fs::read_to_string(store.data().join(name.file_name())).unwrap();
        assert!(text.lines().count() > 3 && text.ends_with('\n'), "it is readable: {text}");
    }
    fs::write(store.data().join("grants.json"), "{\n  nonsense").unwrap();
    let error = store.ports.documents.read(Document::Grants).unwrap_err();
    assert!(
        error.path.ends_with("grants.json") && error.cause.starts_with("line 2: "),
        "file and line are named: {error}"
    );
}

#[test]
fn a_document_is_never_torn() {
    let store = Store::new();
    let folder = store.folder.path();
    store.ports.documents.write(Document::Roots, &json!(null)).unwrap();
    std::thread::scope(|scope| {
        for writer in 0..3 {
            scope.spawn(move || {
                let ports = open(folder);
                for size in 0..50 {
                    ports.documents.write(Document::Roots, &json!(vec![writer; size * 100])).unwrap();
                }
            });
        }
        for _ in 0..300 {
            let value =
                store.ports.documents.read(Document::Roots).expect("a reader never sees half a document").unwrap();
            let all_equal = value.as_array().is_none_or(|items| items.windows(2).all(|pair| pair[0] == pair[1]));
            assert!(all_equal, "a document is one writer's alone");
        }
    });
}

fn conversation(id: &str, at: u64) -> Conversation {
    let items = vec![json!({"id": "1", "at": 5, "body": {"kind": "message"}})];
    Conversation { id: id.into(), title: format!("Title of {id}"), updated_at: at, items }
}

#[test]
fn conversations_come_back() {
    let store = Store::new();
    let conversations = &store.ports.conversations;
    assert_eq!(conversations.list().unwrap(), [], "none at first");
    for (id, at) in [("a-1", 10), ("b-2", 30), ("c-3", 20)] {
        conversations.write(&conversation(id, at)).unwrap();
    }
    fs::write(store.data().join("conversations/broken.json"), "{").unwrap();
    fs::write(store.data().join("conversations/other.json"), serde_json::to_string(&conversation("a-1", 99)).unwrap())
        .unwrap();
    fs::write(store.data().join("conversations/.a-1.json.xyz.tmp"), "{").unwrap();
    let list = conversations.list().unwrap();
    let ids: Vec<&str> = list.iter().map(|(id, _, _)| id.as_str()).collect();
    assert_eq!(ids, ["b-2", "c-3", "a-1"], "the latest first; what is no conversation is left out");
    assert_eq!(list[0], ("b-2".into(), "Title of b-2".into(), 30), "id, title and time");
    assert_eq!(conversations.read("a-1").unwrap(), Some(conversation("a-1", 10)), "the whole comes back");
    assert_eq!(conversations.read("none").unwrap(), None, "one that is not there is not there");
    conversations.read("broken").expect_err("a broken one is an error");
    conversations.delete("b-2").unwrap();
    conversations.delete("b-2").unwrap();
    assert_eq!(conversations.read("b-2").unwrap(), None, "a deleted one is gone");
}

#[test]
fn an_id_leads_nowhere_else() {
    let store = Store::new();
    let conversations = &store.ports.conversations;
    let long = "x".repeat(65);
    for id in
        ["", ".", "..", "../settings", "a/b", "a\\b", "/etc/passwd", "C:x", "a.json", "a\0b", "a b", "ä", long.as_str()]
    {
        let error = conversations.read(id).expect_err(id);
        assert!(error.cause.contains("letters, digits and dashes"), "{id:?} is refused for its form: {error}");
        conversations.write(&conversation(id, 1)).expect_err("nor is it written");
        conversations.delete(id).expect_err("nor deleted");
    }
    let left = fs::read_dir(store.data().join("conversations")).unwrap().count();
    assert_eq!(left, 0, "nothing was written");
}

#[cfg(unix)]
#[test]
fn everything_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let store = Store::new();
    store.ports.documents.update(Document::Settings, &mut |_| json!({})).unwrap();
    store.ports.audit.append(AuditEntry::default()).unwrap();
    store.ports.conversations.write(&conversation("a", 1)).unwrap();
    let mode = |path: &str| fs::metadata(store.data().join(path)).unwrap().permissions().mode() & 0o777;
    for folder in ["", "conversations"] {
        assert_eq!(mode(folder), 0o700, "the folder {folder:?}");
    }
    for file in ["settings.json", "audit.db", "audit.db-wal", "audit.db-shm", "conversations/a.json", "lock"] {
        assert_eq!(mode(file), 0o600, "the file {file:?}");
    }
}

#[test]
fn two_programs_change_a_document_without_losing_anything() {
    let store = Store::new();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let ports = open(store.folder.path());
            scope.spawn(move || {
                for turn in 0..20 {
                    let add = |kept: Option<serde_json::Value>| {
                        let mut kept = kept.unwrap_or_else(|| serde_json::json!({}));
                        kept[format!("{writer}-{turn}")] = true.into();
                        kept
                    };
                    ports.documents.update(Document::Roots, &mut { add }).unwrap();
                }
            });
        }
    });
    let kept = store.ports.documents.read(Document::Roots).unwrap().unwrap();
    assert_eq!(kept.as_object().unwrap().len(), 80, "every change of every program is there");
}
