//! Tests of the search, in several scripts and with a prefix of a word.

use domain::history::HistorySearch;
use domain::item::ItemState;
use ports::History;

use super::{new_conversation, reply_item, user_message};
use crate::common::TestStore;

pub(crate) fn search_query(text: &str) -> HistorySearch {
    HistorySearch { text: text.into(), limit: 200, before: None }
}

fn found_ids(history: &dyn History, text: &str) -> Vec<String> {
    history.search(&search_query(text)).unwrap().into_iter().map(|found| found.item).collect()
}

#[test]
fn text_in_all_writing_systems_is_searchable() {
    let store = TestStore::new();
    let history = &store.ports.history;
    history.create(&new_conversation("c")).unwrap();
    let items = [
        user_message("english", "The ferry to Ålesund leaves from pier 4, says read_file."),
        user_message("chinese", "我们明天早上在港口见面，然后坐船去北京。"),
        user_message("both", "在 Bergen 的港口 wait for the ferry"),
        user_message("japanese", "フェリーは港から出ます"),
        user_message("korean", "내일 항구에서 만나요"),
        user_message("russian", "Паром отходит в шесть"),
        user_message("thai", "เรือออกจากท่าเรือ"),
    ];
    history.write("c", &items).unwrap();
    let cases: &[(&str, &[&str])] = &[
        ("ferry", &["both", "english"]),
        ("FERRY alesund", &["english"]),
        ("fer", &["both", "english"]),
        ("fer ", &[]),
        ("read_file", &["english"]),
        ("港口", &["both", "chinese"]),
        ("港", &["japanese", "both", "chinese"]),
        ("早上 北京", &["chinese"]),
        ("口港", &[]),
        ("明天早上在港口", &["chinese"]),
        ("bergen 港口", &["both"]),
        ("フェリー", &["japanese"]),
        ("항구", &["korean"]),
        ("паром", &["russian"]),
        ("ท่าเรือ", &["thai"]),
        ("nothing", &[]),
        ("", &[]),
        ("\" OR text:*", &[]),
        ("ferry NOT pier", &[]),
    ];
    for (text, expected) in cases {
        assert_eq!(found_ids(history.as_ref(), text), *expected, "results for {text:?}, latest first");
    }
}

#[test]
fn search_result_has_its_position_and_excerpt() {
    let store = TestStore::new();
    let history = &store.ports.history;
    history.create(&new_conversation("c")).unwrap();
    history
        .write("c", &[user_message("1", "first the 港口 of <b>Bergen</b>"), user_message("2", "then Bergen again")])
        .unwrap();
    let page = history.search(&HistorySearch { limit: 1, ..search_query("bergen") }).unwrap();
    assert_eq!(
        (page.len(), page[0].item.as_str(), page[0].at),
        (1, "2", 10),
        "latest first, limited to the requested count"
    );
    assert_eq!(
        (page[0].conversation.as_str(), page[0].title.as_str()),
        ("c", "Title of c"),
        "a result has its conversation"
    );
    let older = history.search(&HistorySearch { before: Some(page[0].number), ..search_query("bergen") }).unwrap();
    assert_eq!(older.len(), 1, "the next page starts after the result");
    let excerpt = &older[0].excerpt;
    assert_eq!(excerpt.text, "first the 港口 of <b>Bergen</b>", "the excerpt has the original text");
    assert_eq!(excerpt.matches, [(19, 25)], "the excerpt has the range of the match");
}

#[test]
fn search_finds_the_current_text() {
    let store = TestStore::new();
    let history = &store.ports.history;
    history.create(&new_conversation("c")).unwrap();
    history.write("c", &[user_message("1", "old words"), reply_item("2", "coming", ItemState::Streaming)]).unwrap();
    assert_eq!(found_ids(history.as_ref(), "coming"), Vec::<String>::new(), "a streaming reply is not found");
    history.write("c", &[user_message("1", "new words"), reply_item("2", "coming in", ItemState::Whole)]).unwrap();
    assert_eq!(found_ids(history.as_ref(), "coming"), ["2"], "a finished reply is found with its final text");
    assert_eq!(found_ids(history.as_ref(), "old"), Vec::<String>::new(), "overwritten text is not found");
    assert_eq!(found_ids(history.as_ref(), "new"), ["1"], "the new text is found");
}
