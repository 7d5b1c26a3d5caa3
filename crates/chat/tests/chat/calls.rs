//! Tests of calls that a model requests: decided by the policy and the user, made concurrently, and their results sent
//! to the model.

use domain::call::{CallFailure, CallFailureCode};
use domain::consent_request::ConsentRequestOrigin;
use domain::item::{ChatItem, ItemBody, ItemState, Notice};
use host::CallOrigin;
use host::rules::TrustDuration;
use host::view::{AppSettings, ConsentRequestBody, ConsentRequestEdit, UserDecision};
use models::StopReason;
use policy::ApprovalScope;
use ports::server_config::{ServerConfig, ServerEntry, ToolFilter};
use serde_json::json;
use std::time::Duration;
use testkit::app::{EVENT_TIMEOUT, demo_config};
use testkit::calls::UserCalls as _;
use testkit::deadline::poll_until;
use testkit::model::final_reply_step;

use super::model::{scripted_reply, text_reply, tool_use};
use super::{CONVERSATION_ID, TestConversation, item_kinds, reply_text, tool_results};

fn is_tool_call_request(request: &host::view::ConsentRequestView) -> bool {
    matches!(request.body, ConsentRequestBody::Tool { .. })
}

fn tool_call_result_and_error(item: &ChatItem) -> (&str, Option<String>, Option<&str>) {
    let ItemBody::ToolCall { tool, result, error, .. } = &item.body else { panic!("{item:?} is not a call") };
    (tool, result.as_ref().map(|result| json!(result.content).to_string()), error.as_deref())
}

#[tokio::test]
async fn call_approved_with_edited_arguments_is_reported_to_the_model() {
    let tool_call = scripted_reply(vec![
        models::MessagePart::text("I add."),
        tool_use("u1", "demo__add", json!({"a": 2, "b": 40})),
    ]);
    let mut talk = TestConversation::new(vec![tool_call, text_reply("It is 43.")], &["add"]).await;
    let approve = async {
        let request = talk.app.consent_request("demo", "the call", is_tool_call_request).await;
        let call = request.call.clone().expect("the consent request names its call");
        assert!(
            matches!(
                &request.origin,
                ConsentRequestOrigin::Model { conversation, .. } if conversation == CONVERSATION_ID
            ),
            "the origin is the model"
        );
        let arguments = json!({"a": 3, "b": 40}).as_object().cloned().unwrap();
        let edited =
            talk.app.host.edit_consent_request(request.id, ConsentRequestEdit::Arguments(arguments)).await.unwrap();
        talk.app.decide(&edited, UserDecision::Allow(ApprovalScope::Once)).await;
        call
    };
    let message = chat::NewMessage { text: "Add 2 and 40".into(), ..Default::default() };
    talk.chat.send_message(CONVERSATION_ID.into(), message, None).await.unwrap();
    let pending = approve.await;
    let items = talk.wait_for_reply_run_end().await;
    let shape = [
        ("message", ItemState::Whole),
        ("reply", ItemState::Whole),
        ("call", ItemState::Whole),
        ("reply", ItemState::Whole),
    ];
    assert_eq!(item_kinds(&items), shape, "the call is between the two replies");
    assert_eq!(items[2].id, pending, "the consent request refers to the item");
    assert!(
        tool_call_result_and_error(&items[2]).1.is_some_and(|result| result.contains("3 + 40 = 43")),
        "the edited arguments were sent"
    );
    assert_eq!(reply_text(&items[3]), "It is 43.", "the model continued");
    let requests = talk.model.requests();
    let names: Vec<_> = requests[0].tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["demo__add"], "only reviewed tools are offered");
    let results = tool_results(requests[1].messages.last().unwrap());
    assert_eq!((results.len(), results[0].0.as_str(), results[0].2), (1, "u1", false), "one result: {results:?}");
    assert!(results[0].1.contains("The user changed the arguments") && results[0].1.contains("\"a\":3"), "{results:?}");
    assert!(results[0].1.contains("Data from the server \"demo\""), "the result includes its source: {results:?}");
}

