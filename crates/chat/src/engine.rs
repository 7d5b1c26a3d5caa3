//! What can be done with a conversation and its model: say something, stop, have an answer again, set it up. At most one answer is
//! under way in each conversation.

use std::sync::{Arc, PoisonError};

use domain::history::Taken;
use domain::item::{Content, Item, ItemBody, ItemState, MessageAttachment, Role};
use host::{Host, ServerForModel};
use models::ModelRef;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use super::attachments;
use super::error::MAX_SERVERS;
use super::export::{self, Format};
use super::log::Log;
use super::offered::Offering;
use super::replies::{Answering, Replies};
use super::run::Run;
use super::system;
use super::{ConversationError, ConversationSettings, OfferedServer};

/// The longest message that the user can write, in bytes.
const MAX_TEXT: usize = 4 << 20;
/// The longest system prompt, in bytes.
const MAX_SYSTEM_PROMPT: usize = 256 << 10;

/// A message of the user.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NewMessage {
    /// What is written.
    pub text: String,
    /// What is attached.
    pub attachments: Vec<MessageAttachment>,
    /// The model that answers from now on; none for the one that the conversation has.
    pub model: Option<ModelRef>,
}

/// What began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Begun {
    /// The user's message, if there is a new one.
    pub message: Option<String>,
    /// The answer.
    pub reply: String,
}

/// The tools of a conversation.
#[derive(Debug)]
pub struct ConversationTools {
    /// The tools.
    pub offering: Offering,
    /// From how many tokens on they are found by search.
    pub threshold: u64,
    /// What the servers that are in use want a model to know.
    pub instructions: Vec<ServerInstructions>,
}

/// What a server wants a model to know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ServerInstructions {
    /// The server.
    pub server: String,
    /// As a model would get it.
    pub text: String,
    /// By which the user says that a model gets it, in [`OfferedServer::instructions`].
    pub hash: String,
}

/// What a conversation took.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Spent {
    /// What its answers took.
    pub taken: Taken,
    /// How many the model takes.
    pub context: Option<u64>,
}

/// Conversations with models, on a host. Clones are handles to the same one. Make one for each host: another does not know the answers
/// under way.
#[derive(Clone)]
pub struct Chat {
    pub(super) host: Host,
    pub(super) replies: Arc<Replies>,
    /// Conversations begin one at a time, so that each gets an id of its own.
    pub(super) beginning: Arc<Mutex<()>>,
}

impl Chat {
    /// Conversations on this host.
    #[must_use]
    pub fn new(host: Host) -> Self {
        Self { host, replies: Arc::default(), beginning: Arc::default() }
    }

    /// Sends a message to a conversation's model, after an item or after the head. The answer comes as events.
    ///
    /// # Errors
    /// If there is no such conversation or model, or a model is answering already.
    pub async fn send_message(
        &self,
        conversation: String,
        message: NewMessage,
        after: Option<String>,
    ) -> Result<Begun, ConversationError> {
        let begun = self.begin(&conversation).await?;
        let log = self.log(&conversation);
        let parent = match after {
            Some(item) => Some(log.item(item).await?.id),
            None => log.conversation().await?.0.head,
        };
        self.say(begun, log, message, parent).await
    }

    /// Writes a message anew, in a branch of its own, and has it answered.
    ///
    /// # Errors
    /// As for [`send_message`](Self::send_message), and if it is no message of the user.
    pub async fn edit_message(
        &self,
        conversation: String,
        item: String,
        message: NewMessage,
    ) -> Result<Begun, ConversationError> {
        let begun = self.begin(&conversation).await?;
        let log = self.log(&conversation);
        let old = log.item(item).await?;
        if !matches!(old.body, ItemBody::Message { role: Role::User, .. }) {
            return Err(ConversationError::NotYours);
        }
        self.say(begun, log, message, old.parent).await
    }

