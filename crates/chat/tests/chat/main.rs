//! Tests of conversations with a scripted model: requests to the model, its calls, and the history.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::type_complexity, missing_docs)]

mod actions_during_reply;
mod app_tools;
mod by_user;
mod calls;
mod conversations;
mod failing_history;
mod flow;
mod instructions;
mod model;
mod output_schemas;
mod parameters;
mod relisted;
mod replies;
mod reviews;
mod saved_prompts;
mod search;
mod skills;

use std::sync::Arc;

use chat::{Chat, ConversationSettings, NewMessage, OfferedServer};
use domain::history::{Conversation, ItemRange};
use domain::item::{ChatItem, ConversationEvent, ItemBody, ItemState, ReplyPart};
use host::view::HostEvent;
use host::{DefinitionShownToUser, EventReceiver};
use models::{MessagePart, ModelMessage};
use offers::review::DefinitionKind;
use testkit::app::{EVENT_TIMEOUT, TestApp, demo_config};
use testkit::model::{ModelStep, ScriptedModel, model_reference};

use model::model_with_context_window;

/// A conversation with a scripted model and demo servers, some of whose tools count as reviewed by the user.
pub(crate) struct TestConversation {
    pub(crate) app: TestApp,
    pub(crate) chat: Chat,
    pub(crate) model: Arc<ScriptedModel>,
    pub(crate) events: EventReceiver,
}

/// Identifier of the test conversation in the history.
pub(crate) const CONVERSATION_ID: &str = "talk";

impl TestConversation {
    pub(crate) async fn new(answers: Vec<Vec<ModelStep>>, reviewed: &[&str]) -> Self {
        Self::with_context_window(answers, reviewed, Some(1_000_000)).await
    }

    /// Creates a conversation with a model whose context has `context` tokens, and with a demo server if `reviewed`
    /// names tools.
    pub(crate) async fn with_context_window(
        answers: Vec<Vec<ModelStep>>,
        reviewed: &[&str],
        context: Option<u32>,
    ) -> Self {
        let names = if reviewed.is_empty() { Vec::new() } else { vec!["demo"] };
        Self::with_servers(answers, &names, reviewed, context).await
    }

    /// Creates a conversation with demo servers of these names. The tools `reviewed` of each count as reviewed by the
    /// user.
    pub(crate) async fn with_servers(
        answers: Vec<Vec<ModelStep>>,
        names: &[&str],
        reviewed: &[&str],
        context: Option<u32>,
    ) -> Self {
        let app = TestApp::start(names.iter().map(|name| (*name, demo_config(&[]))).collect()).await;
        Self::with_app(app, answers, names, reviewed, context).await
    }

    /// Creates a conversation on a host whose settings contain these demo servers.
    pub(crate) async fn with_app(
        app: TestApp,
        answers: Vec<Vec<ModelStep>>,
        names: &[&str],
        reviewed: &[&str],
        context: Option<u32>,
    ) -> Self {
        for name in names {
            app.ready(name).await;
            app.until(name, "known whole", |s| s.counts[0] >= 16).await;
            review_tools(&app, name, reviewed).await;
        }
        let model = ScriptedModel::add_to_host(&app.host, vec![model_with_context_window(context)]).await;
        answers.into_iter().for_each(|answer| model.queue_reply(answer));
        let conversation = Conversation { id: CONVERSATION_ID.into(), title: "Talk".into(), ..Conversation::default() };
        app.host.ports().history.create(&conversation).unwrap();
        let offered = |name: &&str| OfferedServer { server: (*name).to_owned(), tools: None, instructions: None };
        let servers = names.iter().map(offered).collect();
        let settings =
            ConversationSettings { model: Some(model_reference("m")), servers, ..ConversationSettings::default() };
        let chat = Chat::new(app.host.clone());
        chat.set_conversation_settings(CONVERSATION_ID.into(), settings).await.unwrap();
        let events = app.host.events();
        Self { app, chat, model, events }
    }

    /// Sends a message of the user to the model without waiting for the reply.
    pub(crate) async fn send(&self, text: &str) {
        let message = NewMessage { text: text.into(), ..NewMessage::default() };
        self.chat.send_message(CONVERSATION_ID.into(), message, None).await.unwrap();
    }