#[tokio::test]
async fn calls_of_one_reply_run_concurrently_and_a_denial_has_its_reason() {
    let tool_calls = scripted_reply(vec![
        tool_use("u1", "demo__add", json!({"a": 1, "b": 1})),
        tool_use("u2", "demo__add", json!({"a": 2, "b": 2})),
        tool_use("u3", "demo__write_note", json!({})),
    ]);
    let mut talk = TestConversation::new(vec![tool_calls, text_reply("Done.")], &["add"]).await;
    let message = chat::NewMessage { text: "Add".into(), ..Default::default() };
    talk.chat.send_message(CONVERSATION_ID.into(), message, None).await.unwrap();
    let is = |a: u64| move |q: &host::view::ConsentRequestView| matches!(&q.body, ConsentRequestBody::Tool { arguments, .. } if arguments["a"] == a);
    let (first, second) = (
        talk.app.consent_request("demo", "the first", is(1)).await,
        talk.app.consent_request("demo", "the second", is(2)).await,
    );
    talk.app.decide(&second, UserDecision::Allow(ApprovalScope::Once)).await;
    talk.app.decide(&first, UserDecision::DenyBecause("wrong numbers".into())).await;
    let items = talk.wait_for_reply_run_end().await;
    let shape = [
        ("message", ItemState::Whole),
        ("reply", ItemState::Whole),
        ("call", ItemState::Whole),
        ("call", ItemState::Whole),
        ("own", ItemState::Whole),
        ("reply", ItemState::Whole),
    ];
    assert_eq!(item_kinds(&items), shape, "the calls are in the order of the requests");
    assert!(
        tool_call_result_and_error(&items[2]).2.is_some_and(|error| error.contains("wrong numbers")),
        "the error includes the reason of the denial"
    );
    assert!(tool_call_result_and_error(&items[3]).1.is_some(), "the approved call was made");
    let requests = talk.model.requests();
    let results = tool_results(requests[1].messages.last().unwrap());
    assert_eq!(
        results.iter().map(|(id, ..)| id.as_str()).collect::<Vec<_>>(),
        ["u1", "u2", "u3"],
        "all uses have results"
    );
    assert!(
        results[0].2 && results[0].1.contains("wrong numbers"),
        "X09: the model receives the reason of a denial: {results:?}"
    );
    assert!(!results[1].2 && results[1].1.contains("2 + 2 = 4"), "a result: {results:?}");
    assert!(
        results[2].2 && results[2].1.contains("has not reviewed"),
        "a tool that the user has not reviewed can't be called: {results:?}"
    );
}

#[tokio::test]
async fn stopping_a_reply_cancels_its_pending_calls() {
    let steps = scripted_reply(vec![tool_use("u1", "demo__add", json!({"a": 1, "b": 1}))]);
    let mut talk = TestConversation::new(vec![steps], &["add"]).await;
    let message = chat::NewMessage { text: "Add".into(), ..Default::default() };
    talk.chat.send_message(CONVERSATION_ID.into(), message, None).await.unwrap();
    talk.app.consent_request("demo", "the call", is_tool_call_request).await;
    assert!(talk.chat.stop_reply(CONVERSATION_ID), "a reply is in progress");
    let items = talk.wait_for_reply_run_end().await;
    assert_eq!(tool_call_result_and_error(items.last().unwrap()).2, Some("cancelled"), "the call was cancelled");
    assert!(talk.app.consent_requests().await.is_empty(), "the consent request was withdrawn");
    assert_eq!(talk.model.requests().len(), 1, "no further request is sent to the model");
}

#[tokio::test]
async fn quitting_cancels_pending_calls_and_sends_nothing_to_the_model() {
    let steps = scripted_reply(vec![tool_use("u1", "demo__add", json!({"a": 1, "b": 1}))]);
    let talk = TestConversation::new(vec![steps, text_reply("It failed.")], &["add"]).await;
    talk.send("Add").await;
    let request = talk.app.consent_request("demo", "the call", is_tool_call_request).await;
    talk.app.host.close().await;
    let is_over = || !talk.chat.is_replying_with_partial_reply(CONVERSATION_ID).0;
    assert!(poll_until(EVENT_TIMEOUT, is_over).await, "the run ends");
    let call = request.call.as_deref().expect("the consent request names its call");
    let stored = talk.app.host.ports().history.item(CONVERSATION_ID, call).unwrap().expect("the call is stored");
    let body: ItemBody = serde_json::from_value(stored.body).unwrap();
    assert!(
        matches!(body, ItemBody::ToolCall { failure: Some(CallFailureCode::Cancelled), .. }),
        "the call was cancelled: {body:?}"
    );
    assert_eq!(talk.model.requests().len(), 1, "no further request is sent to the model");
}

