//! A reply run is one task: it requests a reply from the model, makes the tool calls that the reply requests, and
//! requests a further reply to their results, until the model requests no more calls.

mod calls;
mod list_refresh;
mod model_answer;

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use domain::bounds::ChatBounds;
use domain::item::{ChatItem, ItemBody, ItemState, ModelProblem, Notice};
use host::{Host, ServerForModel};
use models::{ModelErrorCode, ModelRef, TokenUsage};
use serde_json::{Map, Value};
use tokio::time::Instant;

use super::conversation_locks::RunningReplyGuard;
use super::conversation_log::ConversationLog;
use super::engine::{load_servers_for_model, new_item_id};
use super::offered_tools::OfferedTools;
use super::offered_tools::app_tools::enabled_app_tools;
use super::search_index::SearchIndex;
use super::{ConversationError, ConversationSettings, OfferedServer};

/// Delay before each attempt to repeat a failed write to the history.
const ITEM_WRITE_RETRY_DELAYS: [Duration; 3] = [Duration::ZERO, Duration::from_millis(500), Duration::from_secs(2)];

/// A reply run: the task that requests replies from the model and makes the tool calls that they request, until a reply
/// requests none. Contains the current reply, and the tools that are offered to the model.
pub(super) struct ReplyRun {
    host: Host,
    log: ConversationLog,
    answering: RunningReplyGuard,
    settings: ConversationSettings,
    model: ModelRef,
    /// Items of the conversation's visible branch before the current reply.
    path: Arc<Vec<ChatItem>>,
    reply: ChatItem,
    servers: Vec<(OfferedServer, ServerForModel)>,
    offering: Arc<OfferedTools>,
    index: Option<SearchIndex>,
    bounds: ChatBounds,
}

/// A tool call that a model's reply requests.
struct RequestedCall {
    id: String,
    tool_key: String,
    arguments: Map<String, Value>,
}

impl ReplyRun {
    /// Writes the item of a new reply to the history, and prepares the run that requests this reply.
    pub(super) async fn begin(
        host: Host,
        log: ConversationLog,
        answering: RunningReplyGuard,
        settings: ConversationSettings,
        model: ModelRef,
        parent: Option<String>,
    ) -> Result<Self, ConversationError> {
        let mut reply = new_reply(&model, parent);
        // Written first, so that the visible branch ends with this reply.
        log.write_items(vec![reply.clone()]).await?;
        let read = async {
            let path = log.branch_items(Some(reply.id.clone())).await?;
            Ok((path, host.conversation_bounds().await?))
        };
        let (path, bounds) = match read.await {
            Ok(read) => read,
            Err(error) => {
                record_error_in_reply(&mut reply, &error);
                retry_item_write(&log, &reply).await;
                return Err(error);
            }
        };
        let mut run = Self {
            host,
            log,
            answering,
            settings,
            model,
            path: Arc::new(path),
            reply,
            servers: Vec::new(),
            offering: Arc::default(),
            index: None,
            bounds,
        };
        run.emit_new_reply().await;
        Ok(run)
    }

    /// Returns the id of the current reply's item.
    pub(super) fn reply_id(&self) -> &str {
        &self.reply.id
    }

    /// Requests replies and makes their calls until the model requests no more calls. An error is recorded in the
    /// current reply.
    pub(super) async fn run(mut self) {
        let last = match self.run_tool_rounds().await {
            Ok(last) => last,
            Err(error) => {
                self.set_partial_reply(None);
                record_error_in_reply(&mut self.reply, &error);
                retry_item_write(&self.log, &self.reply).await;
                self.reply.clone()
            }
        };
        self.finish_run(last).await;
    }

    /// Requests a reply and makes its tool calls, again and again, until a reply requests no calls, the user stops the
    /// run, Drawbridge is quit, or the maximum number of requests to the model is reached. Returns the last item, or the
    /// first error.
    async fn run_tool_rounds(&mut self) -> Result<ChatItem, ConversationError> {
        let mut round = 0;
        loop {
            round += 1;
            let requested = match self.request_reply().await {
                Ok(requested) => requested,
                Err(error) => {
                    record_error_in_reply(&mut self.reply, &error);
                    Vec::new()
                }
            };
            self.set_partial_reply(None);
            let goes_on = !self.is_stopped();
            // Written before the calls are made, so that no call is missing from the history.
            self.log.write_items(vec![self.reply.clone()]).await?;
            let reply = self.reply.clone();
            Arc::make_mut(&mut self.path).push(reply.clone());
            if requested.is_empty() {
                return Ok(reply);
            }
            self.emit_item_changed_event(reply, true).await;
            let last = self.make_calls(requested).await?;
            // A quit ends the pending calls. Their failures are not sent to the model.
            if !goes_on || self.is_stopped() || self.host.is_closing().await {
                return Ok(last);
            }
            if round >= self.bounds.rounds {
                let notice = ItemBody::Notice { notice: Notice::Rounds { rounds: round } };
                let item = new_chat_item(Some(last.id), ItemState::Whole, notice);
                self.log.write_items(vec![item.clone()]).await?;
                return Ok(item);
            }
            self.reply = new_reply(&self.model, Some(last.id));
            self.log.write_items(vec![self.reply.clone()]).await?;
            self.emit_new_reply().await;
        }
    }

