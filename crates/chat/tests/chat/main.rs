//! Conversations with a scripted model: requests to the model, its calls, and the history.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::type_complexity, missing_docs)]

mod beside;
mod by_user;
mod calls;
mod conversations;
mod flow;
mod full;
mod instructions;
mod model;
mod parameters;
mod relisted;
mod reviews;
mod saved_prompts;
mod saying;
mod search;

use std::sync::Arc;

use chat::{Chat, ConversationSettings, NewMessage, OfferedServer};
use domain::history::{Conversation, ItemRange};
use domain::item::{ChatItem, ConversationEvent, ItemBody, ItemState, ReplyPart};
use host::view::HostEvent;
use host::{EventReceiver, ShownDefinition};
use models::{MessagePart, ModelMessage};
use offers::review::DefinitionKind;
use testkit::app::{EVENT_TIMEOUT, TestApp, demo};
use testkit::model::{ModelStep, ScriptedModel, model_reference};

use model::known_model;

/// A conversation with a model and a demo server, some of whose tools are reviewed.
pub(crate) struct TestConversation {
    pub(crate) app: TestApp,
    pub(crate) chat: Chat,
    pub(crate) model: Arc<ScriptedModel>,
    pub(crate) events: EventReceiver,
}

/// Identifier of the conversation.
pub(crate) const ID: &str = "talk";

impl TestConversation {
    pub(crate) async fn new(answers: Vec<Vec<ModelStep>>, reviewed: &[&str]) -> Self {
        Self::with_context(answers, reviewed, Some(1_000_000)).await
    }

    /// Creates a conversation whose model has this context size.
    pub(crate) async fn with_context(answers: Vec<Vec<ModelStep>>, reviewed: &[&str], context: Option<u32>) -> Self {
        let names = if reviewed.is_empty() { Vec::new() } else { vec!["demo"] };
        Self::with_servers(answers, &names, reviewed, context).await
    }

    /// Creates a conversation with demo servers of these names, each with these tools reviewed.
    pub(crate) async fn with_servers(
        answers: Vec<Vec<ModelStep>>,
        names: &[&str],
        reviewed: &[&str],
        context: Option<u32>,
    ) -> Self {
        let app = TestApp::start(names.iter().map(|name| (*name, demo(&[]))).collect()).await;
        Self::with_app(app, answers, names, reviewed, context).await
    }

    /// Creates a conversation on a host that has these demo servers.
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
            review(&app, name, reviewed).await;
        }
        let model = ScriptedModel::add_to_host(&app.host, vec![known_model(context)]).await;
        answers.into_iter().for_each(|answer| model.queue_reply(answer));
        let conversation = Conversation { id: ID.into(), title: "Talk".into(), ..Conversation::default() };
        app.host.ports().history.create(&conversation).unwrap();
        let offered = |name: &&str| OfferedServer { server: (*name).to_owned(), tools: None, instructions: None };
        let servers = names.iter().map(offered).collect();
        let settings =
            ConversationSettings { model: Some(model_reference("m")), servers, ..ConversationSettings::default() };
        let chat = Chat::new(app.host.clone());
        chat.set_conversation(ID.into(), settings).await.unwrap();
        let events = app.host.events();
        Self { app, chat, model, events }
    }

    /// Sends a message without waiting for the reply.
    pub(crate) async fn send(&self, text: &str) {
        let message = NewMessage { text: text.into(), ..NewMessage::default() };
        self.chat.send_message(ID.into(), message, None).await.unwrap();
    }

    /// Changes the settings of the conversation.
    pub(crate) async fn set(&self, change: impl FnOnce(&mut ConversationSettings)) {
        let kept = self.app.host.ports().history.conversation(ID).unwrap().expect("the conversation is there");
        let mut settings = ConversationSettings::from_stored(&kept.settings);
        change(&mut settings);
        self.chat.set_conversation(ID.into(), settings).await.unwrap();
    }

    /// Waits until the model starts to reply.
    pub(crate) async fn wait_for_piece(&mut self) {
        let until = async {
            while let Some(event) = self.events.next().await {
                if matches!(event.event, HostEvent::Conversation(ConversationEvent::ReplyDelta { .. })) {
                    return;
                }
            }
        };
        tokio::time::timeout(EVENT_TIMEOUT, until).await.expect("the reply starts");
    }

    /// Sends a message, and waits for the end of the run.
    pub(crate) async fn say(&mut self, text: &str) -> Vec<ChatItem> {
        self.send(text).await;
        self.wait_for_end().await
    }

    /// Waits for the end of the run. Returns the items of the visible branch.
    pub(crate) async fn wait_for_end(&mut self) -> Vec<ChatItem> {
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
        let range = ItemRange { conversation: ID.into(), before: None, limit: 1_000, whole: true };
        let page = self.app.host.ports().history.items(&range).unwrap().expect("the conversation is there");
        let read = |item: domain::history::StoredItem| ChatItem {
            id: item.id,
            parent: item.parent,
            at: item.at,
            state: item.state,
            body: serde_json::from_value(item.body).expect("every item has a known kind"),
        };
        page.items.into_iter().map(read).collect()
    }
}

/// Reviews these tools of a demo server.
pub(crate) async fn review(app: &TestApp, server: &str, tools: &[&str]) {
    let reviewed = app.host.reviewed(server.into()).await.unwrap();
    let seen = tools.iter().map(|name| {
        let tool = reviewed.catalog().tool(name).unwrap_or_else(|| panic!("the demo server has {name}"));
        ShownDefinition {
            kind: DefinitionKind::Tool,
            name: (*name).to_owned(),
            hash: reviewed.review_tool(&tool).0.to_string(),
        }
    });
    app.host.review(server.into(), seen.collect()).await.unwrap();
}

/// Returns the text of a reply.
pub(crate) fn text(item: &ChatItem) -> String {
    let ItemBody::Reply { parts, .. } = &item.body else { panic!("{item:?} is not a reply") };
    let text = parts.iter().map(|part| match part {
        ReplyPart::Text { text } => text.as_str(),
        _ => "",
    });
    text.collect()
}

/// Returns the kinds and states of these items.
pub(crate) fn kinds(items: &[ChatItem]) -> Vec<(&'static str, ItemState)> {
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

/// Returns the results in the last message to a model: the use's id, all text, and the error flag.
pub(crate) fn results(message: &ModelMessage) -> Vec<(String, String, bool)> {
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
