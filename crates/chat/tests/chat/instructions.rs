//! Tests of a server's instructions: sent to the model only as approved by the user, and recorded as content of the
//! server.

use chat::{Chat, NewMessage, OfferedServer};
use domain::item::ItemBody;
use host::HostOptions;
use testkit::app::TestApp;
use testkit::model::{ScriptedModel, model_reference};

use super::model::{model_with_context_window, text_reply};
use super::{CONVERSATION_ID, TestConversation};

/// Approves the current instructions of the demo server for the model of the test conversation.
async fn approve_instructions(talk: &TestConversation) {
    let tools = talk.chat.conversation_tools(CONVERSATION_ID.into()).await.unwrap();
    let [instructions] = &tools.instructions[..] else {
        panic!("expected the instructions of one server: {:?}", tools.instructions)
    };
    let on = OfferedServer { server: "demo".into(), tools: None, instructions: Some(instructions.hash.clone()) };
    talk.change_settings(|settings| settings.servers = vec![on]).await;
}

/// X09: After a model has received content of one server, a call of another server requires consent, even if the user
/// has always allowed the called tool.
#[tokio::test]
async fn server_instructions_count_as_its_content_across_restarts() {
    let mut talk = TestConversation::new(vec![text_reply("Hello."), text_reply("And now.")], &["add"]).await;
    talk.send_and_wait_for_reply("Hi").await;
    let label = talk.app.host.data_flow_label(CONVERSATION_ID.into()).await.unwrap();
    assert_eq!(
        (label.servers.len(), label.is_whole),
        (0, true),
        "the conversation contains no content of servers: {label:?}"
    );
    approve_instructions(&talk).await;
    talk.send_and_wait_for_reply("Again").await;
    let system = talk.model.requests()[1].system.clone().unwrap_or_default();
    assert!(system.contains(r#"{"server":"demo","says":""#), "the instructions are data with their source: {system}");
    let label = talk.app.host.data_flow_label(CONVERSATION_ID.into()).await.unwrap();
    assert_eq!(label.servers, ["demo"], "X09: instructions count as content of the server without a call");

    talk.change_settings(|settings| settings.servers.clear()).await;
    talk.app.host.close().await;
    let TestConversation { app: TestApp { folder, host, .. }, chat, .. } = talk;
    drop((host, chat));
    let app = TestApp::start_in_folder(folder, vec![], HostOptions::default()).await;
    let model = ScriptedModel::add_to_host(&app.host, vec![model_with_context_window(None)]).await;
    model.queue_reply(text_reply("Still."));
    let message = NewMessage { text: "Hi".into(), model: Some(model_reference("m")), ..NewMessage::default() };
    Chat::new(app.host.clone()).send_message(CONVERSATION_ID.into(), message, None).await.unwrap();
    let label = app.host.data_flow_label(CONVERSATION_ID.into()).await.unwrap();
    assert_eq!(label.servers, ["demo"], "X09: the label is stored across restarts");
}

#[tokio::test]
async fn instructions_changed_since_the_review_are_not_sent() {
    let mut talk = TestConversation::new(vec![text_reply("Hello."), text_reply("Again.")], &["add"]).await;
    approve_instructions(&talk).await;
    talk.send_and_wait_for_reply("Hi").await;
    // The approved hash differs from the hash of the current instructions.
    talk.change_settings(|settings| settings.servers[0].instructions = Some("of other words".into())).await;
    let items = talk.send_and_wait_for_reply("Hi").await;
    let requests = talk.model.requests();
    let has = |n: usize| requests[n].system.as_ref().is_some_and(|system| system.contains(r#""says""#));
    assert!(has(0), "approved instructions are sent");
    assert!(!has(1), "changed instructions are not sent");
    let ItemBody::Reply { conversions, .. } = &items[3].body else { panic!("a reply: {items:?}") };
    assert!(
        conversions.iter().any(|words| words.contains("instructions of demo changed")),
        "the change is reported: {conversions:?}"
    );
}
