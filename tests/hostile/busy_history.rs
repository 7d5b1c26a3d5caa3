//! Tests that a history database which another process writes does not delay servers (S15).

use std::time::Instant;

use chat::{Chat, ToolCall};
use domain::call::CallState;
use domain::history::Conversation;
use domain::item::ItemBody;
use host::CallOrigin;
use host::view::HostEvent;
use rusqlite::Connection;
use serde_json::{Map, json};
use testkit::app::scripted_config;

use crate::call_times::{BLOCKED_TIME, MAX_CALL_TIME, assert_calls_stay_quick};
use crate::pair::GoodAndBadServers;

/// Identifier of the conversation to which the calls belong.
const CONVERSATION_ID: &str = "talk";
const CALL_ID: &str = "stored-later";

#[tokio::test]
async fn s15_busy_history_delays_no_call() {
    let what = "S15, another process has the history for itself";
    let pair = GoodAndBadServers::ready(scripted_config(&[])).await;
    let (host, chat) = (&pair.app.host, Chat::new(pair.app.host.clone()));
    let conversation = Conversation { id: CONVERSATION_ID.into(), title: "Talk".into(), ..Conversation::default() };
    host.ports().history.create(&conversation).unwrap();

    let busy = Connection::open(pair.app.folder.path().join("data").join("history.db")).unwrap();
    busy.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let (began, mut events) = (Instant::now(), host.events());
    let call = ToolCall {
        id: CALL_ID.into(),
        origin: CallOrigin::User { conversation: Some(CONVERSATION_ID.into()) },
        server: "bad".into(),
        tool: "echo".into(),
        app: None,
        arguments: Map::from_iter([("text".to_owned(), json!("hello"))]),
        repeats: None,
    };
    let call = tokio::spawn(async move { chat.call_tool(call).await });
    let is_done = |event: &HostEvent| matches!(event, HostEvent::CallChanged(call) if call.id == CALL_ID && call.state == CallState::Done);
    let done = async { while !is_done(&events.next().await.expect("the host runs").event) {} };
    tokio::time::timeout(MAX_CALL_TIME, done)
        .await
        .expect("the call of the conversation ends while the history is busy");

    assert_calls_stay_quick(&pair, BLOCKED_TIME.saturating_sub(began.elapsed()), what).await;
    assert!(!call.is_finished(), "{what}: the call is not stored yet");

    drop(busy);
    let result = call.await.unwrap().expect("the call has a result");
    let item = host.ports().history.item(CONVERSATION_ID, CALL_ID).unwrap().expect("the call is stored afterwards");
    let body: ItemBody = serde_json::from_value(item.body).unwrap();
    assert!(
        matches!(&body, ItemBody::ToolCall { result: Some(stored), .. } if *stored == result),
        "{what}: the stored result equals the returned one: {body:?}"
    );
    pair.close(what).await;
}
