//! Tests of a conversation's model parameters: sent with each request, stored, and bounded.

use std::sync::Arc;

use chat::export::ExportFormat;
use chat::{ConversationError, ConversationSettings, MAX_REPLY_TOKENS};
use domain::item::ItemBody;
use models::{Model, Provider};
use testkit::model::{model_named, model_reference};

use super::model::text_reply;
use super::{CONVERSATION_ID, TestConversation};

#[tokio::test]
async fn model_parameters_are_sent_stored_and_exported() {
    let mut talk = TestConversation::new(vec![text_reply("One"), text_reply("Two")], &[]).await;
    talk.send_and_wait_for_reply("first").await;
    talk.change_settings(|settings| (settings.temperature, settings.max_tokens) = (Some(0.3), Some(700))).await;
    talk.send_and_wait_for_reply("second").await;
    let sent: Vec<_> = talk.model.requests().iter().map(|request| (request.temperature, request.max_tokens)).collect();
    assert_eq!(sent, [(None, None), (Some(0.3), Some(700))], "unset parameters are not sent, set ones are");
    let open = talk.chat.conversation(CONVERSATION_ID.into()).await.unwrap().expect("the conversation exists");
    assert_eq!((open.settings.temperature, open.settings.max_tokens), (Some(0.3), Some(700)), "they are stored");
    let (_, text) = talk.chat.export_conversation(CONVERSATION_ID.into(), ExportFormat::Json).await.unwrap();
    let exported: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(exported["settings"]["max_tokens"], 700, "they are exported: {}", exported["settings"]);
    talk.change_settings(|settings| (settings.temperature, settings.max_tokens) = (None, None)).await;
    let stored =
        talk.app.host.ports().history.conversation(CONVERSATION_ID).unwrap().expect("the conversation exists").settings;
    assert!(stored.get("temperature").is_none() && stored.get("max_tokens").is_none(), "unset is absent: {stored}");
}

#[tokio::test]
async fn parameters_above_the_limits_of_the_model_are_lowered_and_reported() {
    let mut talk = TestConversation::new(vec![text_reply("One")], &[]).await;
    let limited = Model { max_output: Some(500), ..model_named("m") };
    let provider = Arc::clone(&talk.model) as Arc<dyn Provider>;
    talk.app.host.add_unsaved_provider(model_reference("m").provider, provider, vec![limited]).await.unwrap();
    talk.change_settings(|settings| settings.max_tokens = Some(700)).await;
    let items = talk.send_and_wait_for_reply("Hi").await;
    assert_eq!(talk.model.requests()[0].max_tokens, Some(500), "the limit of the model is sent");
    let ItemBody::Reply { conversions, .. } = &items[1].body else { panic!("a reply: {items:?}") };
    assert!(
        conversions.iter().any(|conversion| conversion.contains("lowered from 700 to 500")),
        "it is reported: {conversions:?}"
    );
}

#[tokio::test]
async fn model_parameters_out_of_bounds_are_not_stored() {
    let talk = TestConversation::new(Vec::new(), &[]).await;
    let hot = ConversationSettings { temperature: Some(2.5), ..ConversationSettings::default() };
    let set = talk.chat.set_conversation_settings(CONVERSATION_ID.into(), hot).await;
    assert_eq!(set, Err(ConversationError::Temperature), "a temperature above 2");
    let long = ConversationSettings { max_tokens: Some(MAX_REPLY_TOKENS + 1), ..ConversationSettings::default() };
    assert_eq!(
        talk.chat.set_conversation_settings(CONVERSATION_ID.into(), long).await,
        Err(ConversationError::ReplyTokens),
        "too many tokens"
    );
    let open = talk.chat.conversation(CONVERSATION_ID.into()).await.unwrap().expect("the conversation exists");
    assert_eq!((open.settings.temperature, open.settings.max_tokens), (None, None), "nothing was stored");
}
