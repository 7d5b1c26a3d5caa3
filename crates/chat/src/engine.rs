//! Operations on a conversation and its model: send a message, stop or repeat a reply, and change settings. At most one
//! reply per conversation is in progress.

use std::sync::{Arc, PoisonError};

use domain::history::ConversationUsage;
use domain::item::{ChatItem, Content, ItemBody, ItemState, MessageAttachment, Role};
use host::{Host, ServerForModel};
use models::ModelRef;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use super::attachments;
use super::conversation_locks::{ConversationLocks, RunningReplyGuard};
use super::conversation_log::ConversationLog;
use super::error::MAX_SERVERS_PER_CONVERSATION;
use super::export::{self, ExportFormat};
use super::model_parameters::check_model_parameters;
use super::offered_tools::OfferedTools;
use super::offered_tools::app_tools::enabled_app_tools;
use super::reply_run::ReplyRun;
use super::system_prompt;
use super::{ConversationError, ConversationSettings, OfferedServer};

/// Maximum size of a user's message, in bytes.
const MAX_MESSAGE_BYTES: usize = 4 << 20;
/// Maximum size of a system prompt, in bytes.
const MAX_SYSTEM_PROMPT_BYTES: usize = 256 << 10;

/// A new message of the user to the model of a conversation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NewMessage {
    /// Text that the user wrote.
    pub text: String,
    /// Files and other content that the user attached.
    pub attachments: Vec<MessageAttachment>,
    /// Model that replies from now on, or `None` to keep the current one.
    pub model: Option<ModelRef>,
}

/// Identifiers of the conversation items that were created for a new reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyIds {
    /// Identifier of the user's new message, if there is one.
    pub message: Option<String>,
    /// Identifier of the model's reply.
    pub reply: String,
}

/// The tools of a conversation's servers, and the way in which they are offered to the conversation's model.
#[derive(Debug)]
pub struct ConversationTools {
    /// Tools of the enabled servers, with their states.
    pub offering: OfferedTools,
    /// Number of tokens of all offered tools' definitions above which the model finds tools by search instead of
    /// receiving all definitions.
    pub threshold: u64,
    /// Instructions for models that the conversation's running servers provide.
    pub instructions: Vec<ServerInstructions>,
}

/// The instructions that a server provides for models.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ServerInstructions {
    /// Name of the server that provides the instructions.
    pub server: String,
    /// Text of the instructions, as it would be sent to a model.
    pub text: String,
    /// Hash of the instructions. The user approves them by this hash in [`OfferedServer::instructions`].
    pub hash: String,
}

/// Tokens and cost that a conversation has used so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ConversationSpending {
    /// Total tokens and cost of the replies in all branches.
    pub usage: ConversationUsage,
    /// Context size of the conversation's model in tokens, or `None` if unknown.
    pub context: Option<u64>,
}

/// Conversations between the user and models, which call tools through a [`Host`]. Clones share their state. Create
/// only one instance per host, since a second one would not know the replies in progress of the first.
#[derive(Clone)]
pub struct Chat {
    pub(super) host: Host,
    pub(super) replies: Arc<ConversationLocks>,
    /// Held while a conversation is created, so that each gets a unique id.
    pub(super) creation_lock: Arc<Mutex<()>>,
}

impl Chat {
    /// Creates the conversations of a host, with no reply in progress.
    #[must_use]
    pub fn new(host: Host) -> Self {
        Self { host, replies: Arc::default(), creation_lock: Arc::default() }
    }

    /// Sends a message to a conversation's model. The message is inserted after the item `after`, or at the end of the
    /// visible branch. Returns when the reply has begun. Its deltas are emitted as events.
    ///
    /// # Errors
    ///
    /// Returns [`ConversationError::NotFound`] if the conversation or item doesn't exist,
    /// [`ConversationError::Answering`] if a model is already replying, [`ConversationError::NoModel`] or
    /// [`ConversationError::Model`] if no model is available, [`ConversationError::Empty`] or
    /// [`ConversationError::TooLong`] for invalid text, and [`ConversationError::Attachment`] for invalid attachments.
    pub async fn send_message(
        &self,
        conversation: String,
        message: NewMessage,
        after: Option<String>,
    ) -> Result<ReplyIds, ConversationError> {
        let begun = self.begin_reply(&conversation).await?;
        let log = self.conversation_log(&conversation);
        let parent = match after {
            Some(item) => Some(log.item(item).await?.id),
            None => log.conversation().await?.0.head,
        };
        self.store_message_and_start_reply(begun, log, message, parent).await
    }