    /// Applies a change to the settings of the conversation.
    pub(crate) async fn change_settings(&self, change: impl FnOnce(&mut ConversationSettings)) {
        let stored =
            self.app.host.ports().history.conversation(CONVERSATION_ID).unwrap().expect("the conversation exists");
        let mut settings = ConversationSettings::from_stored(&stored.settings);
        change(&mut settings);
        self.chat.set_conversation_settings(CONVERSATION_ID.into(), settings).await.unwrap();
    }

    /// Waits for the first event with a delta of the model's reply.
    pub(crate) async fn wait_for_delta(&mut self) {
        let until = async {
            while let Some(event) = self.events.next().await {
                if matches!(event.event, HostEvent::Conversation(ConversationEvent::ReplyDelta { .. })) {
                    return;
                }
            }
        };
        tokio::time::timeout(EVENT_TIMEOUT, until).await.expect("the reply starts");
    }

    /// Sends a message, and waits for the end of the reply run. Returns the items of the visible branch.
    pub(crate) async fn send_and_wait_for_reply(&mut self, text: &str) -> Vec<ChatItem> {
        self.send(text).await;
        self.wait_for_reply_run_end().await
    }

    /// Waits for the end of the reply run. Returns the items of the visible branch.
    pub(crate) async fn wait_for_reply_run_end(&mut self) -> Vec<ChatItem> {
        let until = async {
            while let Some(event) = self.events.next().await {
                if matches!(
                    event.event,
                    HostEvent::Conversation(ConversationEvent::ItemChanged { answering: false, .. })
                ) {
                    return;
                }
            }
        };
        tokio::time::timeout(EVENT_TIMEOUT, until).await.expect("the run ends");
        self.items()
    }

    /// Returns the items of the visible branch.
    pub(crate) fn items(&self) -> Vec<ChatItem> {
        let range = ItemRange { conversation: CONVERSATION_ID.into(), before: None, limit: 1_000, whole: true };
        let page = self.app.host.ports().history.items(&range).unwrap().expect("the conversation exists");
        let read = |item: domain::history::StoredHistoryItem| ChatItem {
            id: item.id,
            parent: item.parent,
            at: item.at,
            state: item.state,
            body: serde_json::from_value(item.body).expect("every item has a known kind"),
        };
        page.items.into_iter().map(read).collect()
    }
}

/// Marks these tools of a demo server as reviewed by the user.
pub(crate) async fn review_tools(app: &TestApp, server: &str, tools: &[&str]) {
    let reviewed = app.host.server_review(server.into()).await.unwrap();
    let definitions = tools.iter().map(|name| {
        let tool = reviewed.catalog().tool(name).unwrap_or_else(|| panic!("the demo server has {name}"));
        DefinitionShownToUser {
            kind: DefinitionKind::Tool,
            name: (*name).to_owned(),
            hash: reviewed.review_tool(&tool).0.to_string(),
        }
    });
    app.host.mark_definitions_reviewed(server.into(), definitions.collect()).await.unwrap();
}

/// Returns the text of a reply item, or panics for other items.
pub(crate) fn reply_text(item: &ChatItem) -> String {
    let ItemBody::Reply { parts, .. } = &item.body else { panic!("{item:?} is not a reply") };
    let text = parts.iter().map(|part| match part {
        ReplyPart::Text { text } => text.as_str(),
        _ => "",
    });
    text.collect()
}

/// Returns the kind, such as "reply", and the state of each item.
pub(crate) fn item_kinds(items: &[ChatItem]) -> Vec<(&'static str, ItemState)> {
    let kind = |item: &ChatItem| match item.body {
        ItemBody::Message { .. } => "message",
        ItemBody::Reply { .. } => "reply",
        ItemBody::ToolCall { .. } => "call",
        ItemBody::OwnTool { .. } => "own",
        ItemBody::Notice { .. } => "notice",
        ItemBody::Attachment { .. } => "attachment",
    };
    items.iter().map(|item| (kind(item), item.state)).collect()
}

/// Returns the tool results in a message to a model, each as the id of its tool call, its text, and its error flag.
pub(crate) fn tool_results(message: &ModelMessage) -> Vec<(String, String, bool)> {
    let result = |part: &MessagePart| match part {
        MessagePart::ToolResult { id, parts, is_error, .. } => {
            let texts: Vec<_> = parts
                .iter()
                .map(|part| match part {
                    MessagePart::Text(text) => text.clone(),
                    other => format!("{other:?}"),
                })
                .collect();
            Some((id.clone(), texts.join("\n"), *is_error))
        }
        _ => None,
    };
    message.parts.iter().filter_map(result).collect()
}
