//! Operations on a conversation and its model: send a message, stop, retry, and change settings. At most one reply per
//! conversation is in progress.

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
use super::error::MAX_SERVERS;
use super::export::{self, ExportFormat};
use super::model_parameters::check_parameters;
use super::offered_tools::OfferedTools;
use super::reply_run::ReplyRun;
use super::system_prompt;
use super::{ConversationError, ConversationSettings, OfferedServer};

/// Maximum size of a user's message, in bytes.
const MAX_TEXT: usize = 4 << 20;
/// Maximum size of a system prompt, in bytes.
const MAX_SYSTEM_PROMPT: usize = 256 << 10;

/// A message of the user.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NewMessage {
    /// Text of the message.
    pub text: String,
    /// Attachments of the message.
    pub attachments: Vec<MessageAttachment>,
    /// Model that replies from now on, or `None` to keep the current one.
    pub model: Option<ModelRef>,
}

/// The items of a reply that was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyIds {
    /// Identifier of the user's new message, if there is one.
    pub message: Option<String>,
    /// Identifier of the reply.
    pub reply: String,
}

/// The tools of a conversation.
#[derive(Debug)]
pub struct ConversationTools {
    /// Offered tools and their states.
    pub offering: OfferedTools,
    /// Number of tokens from which tools are found by search.
    pub threshold: u64,
    /// Instructions of the servers that are running.
    pub instructions: Vec<ServerInstructions>,
}

/// The instructions of a server for models.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ServerInstructions {
    /// Name of the server.
    pub server: String,
    /// Instructions as a model would receive them.
    pub text: String,
    /// Hash of the instructions. The user approves them by this hash in [`OfferedServer::instructions`].
    pub hash: String,
}

/// The usage of a conversation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ConversationSpending {
    /// Usage of its replies.
    pub taken: ConversationUsage,
    /// Context size of its model in tokens, if known.
    pub context: Option<u64>,
}

/// Conversations with models, on top of a host. Clones share their state. Create one instance per host, since another
/// one doesn't know its replies in progress.
#[derive(Clone)]
pub struct Chat {
    pub(super) host: Host,
    pub(super) replies: Arc<ConversationLocks>,
    /// Serializes the creation of conversations, so that each gets a unique id.
    pub(super) beginning: Arc<Mutex<()>>,
}

impl Chat {
    /// Creates an instance for this host.
    #[must_use]
    pub fn new(host: Host) -> Self {
        Self { host, replies: Arc::default(), beginning: Arc::default() }
    }

