//! What can be done with a conversation and its model: say something, stop, have an answer again, set it up. At most one answer is
//! under way in each conversation.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use models::{ModelError, ModelRef, Usage};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::attachments::{self, AttachmentError};
use super::export::{self, Format};
use super::item::{Attachment, Body, Content, Cost, Item, Role, State};
use super::log::Log;
use super::offered::{Offering, ServerForModel};
use super::run::Run;
use super::{Offered, Settings};
use crate::activity::now;
use crate::ports::StoreError;
use crate::view::HostEvent;
use crate::{Host, HostClosed};

/// The longest message that the user can write, in bytes.
const MAX_TEXT: usize = 4 << 20;
/// The longest system prompt, in bytes.
const MAX_SYSTEM_PROMPT: usize = 256 << 10;
/// The most servers of one conversation.
const MAX_SERVERS: usize = 100;
/// The most answers that are under way at a time, over all conversations.
const MAX_ANSWERS: usize = 32;

/// Why something can't be done with a conversation.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ConversationError {
    /// There is none.
    #[error("this {0} is not there any more")]
    NotFound(String),
    /// A model is answering.
    #[error("a model is answering in this conversation; wait for it, or stop it first")]
    Answering,
    /// Too many models are answering.
    #[error("models are answering in {MAX_ANSWERS} other conversations; wait for one of them, or stop it first")]
    TooMany,
    /// No model was chosen.
    #[error("no model is chosen for this conversation; choose one, or add a provider in Settings → Models")]
    NoModel,
    /// The model can't be asked.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// There is nothing to send.
    #[error("there is nothing to send: write something or attach a file")]
    Empty,
    /// It is too long.
    #[error("{what} may have {limit} KB at most; shorten it, or attach it as a file")]
    TooLong {
        /// What.
        what: &'static str,
        /// How many kilobytes.
        limit: usize,
    },
    /// Too many servers.
    #[error("a conversation has at most {MAX_SERVERS} servers; turn some off")]
    TooManyServers,
    /// Something can't be attached.
    #[error(transparent)]
    Attachment(#[from] AttachmentError),
    /// Only a message of the user can be written anew.
    #[error("only what you wrote can be edited")]
    NotYours,
    /// Only an answer can be had again.
    #[error("only an answer can be had again")]
    NotAnAnswer,
    /// The history can't be read or written.
    #[error(transparent)]
    Store(StoreError),
    /// The host ends.
    #[error("Drawbridge is closing")]
    Closing,
}

impl From<HostClosed> for ConversationError {
    fn from(_: HostClosed) -> Self {
        Self::Closing
    }
}

/// A message of the user.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NewMessage {
    /// What is written.
    pub text: String,
    /// What is attached.
    pub attachments: Vec<Attachment>,
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
}

/// What a conversation took, in the branch that is shown.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Spent {
    /// The tokens of all answers.
    pub usage: Usage,
    /// What they cost, by currency.
    pub costs: Vec<Cost>,
    /// Of how many answers the price is not known.
    pub unpriced: u32,
    /// How many tokens the latest request and its answer took together.
    pub context_used: Option<u64>,
    /// How many the model takes.
    pub context: Option<u64>,
}

/// The answers under way, by conversation.
#[derive(Debug, Default)]
pub(crate) struct Replies(Mutex<HashMap<String, Arc<Running>>>);

/// An answer under way.
#[derive(Debug, Default)]
pub(super) struct Running {
    /// Ends it.
    pub(super) stop: CancellationToken,
    /// The item as far as it came, and how many pieces of it were told.
    pub(super) live: Mutex<Option<(Item, u64)>>,
}

/// Keeps a conversation's answer among those under way until it is dropped.
pub(super) struct Answering {
    replies: Arc<Replies>,
    conversation: String,
    pub(super) running: Arc<Running>,
}

impl Replies {
    fn begin(replies: &Arc<Self>, conversation: &str) -> Result<Answering, ConversationError> {
        let mut map = replies.0.lock().unwrap_or_else(PoisonError::into_inner);
        if map.contains_key(conversation) {
            return Err(ConversationError::Answering);
        }
        if map.len() >= MAX_ANSWERS {
            return Err(ConversationError::TooMany);
        }
        let running = Arc::new(Running::default());
        map.insert(conversation.to_owned(), Arc::clone(&running));
        Ok(Answering { replies: Arc::clone(replies), conversation: conversation.to_owned(), running })
    }