    /// Replaces a message of the user in a new branch of the conversation, and starts a reply to it.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`send_message`](Self::send_message), and [`ConversationError::NotYours`] if the item is
    /// not a message of the user.
    pub async fn edit_message(
        &self,
        conversation: String,
        item: String,
        message: NewMessage,
    ) -> Result<ReplyIds, ConversationError> {
        let begun = self.begin_reply(&conversation).await?;
        let log = self.conversation_log(&conversation);
        let old = log.item(item).await?;
        if !matches!(old.body, ItemBody::Message { role: Role::User, .. }) {
            return Err(ConversationError::NotYours);
        }
        self.store_message_and_start_reply(begun, log, message, old.parent).await
    }

    /// Requests a new reply in place of an existing one, in a new branch of the conversation.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`send_message`](Self::send_message), and [`ConversationError::NotAnAnswer`] if the item
    /// is not a reply.
    pub async fn retry_reply(
        &self,
        conversation: String,
        item: String,
        model: Option<ModelRef>,
    ) -> Result<ReplyIds, ConversationError> {
        let begun = self.begin_reply(&conversation).await?;
        let log = self.conversation_log(&conversation);
        let old = log.item(item).await?;
        if !matches!(old.body, ItemBody::Reply { .. }) {
            return Err(ConversationError::NotAnAnswer);
        }
        let (settings, model) = self.choose_model(&log, model).await?;
        self.start_reply_after(begun, log, (settings, model), old.parent, None).await
    }

    /// Lets the model continue a reply that the user stopped, or that ended at the maximum number of requests to the
    /// model.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`send_message`](Self::send_message).
    pub async fn continue_reply(&self, conversation: String) -> Result<ReplyIds, ConversationError> {
        let begun = self.begin_reply(&conversation).await?;
        let log = self.conversation_log(&conversation);
        let head = log.conversation().await?.0.head;
        if head.is_none() {
            return Err(ConversationError::Empty);
        }
        let (settings, model) = self.choose_model(&log, None).await?;
        self.start_reply_after(begun, log, (settings, model), head, None).await
    }

    /// Stops the reply in progress in a conversation, and the calls made for it. Returns `false` if no reply is in
    /// progress.
    #[must_use]
    pub fn stop_reply(&self, conversation: &str) -> bool {
        let running = self.replies.running_reply(conversation);
        if let Some(running) = &running {
            running.stop.cancel();
        }
        running.is_some()
    }

    /// Returns `true` if a model is replying in a conversation, with the item that is being streamed and the number of
    /// its next delta, if any.
    #[must_use]
    pub fn is_replying_with_partial_reply(&self, conversation: &str) -> (bool, Option<(ChatItem, u64)>) {
        let Some(running) = self.replies.running_reply(conversation) else { return (false, None) };
        let live = running.partial.lock().unwrap_or_else(PoisonError::into_inner).clone();
        (true, live)
    }

    /// Makes `item` visible: unless the visible branch of the conversation contains it already, the newest branch that
    /// contains it becomes the visible one.
    ///
    /// # Errors
    ///
    /// Returns [`ConversationError::NotFound`] if the item doesn't exist, and [`ConversationError::Answering`] if a
    /// model is replying.
    pub async fn choose_branch(&self, conversation: String, item: String) -> Result<(), ConversationError> {
        let held = ConversationLocks::lock_for_writing(&self.replies, &conversation).await?;
        self.conversation_log(&conversation).select_branch(item).await?;
        drop(held);
        self.host.report_changed_conversations(Some(conversation)).await?;
        Ok(())
    }

