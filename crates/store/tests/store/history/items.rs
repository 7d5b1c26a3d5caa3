//! Tests of items: branches, pages and large contents.

use domain::history::{ConversationChange, ItemPosition, ItemRange, NewHistoryItem, ReadContent, ReadContentKind};
use domain::item::ItemState;
use serde_json::json;

use super::{branch, item_ids, message_text, new_conversation, page, reply_item, user_message};
use crate::common::{TestStore, open_store};

#[test]
fn conversations_round_trip() {
    let store = TestStore::new();
    let history = &store.ports.history;
    assert_eq!(history.list().unwrap(), [], "a new history is empty");
    for id in ["a-1", "b-2", "c-3"] {
        history.create(&new_conversation(id)).unwrap();
    }
    history.create(&new_conversation("a-1")).expect_err("an id is taken once");
    assert!(
        history.write("a-1", &[NewHistoryItem { at: 50, ..user_message("1", "hello") }]).unwrap(),
        "an existing conversation is written to"
    );
    assert!(!history.write("none", &[user_message("1", "hello")]).unwrap(), "writing does not create a conversation");
    let change = ConversationChange { title: Some("Trip".into()), settings: Some(json!({"model": "m"})), at: 30 };
    assert!(history.change("b-2", &change).unwrap(), "an existing conversation is changed");
    assert!(!history.change("none", &change).unwrap(), "a missing conversation is not changed");
    let other = open_store(store.folder.path());
    let list = other.history.list().unwrap();
    let listed: Vec<_> = list.iter().map(|(id, title, at)| (id.as_str(), title.as_str(), *at)).collect();
    assert_eq!(listed, [("a-1", "Title of a-1", 50), ("b-2", "Trip", 30), ("c-3", "Title of c-3", 1)], "latest first");
    let read = other.history.conversation("b-2").unwrap().unwrap();
    assert_eq!(
        (read.settings, read.created_at, read.head),
        (json!({"model": "m"}), 1, None),
        "all stored fields are read back"
    );
    let only_title = ConversationChange { title: Some("Way".into()), settings: None, at: 2 };
    history.change("b-2", &only_title).unwrap();
    let read = other.history.conversation("b-2").unwrap().unwrap();
    assert_eq!(
        (read.title.as_str(), read.settings, read.updated_at),
        ("Way", json!({"model": "m"}), 30),
        "unchanged fields stay, and the time does not decrease"
    );
    assert_eq!(other.history.conversation("none").unwrap(), None, "a missing conversation is `None`");
}

#[test]
fn invalid_conversation_id_is_rejected() {
    let store = TestStore::new();
    let history = &store.ports.history;
    let long = "x".repeat(65);
    for id in ["", "..", "../settings", "a/b", "a\\b", "/etc/passwd", "C:x", "a.json", "a\0b", "a b", "ä", &long] {
        let error = history.create(&new_conversation(id)).expect_err(id);
        assert!(error.cause.contains("letters, digits and dashes"), "{id:?} is refused for its form: {error}");
        history.conversation(id).expect_err("nor is it read");
        history.write(id, &[user_message("1", "x")]).expect_err("nor written to");
        history.delete(id).expect_err("nor deleted");
    }
    history.create(&new_conversation("a")).unwrap();
    for id in ["", "a\nb", &"x".repeat(201)] {
        history.write("a", &[user_message(id, "x")]).expect_err("nor is any text an item's id");
    }
}

#[test]
fn items_form_branches() {
    let store = TestStore::new();
    let history = &store.ports.history;
    history.create(&new_conversation("c")).unwrap();
    history.write("c", &[user_message("1", "one"), user_message("2", "two"), user_message("3", "three")]).unwrap();
    let items = branch(history.as_ref(), "c");
    assert_eq!(item_ids(&items), ["1", "2", "3"], "each item follows the previous one");
    assert_eq!(items[2].parent.as_deref(), Some("2"), "each item has its parent");
    history
        .write(
            "c",
            &[
                NewHistoryItem { after: ItemPosition::Item("1".into()), ..user_message("2b", "other") },
                user_message("4", "four"),
            ],
        )
        .unwrap();
    let items = branch(history.as_ref(), "c");
    assert_eq!(item_ids(&items), ["1", "2b", "4"], "a new branch is shown");
    assert_eq!(items[1].siblings, ["2", "2b"], "the siblings are listed");
    assert_eq!(history.show_branch("c", "2").unwrap().as_deref(), Some("3"), "the other branch is shown up to its end");
    assert_eq!(item_ids(&branch(history.as_ref(), "c")), ["1", "2", "3"], "the branch is complete");
    history.write("c", &[NewHistoryItem { after: ItemPosition::Start, ..user_message("0", "another start") }]).unwrap();
    let items = branch(history.as_ref(), "c");
    assert_eq!(
        (item_ids(&items), items[0].siblings.as_slice()),
        (vec!["0"], &["1".to_owned(), "0".into()][..]),
        "a first item can have siblings"
    );
    history.write("c", &[user_message("2", "written anew")]).unwrap();
    assert_eq!(history.show_branch("c", "1").unwrap().as_deref(), Some("4"), "the branch ends with the latest item");
    history.show_branch("c", "3").unwrap();
    assert_eq!(history.show_branch("c", "1").unwrap().as_deref(), Some("3"), "the shown branch stays");
    let items = branch(history.as_ref(), "c");
    assert_eq!(
        (item_ids(&items), message_text(&items[1].body)),
        (vec!["1", "2", "3"], "written anew"),
        "an item with a known id stays in its place"
    );
    let lost = NewHistoryItem { after: ItemPosition::Item("none".into()), ..user_message("5", "lost") };
    history.write("c", &[user_message("6", "before it"), lost]).expect_err("nothing comes after what is not there");
    assert_eq!(history.item("c", "6").unwrap(), None, "none of the items is written");
    assert_eq!(history.show_branch("c", "none").unwrap(), None, "a missing item can't be shown");
    let all = history.all_items("c", None, 10).unwrap().unwrap();
    assert_eq!(
        (item_ids(&all.items), all.has_more),
        (vec!["1", "2", "3", "2b", "4", "0"], false),
        "all items in the order of writing"
    );
    let some = history.all_items("c", Some("3"), 2).unwrap().unwrap();
    assert_eq!((item_ids(&some.items), some.has_more), (vec!["2b", "4"], true), "a part of the items");
    assert_eq!(history.conversation("c").unwrap().unwrap().items, 6, "items are counted");
}