#[tokio::test]
async fn user_decides_whether_to_continue_after_many_tool_rounds() {
    let tool_call = |id: &str| scripted_reply(vec![tool_use(id, "demo__add", json!({"a": 1, "b": 1}))]);
    let mut talk =
        TestConversation::new(vec![tool_call("1"), tool_call("2"), tool_call("3"), text_reply("Enough.")], &["add"])
            .await;
    let mut settings = AppSettings::default();
    settings.chat.rounds = 2;
    talk.app.host.set_settings(settings).await.unwrap();
    let allowing = talk.app.decide_automatically(|request| {
        is_tool_call_request(request).then_some(UserDecision::Allow(ApprovalScope::Session))
    });
    let items = talk.send_and_wait_for_reply("Add for ever").await;
    let last = &items.last().unwrap().body;
    assert!(
        matches!(last, ItemBody::Notice { notice: Notice::Rounds { rounds: 2 } }),
        "the run stopped with a notice: {last:?}"
    );
    assert_eq!(talk.model.requests().len(), 2, "the model is limited to this number of rounds");
    talk.chat.continue_reply(CONVERSATION_ID.into()).await.unwrap();
    let items = talk.wait_for_reply_run_end().await;
    assert_eq!(reply_text(items.last().unwrap()), "Enough.", "the model continued when the user allowed it");
    let requests = talk.model.requests();
    assert!(!format!("{:?}", requests[2].messages).contains("Rounds"), "the notice is not sent to the model");
    allowing.abort();
}

/// Returns the arguments with which the tool `read_result` reads the rest of a result, as the note at the end of the
/// truncated text says.
fn read_result_arguments_in_note(note: &str) -> Option<serde_json::Value> {
    let how = note.split_once(" with ")?.1.strip_suffix(".)")?;
    serde_json::from_str(how).ok()
}

#[tokio::test]
async fn long_tool_result_is_read_in_parts() {
    let steps = scripted_reply(vec![tool_use("u1", "demo__show_everything", json!({}))]);
    let mut talk = TestConversation::new(vec![steps, text_reply("Read.")], &["show_everything"]).await;
    let mut settings = AppSettings::default();
    settings.chat.result_bytes = 256;
    talk.app.host.set_settings(settings).await.unwrap();
    let allowing = talk.app.decide_automatically(|request| {
        is_tool_call_request(request).then_some(UserDecision::Allow(ApprovalScope::Once))
    });
    let items = talk.send_and_wait_for_reply("Show").await;
    let ItemBody::ToolCall { omitted_bytes: Some(omitted), .. } = &items[2].body else {
        panic!("{:?} is long", items[2])
    };
    let requests = talk.model.requests();
    let results = tool_results(requests[1].messages.last().unwrap());
    let note = results[0].1.lines().last().unwrap_or_default();
    assert!(
        note.starts_with(&format!("({omitted} more bytes were omitted.")),
        "the note contains the number of omitted bytes: {note}"
    );
    assert_eq!(requests[0].tools.len(), 1, "the tool for reading more is not offered without a long result");
    assert_eq!(
        requests[1].tools.last().map(|tool| tool.name.as_str()),
        Some("read_result"),
        "the tool for reading more is offered last"
    );
    let ItemBody::ToolCall { result: Some(result), .. } = &items[2].body else { panic!("the item has no result") };
    let all = chat::model_context::result_text(result);
    let mut how = read_result_arguments_in_note(note).expect("the note contains the arguments for reading more");
    assert_eq!(how["from"].as_u64().unwrap() + omitted, all.len() as u64, "reading continues at the truncation");
    // Reads from the start, with the arguments of each note, until a part has no note.
    how["from"] = json!(0);
    let (mut whole, mut next) = (String::new(), Some(how));
    for number in 0.. {
        let Some(how) = next else { break };
        talk.model.queue_reply(scripted_reply(vec![tool_use(&format!("r{number}"), "read_result", how)]));
        talk.model.queue_reply(text_reply("Read."));
        talk.send_and_wait_for_reply("Go on").await;
        let results = tool_results(talk.model.requests().last().unwrap().messages.last().unwrap());
        assert!(!results[0].2, "reading more of the result succeeds: {results:?}");
        let piece = results[0].1.split_once('\n').expect("the source precedes the part").1;
        let note = piece.rsplit_once("\n(").and_then(|(text, note)| Some((text, read_result_arguments_in_note(note)?)));
        whole.push_str(note.as_ref().map_or(piece, |(text, _)| text));
        next = note.map(|(_, how)| how);
    }
    assert_eq!(whole, all, "the parts add up to the complete result");
    allowing.abort();
}

