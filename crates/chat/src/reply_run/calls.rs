//! Tool calls that a model's reply requests: made concurrently, each with its own conversation item.

use std::sync::Arc;

use domain::app_view::ProvidingApp;
use domain::call::{CallFailure, CallFailureCode, CallRefusal};
use domain::item::{ChatItem, ItemBody, ItemState, ToolUsed};
use futures_util::{StreamExt as _, stream};
use host::CallOrigin;
use serde_json::{Map, Value};

use super::{ReplyRun, RequestedCall, new_chat_item, retry_item_write};
use crate::builtin_tools::{self, BuiltinToolResult, SEARCH_TOOL_NAME};
use crate::call::{self, CallOutcome, CallRecorder, ToolCall};
use crate::engine::new_item_id;
use crate::offered_tools::ToolState;
use crate::{ConversationError, model_context};

/// Maximum number of tool calls of one reply that are made at the same time.
const MAX_PARALLEL_CALLS: usize = 8;
/// Maximum number of tool calls that one reply may request. Further ones are not made, and the model is told so.
const MAX_CALLS_PER_REPLY: usize = 64;

/// A call of a server's or a shown app's tool that is about to be made.
struct PlannedCall {
    item: ChatItem,
    server: String,
    app: Option<ProvidingApp>,
    tool: String,
    arguments: Map<String, Value>,
}

impl ReplyRun {
    /// Makes the tool calls that a reply requested concurrently, each with its own item, and returns the last item.
    ///
    /// # Errors
    ///
    /// Returns a [`ConversationError`] if the items can't be written, in which case no call is made. If the end of a
    /// call can't be written, its item contains that error instead.
    pub(super) async fn make_calls(&mut self, requested: Vec<RequestedCall>) -> Result<ChatItem, ConversationError> {
        let (mut items, mut planned, mut parent) = (Vec::new(), Vec::new(), self.reply.id.clone());
        for (number, requested) in requested.into_iter().enumerate() {
            let (item, call) = self.plan_call(requested, &parent, number);
            parent.clone_from(&item.id);
            planned.extend(call);
            items.push(item);
        }
        self.log.write_items(items.clone()).await?;
        for item in &items {
            self.emit_item_changed_event(item.clone(), true).await;
        }
        let mut lost = None;
        {
            let run = &*self;
            let mut made =
                stream::iter(planned.into_iter().map(|call| run.make_call(call))).buffer_unordered(MAX_PARALLEL_CALLS);
            while let Some(CallOutcome { mut item, write_result, .. }) = made.next().await {
                if let Err(error) = write_result {
                    record_unstored_result(&mut item, &error);
                    retry_item_write(&run.log, &item).await;
                    lost = Some(error);
                }
                run.emit_item_changed_event(item.clone(), true).await;
                if let Some(place) = items.iter_mut().find(|other| other.id == item.id) {
                    *place = item;
                }
            }
        }
        if let Some(error) = lost {
            return Err(error);
        }
        let last = items.last().cloned();
        Arc::make_mut(&mut self.path).extend(items);
        Ok(last.unwrap_or_else(|| self.reply.clone()))
    }

    /// Creates the conversation item of a requested call. Returns with it the call to make, if it is for a tool of a
    /// server or a shown app. Calls of built-in tools are executed here.
    fn plan_call(&mut self, requested: RequestedCall, parent: &str, number: usize) -> (ChatItem, Option<PlannedCall>) {
        let RequestedCall { id, tool_key, arguments } = requested;
        let used = ToolUsed { reply: self.reply.id.clone(), id, tool_key: tool_key.clone() };
        let limit = usize::try_from(self.bounds.result_bytes).unwrap_or(usize::MAX);
        let result = match (tool_key.as_str(), self.offering.tool(&tool_key)) {
            _ if number >= MAX_CALLS_PER_REPLY => {
                BuiltinToolResult::error(format!("not made: an answer may ask for {MAX_CALLS_PER_REPLY} calls at most"))
            }
            (_, Some(tool)) => {
                let (server, app, tool) = (tool.server.clone(), tool.app.clone(), tool.tool.clone());
                let id = new_item_id();
                let body = ItemBody::ToolCall {
                    call: id.clone(),
                    server: server.clone(),
                    tool: tool.clone(),
                    app: app.as_ref().map(|app| app.tool.clone()),
                    arguments: Value::Object(arguments.clone()),
                    result: None,
                    error: None,
                    failure: None,
                    refusal: None,
                    duration_milliseconds: 0,
                    waited_milliseconds: None,
                    used: Some(used),
                    omitted_bytes: None,
                };
                // clock: timestamp of the item.
                let at = ports::time::system_time_millis();
                let item = ChatItem { id, parent: Some(parent.to_owned()), at, state: ItemState::Streaming, body };
                return (item.clone(), Some(PlannedCall { item, server, app, tool, arguments }));
            }
            (SEARCH_TOOL_NAME, None) => {
                let offering = Arc::clone(&self.offering);
                let index = self.index.get_or_insert_with(|| offering.search_index());
                builtin_tools::search_tools(&offering, index, &arguments)
            }
            (model_context::READ_RESULT_TOOL_NAME, None) => {
                builtin_tools::read_more_of_result(&self.path, &arguments, limit)
            }
            _ => BuiltinToolResult::error(self.unavailable_tool_reason(&tool_key)),
        };
        let BuiltinToolResult { text, found, is_error } = result;
        let body = ItemBody::OwnTool { used, arguments: Value::Object(arguments), text, found, is_error };
        (new_chat_item(Some(parent.to_owned()), ItemState::Whole, body), None)
    }

