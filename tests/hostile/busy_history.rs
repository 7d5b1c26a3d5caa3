//! Tests that a history database which another process writes does not delay servers (S15).

use std::time::{Duration, Instant};

use chat::{Chat, ToolCall};
use domain::call::CallState;
use domain::history::Conversation;
use domain::item::ItemBody;
use host::CallOrigin;
use host::view::HostEvent;
use rusqlite::Connection;
use serde_json::{Map, json};
use testkit::app::scripted_config;

use crate::pair::GoodAndBadServers;

/// Time for which the history database is locked. It is shorter than the lock timeout of the store, so that no data is
/// lost.
const HISTORY_LOCK_DURATION: Duration = Duration::from_secs(2);
/// Maximum median duration of the calls while the history database is locked.
const MAX_MEDIAN_CALL_TIME: Duration = Duration::from_millis(100);
/// Maximum duration of each call while the history database is locked, on a busy test machine. A call that waited for
/// the lock would exceed it.
const MAX_CALL_TIME: Duration = Duration::from_secs(1);
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

    let mut times = Vec::new();
    while began.elapsed() < HISTORY_LOCK_DURATION {
        let started = Instant::now();
        let answered = pair.call_echo_tool("good", &format!("meanwhile-{}", times.len()), "hello").await;
        assert!(answered.is_ok(), "{what}: the other server responds: {answered:?}");
        times.push(started.elapsed());
    }
    times.sort_unstable();
    let (half, slowest) = (times[times.len() / 2], times[times.len() - 1]);
    assert!(half < MAX_MEDIAN_CALL_TIME, "{what}: half of {} calls end within {half:?}", times.len());
    assert!(slowest < MAX_CALL_TIME, "{what}: the slowest of {} calls ends within {slowest:?}", times.len());
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
