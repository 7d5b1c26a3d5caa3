//! The calls that a model asks for: made side by side, each an item of its own.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::{StreamExt as _, stream};
use serde_json::{Map, Value};

use super::{Run, Wanted, millis, new_item};
use crate::activity::now;
use crate::conversation::context;
use crate::conversation::engine::new_id;
use crate::conversation::item::{Body, Item, State, ToolResult, Used};
use crate::conversation::own_tools::{self, SEARCH_TOOLS, Told};
use crate::output;
use crate::owner::CallOrigin;
use crate::view::CallFailure;

/// The most calls of one answer that are under way at a time.
const PARALLEL_CALLS: usize = 8;
/// The most calls that one answer may ask for; the others are refused.
const MAX_CALLS: usize = 64;
/// How long calls that were cancelled may take to end.
const CANCELLING: Duration = Duration::from_secs(5);

/// A call to make.
struct Planned {
    item: Item,
    server: String,
    tool: String,
    arguments: Map<String, Value>,
}

impl Run {
    /// Makes the calls of the answer, several at a time. Each becomes an item; gives the last.
    pub(super) async fn make_calls(&mut self, wanted: Vec<Wanted>) -> Item {
        let (mut items, mut planned, mut parent) = (Vec::new(), Vec::new(), self.reply.id.clone());
        for (number, wanted) in wanted.into_iter().enumerate() {
            let (item, call) = self.plan(wanted, &parent, number);
            parent.clone_from(&item.id);
            planned.extend(call.map(|(server, tool, arguments)| Planned {
                item: item.clone(),
                server,
                tool,
                arguments,
            }));
            items.push(item);
        }
        if let Err(error) = self.log.write(items.clone()).await {
            tracing::error!(%error, "calls could not be kept");
        }
        for item in &items {
            self.tell_item(item.clone(), true).await;
        }
        {
            let run = &*self;
            let mut made =
                stream::iter(planned.into_iter().map(|call| run.make_call(call))).buffer_unordered(PARALLEL_CALLS);
            while let Some(item) = made.next().await {
                if let Err(error) = run.log.write(vec![item.clone()]).await {
                    tracing::error!(%error, "how a call ended could not be kept");
                }
                run.tell_item(item.clone(), true).await;
                if let Some(place) = items.iter_mut().find(|other| other.id == item.id) {
                    *place = item;
                }
            }
        }
        let last = items.last().cloned();
        self.path.extend(items);
        last.unwrap_or_else(|| self.reply.clone())
    }

    /// A call as an item; and what is to be called, if it is a tool of a server.
    fn plan(
        &mut self,
        wanted: Wanted,
        parent: &str,
        number: usize,
    ) -> (Item, Option<(String, String, Map<String, Value>)>) {
        let Wanted { id, key, arguments } = wanted;
        let used = Used { reply: self.reply.id.clone(), id, key: key.clone() };
        let limit = usize::try_from(self.bounds.result_bytes).unwrap_or(usize::MAX);
        let told = match (key.as_str(), self.offering.tool(&key)) {
            _ if number >= MAX_CALLS => {
                Told::error(format!("not made: an answer may ask for {MAX_CALLS} calls at most"))
            }
            (_, Some(tool)) => {
                let (server, tool) = (tool.server.clone(), tool.tool.clone());
                let id = new_id();
                let body = Body::ToolCall {
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
                let item = Item { id, parent: Some(parent.to_owned()), at: now(), state: State::Streaming, body };
                return (item, Some((server, tool, arguments)));
            }
            (SEARCH_TOOLS, None) => {
                let offering = Arc::clone(&self.offering);
                let index = self.index.get_or_insert_with(|| offering.index());
                own_tools::search(&offering, index, &arguments)
            }
            (context::READ_RESULT, None) => own_tools::read_on(&self.path, &arguments, limit),
            _ => Told::error(format!("There is no tool {key:?} that you can use in this conversation.")),
        };
        let Told { text, found, is_error } = told;
        let body = Body::OwnTool { used, arguments: Value::Object(arguments), text, found, is_error };
        (new_item(Some(parent.to_owned()), State::Whole, body), None)
    }

    /// Makes one call; the policy, and where it says so the user, decide. Gives its item with how it ended.
    async fn make_call(&self, planned: Planned) -> Item {
        let Planned { mut item, server, tool, arguments } = planned;
        let began = Instant::now();
        let origin = CallOrigin::Model { conversation: self.log.conversation.clone() };
        let (id, stop) = (item.id.clone(), &self.answering.running.stop);
        let made = (id.clone(), server.clone(), tool.clone(), arguments.clone());
        let call = async {
            // What waited for its turn when the user stopped all of it is not made.
            if stop.is_cancelled() {
                return Err(CallFailure::Cancelled);
            }
            let (id, server, tool, arguments) = made;
            self.host.call_tool_as(origin, id, server, tool, arguments).await
        };
        tokio::pin!(call);
        let ended = tokio::select! {
            biased;
            ended = &mut call => ended,
            () = stop.cancelled() => {
                // It may have ended meanwhile.
                let _ = self.host.cancel_call(id).await;
                tokio::time::timeout(CANCELLING, call).await.unwrap_or(Err(CallFailure::Cancelled))
            }
        };
        let schema = async { self.host.catalog(server).await.ok()?.tool(&tool)?.output_schema };
        let (result, error) = match ended {
            Ok((result, edited)) => {
                let problem = match &result.structured_content {
                    Some(value) => match schema.await {
                        Some(schema) => output::check(schema, value.clone()).await,
                        None => None,
                    },
                    None => None,
                };
                (Some(ToolResult::new(result, problem, edited.unwrap_or(arguments))), None)
            }
            Err(failure) => (None, Some(failure.to_string())),
        };
        let limit = usize::try_from(self.bounds.result_bytes).unwrap_or(usize::MAX);
        let too_long = result.as_ref().map(|result| context::bounded(context::result_parts(result), "", limit).1);
        if let Body::ToolCall { arguments, result: own, error: why, took, left_out, .. } = &mut item.body {
            if let Some(result) = &result {
                arguments.clone_from(&result.arguments);
            }
            (*own, *why, *took) = (result, error, millis(began));
            *left_out = too_long.filter(|bytes| *bytes > 0);
        }
        item.state = State::Whole;
        item
    }
}