    /// Returns a text for the model that explains why it can't use the tool with this key.
    fn unavailable_tool_reason(&self, key: &str) -> String {
        let known = self.offering.all_tools().iter().find(|tool| tool.key == key);
        match known.map(|tool| (tool.state, tool.server.as_str())) {
            Some((ToolState::Changed, server))
                if self.servers_with_outdated_tools().any(|omitted| omitted == server) =>
            {
                format!("not made: {}", super::model_answer::omitted_tools_notice(server))
            }
            Some((ToolState::New, server)) => {
                format!("not made: the user has not reviewed the tool {key:?} of {server} yet")
            }
            Some((ToolState::Changed, server)) => {
                format!("not made: the tool {key:?} of {server} changed since the user reviewed it")
            }
            Some((ToolState::Disabled, server)) => {
                format!("not made: the tool {key:?} of {server} is turned off for models in the settings")
            }
            Some((ToolState::AppOnly, server)) => {
                format!("not made: {server} offers the tool {key:?} only to its apps")
            }
            _ => format!("There is no tool {key:?} that you can use in this conversation."),
        }
    }

    /// Makes one call of a tool, and records its outcome.
    async fn make_call(&self, planned: PlannedCall) -> CallOutcome {
        let PlannedCall { item, server, app, tool, arguments } = planned;
        let permission = {
            let (server, tool, is_of_server) = (server.clone(), tool.clone(), app.is_none());
            async move {
                // The host checks that the tools of an app are still turned on.
                if !is_of_server {
                    return self.check_server_still_enabled(&server).await;
                }
                self.refresh_tool_list_if_changed(&server).await;
                self.check_tool_still_enabled(&server, &tool).await
            }
        };
        let origin = CallOrigin::Model { conversation: self.log.conversation.clone() };
        let call = ToolCall { id: item.id.clone(), origin, server, app, tool, arguments, repeats: None };
        let result_bytes = usize::try_from(self.bounds.result_bytes).unwrap_or(usize::MAX);
        let record = CallRecorder::BeforeCall { log: &self.log, item, result_bytes };
        call::make_and_record_call(&self.host, call, record, permission, &self.answering.running.stop).await
    }

    /// Checks that a server is still enabled for the conversation, before a tool of one of its shown apps is called.
    async fn check_server_still_enabled(&self, server: &str) -> Result<(), CallFailure> {
        let now = self.log.conversation().await.map_err(|error| unreadable_conversation_failure(&error))?.1;
        if now.servers.iter().any(|offered| offered.server == server) {
            Ok(())
        } else {
            let text = format!("{server:?} was turned off for this conversation");
            Err(CallFailure::refused(CallRefusal::NotOffered, text))
        }
    }

    /// Checks that a server's tool is still enabled for the conversation, since the user may have disabled it after the
    /// request was sent to the model.
    async fn check_tool_still_enabled(&self, server: &str, tool: &str) -> Result<(), CallFailure> {
        let now = self.log.conversation().await.map_err(|error| unreadable_conversation_failure(&error))?.1;
        if now.enables_tool(server, tool) {
            Ok(())
        } else {
            let text = format!("{tool:?} of {server} was turned off for this conversation");
            Err(CallFailure::refused(CallRefusal::NotOffered, text))
        }
    }
}

/// Returns the failure of a call that is not made, since the conversation that enables its tool can't be read.
fn unreadable_conversation_failure(error: &ConversationError) -> CallFailure {
    CallFailure::refused(CallRefusal::Other, error.to_string())
}

/// Changes the item of a call to say that the call was made, but that its result could not be stored.
fn record_unstored_result(item: &mut ChatItem, cause: &ConversationError) {
    if let ItemBody::ToolCall { result, error, failure, refusal, .. } = &mut item.body {
        *result = None;
        *failure = Some(CallFailureCode::Internal);
        *refusal = None;
        *error = Some(format!("the call was made, but its result could not be stored: {cause}"));
    }
}
