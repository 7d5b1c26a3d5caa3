//! Tests that no file contains any part of deleted content.

use std::path::Path;

use domain::history::NewHistoryItem;
use serde_json::json;

use super::{item_ids, new_conversation, user_message};
use crate::common::{TestStore, open_store};

/// Returns the files in a folder and its subfolders that contain this text, ignoring case.
fn files_containing(folder: &Path, bytes: &str) -> Vec<String> {
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

/// Returns 200 words that occur nowhere else, which fill several pages of the search index. The words differ for each
/// `n`.
fn unique_words_of_conversation(n: usize) -> String {
    (0..200).map(|word| format!("zq{:08x}kestrel ", (n * 200 + word) * 2_654_435_761 % 4_294_967_291)).collect()
}

#[test]
fn deleted_text_is_in_no_file() {
    let store = TestStore::new();
    let history = &store.ports.history;
    for id in ["kept", "gone"] {
        history.create(&new_conversation(id)).unwrap();
    }
    let picture = format!("{}kestrelpicture", "AAEC".repeat(2_000).len());
    for n in 0..60 {
        let text = format!("we keep {n} {}", "ordinary words of all kinds ".repeat(20));
        history.write("kept", &[user_message(&format!("k{n}"), &text)]).unwrap();
        let long = format!("{} {}", unique_words_of_conversation(n), "kestrellong ".repeat(500));
        let body = json!({"kind": "message", "role": "user", "content": [
            {"type": "text", "text": long}, {"type": "image", "data": picture, "mimeType": "image/png"},
        ]});
        let sources = vec!["kestrelserver".to_owned()];
        history
            .write("gone", &[NewHistoryItem { body, sources, ..user_message(&format!("kestrel-{n}"), "") }])
            .unwrap();
    }
    assert!(!files_containing(&store.data(), "kestrel").is_empty(), "the files contain the word before the deletion");
    history.delete("gone").unwrap();
    history.delete("gone").unwrap();
    assert_eq!(history.conversation("gone").unwrap(), None, "the conversation is deleted");
    for canary in ["kestrel", "lertsek", "title of gone"] {
        assert_eq!(
            files_containing(&store.data(), canary),
            Vec::<String>::new(),
            "no file contains the word after the deletion: {canary}"
        );
    }
    for start in 0..=255_u8 {
        let canary = format!("zq{start:02x}");
        assert_eq!(
            files_containing(&store.data(), &canary),
            Vec::<String>::new(),
            "no file contains a prefix of the words"
        );
    }
    let remaining = super::branch(history.as_ref(), "kept");
    assert_eq!((remaining.len(), item_ids(&remaining)[59]), (60, "k59"), "the other conversation is unchanged");
    assert_eq!(
        history.search(&super::searching::search_query("ordinary")).unwrap().len(),
        60,
        "the other conversation is found"
    );
}

#[test]
fn shared_content_is_retained_until_its_last_conversation_is_deleted() {
    let store = TestStore::new();
    let history = &store.ports.history;
    let picture = "AAEC".repeat(5_000);
    let body = json!({"kind": "message", "content": [{"type": "image", "data": picture, "mimeType": "image/png"}]});
    for id in ["a", "b"] {
        history.create(&new_conversation(id)).unwrap();
        history.write(id, &[NewHistoryItem { body: body.clone(), ..user_message("1", "") }]).unwrap();
    }
    history.delete("a").unwrap();
    assert_eq!(history.item("b", "1").unwrap().unwrap().body, body, "content that b shares is still stored");
    history.write("b", &[user_message("1", "no picture")]).unwrap();
    history.delete("b").unwrap();
    let size = std::fs::metadata(history.path()).unwrap().len();
    assert!(size < 200_000, "the file shrinks: {size}");
}

#[test]
fn deletion_blocked_by_a_reader_is_completed_later() {
    let store = TestStore::new();
    let history = &store.ports.history;
    history.create(&new_conversation("gone")).unwrap();
    history.write("gone", &[user_message("1", "kestrel words")]).unwrap();
    let reader = rusqlite::Connection::open(history.path()).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM item;").unwrap();
    // Waiting for the reader would never end, because the reader ends only after this call.
    history.delete("gone").unwrap();
    reader.execute_batch("COMMIT").unwrap();
    drop(reader);
    history.create(&new_conversation("next")).unwrap();
    assert_eq!(
        files_containing(&store.data(), "kestrel"),
        Vec::<String>::new(),
        "the next write removes the content from the journal"
    );
}

#[test]
fn each_of_several_deletions_leaves_no_trace() {
    let store = TestStore::new();
    let history = &store.ports.history;
    for id in ["kept", "one", "two"] {
        history.create(&new_conversation(id)).unwrap();
    }
    for n in 0..10 {
        history.write("kept", &[user_message(&format!("k{n}"), &"ordinary words of all kinds ".repeat(20))]).unwrap();
        history.write("one", &[user_message(&format!("1-{n}"), &unique_words_of_conversation(n))]).unwrap();
        history.write("two", &[user_message(&format!("2-{n}"), &unique_words_of_conversation(100 + n))]).unwrap();
    }
    // After the first deletion the index is in one segment.
    history.delete("one").unwrap();
    history.delete("two").unwrap();
    for start in 0..=255_u8 {
        let canary = format!("zq{start:02x}");
        assert_eq!(
            files_containing(&store.data(), &canary),
            Vec::<String>::new(),
            "no file contains a prefix of the words"
        );
    }
    assert_eq!(
        history.search(&super::searching::search_query("ordinary")).unwrap().len(),
        10,
        "the remaining conversation is found"
    );
    assert_eq!(history.search(&super::searching::search_query("x")).unwrap(), [], "no other text is found");
}

#[test]
fn incomplete_deletion_is_completed_by_the_next_process() {
    let store = TestStore::new();
    let history = &store.ports.history;
    history.create(&new_conversation("gone")).unwrap();
    history.write("gone", &[user_message("1", "kestrel words")]).unwrap();
    let reader = rusqlite::Connection::open(history.path()).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM item;").unwrap();
    history.delete("gone").unwrap();
    reader.execute_batch("COMMIT").unwrap();
    drop(reader);
    assert!(!files_containing(&store.data(), "kestrel").is_empty(), "the journal still contains the word");
    // This instance is not called again, as if it were killed now.
    let other = open_store(store.folder.path());
    assert_eq!(other.history.list().unwrap(), [], "the next instance opens the history");
    assert_eq!(
        files_containing(&store.data(), "kestrel"),
        Vec::<String>::new(),
        "the next instance removes the content from the journal"
    );
}

#[test]
fn old_file_of_a_conversation_is_deleted_with_it() {
    let store = TestStore::new();
    let folder = store.data().join("conversations");
    std::fs::create_dir_all(&folder).unwrap();
    let old = json!({"id": "old", "title": "kestrel", "updated_at": 1, "items": []});
    std::fs::write(folder.join("old.json"), old.to_string()).unwrap();
    let ports = open_store(store.folder.path());
    assert_eq!(ports.history.list().unwrap().len(), 1, "the old conversation is imported");
    ports.history.delete("old").unwrap();
    assert_eq!(
        files_containing(&store.data(), "kestrel"),
        Vec::<String>::new(),
        "the imported file is deleted with the conversation"
    );
}
