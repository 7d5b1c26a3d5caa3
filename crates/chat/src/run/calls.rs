//! The calls that a model asks for: made side by side, each an item of its own.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use domain::call::CallFailure;
use domain::item::{Item, ItemBody, ItemState, ToolResult, ToolUsed, readings};
use futures_util::{StreamExt as _, stream};
use host::CallOrigin;
use mcp_proto::types::CallToolResult;
use offers::output;
use offers::review::result_parts;
// clock: stamps items.
use ports::time::now;
use serde_json::{Map, Value};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::{Run, Wanted, millis, new_item, write_again};
use crate::engine::new_id;
use crate::offered::ToolState;
use crate::own_tools::{self, SEARCH_TOOLS, Told};
use crate::{ConversationError, context};

/// The most calls of one answer that are under way at a time.
const PARALLEL_CALLS: usize = 8;
/// The most calls that one answer may ask for; the others are refused.
const MAX_CALLS: usize = 64;
/// How long calls that were cancelled may take to end.
const CANCELLING: Duration = Duration::from_secs(5);
/// After how long a server is told again that a call is cancelled.
const CANCEL_AGAIN: Duration = Duration::from_millis(100);

/// A call to make.
struct Planned {
    item: Item,
    server: String,
    tool: String,
    arguments: Map<String, Value>,
}