#[test]
fn branch_is_read_in_pages() {
    let store = TestStore::new();
    let history = &store.ports.history;
    history.create(&new_conversation("c")).unwrap();
    let items: Vec<_> = (0..25).map(|n| user_message(&n.to_string(), "x")).collect();
    history.write("c", &items).unwrap();
    let (last, more) = page(history.as_ref(), "c", None, 10);
    assert_eq!((item_ids(&last)[0], last.len(), more), ("15", 10, true), "the last items come first");
    let (middle, more) = page(history.as_ref(), "c", Some("15"), 10);
    assert_eq!((item_ids(&middle)[0], middle.len(), more), ("5", 10, true), "the previous page follows");
    assert_eq!(middle[0].parent.as_deref(), Some("4"), "the first item of a page has its parent");
    let (first, more) = page(history.as_ref(), "c", Some("5"), 10);
    assert_eq!((item_ids(&first).len(), more), (5, false), "the first page has no more before it");
    assert_eq!(page(history.as_ref(), "c", Some("0"), 10), (vec![], false), "no item comes before the first");
    let none = ItemRange { conversation: "c".into(), before: Some("none".into()), limit: 1, whole: true };
    assert_eq!(history.items(&none).unwrap(), None, "a missing item gives no page");
    let empty = ItemRange { before: None, limit: 0, ..none };
    assert!(history.items(&empty).unwrap().unwrap().items.is_empty(), "a limit of zero gives no items");
}

#[test]
fn large_contents_are_stored_once_and_restored() {
    let store = TestStore::new();
    let history = &store.ports.history;
    let picture = "AAEC".repeat(50_000);
    let long = "a long text ".repeat(1_000);
    let body = json!({"kind": "message", "role": "user", "content": [
        {"type": "text", "text": long}, {"type": "image", "data": picture, "mimeType": "image/png"},
    ]});
    for conversation in ["a", "b"] {
        history.create(&new_conversation(conversation)).unwrap();
        for id in ["1", "2", "3", "4"] {
            history.write(conversation, &[NewHistoryItem { body: body.clone(), ..user_message(id, "") }]).unwrap();
        }
    }
    assert_eq!(history.item("a", "3").unwrap().unwrap().body, body, "the complete item is read back");
    let range = ItemRange { conversation: "b".into(), before: None, limit: 1, whole: false };
    let page = history.items(&range).unwrap().unwrap();
    let item = &page.items[0];
    assert_eq!(item.body.pointer("/content/0/text"), Some(&json!(long)), "texts are included");
    assert_eq!(item.body.pointer("/content/1/data"), Some(&json!("")), "pictures are omitted");
    let left = &item.omitted[0];
    assert_eq!(
        (left.pointer.as_str(), left.bytes),
        ("/content/1/data", 150_000),
        "the omitted content has a place and a size"
    );
    assert!(!left.is_text, "the omitted content is base64");
    assert_eq!(
        history.blob(&left.hash).unwrap(),
        Some([0, 1, 2].repeat(50_000)),
        "omitted content can be read separately"
    );
    assert_eq!(history.blob(&"0".repeat(64)).unwrap(), None, "an unknown hash gives `None`");
    assert_eq!(history.blob("../../etc/passwd").unwrap(), None, "a path is not a hash");
    let size = std::fs::metadata(history.path()).unwrap().len()
        + std::fs::metadata(store.data().join("history.db-wal")).unwrap().len();
    assert!(size < 1_500_000, "eight equal pictures are stored once, including the journal: {size}");
}

