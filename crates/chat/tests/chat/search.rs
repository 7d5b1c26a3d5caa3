//! Tests of a model that finds tools by search, because their definitions are too large to send.

use domain::item::ItemBody;
use host::view::{ConsentRequestBody, UserDecision};
use policy::ApprovalScope;
use serde_json::json;

use super::model::{scripted_reply, text_reply, tool_use};
use super::{TestConversation, item_kinds, tool_results};

#[tokio::test]
async fn model_can_call_a_tool_found_by_search() {
    let finds = scripted_reply(vec![tool_use("u1", "search_tools", json!({"query": "add two numbers"}))]);
    let calls = scripted_reply(vec![tool_use("u2", "demo__add", json!({"a": 2, "b": 40}))]);
    // The model's context is so small that even a few definitions exceed the threshold.
    let reviewed = ["add", "write_note", "fail", "ask_user"];
    let mut talk =
        TestConversation::with_context_window(vec![finds, calls, text_reply("42.")], &reviewed, Some(1_000)).await;
    let allowing = talk.app.decide_automatically(|request| {
        matches!(request.body, ConsentRequestBody::Tool { .. }).then_some(UserDecision::Allow(ApprovalScope::Once))
    });
    let items = talk.send_and_wait_for_reply("What is 2 + 40?").await;
    let shape: Vec<_> = item_kinds(&items).into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(shape, ["message", "reply", "own", "reply", "call", "reply"], "a search precedes the call");
    let requests = talk.model.requests();
    let offered = |n: usize| requests[n].tools.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>();
    assert_eq!(offered(0), ["search_tools"], "the first request offers only the search");
    let ItemBody::OwnTool { found, is_error: false, .. } = &items[2].body else {
        panic!("{:?} found something", items[2])
    };
    assert_eq!(found[0].key, "demo__add", "the best match is first: {found:?}");
    let keys: Vec<_> = std::iter::once("search_tools".to_owned()).chain(found.iter().map(|t| t.key.clone())).collect();
    assert_eq!(offered(1), keys, "the second request also offers the found tools in order");
    assert_eq!(offered(2), keys, "the found tools stay offered");
    let results = tool_results(requests[2].messages.last().unwrap());
    assert!(results[0].1.contains("2 + 40 = 42"), "the call was made: {results:?}");
    allowing.abort();
}
