//! Requests a reply from the model, receives its deltas, and sends and stores them as they arrive.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use domain::item::{ConversationEvent, Cost, ItemBody, ItemState, ReplyPart, ReplyStop};
use futures_util::StreamExt as _;
use models::{MessagePart, ModelError, ModelReply, ModelRequest, ReplyDelta, TokenUsage};
use serde_json::Value;
use tokio::time::Instant;

use super::{ReplyRun, RequestedCall, elapsed_millis};
use crate::model_parameters::ModelParameters;
use crate::streamed_pieces::{ReplyDeltaBuffer, append_deltas_to_parts};
use crate::{ConversationError, builtin_tools, model_context, system_prompt};

/// Minimum interval between two events that send deltas to the page: two display frames.
const DELTA_EMIT_INTERVAL: Duration = Duration::from_millis(33);
/// Minimum interval between two writes of a streaming reply to the history.
const PARTIAL_REPLY_WRITE_INTERVAL: Duration = Duration::from_millis(250);

impl ReplyRun {
    /// Sends a request to the model and receives the reply. Returns the tool calls that the reply requests.
    pub(super) async fn request_reply(&mut self) -> Result<Vec<RequestedCall>, ConversationError> {
        let began = Instant::now();
        self.update_offered_tools().await?;
        let registry = self.host.provider_registry().await?;
        let known = registry.model(&self.model).cloned();
        let limit = usize::try_from(self.bounds.result_bytes).unwrap_or(usize::MAX);
        // A model that doesn't support tools would reject the whole request.
        let takes_tools = known.as_ref().is_none_or(|model| model.takes.tools != Some(false));
        let context = known.as_ref().and_then(|model| model.context);
        let threshold = self.settings.effective_tool_search_threshold(self.bounds, context);
        // Reads images and files, which takes time.
        let (path, model) = (Arc::clone(&self.path), self.model.clone());
        let messages =
            tokio::task::spawn_blocking(move || model_context::messages_ending_with_user(&path, &model, limit));
        let messages = messages.await.map_err(|_| ConversationError::Closing)?;
        let kind = registry.provider(&self.model.provider)?.kind();
        let max_output = known.as_ref().and_then(|model| model.max_output);
        let parameters = ModelParameters::for_model(&self.settings, kind, max_output);
        let request = ModelRequest {
            system: system_prompt::build_system_prompt(&self.settings, &self.servers),
            messages,
            tools: if takes_tools {
                builtin_tools::select_tools_for_model(&self.offering, &self.path, threshold)
            } else {
                Vec::new()
            },
            temperature: parameters.temperature,
            max_tokens: parameters.max_tokens,
            thinking: self.settings.thinking,
            ..ModelRequest::default()
        };
        let losses = registry.find_lossy_conversions(&self.model, &request)?;
        if let ItemBody::Reply { conversions, .. } = &mut self.reply.body {
            let reported = losses.iter().filter(|loss| !loss.preserves_content());
            *conversions = reported.map(ToString::to_string).chain(parameters.lowered).collect();
            if !takes_tools && self.offering.offered().next().is_some() {
                conversions.push("this model does not support tools, so none are offered".to_owned());
            }
            conversions.extend(self.servers.iter().filter(|(on, server)| on.has_changed_instructions(server)).map(
                |(on, _)| {
                    format!("the instructions of {} changed since you turned them on: they are not sent", on.server)
                },
            ));
        }
        let omitted: Vec<String> = self.servers_with_outdated_tools().map(omitted_tools_notice).collect();
        if let ItemBody::Reply { conversions, .. } = &mut self.reply.body {
            conversions.extend(omitted);
        }
        self.set_partial_reply(Some((self.reply.clone(), 0)));
        let stop = self.answering.running.stop.clone();
        let streamed = tokio::select! {
            streamed = registry.stream(&self.model, request) => streamed,
            () = stop.cancelled() => return Ok(self.mark_reply_as_stopped(began, None)),
        };
        let (usage, first, ended) = match streamed {
            Ok(deltas) => self.read_reply_stream(deltas, began).await?,
            Err(error) => (TokenUsage::default(), None, Err(Some(error))),
        };
        let price = known.and_then(|model| model.price);
        if let ItemBody::Reply { usage: own, cost, first_part_milliseconds, duration_milliseconds, .. } =
            &mut self.reply.body
        {
            *own = ended.as_ref().map_or(usage, |reply| reply.usage);
            *cost =
                price.and_then(|price| price.cost(own).map(|amount| Cost { amount, currency: price.currency.clone() }));
            *first_part_milliseconds = first;
            *duration_milliseconds = elapsed_millis(began);
        }
        match ended {
            Ok(reply) => Ok(self.apply_complete_reply(reply)),
            Err(None) => Ok(self.mark_reply_as_stopped(began, first)),
            Err(Some(error)) => Err(ConversationError::Model(error)),
        }
    }