#[test]
fn very_long_texts_are_read_on_request() {
    let store = TestStore::new();
    let history = &store.ports.history;
    history.create(&new_conversation("c")).unwrap();
    let (long, very_long) = ("港口 ".repeat(3_000), "港口 ".repeat(30_000));
    let body = json!({"kind": "message", "role": "user", "content": [
        {"type": "text", "text": long}, {"type": "text", "text": very_long},
    ]});
    history.write("c", &[NewHistoryItem { body: body.clone(), ..user_message("1", "") }]).unwrap();
    let item = history.item_outline("c", "1").unwrap().unwrap();
    assert_eq!(item.body.pointer("/content/0/text"), Some(&json!(long)), "a long text is included in its item");
    assert_eq!(item.body.pointer("/content/1/text"), Some(&json!("")), "a very long text is omitted");
    let left = &item.omitted[0];
    assert_eq!((left.pointer.as_str(), left.is_text), ("/content/1/text", true), "the omitted text has its place");
    assert_eq!(
        history.blob(&left.hash).unwrap(),
        Some(very_long.into_bytes()),
        "the omitted text can be read separately"
    );
    assert_eq!(history.item("c", "1").unwrap().unwrap().body, body, "the complete item includes the text");
    let range = ItemRange { conversation: "c".into(), before: None, limit: 1, whole: false };
    assert_eq!(history.items(&range).unwrap().unwrap().items, [item], "pages omit the same content");
}

#[test]
fn sources_of_a_conversation_are_stored() {
    let store = TestStore::new();
    let history = &store.ports.history;
    history.create(&new_conversation("c")).unwrap();
    let of = |id: &str, servers: &[&str]| NewHistoryItem {
        sources: servers.iter().map(|s| (*s).into()).collect(),
        ..user_message(id, "x")
    };
    history.write("c", &[of("1", &["b"]), of("2", &["a", "b"]), of("3", &[])]).unwrap();
    history.write("c", &[of("4", &["c", "a"])]).unwrap();
    let read = history.conversation("c").unwrap().unwrap();
    assert_eq!(read.sources, ["b", "a", "c"], "each source once, in order of appearance");
}

#[test]
fn merged_read_contents_stay_open_world() {
    let store = TestStore::new();
    let history = &store.ports.history;
    history.create(&new_conversation("c")).unwrap();
    let fetch = |open_world| ReadContent { open_world, ..ReadContent::new("a", ReadContentKind::Tool, "fetch") };
    let of = |id: &str, read_contents: Vec<ReadContent>| NewHistoryItem { read_contents, ..user_message(id, "x") };
    let note = ReadContent::new("b", ReadContentKind::Resource, "note://a");
    history.write("c", &[of("1", vec![fetch(true)]), of("2", vec![fetch(false), note.clone()])]).unwrap();
    let read = |id: &str| history.conversation(id).unwrap().map(|found| found.read_contents);
    assert_eq!(read("c"), Some(vec![fetch(true), note]), "S26: read contents of all items, each once");
    history.delete("c").unwrap();
    history.create(&new_conversation("c")).unwrap();
    assert_eq!(read("c"), Some(Vec::new()), "a deleted conversation has no read contents");
}

#[test]
fn contents_read_in_older_conversations_are_unknown() {
    let store = TestStore::new();
    let history = &store.ports.history;
    history.create(&new_conversation("c")).unwrap();
    history.write("c", &[NewHistoryItem { sources: vec!["a".into()], ..user_message("1", "x") }]).unwrap();
    // Brings the database into the state in which an older version left it.
    rusqlite::Connection::open(history.path()).unwrap().execute_batch("DROP TABLE reading").unwrap();
    let again = open_store(store.folder.path());
    let read = again.history.conversation("c").unwrap().unwrap().read_contents;
    let unknown = ReadContent { open_world: true, ..ReadContent::new("a", ReadContentKind::Unknown, "") };
    assert_eq!(read, [unknown], "S26: unknown content counts as external content");
}

#[test]
fn streaming_reply_is_updated_in_place() {
    let store = TestStore::new();
    let history = &store.ports.history;
    history.create(&new_conversation("c")).unwrap();
    history.write("c", &[user_message("1", "why?")]).unwrap();
    for text in ["Be", "Because", "Because of the tide"] {
        history.write("c", &[reply_item("2", text, ItemState::Streaming)]).unwrap();
    }
    let items = branch(history.as_ref(), "c");
    assert_eq!(
        (items[1].state, message_text(&items[1].body)),
        (ItemState::Streaming, "Because of the tide"),
        "a streaming reply is stored while it arrives"
    );
    history.write("c", &[reply_item("2", "Because of the tide.", ItemState::Whole)]).unwrap();
    let items = branch(history.as_ref(), "c");
    assert_eq!((items.len(), items[1].state), (2, ItemState::Whole), "the finished reply is the same item");
}