#[tokio::test]
async fn content_of_one_server_makes_a_call_to_another_require_consent_again() {
    let first = scripted_reply(vec![tool_use("u1", "demo__add", json!({"a": 1, "b": 1}))]);
    let obeys = scripted_reply(vec![tool_use("u2", "other__write_note", json!({"name": "led", "text": "canary-37"}))]);
    let answers = vec![first, obeys, text_reply("I was told no.")];
    let reviewed = ["add", "write_note"];
    let mut talk = TestConversation::with_servers(answers, &["demo", "other"], &reviewed, Some(1_000_000)).await;
    let own = json_object(&json!({"name": "own", "text": "mine"}));
    let by_hand = talk.app.host.call_tool("1".into(), "other".into(), "write_note".into(), own, None);
    let allow = async {
        let request = talk.app.consent_request("other", "the user's call", is_tool_call_request).await;
        talk.app.decide(&request, UserDecision::Allow(ApprovalScope::Always)).await;
    };
    assert!(tokio::join!(by_hand, allow).0.is_ok(), "the tool is always allowed");
    let message = chat::NewMessage { text: "Add".into(), ..Default::default() };
    talk.chat.send_message(CONVERSATION_ID.into(), message, None).await.unwrap();
    let request = talk.app.consent_request("demo", "the first call", is_tool_call_request).await;
    talk.app.decide(&request, UserDecision::Allow(ApprovalScope::Once)).await;
    let request = talk.app.consent_request("other", "the call that a result led to", is_tool_call_request).await;
    let ConsentRequestOrigin::Model { untrusted_servers: after, .. } = &request.origin else {
        panic!("the origin is not a model: {request:?}")
    };
    assert_eq!(after[..], ["demo".to_owned()], "X09: the consent request names the server whose content precedes it");
    let ConsentRequestBody::Tool { arguments: shown, .. } = &request.body else {
        panic!("the request is not a tool call: {request:?}")
    };
    assert_eq!(shown["text"], "canary-37", "X09: the consent request contains the whole payload");
    talk.app.decide(&request, UserDecision::Deny).await;
    let items = talk.wait_for_reply_run_end().await;
    assert_eq!(reply_text(items.last().unwrap()), "I was told no.", "the model continues");
    assert!(!talk.app.activity("other").await.contains("canary-37"), "X09: nothing was sent");
}

fn json_object(value: &serde_json::Value) -> serde_json::Map<String, serde_json::Value> {
    value.as_object().cloned().unwrap()
}