    /// Changes the settings of a conversation. During a reply they apply to the next request to the model, except for
    /// the model itself and the reasoning setting, which apply to the next reply.
    ///
    /// # Errors
    ///
    /// Returns [`ConversationError::NotFound`] if the conversation doesn't exist, [`ConversationError::TooLong`] if the
    /// system prompt is too long, [`ConversationError::TooManyServers`] if there are too many servers, and
    /// [`ConversationError::Temperature`] or [`ConversationError::ReplyTokens`] for a parameter out of bounds.
    pub async fn set_conversation_settings(
        &self,
        conversation: String,
        settings: ConversationSettings,
    ) -> Result<(), ConversationError> {
        if settings.system_prompt.len() > MAX_SYSTEM_PROMPT_BYTES {
            return Err(ConversationError::TooLong { what: "a system prompt", limit: MAX_SYSTEM_PROMPT_BYTES >> 10 });
        }
        if settings.servers.len() > MAX_SERVERS_PER_CONVERSATION {
            return Err(ConversationError::TooManyServers);
        }
        check_model_parameters(&settings)?;
        self.conversation_log(&conversation).store_settings(&settings).await?;
        self.host.report_changed_conversations(Some(conversation)).await?;
        Ok(())
    }

    /// Returns the tools of a conversation's servers: those that are offered to its model, and the reason why each of
    /// the others is not.
    ///
    /// # Errors
    ///
    /// Returns [`ConversationError::NotFound`] if the conversation doesn't exist.
    pub async fn conversation_tools(&self, conversation: String) -> Result<ConversationTools, ConversationError> {
        let (_, settings) = self.conversation_log(&conversation).conversation().await?;
        let servers = load_servers_for_model(&self.host, &settings.servers).await?;
        let registry = self.host.provider_registry().await?;
        let context = settings.model.as_ref().and_then(|model| registry.model(model)?.context);
        let threshold = settings.effective_tool_search_threshold(self.host.conversation_bounds().await?, context);
        let approved_instructions = |(_, server): &(OfferedServer, ServerForModel)| {
            let text =
                system_prompt::format_server_instructions(server.instructions.as_deref().filter(|_| server.is_ready)?);
            Some(ServerInstructions { server: server.server.clone(), text, hash: server.instructions_hash()? })
        };
        let instructions = servers.iter().filter_map(approved_instructions).collect();
        let app_tools = enabled_app_tools(&self.host, &conversation, &settings).await?;
        let offering = tokio::task::spawn_blocking(move || OfferedTools::new(&servers).with_app_tools(app_tools));
        let offering = offering.await?;
        Ok(ConversationTools { offering, threshold, instructions })
    }

    /// Returns the tokens and cost that a conversation has used in all branches.
    ///
    /// # Errors
    ///
    /// Returns [`ConversationError::NotFound`] if the conversation doesn't exist.
    pub async fn conversation_spending(&self, conversation: String) -> Result<ConversationSpending, ConversationError> {
        let log = self.conversation_log(&conversation);
        let (_, settings) = log.conversation().await?;
        let registry = self.host.provider_registry().await?;
        let context = settings.model.as_ref().and_then(|model| registry.model(model)?.context).map(u64::from);
        Ok(ConversationSpending { usage: log.usage().await?, context })
    }

    /// Converts a conversation to a file for the user. Returns the content of the file and a suggested file name.
    ///
    /// # Errors
    ///
    /// Returns [`ConversationError::NotFound`] if the conversation doesn't exist, and [`ConversationError::NotWritten`]
    /// if it can't be serialized as JSON.
    pub async fn export_conversation(
        &self,
        conversation: String,
        format: ExportFormat,
    ) -> Result<(String, String), ConversationError> {
        let log = self.conversation_log(&conversation);
        let (stored, settings) = log.conversation().await?;
        let name = export::file_name(&stored.title, format);
        let items = match format {
            ExportFormat::Markdown => log.branch_items_without_large_media().await?,
            ExportFormat::Json => log.all_items().await?,
        };
        let written = tokio::task::spawn_blocking(move || match format {
            ExportFormat::Markdown => Ok(export::conversation_to_markdown(&stored.title, &items)),
            ExportFormat::Json => export::conversation_to_json(&stored.title, &settings, &items),
        });
        let text = written.await?;
        Ok((name, text.map_err(|error| ConversationError::NotWritten(error.to_string()))?))
    }

    async fn begin_reply(&self, conversation: &str) -> Result<RunningReplyGuard, ConversationError> {
        ConversationLocks::begin_reply(&self.replies, conversation).await
    }

