//! Tests of the data flow settings: after a model has read certain content of a server, calls of that server's tools
//! require consent (S26).

use chat::{Chat, NewMessage};
use domain::consent_request::ConsentRequestOrigin;
use domain::data_flow::{DataFlow, SameServerFlow};
use domain::history::{ReadContent, ReadContentKind};
use host::HostOptions;
use host::view::{ConsentRequestBody, ConsentRequestView, UserDecision};
use policy::ApprovalScope;
use serde_json::json;
use testkit::app::TestApp;
use testkit::model::{ScriptedModel, model_reference};

use super::actions_during_reply::message_with_attachment;
use super::model::{model_with_context_window, scripted_reply, text_reply, tool_use};
use super::{CONVERSATION_ID, TestConversation, reply_text};

fn is_tool_call_request(request: &ConsentRequestView) -> bool {
    matches!(request.body, ConsentRequestBody::Tool { .. })
}

/// Returns a conversation in which the user has always allowed the tool `add`, and the model has called it twice.
async fn conversation_with_always_allowed_tool() -> TestConversation {
    let tool_call = |n: u32| scripted_reply(vec![tool_use(&format!("u{n}"), "demo__add", json!({"a": n, "b": 1}))]);
    let answers = vec![
        tool_call(1),
        text_reply("Two."),
        tool_call(2),
        text_reply("Three."),
        tool_call(3),
        text_reply("Refused."),
        tool_call(4),
        text_reply("Five."),
    ];
    let mut talk = TestConversation::new(answers, &["add"]).await;
    talk.send("Add").await;
    let request = talk.app.consent_request("demo", "the first call", is_tool_call_request).await;
    assert!(
        request.scopes.contains(&ApprovalScope::Always),
        "a permanent approval is possible before any content was read: {request:?}"
    );
    talk.app.decide(&request, UserDecision::Allow(ApprovalScope::Always)).await;
    talk.wait_for_reply_run_end().await;
    let items = talk.send_and_wait_for_reply("Again").await;
    assert_eq!(reply_text(items.last().unwrap()), "Three.", "a local tool without a hint requires no further consent");
    talk
}

#[tokio::test]
async fn call_after_reading_a_resource_of_its_server_asks_unless_disabled() {
    let mut talk = conversation_with_always_allowed_tool().await;
    talk.chat.append_items(CONVERSATION_ID.into(), vec![message_with_attachment("a1")]).await.unwrap();
    talk.send("Use it").await;
    let request = talk.app.consent_request("demo", "the call after a resource", is_tool_call_request).await;
    assert_eq!(
        (request.reason, request.scopes),
        ("after-untrusted", &[ApprovalScope::Once][..]),
        "S26: the call requires consent, once"
    );
    let ConsentRequestOrigin::Model { same_server_readings: read, untrusted_servers: after, .. } = &request.origin
    else {
        panic!("the origin is not a model: {request:?}")
    };
    assert_eq!(
        read[..],
        [ReadContent::new("demo", ReadContentKind::Resource, "note://a")],
        "S26: the consent request names the content"
    );
    assert!(after.is_empty(), "no other server has content in the conversation: {after:?}");
    talk.app.decide(&request, UserDecision::Deny).await;
    talk.wait_for_reply_run_end().await;
    let off = DataFlow { same_server: SameServerFlow::Off, ..DataFlow::default() };
    talk.app.host.set_data_flow("demo".into(), off.clone()).await.unwrap();
    assert_eq!(talk.app.server("demo").await.flow, off, "the view contains the setting");
    assert!(talk.app.decisions().iter().any(|(kind, ..)| kind == "data-flow"), "the change is audited");
    let items = talk.send_and_wait_for_reply("Once more").await;
    assert_eq!(reply_text(items.last().unwrap()), "Five.", "a disabled check requires no consent");
}

#[tokio::test]
async fn read_contents_and_data_flow_setting_persist_across_restarts() {
    let talk = conversation_with_always_allowed_tool().await;
    let tool_call = |n: u32| scripted_reply(vec![tool_use(&format!("v{n}"), "demo__add", json!({"a": n, "b": 1}))]);
    talk.chat.append_items(CONVERSATION_ID.into(), vec![message_with_attachment("a1")]).await.unwrap();
    let first = talk.items()[0].id.clone();
    let everything = DataFlow { same_server: SameServerFlow::Everything, ..DataFlow::default() };
    talk.app.host.set_data_flow("demo".into(), everything.clone()).await.unwrap();
    talk.app.host.close().await;
    let TestConversation { app: TestApp { folder, host, .. }, chat, .. } = talk;
    drop((host, chat));
    let app = TestApp::start_in_folder(folder, vec![], HostOptions::default()).await;
    assert_eq!(app.server("demo").await.flow, everything, "the setting is stored");
    app.ready("demo").await;
    app.until("demo", "known whole", |s| s.counts[0] >= 16).await;
    let model = ScriptedModel::add_to_host(&app.host, vec![model_with_context_window(None)]).await;
    model.queue_reply(tool_call(1));
    model.queue_reply(text_reply("No."));
    let message = NewMessage { text: "Hi".into(), model: Some(model_reference("m")), ..Default::default() };
    // The other branch doesn't contain the attachment, but the label applies to the whole conversation.
    Chat::new(app.host.clone()).send_message(CONVERSATION_ID.into(), message, Some(first)).await.unwrap();
    let request = app.consent_request("demo", "the call after the restart", is_tool_call_request).await;
    assert_eq!(request.reason, "after-untrusted", "S26: the call requires consent");
    let ConsentRequestOrigin::Model { same_server_readings: read, .. } = &request.origin else {
        panic!("the origin is not a model: {request:?}")
    };
    assert!(
        read.contains(&ReadContent::new("demo", ReadContentKind::Resource, "note://a")),
        "S26: the label is stored: {read:?}"
    );
    assert!(
        read.contains(&ReadContent::new("demo", ReadContentKind::Tool, "add")),
        "S26: the label of a tool's output is stored: {read:?}"
    );
    app.host.close().await;
}
