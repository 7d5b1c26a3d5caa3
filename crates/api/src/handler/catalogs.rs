//! What servers offer, and tool calls.

use host::{CallOrigin, Sent};
use mcp_proto::types::{CallToolResult, Entry, Listed};
use offers::catalog::Catalog as HostCatalog;
use serde_json::Value;
use tokio::sync::oneshot;

use super::{Api, object, views};
use crate::ApiError;
use crate::data::*;

impl Api {
    pub(super) async fn catalog(&self, server: String, catalog: &HostCatalog) -> Result<Catalog, ApiError> {
        let reviewed = self.host.reviewed(server.clone()).await?;
        let mut notes = catalog.notes.concat();
        let tools = readable("tools", &catalog.tools, &mut notes).map(|tool| views::tool(tool, &reviewed)).collect();
        let prompts =
            readable("prompts", &catalog.prompts, &mut notes).map(|prompt| views::prompt(prompt, &reviewed)).collect();
        Ok(Catalog {
            server,
            tools,
            prompts,
            resources: readable("resources", &catalog.resources, &mut notes).map(views::resource).collect(),
            templates: readable("resource templates", &catalog.templates, &mut notes).map(views::template).collect(),
            notes,
            fresh_until: {
                let [tools, prompts, resources, templates] = catalog.fresh_until;
                FreshUntil { tools, prompts, resources, templates }
            },
        })
    }

    /// Calls a tool. How it ended becomes an item of the conversation it belongs to, under the call's own id.
    pub(super) async fn call_tool_and_keep(&self, r: CallTool, origin: CallOrigin) -> Result<ToolResult, ApiError> {
        let (began, asked) = (ports::time::now(), r.clone());
        let (sent, mut was_sent) = oneshot::channel();
        let ended = self.call_tool(r, origin, sent).await;
        let edited = was_sent.try_recv().ok().flatten().map(Value::Object);
        let arguments = edited.unwrap_or(asked.arguments);
        let result = ended.map(|(result, structured_problem)| ToolResult {
            content: result.content.into_iter().map(Content::from).collect(),
            structured: result.structured_content,
            structured_problem,
            is_error: result.is_error,
            arguments: arguments.clone(),
        });
        let Some(conversation) = asked.conversation else { return result };
        let ended = ports::time::now();
        let body = ItemBody::ToolCall {
            call: asked.call.clone(),
            server: asked.server,
            tool: asked.tool,
            arguments,
            result: result.as_ref().ok().cloned(),
            error: result.as_ref().err().map(|error| error.message.clone()),
            took: ended.saturating_sub(began),
            used: None,
            left_out: None,
        };
        self.keep(conversation, ConversationItem::new(asked.call, ended, body)).await;
        result
    }

    /// Calls a tool. Also gives what is wrong with its data by its own output schema.
    async fn call_tool(
        &self,
        r: CallTool,
        origin: CallOrigin,
        sent: Sent,
    ) -> Result<(CallToolResult, Option<String>), ApiError> {
        let arguments = object(r.arguments, "arguments")?;
        let schema = self.host.catalog(r.server.clone()).await?.tool(&r.tool).and_then(|t| t.output_schema);
        let result = self.host.call_tool_as(origin, r.call, r.server, r.tool, arguments, sent).await?;
        let problem = match (&result.structured_content, schema) {
            (Some(value), Some(schema)) => offers::output::check(schema, value.clone()).await,
            _ => None,
        };
        Ok((result, problem))
    }
}

/// The most entries of one list of which it is said that they can't be read.
const MAX_UNREADABLE: usize = 20;

/// The entries of a list, parsed in full. Of those that can't be, such as one with a number beyond all bounds in its schema,
/// the user is told.
fn readable<'a, T: Entry>(
    words: &'static str,
    items: &'a [Listed<T>],
    notes: &'a mut Vec<String>,
) -> impl Iterator<Item = T> + use<'a, T> {
    let mut unreadable = 0;
    items.iter().filter_map(move |item| {
        item.read()
            .inspect_err(|error| {
                unreadable += 1;
                if unreadable <= MAX_UNREADABLE {
                    let name: String = item.name().chars().take(60).collect();
                    notes.push(format!("\"{name}\" was left out of the {words}: it can't be read: {error}"));
                }
            })
            .ok()
    })
}