    /// Receives the deltas of a reply until its end. Returns the token usage, the time to the first delta in
    /// milliseconds, and the complete reply. Instead of the reply, returns `Err(None)` if the user stopped it.
    async fn read_reply_stream(
        &mut self,
        mut deltas: models::ReplyStream,
        began: Instant,
    ) -> Result<(TokenUsage, Option<u64>, Result<ModelReply, Option<ModelError>>), ConversationError> {
        let stop = self.answering.running.stop.clone();
        let (mut pieces, mut usage, mut first) = (ReplyDeltaBuffer::default(), TokenUsage::default(), None);
        let (mut send_at, mut write_at) = (Instant::now(), Instant::now() + PARTIAL_REPLY_WRITE_INTERVAL);
        let mut writing: Option<tokio::task::JoinHandle<()>> = None;
        let ended = loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => break Err(None),
                () = tokio::time::sleep_until(send_at), if pieces.has_pending() => {
                    self.emit_pending_deltas(&mut pieces).await?;
                    send_at = Instant::now() + DELTA_EMIT_INTERVAL;
                    if send_at >= write_at && writing.as_ref().is_none_or(tokio::task::JoinHandle::is_finished) {
                        writing = Some(self.write_partial_reply());
                        write_at = send_at + PARTIAL_REPLY_WRITE_INTERVAL;
                    }
                }
                delta = deltas.next() => match delta {
                    Some(Ok(ReplyDelta::Ended(reply))) => break Ok(reply),
                    Some(Ok(delta)) => {
                        let whose = |key: &str| {
                            let tool = self.offering.tool(key).filter(|tool| tool.app.is_none());
                            tool.map(|tool| (tool.server.clone(), tool.tool.clone()))
                        };
                        usage = pieces.add_delta(delta, whose).unwrap_or(usage);
                        if first.is_none() && pieces.has_pending() {
                            first = Some(elapsed_millis(began));
                        }
                    }
                    Some(Err(error)) => break Err(Some(error)),
                    None => break Err(Some(ModelError::Cut)),
                },
            }
        };
        if pieces.has_pending() {
            self.emit_pending_deltas(&mut pieces).await?;
        }
        // A write of the streaming reply must not be executed after the final one.
        if let Some(writing) = writing {
            let _ = writing.await;
        }
        if let Some((live, _)) = &*self.answering.running.partial.lock().unwrap_or_else(PoisonError::into_inner) {
            self.reply.body.clone_from(&live.body);
        }
        Ok((usage, first, ended))
    }

    async fn emit_pending_deltas(&self, pieces: &mut ReplyDeltaBuffer) -> Result<(), ConversationError> {
        let append = pieces.take_pending();
        let seq = {
            let mut live = self.answering.running.partial.lock().unwrap_or_else(PoisonError::into_inner);
            let Some((item, seq)) = &mut *live else { return Ok(()) };
            if let ItemBody::Reply { parts, .. } = &mut item.body {
                append_deltas_to_parts(parts, &append);
            }
            *seq += 1;
            *seq - 1
        };
        let (conversation, item) = (self.log.conversation.clone(), self.reply.id.clone());
        self.host.emit_conversation_event(ConversationEvent::ReplyDelta { conversation, item, seq, append }).await?;
        Ok(())
    }

    /// Writes the part of the reply that was received so far to the history, in case the process exits.
    fn write_partial_reply(&self) -> tokio::task::JoinHandle<()> {
        let (log, running) = (self.log.clone(), Arc::clone(&self.answering.running));
        tokio::spawn(async move {
            let live = running.partial.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let Some((item, _)) = live else { return };
            if let Err(error) = log.write_items(vec![item]).await {
                tracing::warn!(%error, "a streaming reply could not be stored");
            }
        })
    }

    /// Marks the reply as stopped by the user. The received parts are retained.
    fn mark_reply_as_stopped(&mut self, began: Instant, first: Option<u64>) -> Vec<RequestedCall> {
        if let ItemBody::Reply { stop, first_part_milliseconds, duration_milliseconds, .. } = &mut self.reply.body {
            *stop = Some(ReplyStop::Stopped);
            (*first_part_milliseconds, *duration_milliseconds) = (first, elapsed_millis(began));
        }
        self.reply.state = ItemState::Cut;
        Vec::new()
    }

    /// Stores the complete reply in its item, and returns the tool calls that it requests.
    fn apply_complete_reply(&mut self, reply: ModelReply) -> Vec<RequestedCall> {
        let (mut whole, mut requested, mut omitted) = (Vec::new(), Vec::new(), Vec::new());
        // Tool uses of a truncated or refused reply are not executed.
        let requests_calls = matches!(
            reply.stop,
            models::StopReason::EndTurn | models::StopReason::ToolUse | models::StopReason::Other(_)
        );
        for part in reply.message.parts {
            match part {
                MessagePart::Text(text) => whole.push(ReplyPart::Text { text }),
                MessagePart::Thinking { text, opaque } => whole.push(ReplyPart::Thinking { text, opaque }),
                MessagePart::ToolUse { id, name, arguments, opaque } => {
                    // Tools of apps have no name on the server.
                    let tool = self.offering.tool(&name).filter(|tool| tool.app.is_none());
                    whole.push(ReplyPart::ToolUse {
                        id: id.clone(),
                        tool_key: name.clone(),
                        server: tool.map(|tool| tool.server.clone()),
                        tool: tool.map(|tool| tool.tool.clone()),
                        arguments: Value::Object(arguments.clone()).to_string(),
                        opaque,
                    });
                    if requests_calls {
                        requested.push(RequestedCall { id, tool_key: name, arguments });
                    }
                }
                MessagePart::Image { .. } => omitted.push("an image from the model was omitted"),
                MessagePart::Audio { .. } => omitted.push("an audio recording from the model was omitted"),
                MessagePart::File { .. } | MessagePart::ToolResult { .. } => {
                    omitted.push("a file from the model was omitted")
                }
            }
        }
        if let ItemBody::Reply { parts, stop, conversions, .. } = &mut self.reply.body {
            *parts = whole;
            *stop = Some(reply.stop.into());
            conversions.extend(omitted.into_iter().map(str::to_owned));
        }
        self.reply.state = ItemState::Whole;
        requested
    }
}

/// Returns the text for the user and the model about a server whose tools are not sent to the model.
pub(super) fn omitted_tools_notice(server: &str) -> String {
    format!(
        "the tools of {server} are not available: the server reported that they changed, and they could not be read again in time"
    )
}