    /// Has an answer once more, in a branch of its own.
    ///
    /// # Errors
    /// As for [`send_message`](Self::send_message), and if it is no answer.
    pub async fn retry_reply(
        &self,
        conversation: String,
        item: String,
        model: Option<ModelRef>,
    ) -> Result<Begun, ConversationError> {
        let begun = self.begin(&conversation).await?;
        let log = self.log(&conversation);
        let old = log.item(item).await?;
        if !matches!(old.body, ItemBody::Reply { .. }) {
            return Err(ConversationError::NotAnAnswer);
        }
        let (settings, model) = self.choose(&log, model).await?;
        self.answer_after(begun, log, (settings, model), old.parent, None).await
    }

    /// Lets a model go on that stopped after many calls, or was stopped.
    ///
    /// # Errors
    /// As for [`send_message`](Self::send_message).
    pub async fn continue_reply(&self, conversation: String) -> Result<Begun, ConversationError> {
        let begun = self.begin(&conversation).await?;
        let log = self.log(&conversation);
        let head = log.conversation().await?.0.head;
        if head.is_none() {
            return Err(ConversationError::Empty);
        }
        let (settings, model) = self.choose(&log, None).await?;
        self.answer_after(begun, log, (settings, model), head, None).await
    }

    /// Stops the answer of a conversation, and the calls that it made. Whether there was one.
    #[must_use]
    pub fn stop_reply(&self, conversation: &str) -> bool {
        let running = self.replies.of(conversation);
        if let Some(running) = &running {
            running.stop.cancel();
        }
        running.is_some()
    }

    /// Whether a model is answering in a conversation; and the item that is coming in, with the number of its next piece.
    #[must_use]
    pub fn answering(&self, conversation: &str) -> (bool, Option<(Item, u64)>) {
        let Some(running) = self.replies.of(conversation) else { return (false, None) };
        let live = running.live.lock().unwrap_or_else(PoisonError::into_inner).clone();
        (true, live)
    }

    /// Shows the branch of a conversation that goes through an item, to its latest end.
    ///
    /// # Errors
    /// If there is no such item, or a model is answering.
    pub async fn choose_branch(&self, conversation: String, item: String) -> Result<(), ConversationError> {
        let held = Replies::write(&self.replies, &conversation).await?;
        self.log(&conversation).show(item).await?;
        drop(held);
        self.host.conversations_changed(Some(conversation)).await?;
        Ok(())
    }