#[tokio::test]
async fn call_stopped_after_sending_is_stored_with_an_unknown_outcome() {
    let steps = scripted_reply(vec![tool_use("u1", "demo__slow_report", json!({"seconds": 60, "steps": 2}))]);
    let mut talk = TestConversation::new(vec![steps], &["slow_report"]).await;
    talk.send("Report").await;
    let request = talk.app.consent_request("demo", "the call", is_tool_call_request).await;
    let changed = json!({"seconds": 61, "steps": 2});
    let edited = talk
        .app
        .host
        .edit_consent_request(request.id, ConsentRequestEdit::Arguments(json_object(&changed)))
        .await
        .unwrap();
    talk.app.decide(&edited, UserDecision::Allow(ApprovalScope::Once)).await;
    let sent = |item: &ChatItem| matches!(&item.body, ItemBody::ToolCall { arguments, .. } if *arguments == changed);
    let deadline = tokio::time::Instant::now() + EVENT_TIMEOUT;
    while !sent(&talk.items()[2]) {
        assert!(tokio::time::Instant::now() < deadline, "the sent arguments are stored during the call");
        // sleep: polls for a condition that no event reports.
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(talk.items()[2].state, ItemState::Streaming, "the item is streaming during the call");
    assert!(talk.chat.stop_reply(CONVERSATION_ID), "a reply was in progress");
    let items = talk.wait_for_reply_run_end().await;
    assert!(sent(&items[2]), "the sent arguments are retained after the failure: {:?}", items[2]);
    let error = tool_call_result_and_error(&items[2]).2.unwrap_or_default();
    assert!(error.contains("may have taken effect"), "the error states that the outcome is unknown: {error}");
}

#[tokio::test]
async fn reply_truncated_or_refused_by_the_provider_makes_no_calls() {
    for stop in [StopReason::MaxTokens, StopReason::Refused] {
        let part = tool_use("u1", "demo__add", json!({"a": 1, "b": 1}));
        let steps = vec![final_reply_step(vec![models::MessagePart::text("I"), part], stop.clone(), (10, 10))];
        let mut talk = TestConversation::new(vec![steps, text_reply("Well.")], &["add"]).await;
        let items = talk.send_and_wait_for_reply("Add").await;
        assert_eq!(
            item_kinds(&items),
            [("message", ItemState::Whole), ("reply", ItemState::Whole)],
            "{stop:?}: no call is made"
        );
        talk.send_and_wait_for_reply("Go on").await;
        let results = tool_results(&talk.model.requests()[1].messages[2]);
        assert!(results[0].2 && results[0].1.contains("was not made"), "{stop:?}: the model is informed: {results:?}");
    }
}

/// Returns the settings of a demo server in which the user has disabled these tools for models.
fn demo_server_with_disabled_tools(disabled: &[&str]) -> ServerEntry {
    let tools = ToolFilter { enabled: None, disabled: disabled.iter().map(|&tool| tool.to_owned()).collect() };
    ServerEntry { name: "demo".to_owned(), config: ServerConfig { tools, ..demo_config(&[]) } }
}

#[tokio::test]
async fn a_model_that_calls_an_unreviewed_tool_learns_that_its_review_is_missing() {
    let tool_call = scripted_reply(vec![tool_use("u1", "demo__add", json!({"a": 2, "b": 40}))]);
    let mut talk = TestConversation::new(vec![tool_call, text_reply("I can't.")], &["show_everything"]).await;
    talk.send_and_wait_for_reply("Add 2 and 40").await;
    let results = tool_results(talk.model.requests()[1].messages.last().unwrap());
    assert!(
        results[0].2 && results[0].1.contains("has not reviewed the tool \"demo__add\" of demo"),
        "the model is informed: {results:?}"
    );
}

#[tokio::test]
async fn a_tool_that_is_turned_off_in_the_settings_is_neither_offered_nor_called() {
    let tool_call = || scripted_reply(vec![tool_use("u1", "demo__add", json!({"a": 2, "b": 40}))]);
    let mut talk = TestConversation::new(
        vec![tool_call(), text_reply("I can't."), tool_call(), text_reply("42.")],
        &["add", "show_everything"],
    )
    .await;
    let pid = talk.app.server("demo").await.pid;
    talk.app.host.set_server_trust("demo".into(), TrustDuration::Run).await.unwrap();
    talk.app.host.update_server("demo".into(), demo_server_with_disabled_tools(&["ad*"])).await.unwrap();
    let items = talk.send_and_wait_for_reply("Add 2 and 40").await;
    let shape = [
        ("message", ItemState::Whole),
        ("reply", ItemState::Whole),
        ("own", ItemState::Whole),
        ("reply", ItemState::Whole),
    ];
    assert_eq!(item_kinds(&items), shape, "no call of the tool is made");
    let requests = talk.model.requests();
    let names: Vec<_> = requests[0].tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["demo__show_everything"], "the other reviewed tool is offered");
    let results = tool_results(requests[1].messages.last().unwrap());
    assert!(
        results[0].2 && results[0].1.contains("turned off for models in the settings"),
        "the model is informed: {results:?}"
    );

    // The host refuses the call, even if the tool is still offered to the model.
    let origin = CallOrigin::Model { conversation: CONVERSATION_ID.into() };
    let (arguments, sent) = (json_object(&json!({"a": 2, "b": 40})), tokio::sync::oneshot::channel().0);
    let call = talk.app.host.call_tool_as(origin, "c".into(), "demo".into(), "add".into(), arguments.clone(), sent);
    let refused = tokio::time::timeout(EVENT_TIMEOUT, call).await.expect("the call ends without a consent request");
    assert!(matches!(&refused, Err(CallFailure::Refused { text, .. }) if text.contains("turned off")), "{refused:?}");
    let own = talk.app.host.call_tool("d".into(), "demo".into(), "add".into(), arguments, None);
    tokio::time::timeout(EVENT_TIMEOUT, own)
        .await
        .expect("the server is trusted")
        .expect("the user's own call is made");

    talk.app.host.update_server("demo".into(), demo_server_with_disabled_tools(&["show_everything"])).await.unwrap();
    let items = talk.send_and_wait_for_reply("Try again").await;
    assert_eq!(reply_text(items.last().unwrap()), "42.", "an enabled tool is called: {items:?}");
    assert_eq!(talk.app.server("demo").await.pid, pid, "the server was not restarted");
}