    /// Sends a message to a conversation's model, after the given item or after the head. The reply is delivered as
    /// events.
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
        self.write_message(begun, log, message, parent).await
    }

    /// Replaces a message of the user in a new branch, and starts a reply to it.
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
        self.write_message(begun, log, message, old.parent).await
    }

    /// Repeats a reply in a new branch.
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

    /// Lets a model continue after it reached the limit of rounds, or was stopped.
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

    /// Stops the reply of a conversation, and its calls. Returns `false` if there is none.
    #[must_use]
    pub fn stop_reply(&self, conversation: &str) -> bool {
        let running = self.replies.running_reply(conversation);
        if let Some(running) = &running {
            running.stop.cancel();
        }
        running.is_some()
    }

    /// Returns `true` if a model is replying in a conversation; and the item being received, with the number of its
    /// next delta.
    #[must_use]
    pub fn reply_in_progress(&self, conversation: &str) -> (bool, Option<(ChatItem, u64)>) {
        let Some(running) = self.replies.running_reply(conversation) else { return (false, None) };
        let live = running.live.lock().unwrap_or_else(PoisonError::into_inner).clone();
        (true, live)
    }

    /// Shows the branch of a conversation that contains an item, up to its latest end.
    ///
    /// # Errors
    ///
    /// Returns [`ConversationError::NotFound`] if the item doesn't exist, and [`ConversationError::Answering`] if a
    /// model is replying.
    pub async fn choose_branch(&self, conversation: String, item: String) -> Result<(), ConversationError> {
        let held = ConversationLocks::lock_for_writing(&self.replies, &conversation).await?;
        self.conversation_log(&conversation).select_branch(item).await?;
        drop(held);
        self.host.conversations_changed(Some(conversation)).await?;
        Ok(())
    }

    /// Changes the settings of a conversation. They apply to the next request of a reply in progress, except for the
    /// model and the reasoning setting.
    ///
    /// # Errors
    ///
    /// Returns [`ConversationError::NotFound`] if the conversation doesn't exist, [`ConversationError::TooLong`] if the
    /// system prompt is too long, [`ConversationError::TooManyServers`] if there are too many servers, and
    /// [`ConversationError::Temperature`] or [`ConversationError::ReplyTokens`] for a parameter out of bounds.
    pub async fn set_conversation(
        &self,
        conversation: String,
        settings: ConversationSettings,
    ) -> Result<(), ConversationError> {
        if settings.system_prompt.len() > MAX_SYSTEM_PROMPT {
            return Err(ConversationError::TooLong { what: "a system prompt", limit: MAX_SYSTEM_PROMPT >> 10 });
        }
        if settings.servers.len() > MAX_SERVERS {
            return Err(ConversationError::TooManyServers);
        }
        check_parameters(&settings)?;
        self.conversation_log(&conversation).store_settings(&settings).await?;
        self.host.conversations_changed(Some(conversation)).await?;
        Ok(())
    }

    /// Returns the tools of a conversation: those offered to its model, and the reasons why others are not.
    ///
    /// # Errors
    ///
    /// Returns [`ConversationError::NotFound`] if the conversation doesn't exist.
    pub async fn conversation_tools(&self, conversation: String) -> Result<ConversationTools, ConversationError> {
        let (_, settings) = self.conversation_log(&conversation).conversation().await?;
        let servers = resolve_servers(&self.host, &settings.servers).await?;
        let registry = self.host.models().await?;
        let context = settings.model.as_ref().and_then(|model| registry.model(model)?.context);
        let threshold = settings.search_threshold(self.host.conversation_bounds().await?, context);
        let said = |(_, server): &(OfferedServer, ServerForModel)| {
            let text = system_prompt::format_instructions(server.instructions.as_deref().filter(|_| server.is_ready)?);
            Some(ServerInstructions { server: server.server.clone(), text, hash: server.instructions_hash()? })
        };
        let instructions = servers.iter().filter_map(said).collect();
        let offering = tokio::task::spawn_blocking(move || OfferedTools::new(&servers));
        let offering = offering.await?;
        Ok(ConversationTools { offering, threshold, instructions })
    }

    /// Returns the usage of a conversation over all branches.
    ///
    /// # Errors
    ///
    /// Returns [`ConversationError::NotFound`] if the conversation doesn't exist.
    pub async fn conversation_spent(&self, conversation: String) -> Result<ConversationSpending, ConversationError> {
        let log = self.conversation_log(&conversation);
        let (_, settings) = log.conversation().await?;
        let registry = self.host.models().await?;
        let context = settings.model.as_ref().and_then(|model| registry.model(model)?.context).map(u64::from);
        Ok(ConversationSpending { taken: log.usage().await?, context })
    }

    /// Returns a conversation as the text of a file, and a name for it.
    ///
    /// # Errors
    ///
    /// Returns [`ConversationError::NotFound`] if the conversation doesn't exist, and [`ConversationError::NotWritten`]
    /// if it can't be written as JSON.
    pub async fn export_conversation(
        &self,
        conversation: String,
        format: ExportFormat,
    ) -> Result<(String, String), ConversationError> {
        let log = self.conversation_log(&conversation);
        let (kept, settings) = log.conversation().await?;
        let name = export::file_name(&kept.title, format);
        let items = match format {
            ExportFormat::Markdown => log.path_items_with_texts().await?,
            ExportFormat::Json => log.all_items().await?,
        };
        let written = tokio::task::spawn_blocking(move || match format {
            ExportFormat::Markdown => Ok(export::to_markdown(&kept.title, &items)),
            ExportFormat::Json => export::to_json(&kept.title, &settings, &items),
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

    /// Writes a message after an item, and starts a reply to it.
    async fn write_message(
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
        if text.len() > MAX_TEXT {
            return Err(ConversationError::TooLong { what: "a message", limit: MAX_TEXT >> 10 });
        }
        attachments::check_attachments(&attachments)?;
        let chosen = self.choose_model(&log, model).await?;
        let content = if text.is_empty() { Vec::new() } else { vec![Content::Text { text }] };
        let body = ItemBody::Message { role: Role::User, content, prompt: None, attachments };
        // clock: timestamp of the item.
        let message = ChatItem { id: new_id(), parent, at: ports::time::now(), state: ItemState::Whole, body };
        log.write_items(vec![message.clone()]).await?;
        let (parent, id) = (Some(message.id.clone()), message.id.clone());
        self.host.emit_conversation_event(log.item_event(message, true).await).await?;
        let conversation = log.conversation.clone();
        let begun = self.start_reply_after(begun, log, chosen, parent, Some(id)).await;
        if begun.is_err() {
            // The page was notified of a reply.
            self.host.conversations_changed(Some(conversation)).await?;
        }
        begun
    }

    /// Returns the model that replies, and stores it in the settings of the conversation.
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
        self.host.models().await?.provider(&chosen.provider)?;
        if settings.model.as_ref() != Some(&chosen) {
            settings.model = Some(chosen.clone());
            log.store_settings(&settings).await?;
        }
        Ok((settings, chosen))
    }

    /// Starts a reply after an item.
    async fn start_reply_after(
        &self,
        begun: RunningReplyGuard,
        log: ConversationLog,
        (settings, model): (ConversationSettings, ModelRef),
        parent: Option<String>,
        message: Option<String>,
    ) -> Result<ReplyIds, ConversationError> {
        let conversation = log.conversation.clone();
        let (kept, _) = log.conversation().await?;
        self.host.note_readings(conversation.clone(), kept.readings).await?;
        self.host.record_conversation_servers(conversation.clone(), kept.sources, true).await?;
        let run = ReplyRun::begin(self.host.clone(), log, begun, settings, model, parent).await?;
        let reply = run.reply_id().to_owned();
        self.host.conversations_changed(Some(conversation)).await?;
        tokio::spawn(run.run());
        Ok(ReplyIds { message, reply })
    }
}

/// Returns the servers that a model may know of.
pub(super) async fn resolve_servers(
    host: &Host,
    offered: &[OfferedServer],
) -> Result<Vec<(OfferedServer, ServerForModel)>, ConversationError> {
    let names = offered.iter().map(|offered| offered.server.clone()).collect();
    Ok(offered.iter().cloned().zip(host.servers_for_model(names).await?).collect())
}

/// Returns a unique id for an item.
pub(super) fn new_id() -> String {
    // clock: part of the id.
    format!("i{:x}-{:08x}", ports::time::now(), fastrand::u32(..))
}
