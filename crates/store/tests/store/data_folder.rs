//! Tests of the data folder: documents, and the owner and mode of the files.

use std::fs;

use crate::common::{TestStore, open_store};
use ports::Document;
use serde_json::json;

#[test]
fn documents_round_trip() {
    let store = TestStore::new();
    let all = [Document::Settings, Document::Grants, Document::Roots, Document::Running];
    for name in all {
        assert_eq!(store.ports.documents.read(name).unwrap(), None, "a document is absent before it is written");
        let value = json!({"z": 1, "a": [name.file_name(), "ä\u{1b}"]});
        store.ports.documents.write(name, &value).unwrap();
        assert_eq!(
            open_store(store.folder.path()).documents.read(name).unwrap(),
            Some(value),
            "the document is read back with its keys in order"
        );
        let text = fs::read_to_string(store.data().join(name.file_name())).unwrap();
        assert!(text.lines().count() > 3 && text.ends_with('\n'), "the file is formatted for people: {text}");
    }
    fs::write(store.data().join("grants.json"), "{\n  nonsense").unwrap();
    let error = store.ports.documents.read(Document::Grants).unwrap_err();
    assert!(
        error.path.ends_with("grants.json") && error.cause.starts_with("line 2: "),
        "the error names the file and the line: {error}"
    );
}

#[test]
fn null_document_is_read_as_missing() {
    let store = TestStore::new();
    for name in [Document::Settings, Document::Policy, Document::Grants] {
        store.ports.documents.write(name, &json!({"a": 1})).unwrap();
        store.ports.documents.write(name, &json!(null)).unwrap();
        assert_eq!(store.ports.documents.read(name).unwrap(), None, "{name:?}");
        let change = &mut |before: Option<serde_json::Value>| {
            assert_eq!(before, None, "a change gets no former value: {name:?}");
            json!(null)
        };
        store.ports.documents.update(name, change).unwrap();
    }
}

#[test]
fn document_write_is_atomic() {
    let store = TestStore::new();
    let folder = store.folder.path();
    store.ports.documents.write(Document::Roots, &json!([])).unwrap();
    std::thread::scope(|scope| {
        for writer in 0..3 {
            scope.spawn(move || {
                let ports = open_store(folder);
                for size in 0..50 {
                    ports.documents.write(Document::Roots, &json!(vec![writer; size * 100])).unwrap();
                }
            });
        }
        for _ in 0..300 {
            let value =
                store.ports.documents.read(Document::Roots).expect("a reader never sees a partial document").unwrap();
            let all_equal = value.as_array().is_none_or(|items| items.windows(2).all(|pair| pair[0] == pair[1]));
            assert!(all_equal, "a document has the content of one writer");
        }
    });
}

#[cfg(unix)]
#[test]
fn files_are_accessible_to_their_owner_only() {
    use std::os::unix::fs::PermissionsExt as _;

    use domain::history::Conversation;
    use ports::AuditEntry;

    let store = TestStore::new();
    store.ports.documents.update(Document::Settings, &mut |_| json!({})).unwrap();
    store.ports.audit.append(AuditEntry::default()).unwrap();
    store.ports.history.create(&Conversation { id: "a".into(), ..Conversation::default() }).unwrap();
    let mode = |path: &str| fs::metadata(store.data().join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(""), 0o700, "the folder");
    for file in ["settings.json", "audit.db", "audit.db-wal", "audit.db-shm", "history.db", "history.db-wal", "lock"] {
        assert_eq!(mode(file), 0o600, "the file {file:?}");
    }
}

#[test]
fn concurrent_changes_of_a_document_are_all_stored() {
    let store = TestStore::new();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let ports = open_store(store.folder.path());
            scope.spawn(move || {
                for turn in 0..20 {
                    let add = |stored: Option<serde_json::Value>| {
                        let mut stored = stored.unwrap_or_else(|| serde_json::json!({}));
                        stored[format!("{writer}-{turn}")] = true.into();
                        stored
                    };
                    ports.documents.update(Document::Roots, &mut { add }).unwrap();
                }
            });
        }
    });
    let stored = store.ports.documents.read(Document::Roots).unwrap().unwrap();
    assert_eq!(stored.as_object().unwrap().len(), 80, "every change of every instance is stored");
}

/// Asserts that every spelling of the data folder's path leads to the same keychain entries, which are named after the
/// folder (S04, S21).
#[cfg(unix)]
#[test]
fn every_spelling_of_the_folder_is_the_same_location() {
    use std::sync::Arc;

    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::create_dir_all(root.join("data/inner")).unwrap();
    std::os::unix::fs::symlink(root.join("data"), root.join("alias")).unwrap();
    for spelling in ["data", "alias", "data/inner/..", "./data/"] {
        let secrets = Arc::new(ports::secrets::SecretsInMemory::default());
        let platform = Arc::new(store::FileBackedPlatform::new(root.join("platform")));
        let ports = store::open_with(&root.join("mcp.json"), &root.join(spelling), platform, secrets).unwrap();
        assert_eq!(ports.documents.path(), root.join("data"), "{spelling}");
        assert_eq!(ports.audit.path(), root.join("data/audit.db"), "{spelling}");
    }
}