    /// Ends exclusive access to the conversation, and then emits the event with the run's last item, so that observers
    /// of the event can start the next reply.
    async fn finish_run(self, item: ChatItem) {
        let Self { host, log, answering, .. } = self;
        drop(answering);
        // Fails only if the host has shut down, when there are no observers.
        let _ = host.emit_conversation_event(log.item_changed_event(item, false).await).await;
        let _ = host.report_changed_conversations(Some(log.conversation)).await;
    }

    fn is_stopped(&self) -> bool {
        self.answering.running.stop.is_cancelled()
    }

    fn set_partial_reply(&self, live: Option<(ChatItem, u64)>) {
        *self.answering.running.partial.lock().unwrap_or_else(PoisonError::into_inner) = live;
    }

    async fn emit_new_reply(&mut self) {
        self.set_partial_reply(Some((self.reply.clone(), 0)));
        self.emit_item_changed_event(self.reply.clone(), true).await;
    }

    async fn emit_item_changed_event(&self, item: ChatItem, answering: bool) {
        // Fails only if the host has shut down, when there are no observers.
        let _ = self.host.emit_conversation_event(self.log.item_changed_event(item, answering).await).await;
    }

    /// Updates the tools that are offered to the model, since servers may start or stop and tools may be reviewed
    /// during the run.
    async fn update_offered_tools(&mut self) -> Result<(), ConversationError> {
        let (_, now) = self.log.conversation().await?;
        // The reasoning setting must not change within a run.
        self.settings = ConversationSettings { thinking: self.settings.thinking, ..now };
        self.servers = load_servers_for_model(&self.host, &self.settings.servers).await?;
        if self.refresh_changed_tool_lists().await {
            self.servers = load_servers_for_model(&self.host, &self.settings.servers).await?;
        }
        let app_tools = enabled_app_tools(&self.host, &self.log.conversation, &self.settings).await?;
        if !self.offering.is_built_from_servers(&self.servers) || !self.offering.is_built_from_app_tools(&app_tools) {
            let servers = self.servers.clone();
            let made = tokio::task::spawn_blocking(move || OfferedTools::new(&servers).with_app_tools(app_tools)).await;
            self.offering = Arc::new(made.map_err(|_| ConversationError::Closing)?);
            self.index = None;
        }
        // Instructions count as content of their server, even if the conversation contains nothing else from it.
        let instructed =
            self.servers.iter().filter(|(offered, server)| offered.approved_instructions(server).is_some());
        let instructed: Vec<String> = instructed.map(|(offered, _)| offered.server.clone()).collect();
        if !instructed.is_empty() {
            self.host.record_conversation_servers(self.log.conversation.clone(), instructed.clone(), false).await?;
            self.log.write_item_with_source_servers(&self.reply, instructed).await?;
        }
        Ok(())
    }
}

fn new_chat_item(parent: Option<String>, state: ItemState, body: ItemBody) -> ChatItem {
    // clock: timestamp of the item.
    ChatItem { id: new_item_id(), parent, at: ports::time::system_time_millis(), state, body }
}

fn new_reply(model: &ModelRef, parent: Option<String>) -> ChatItem {
    let body = ItemBody::Reply {
        model: model.clone(),
        parts: Vec::new(),
        stop: None,
        usage: TokenUsage::default(),
        cost: None,
        error: None,
        conversions: Vec::new(),
        first_part_milliseconds: None,
        duration_milliseconds: 0,
    };
    new_chat_item(parent, ItemState::Streaming, body)
}

/// Records an error in the item of the reply that failed because of it.
fn record_error_in_reply(reply: &mut ChatItem, cause: &ConversationError) {
    if let ItemBody::Reply { error, parts, .. } = &mut reply.body {
        *error = Some(match cause {
            ConversationError::Model(error) => ModelProblem::from(error),
            error => ModelProblem { code: ModelErrorCode::Internal, message: error.to_string(), cause: None },
        });
        reply.state = if parts.is_empty() { ItemState::Whole } else { ItemState::Cut };
    }
}

/// Repeats a failed write of an item to the history, since the cause may be temporary. If all attempts fail, the item
/// is marked as interrupted at the next start of Drawbridge.
async fn retry_item_write(log: &ConversationLog, item: &ChatItem) {
    for pause in ITEM_WRITE_RETRY_DELAYS {
        tokio::time::sleep(pause).await;
        match log.write_items(vec![item.clone()]).await {
            Ok(()) => return,
            Err(error) => tracing::error!(%error, "the end of a reply or a call could not be stored"),
        }
    }
}

fn elapsed_millis(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX)
}