impl Run {
    /// Makes the calls of the answer, several at a time. Each becomes an item; gives the last.
    ///
    /// # Errors
    /// If they can't be kept: then none is made. If how one ended can't be kept, which is said in its place.
    pub(super) async fn make_calls(&mut self, wanted: Vec<Wanted>) -> Result<Item, ConversationError> {
        let (mut items, mut planned, mut parent) = (Vec::new(), Vec::new(), self.reply.id.clone());
        for (number, wanted) in wanted.into_iter().enumerate() {
            let (item, call) = self.plan(wanted, &parent, number);
            parent.clone_from(&item.id);
            planned.extend(call);
            items.push(item);
        }
        self.log.write(items.clone()).await?;
        for item in &items {
            self.tell_item(item.clone(), true).await;
        }
        let mut lost = None;
        {
            let run = &*self;
            let mut made =
                stream::iter(planned.into_iter().map(|call| run.make_call(call))).buffer_unordered(PARALLEL_CALLS);
            while let Some(mut item) = made.next().await {
                if let Err(error) = run.keep_result(&item).await {
                    say_lost(&mut item, &error);
                    write_again(&run.log, &item).await;
                    lost = Some(error);
                }
                run.tell_item(item.clone(), true).await;
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

    /// Keeps how a call ended, and what was read by it.
    async fn keep_result(&self, item: &Item) -> Result<(), ConversationError> {
        let readings = self.host.with_claims(readings(item)).await?;
        self.log.write_read(item, readings).await
    }

    /// A call as an item; and what is to be called, if it is a tool of a server.
    fn plan(&mut self, wanted: Wanted, parent: &str, number: usize) -> (Item, Option<Planned>) {
        let Wanted { id, key, arguments } = wanted;
        let used = ToolUsed { reply: self.reply.id.clone(), id, key: key.clone() };
        let limit = usize::try_from(self.bounds.result_bytes).unwrap_or(usize::MAX);
        let told = match (key.as_str(), self.offering.tool(&key)) {
            _ if number >= MAX_CALLS => {
                Told::error(format!("not made: an answer may ask for {MAX_CALLS} calls at most"))
            }
            (_, Some(tool)) => {
                let (server, tool) = (tool.server.clone(), tool.tool.clone());
                let id = new_id();
                let body = ItemBody::ToolCall {
                    call: id.clone(),
                    server: server.clone(),
                    tool: tool.clone(),
                    arguments: Value::Object(arguments.clone()),
                    result: None,
                    error: None,
                    took: 0,
                    used: Some(used),
                    left_out: None,
                };
                let item = Item { id, parent: Some(parent.to_owned()), at: now(), state: ItemState::Streaming, body };
                return (item.clone(), Some(Planned { item, server, tool, arguments }));
            }
            (SEARCH_TOOLS, None) => {
                let offering = Arc::clone(&self.offering);
                let index = self.index.get_or_insert_with(|| offering.index());
                own_tools::search(&offering, index, &arguments)
            }
            (context::READ_RESULT, None) => own_tools::read_on(&self.path, &arguments, limit),
            _ => Told::error(self.why_not(&key)),
        };
        let Told { text, found, is_error } = told;
        let body = ItemBody::OwnTool { used, arguments: Value::Object(arguments), text, found, is_error };
        (new_item(Some(parent.to_owned()), ItemState::Whole, body), None)
    }

    /// Why a model can't use what it asks for.
    fn why_not(&self, key: &str) -> String {
        let known = self.offering.all().iter().find(|tool| tool.key == key);
        match known.map(|tool| (tool.state, tool.server.as_str())) {
            Some((ToolState::Changed, server)) if self.left_out().any(|left_out| left_out == server) => {
                format!("not made: {}", super::answer::tools_left_out(server))
            }
            Some((ToolState::Changed, server)) => {
                format!("not made: the tool {key:?} of {server} changed since the user reviewed it")
            }
            _ => format!("There is no tool {key:?} that you can use in this conversation."),
        }
    }

    /// Makes one call; the policy, and where it says so the user, decide. Gives its item with how it ended.
    async fn make_call(&self, planned: Planned) -> Item {
        let Planned { mut item, server, tool, mut arguments } = planned;
        let began = Instant::now();
        let (id, stop) = (item.id.clone(), &self.answering.running.stop);
        let (sent, was_sent) = oneshot::channel();
        let made = (server.clone(), tool.clone(), arguments.clone());
        let call = async {
            let (server, tool, arguments) = made;
            // What waited for its turn when the user stopped all of it is not made.
            if stop.is_cancelled() {
                return Err(CallFailure::Cancelled);
            }
            self.wait_for_list_of(&server).await;
            self.look_again(&server, &tool).await?;
            let origin = CallOrigin::Model { conversation: self.log.conversation.clone() };
            self.host.call_tool_as(origin, id.clone(), server, tool, arguments, sent).await
        };
        // Whether it was sent, and what the user made of its arguments.
        let crossed = OnceLock::new();
        let follow = async {
            let Ok(edited) = was_sent.await else { return };
            let changed = crossed.get_or_init(|| edited);
            if let Some(changed) = changed {
                self.keep_changed(item.clone(), changed).await;
            }
        };
        let ended = {
            let both = async { tokio::join!(call, follow).0 };
            tokio::pin!(both);
            tokio::select! {
                biased;
                ended = &mut both => ended,
                () = stop.cancelled() => self.cancel(&id, both).await,
            }
        };
        let crossed = crossed.into_inner();
        let was_sent = crossed.is_some();
        if let Some(changed) = crossed.flatten() {
            arguments = changed;
        }
        let (result, error) = match ended {
            Ok(result) => {
                let problem = self.problem_of(&result, &server, &tool).await;
                let result = ToolResult::new(result, problem, arguments.clone());
                match self.reviewed(&id, &server, &tool, result).await {
                    Ok(result) => (Some(result), None),
                    Err(withheld) => (None, Some(withheld)),
                }
            }
            Err(CallFailure::Cancelled) if was_sent => (None, Some(context::STOPPED.to_owned())),
            Err(failure) => (None, Some(self.reviewed_failure(&id, &server, &tool, failure).await)),
        };
        let limit = usize::try_from(self.bounds.result_bytes).unwrap_or(usize::MAX);
        let too_long = result.as_ref().map(|result| context::bounded(result_parts(result), "", limit).1);
        if let ItemBody::ToolCall { arguments: own_arguments, result: own, error: why, took, left_out, .. } =
            &mut item.body
        {
            *own_arguments = Value::Object(arguments);
            (*own, *why, *took) = (result, error, millis(began));
            *left_out = too_long.filter(|bytes| *bytes > 0);
        }
        item.state = ItemState::Whole;
        item
    }

    /// Whether the user still lets the model use this tool: they may have turned it off since the model was asked.
    async fn look_again(&self, server: &str, tool: &str) -> Result<(), CallFailure> {
        let now = self.log.conversation().await.map_err(|error| CallFailure::Refused(error.to_string()))?.1;
        if now.servers.iter().any(|on| on.server == server && on.has(tool)) {
            Ok(())
        } else {
            Err(CallFailure::Refused(format!("{tool:?} of {server} was turned off for this conversation")))
        }
    }

    /// The user changed a call's arguments, and it is on its way with them: that is known even if the program ends now.
    async fn keep_changed(&self, mut item: Item, changed: &Map<String, Value>) {
        if let ItemBody::ToolCall { arguments, .. } = &mut item.body {
            *arguments = Value::Object(changed.clone());
        }
        if let Err(error) = self.log.write(vec![item.clone()]).await {
            tracing::warn!(%error, "what the user made of a call could not be kept yet");
        }
        self.tell_item(item, true).await;
    }

    /// Has a call cancelled that may end meanwhile. A server that is busy is told again.
    async fn cancel(
        &self,
        id: &str,
        call: impl Future<Output = Result<CallToolResult, CallFailure>>,
    ) -> Result<CallToolResult, CallFailure> {
        let cancel = async {
            while self.host.cancel_call(id.to_owned()).await.is_err() {
                tokio::time::sleep(CANCEL_AGAIN).await;
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            biased;
            ended = call => ended,
            () = cancel => Err(CallFailure::Cancelled),
            () = tokio::time::sleep(CANCELLING) => Err(CallFailure::Cancelled),
        }
    }

    /// What is wrong with a result's data by the tool's own output schema.
    async fn problem_of(&self, result: &CallToolResult, server: &str, tool: &str) -> Option<String> {
        let value = result.structured_content.as_ref()?;
        let schema = self.host.catalog(server.to_owned()).await.ok()?.tool(tool)?.output_schema?;
        output::check(schema, value.clone()).await
    }
}

/// A call was made, but how it ended can't be kept.
fn say_lost(item: &mut Item, cause: &ConversationError) {
    if let ItemBody::ToolCall { result, error, .. } = &mut item.body {
        *result = None;
        *error = Some(format!("the call was made, but how it ended could not be kept: {cause}"));
    }
}