    fn of(&self, conversation: &str) -> Option<Arc<Running>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(conversation).cloned()
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.replies.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.conversation);
    }
}

impl Host {
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
        let begun = self.begin(&conversation)?;
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
        let begun = self.begin(&conversation)?;
        let log = self.log(&conversation);
        let old = log.item(item).await?;
        if !matches!(old.body, Body::Message { role: Role::User, .. }) {
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
        let begun = self.begin(&conversation)?;
        let log = self.log(&conversation);
        let old = log.item(item).await?;
        if !matches!(old.body, Body::Reply { .. }) {
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
        let begun = self.begin(&conversation)?;
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
        let begun = self.begin(&conversation)?;
        self.log(&conversation).show(item).await?;
        drop(begun);
        self.conversations_changed(Some(conversation)).await?;
        Ok(())
    }

    /// Sets a conversation up. What is under way goes on as it began.
    ///
    /// # Errors
    /// If there is none, or the settings are too much.
    pub async fn set_conversation(&self, conversation: String, settings: Settings) -> Result<(), ConversationError> {
        if settings.system_prompt.len() > MAX_SYSTEM_PROMPT {
            return Err(ConversationError::TooLong { what: "a system prompt", limit: MAX_SYSTEM_PROMPT >> 10 });
        }
        if settings.servers.len() > MAX_SERVERS {
            return Err(ConversationError::TooManyServers);
        }
        self.log(&conversation).set(&settings).await?;
        self.conversations_changed(Some(conversation)).await?;
        Ok(())
    }

    /// What the user set for a conversation.
    #[must_use]
    pub fn conversation_settings(kept: &Value) -> Settings {
        serde_json::from_value(kept.clone()).unwrap_or_default()
    }

    /// The tools of a conversation: which are offered to its model, and why others are not.
    ///
    /// # Errors
    /// If there is no such conversation.
    pub async fn conversation_tools(&self, conversation: String) -> Result<ConversationTools, ConversationError> {
        let (_, settings) = self.log(&conversation).conversation().await?;
        let servers = self.servers_of(&settings.servers).await?;
        let registry = self.models().await?;
        let context = settings.model.as_ref().and_then(|model| registry.model(model)?.context);
        let threshold = self.with(|owner| owner.conversation_bounds()).await?.threshold(context);
        let offering = tokio::task::spawn_blocking(move || Offering::new(&servers));
        Ok(ConversationTools { offering: offering.await.map_err(|_| ConversationError::Closing)?, threshold })
    }

    /// What a conversation took, in the branch that is shown.
    ///
    /// # Errors
    /// If there is no such conversation.
    pub async fn conversation_spent(&self, conversation: String) -> Result<Spent, ConversationError> {
        let log = self.log(&conversation);
        let (_, settings) = log.conversation().await?;
        let registry = self.models().await?;
        let mut spent = spent_by(&log.outline().await?);
        spent.context = settings.model.as_ref().and_then(|model| registry.model(model)?.context).map(u64::from);
        Ok(spent)
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
        let text = match format {
            Format::Markdown => export::to_markdown(&kept.title, &log.outline().await?),
            Format::Json => export::to_json(&kept.title, &settings, &log.all().await?),
        };
        Ok((export::file_name(&kept.title, format), text))
    }

    /// Servers as a model may know of them.
    pub(super) async fn servers_of(
        &self,
        offered: &[Offered],
    ) -> Result<Vec<(Offered, ServerForModel)>, ConversationError> {
        let names: Vec<String> = offered.iter().map(|offered| offered.server.clone()).collect();
        let servers = self.with(move |owner| owner.servers_for_model(&names)).await?;
        Ok(offered.iter().cloned().zip(servers).collect())
    }

    fn begin(&self, conversation: &str) -> Result<Answering, ConversationError> {
        Replies::begin(&self.replies, conversation)
    }

    fn log(&self, conversation: &str) -> Log {
        Log::new(&self.ports().history, conversation.to_owned())
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
        let body = Body::Message { role: Role::User, content, prompt: None, attachments };
        let message = Item { id: new_id(), parent, at: now(), state: State::Whole, body };
        log.write(vec![message.clone()]).await?;
        let (parent, id) = (Some(message.id.clone()), message.id.clone());
        self.tell(HostEvent::ItemChanged {
            conversation: log.conversation.clone(),
            item: Box::new(message),
            answering: true,
        })
        .await?;
        let conversation = log.conversation.clone();
        let begun = self.answer_after(begun, log, chosen, parent, Some(id)).await;
        if begun.is_err() {
            // The page was told that an answer comes.
            self.conversations_changed(Some(conversation)).await?;
        }
        begun
    }

    /// The model that answers, which the conversation keeps.
    async fn choose(&self, log: &Log, model: Option<ModelRef>) -> Result<(Settings, ModelRef), ConversationError> {
        let (_, mut settings) = log.conversation().await?;
        let chosen = match model.or_else(|| settings.model.clone()) {
            Some(model) => model,
            None => self.default_model().await?.ok_or(ConversationError::NoModel)?,
        };
        self.models().await?.provider(&chosen.provider)?;
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
        (settings, model): (Settings, ModelRef),
        parent: Option<String>,
        message: Option<String>,
    ) -> Result<Begun, ConversationError> {
        let conversation = log.conversation.clone();
        let (kept, _) = log.conversation().await?;
        self.put_in(conversation.clone(), kept.sources, true).await?;
        let run = Run::begin(self.clone(), log, begun, settings, model, parent).await?;
        let reply = run.reply_id().to_owned();
        self.conversations_changed(Some(conversation)).await?;
        tokio::spawn(run.go());
        Ok(Begun { message, reply })
    }
}

/// An id that no other item has.
pub(super) fn new_id() -> String {
    format!("i{:x}-{:08x}", now(), fastrand::u32(..))
}

/// What the answers among these items took.
fn spent_by(path: &[Item]) -> Spent {
    let mut spent = Spent::default();
    let mut costs: BTreeMap<String, f64> = BTreeMap::new();
    for item in path {
        let Body::Reply { usage, cost, .. } = &item.body else { continue };
        spent.usage = added(spent.usage, *usage);
        match cost {
            Some(cost) => *costs.entry(cost.currency.clone()).or_default() += cost.amount,
            None if usage.input.is_some() || usage.output.is_some() => spent.unpriced += 1,
            None => {}
        }
        if let Some(input) = usage.input {
            spent.context_used = Some(input + usage.output.unwrap_or(0));
        }
    }
    spent.costs = costs.into_iter().map(|(currency, amount)| Cost { amount, currency }).collect();
    spent
}

fn added(a: Usage, b: Usage) -> Usage {
    let add = |a: Option<u64>, b: Option<u64>| match (a, b) {
        (None, None) => None,
        (a, b) => Some(a.unwrap_or(0) + b.unwrap_or(0)),
    };
    Usage {
        input: add(a.input, b.input),
        output: add(a.output, b.output),
        cached_input: add(a.cached_input, b.cached_input),
        written_input: add(a.written_input, b.written_input),
        thinking: add(a.thinking, b.thinking),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_answer_at_a_time_is_under_way_in_a_conversation() {
        let replies = Arc::new(Replies::default());
        let first = Replies::begin(&replies, "a");
        assert!(first.is_ok(), "the first begins");
        assert!(matches!(Replies::begin(&replies, "a"), Err(ConversationError::Answering)), "and a second does not");
        assert!(Replies::begin(&replies, "b").is_ok(), "in another conversation one does");
        drop(first);
        assert!(Replies::begin(&replies, "a").is_ok(), "and after its end the next");
    }

    #[test]
    fn what_answers_took_is_added_up_and_an_unknown_price_is_told() {
        let reply = |input: Option<u64>, cost: Option<f64>| Item {
            id: "1".into(),
            parent: None,
            at: 1,
            state: State::Whole,
            body: Body::Reply {
                model: ModelRef { provider: "p".into(), model: "m".into() },
                parts: Vec::new(),
                stop: None,
                usage: Usage { input, output: input, ..Usage::default() },
                cost: cost.map(|amount| Cost { amount, currency: "USD".into() }),
                error: None,
                conversions: Vec::new(),
                first_after: None,
                took: 1,
            },
        };
        let spent = spent_by(&[
            reply(Some(10), Some(0.5)),
            reply(None, None),
            reply(Some(20), Some(0.25)),
            reply(Some(1), None),
        ]);
        assert_eq!((spent.usage.input, spent.usage.output), (Some(31), Some(31)), "tokens are added up");
        assert_eq!(spent.costs, [Cost { amount: 0.75, currency: "USD".into() }], "and money");
        assert_eq!(spent.unpriced, 1, "an answer without a price is told, one that took nothing is not");
        assert_eq!(spent.context_used, Some(2), "the latest request fills the context");
    }
}
