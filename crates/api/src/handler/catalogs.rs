//! Commands for the catalogs of servers, and for calls of tools, prompts and resources.

use chat::ToolCall;
use host::CallOrigin;
use mcp_proto::session::ListKind;
use mcp_proto::types::{ListEntry, ListEntryType};
use offers::catalog::ServerCatalog as HostCatalog;

use super::{Api, require_json_object, views};
use crate::ApiError;
use crate::data::*;

pub(super) async fn refresh_catalog_list(api: &Api, r: RefreshList) -> Result<ServerCatalog, ApiError> {
    let kind = match r.list {
        ListName::Tools => ListKind::Tools,
        ListName::Prompts => ListKind::Prompts,
        ListName::Resources => ListKind::Resources,
    };
    let refreshed = api.host.refresh_list(r.server.clone(), kind).await?;
    catalog_view(api, r.server, &refreshed).await
}

pub(super) async fn catalog_view(api: &Api, server: String, catalog: &HostCatalog) -> Result<ServerCatalog, ApiError> {
    let reviewed = api.host.server_review(server.clone()).await?;
    let mut notes = catalog.notes.concat();
    let tools =
        parse_list_entries("tools", &catalog.tools, &mut notes).map(|tool| views::tool_view(tool, &reviewed)).collect();
    let prompts = parse_list_entries("prompts", &catalog.prompts, &mut notes)
        .map(|prompt| views::prompt_view(prompt, &reviewed))
        .collect();
    Ok(ServerCatalog {
        server,
        tools,
        prompts,
        resources: parse_list_entries("resources", &catalog.resources, &mut notes).map(views::resource_view).collect(),
        templates: parse_list_entries("resource templates", &catalog.templates, &mut notes)
            .map(views::template_view)
            .collect(),
        notes,
        fresh_until: {
            let [tools, prompts, resources, templates] = catalog.fresh_until;
            CatalogExpiry { tools, prompts, resources, templates }
        },
    })
}

pub(super) async fn call_tool(api: &Api, r: CallTool) -> Result<ToolResult, ApiError> {
    let arguments = require_json_object(r.arguments, "arguments")?;
    let origin = CallOrigin::User { conversation: r.conversation };
    let call =
        ToolCall { id: r.call, origin, server: r.server, app: None, tool: r.tool, arguments, repeats: r.repeats };
    Ok(api.chat.call_tool(call).await?)
}

/// Maximum number of notes on invalid entries of one list. Further invalid entries are only counted.
const MAX_UNREADABLE_CATALOG_ENTRIES_LISTED: usize = 20;

/// Parses the entries of a list. Invalid entries, such as one whose schema contains a number out of range, are skipped
/// and reported in `notes`.
fn parse_list_entries<'a, T: ListEntryType>(
    words: &'static str,
    items: &'a [ListEntry<T>],
    notes: &'a mut Vec<String>,
) -> impl Iterator<Item = T> + use<'a, T> {
    let mut unreadable = 0;
    items.iter().filter_map(move |item| {
        item.read()
            .inspect_err(|error| {
                unreadable += 1;
                if unreadable <= MAX_UNREADABLE_CATALOG_ENTRIES_LISTED {
                    let name: String = item.name().chars().take(60).collect();
                    notes.push(format!("\"{name}\" was omitted from the {words}: it can't be parsed: {error}"));
                }
            })
            .ok()
    })
}

pub(super) async fn get_prompt(api: &Api, r: GetPrompt) -> Result<PromptResult, ApiError> {
    let result = api.host.get_prompt_as_shown(r.call, r.server, r.prompt, r.arguments, r.hash).await?;
    Ok(views::prompt_result_view(result))
}

pub(super) async fn read_resource(api: &Api, r: ReadResource) -> Result<ResourceResult, ApiError> {
    let read = api.host.read_resource_with_freshness(r.call, r.server, r.uri, r.refresh).await?;
    Ok(ResourceResult {
        contents: read.contents.into_iter().map(Into::into).collect(),
        cached: read.cached,
        fresh_until: read.fresh_until,
    })
}