    pub(super) fn conversation_log(&self, conversation: &str) -> ConversationLog {
        ConversationLog::new(&self.host.ports().history, conversation.to_owned())
    }

    /// Validates a user's message, stores it as a child of the item `parent`, and starts a reply to it.
    async fn store_message_and_start_reply(
        &self,
        begun: RunningReplyGuard,
        log: ConversationLog,
        message: NewMessage,
        parent: Option<String>,
    ) -> Result<ReplyIds, ConversationError> {
        let NewMessage { text, attachments, model } = message;
        if text.trim().is_empty() && attachments.is_empty() {
            return Err(ConversationError::Empty);
        }
        if text.len() > MAX_MESSAGE_BYTES {
            return Err(ConversationError::TooLong { what: "a message", limit: MAX_MESSAGE_BYTES >> 10 });
        }
        attachments::check_attachments(&attachments)?;
        let chosen = self.choose_model(&log, model).await?;
        let content = if text.is_empty() { Vec::new() } else { vec![Content::Text { text }] };
        let body = ItemBody::Message { role: Role::User, content, prompt: None, attachments };
        let message = ChatItem {
            id: new_item_id(),
            parent,
            // clock: timestamp of the item.
            at: ports::time::system_time_millis(),
            state: ItemState::Whole,
            body,
        };
        log.write_items(vec![message.clone()]).await?;
        let (parent, id) = (Some(message.id.clone()), message.id.clone());
        self.host.emit_conversation_event(log.item_changed_event(message, true).await).await?;
        let conversation = log.conversation.clone();
        let begun = self.start_reply_after(begun, log, chosen, parent, Some(id)).await;
        if begun.is_err() {
            // The page was already notified that a reply starts.
            self.host.report_changed_conversations(Some(conversation)).await?;
        }
        begun
    }

    /// Returns the model that replies: `model`, or else the one in the conversation's settings, or else the default
    /// one. Stores the choice in the settings.
    async fn choose_model(
        &self,
        log: &ConversationLog,
        model: Option<ModelRef>,
    ) -> Result<(ConversationSettings, ModelRef), ConversationError> {
        let (_, mut settings) = log.conversation().await?;
        let chosen = match model.or_else(|| settings.model.clone()) {
            Some(model) => model,
            None => self.host.default_model().await?.ok_or(ConversationError::NoModel)?,
        };
        self.host.provider_registry().await?.provider(&chosen.provider)?;
        if settings.model.as_ref() != Some(&chosen) {
            settings.model = Some(chosen.clone());
            log.store_settings(&settings).await?;
        }
        Ok((settings, chosen))
    }

    /// Starts a reply that follows the given item in the conversation.
    async fn start_reply_after(
        &self,
        begun: RunningReplyGuard,
        log: ConversationLog,
        (settings, model): (ConversationSettings, ModelRef),
        parent: Option<String>,
        message: Option<String>,
    ) -> Result<ReplyIds, ConversationError> {
        let conversation = log.conversation.clone();
        let (stored, _) = log.conversation().await?;
        self.host.record_read_content(conversation.clone(), stored.read_contents).await?;
        self.host.record_conversation_servers(conversation.clone(), stored.sources, true).await?;
        let run = ReplyRun::begin(self.host.clone(), log, begun, settings, model, parent).await?;
        let reply = run.reply_id().to_owned();
        self.host.report_changed_conversations(Some(conversation)).await?;
        tokio::spawn(run.run());
        Ok(ReplyIds { message, reply })
    }
}

/// Returns a conversation's servers with the tools and instructions that the host has for a model.
pub(super) async fn load_servers_for_model(
    host: &Host,
    offered: &[OfferedServer],
) -> Result<Vec<(OfferedServer, ServerForModel)>, ConversationError> {
    let names = offered.iter().map(|offered| offered.server.clone()).collect();
    Ok(offered.iter().cloned().zip(host.servers_for_model(names).await?).collect())
}

/// Returns a new id for a conversation item: the time in hexadecimal, and a random number.
pub(super) fn new_item_id() -> String {
    // clock: first part of the id.
    format!("i{:x}-{:08x}", ports::time::system_time_millis(), fastrand::u32(..))
}