    /// Sets a conversation up. A model that is answering is asked so the next time; it stays the model, and thinks as it began.
    ///
    /// # Errors
    /// If there is none, or the settings are too much.
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
        self.log(&conversation).set(&settings).await?;
        self.host.conversations_changed(Some(conversation)).await?;
        Ok(())
    }

    /// The tools of a conversation: which are offered to its model, and why others are not.
    ///
    /// # Errors
    /// If there is no such conversation.
    pub async fn conversation_tools(&self, conversation: String) -> Result<ConversationTools, ConversationError> {
        let (_, settings) = self.log(&conversation).conversation().await?;
        let servers = servers_of(&self.host, &settings.servers).await?;
        let registry = self.host.models().await?;
        let context = settings.model.as_ref().and_then(|model| registry.model(model)?.context);
        let threshold = settings.search_threshold(self.host.conversation_bounds().await?, context);
        let said = |(_, server): &(OfferedServer, ServerForModel)| {
            let text = system::shown_instructions(server.instructions.as_deref().filter(|_| server.is_ready)?);
            Some(ServerInstructions { server: server.server.clone(), text, hash: server.instructions_hash()? })
        };
        let instructions = servers.iter().filter_map(said).collect();
        let offering = tokio::task::spawn_blocking(move || Offering::new(&servers));
        let offering = offering.await?;
        Ok(ConversationTools { offering, threshold, instructions })
    }

    /// What a conversation took, over all branches.
    ///
    /// # Errors
    /// If there is no such conversation.
    pub async fn conversation_spent(&self, conversation: String) -> Result<Spent, ConversationError> {
        let log = self.log(&conversation);
        let (_, settings) = log.conversation().await?;
        let registry = self.host.models().await?;
        let context = settings.model.as_ref().and_then(|model| registry.model(model)?.context).map(u64::from);
        Ok(Spent { taken: log.taken().await?, context })
    }

    /// A conversation as the text of a file, and a name for it.
    ///
    /// # Errors
    /// If there is no such conversation.
    pub async fn export_conversation(
        &self,
        conversation: String,
        format: Format,
    ) -> Result<(String, String), ConversationError> {
        let log = self.log(&conversation);
        let (kept, settings) = log.conversation().await?;
        let name = export::file_name(&kept.title, format);
        let items = match format {
            Format::Markdown => log.texts().await?,
            Format::Json => log.all().await?,
        };
        let written = tokio::task::spawn_blocking(move || match format {
            Format::Markdown => Ok(export::to_markdown(&kept.title, &items)),
            Format::Json => export::to_json(&kept.title, &settings, &items),
        });
        let text = written.await?;
        Ok((name, text.map_err(|error| ConversationError::NotWritten(error.to_string()))?))
    }

    async fn begin(&self, conversation: &str) -> Result<Answering, ConversationError> {
        Replies::begin(&self.replies, conversation).await
    }

    pub(super) fn log(&self, conversation: &str) -> Log {
        Log::new(&self.host.ports().history, conversation.to_owned())
    }

    /// Writes a message after an item and has it answered.
    async fn say(
        &self,
        begun: Answering,
        log: Log,
        message: NewMessage,
        parent: Option<String>,
    ) -> Result<Begun, ConversationError> {
        let NewMessage { text, attachments, model } = message;
        if text.trim().is_empty() && attachments.is_empty() {
            return Err(ConversationError::Empty);
        }
        if text.len() > MAX_TEXT {
            return Err(ConversationError::TooLong { what: "a message", limit: MAX_TEXT >> 10 });
        }
        attachments::check(&attachments)?;
        let chosen = self.choose(&log, model).await?;
        let content = if text.is_empty() { Vec::new() } else { vec![Content::Text { text }] };
        let body = ItemBody::Message { role: Role::User, content, prompt: None, attachments };
        // clock: stamps the item.
        let message = Item { id: new_id(), parent, at: ports::time::now(), state: ItemState::Whole, body };
        log.write(vec![message.clone()]).await?;
        let (parent, id) = (Some(message.id.clone()), message.id.clone());
        self.host.tell_of_conversation(log.told(message, true).await).await?;
        let conversation = log.conversation.clone();
        let begun = self.answer_after(begun, log, chosen, parent, Some(id)).await;
        if begun.is_err() {
            // The page was told that an answer comes.
            self.host.conversations_changed(Some(conversation)).await?;
        }
        begun
    }

    /// The model that answers, which the conversation keeps.
    async fn choose(
        &self,
        log: &Log,
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
            log.set(&settings).await?;
        }
        Ok((settings, chosen))
    }

    /// Begins an answer after an item.
    async fn answer_after(
        &self,
        begun: Answering,
        log: Log,
        (settings, model): (ConversationSettings, ModelRef),
        parent: Option<String>,
        message: Option<String>,
    ) -> Result<Begun, ConversationError> {
        let conversation = log.conversation.clone();
        let (kept, _) = log.conversation().await?;
        self.host.note_readings(conversation.clone(), kept.readings).await?;
        self.host.put_in(conversation.clone(), kept.sources, true).await?;
        let run = Run::begin(self.host.clone(), log, begun, settings, model, parent).await?;
        let reply = run.reply_id().to_owned();
        self.host.conversations_changed(Some(conversation)).await?;
        tokio::spawn(run.go());
        Ok(Begun { message, reply })
    }
}

/// Servers as a model may know of them.
pub(super) async fn servers_of(
    host: &Host,
    offered: &[OfferedServer],
) -> Result<Vec<(OfferedServer, ServerForModel)>, ConversationError> {
    let names = offered.iter().map(|offered| offered.server.clone()).collect();
    Ok(offered.iter().cloned().zip(host.servers_for_model(names).await?).collect())
}

/// An id that no other item has.
pub(super) fn new_id() -> String {
    // clock: makes an id.
    format!("i{:x}-{:08x}", ports::time::now(), fastrand::u32(..))
}
