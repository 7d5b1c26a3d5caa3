//! Decodes the body of a response into a [`ServerResult`], or returns the path and cause of a mismatch.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::jsonrpc::{RawJson, escape_and_truncate};
use crate::types::{
    CallToolResult, CompletionResult, ContentBlock, JsonCursor, ListEntry, ListEntryType, Map, Prompt, Resource,
    ResourceContents, ResourceTemplate, Tool,
};

use super::{CacheHint, ClientRequest, DroppedListEntry, ListKind, ServerResult, tasks};

/// Maximum number of invalid entries of one page of a server's list that are reported individually.
const MAX_REPORTED_DROPPED_ENTRIES: usize = 20;

/// A request for user input in an `input_required` result or in the state of a task.
#[derive(Deserialize)]
pub(super) struct InputRequest {
    pub(super) method: String,
    pub(super) params: Option<Map>,
}

/// Parses a small response body as a JSON object.
pub(super) fn parse_body_object(raw: &RawJson) -> Result<Map, String> {
    match raw.parse() {
        Ok(Value::Object(body)) => Ok(body),
        Ok(_) => Err("it is not an object".into()),
        Err(error) => Err(escape_and_truncate(&error.to_string(), 300)),
    }
}

/// Deserializes `body` as a `T`. The error names the invalid member.
pub(super) fn deserialize_object<T: DeserializeOwned>(body: Map) -> Result<T, String> {
    serde_path_to_error::deserialize(Value::Object(body)).map_err(|error| {
        let path = error.path().to_string();
        let cause = error.into_inner().to_string();
        let cause = if path == "." { cause } else { format!("{path}: {cause}") };
        escape_and_truncate(&cause, 300)
    })
}

/// Body of a response. Lists and content are parsed directly from the received text, and all other members are stored
/// in `fields`.
#[derive(Debug, Default)]
pub(super) struct ResultBody {
    fields: Map,
    bulk: ResultContent,
    /// First `isError` member of a tool result, if it is a boolean. Later and invalid ones are in `fields`.
    is_error: Option<bool>,
}

/// The list or the content blocks in the body of a response, or the error if they are invalid.
#[derive(Debug, Default)]
enum ResultContent {
    #[default]
    None,
    Tools(Result<ListPage<Tool>, String>),
    Prompts(Result<ListPage<Prompt>, String>),
    Resources(Result<ListPage<Resource>, String>),
    Templates(Result<ListPage<ResourceTemplate>, String>),
    Content(Result<Vec<ContentBlock>, String>),
    Contents(Result<Vec<ResourceContents>, String>),
}

/// Parsed entries of one page of a server's list.
#[derive(Debug)]
struct ListPage<T> {
    items: Vec<ListEntry<T>>,
    dropped: Vec<DroppedListEntry>,
    more_dropped: usize,
}

impl std::ops::Deref for ResultBody {
    type Target = Map;

    /// Returns all members of the body except the lists and content blocks.
    fn deref(&self) -> &Map {
        &self.fields
    }
}

impl std::ops::DerefMut for ResultBody {
    fn deref_mut(&mut self) -> &mut Map {
        &mut self.fields
    }
}

impl ResultBody {
    /// Parses a result of `request` that is embedded in another message, such as the state of a completed task.
    pub(super) fn parse_embedded(request: &ClientRequest, body: Map) -> Result<ResultBody, String> {
        let text = Value::Object(body).to_string();
        ResultBody::read(request, &RawJson::copy_of(&text))
    }

    /// Parses the JSON of a result of `request`.
    pub(super) fn read(request: &ClientRequest, raw: &RawJson) -> Result<ResultBody, String> {
        let mut bulk = ResultContent::None;
        let (mut is_error, mut is_error_read) = (None, false);
        let fields = JsonCursor::new(raw).parse_members(|key, place| {
            bulk = match (request, key) {
                (ClientRequest::ListTools { .. }, "tools") => ResultContent::Tools(parse_list_page(place)),
                (ClientRequest::ListPrompts { .. }, "prompts") => ResultContent::Prompts(parse_list_page(place)),
                (ClientRequest::ListResources { .. }, "resources") => ResultContent::Resources(parse_list_page(place)),
                (ClientRequest::ListResourceTemplates { .. }, "resourceTemplates") => {
                    ResultContent::Templates(parse_list_page(place))
                }
                (ClientRequest::CallTool { .. }, "content") => ResultContent::Content(
                    place.parse_list(JsonCursor::parse_content_block).map(Option::unwrap_or_default),
                ),
                (ClientRequest::ReadResource { .. }, "contents") => ResultContent::Contents(
                    place
                        .parse_list(JsonCursor::parse_resource_contents)
                        .and_then(|read| read.ok_or(": invalid type: it is not an array".into())),
                ),
                (ClientRequest::CallTool { .. }, "isError") if !std::mem::replace(&mut is_error_read, true) => {
                    is_error = place.scanner().consume_bool();
                    return Ok(is_error.is_some());
                }
                _ => return Ok(false),
            };
            Ok(true)
        });
        Ok(ResultBody { fields: fields.map_err(|cause| escape_and_truncate(&cause, 300))?, bulk, is_error })
    }

    /// Returns all members of the body except the lists and content blocks.
    pub(super) fn into_fields(self) -> Map {
        self.fields
    }

    /// Removes and returns the invalid entries of the list in the body, or `None` if all entries are valid.
    pub(super) fn take_dropped_entries(&mut self) -> Option<(ListKind, Vec<DroppedListEntry>)> {
        let (kind, dropped, more) = match &mut self.bulk {
            ResultContent::Tools(Ok(page)) => (ListKind::Tools, &mut page.dropped, page.more_dropped),
            ResultContent::Prompts(Ok(page)) => (ListKind::Prompts, &mut page.dropped, page.more_dropped),
            ResultContent::Resources(Ok(page)) => (ListKind::Resources, &mut page.dropped, page.more_dropped),
            ResultContent::Templates(Ok(page)) => (ListKind::Resources, &mut page.dropped, page.more_dropped),
            _ => return None,
        };
        let mut dropped = std::mem::take(dropped);
        if more > 0 {
            dropped.push(DroppedListEntry { name: format!("{more} more"), cause: "further invalid entries".into() });
        }
        (!dropped.is_empty()).then_some((kind, dropped))
    }
}

/// Parses the entries of a list. An invalid entry is dropped and does not affect the others.
fn parse_list_page<T: ListEntryType>(place: &mut JsonCursor<'_>) -> Result<ListPage<T>, String> {
    let mut page = ListPage { items: Vec::new(), dropped: Vec::new(), more_dropped: 0 };
    let mut place_in_page = 0;
    let list = place.parse_list(|place| {
        match ListEntry::validate_next(place.scanner()).ok_or("it is not valid JSON")? {
            Ok(item) => page.items.push(item),
            Err(_) if page.dropped.len() == MAX_REPORTED_DROPPED_ENTRIES => page.more_dropped += 1,
            Err((name, cause)) => {
                let name = name.unwrap_or_else(|| format!("[{place_in_page}]"));
                page.dropped.push(DroppedListEntry { name: escape_and_truncate(&name, 200), cause });
            }
        }
        place_in_page += 1;
        Ok(())
    });
    match list? {
        Some(_) => Ok(page),
        None => Err(": invalid type: it is not an array".into()),
    }
}

/// Returns the member `nextCursor` of one page of a list. The cursor may be any string.
fn parse_next_cursor(mut fields: Map) -> Result<Option<String>, String> {
    match fields.shift_remove("nextCursor") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(cursor)) => Ok(Some(cursor)),
        Some(_) => Err("nextCursor: invalid type: it is not a string".into()),
    }
}

/// Builds the result of a tool call from its content blocks and its other members, `fields`.
fn build_tool_result(
    content: Vec<ContentBlock>,
    mut fields: Map,
    is_error: Option<bool>,
) -> Result<Box<CallToolResult>, String> {
    let is_error = match fields.get("isError") {
        None => is_error.unwrap_or_default(),
        Some(Value::Null) => false,
        Some(Value::Bool(flag)) => *flag,
        // A value of the wrong type is deserialized to obtain the error message.
        Some(_) => return deserialize_object(fields).map(Box::new),
    };
    let meta = match fields.get_mut("_meta") {
        None | Some(Value::Null) => None,
        Some(Value::Object(meta)) => Some(std::mem::take(meta)),
        Some(_) => return deserialize_object(fields).map(Box::new),
    };
    let structured_content = fields.shift_remove("structuredContent");
    fields.retain(|name, _| name != "isError" && name != "_meta");
    Ok(Box::new(CallToolResult { content, structured_content, is_error, meta, extra: fields }))
}

#[derive(Deserialize)]
struct CompletionBody {
    completion: CompletionResult,
}

/// Converts the body of the response to `request` into its result type.
pub(super) fn to_server_result(
    request: &ClientRequest,
    body: ResultBody,
    cache: Option<CacheHint>,
) -> Result<ServerResult, String> {
    let ResultBody { fields, bulk, is_error } = body;
    // The cause continues the path after the name of the member.
    let of = |name: &'static str| move |cause: String| escape_and_truncate(&format!("{name}{cause}"), 300);
    match (request, bulk) {
        (
            ClientRequest::Ping
            | ClientRequest::Subscribe { .. }
            | ClientRequest::Unsubscribe { .. }
            | ClientRequest::SetLogLevel { .. },
            _,
        ) => Ok(ServerResult::Empty),
        (_, ResultContent::Tools(page)) => {
            let items = page.map_err(of("tools"))?.items;
            Ok(ServerResult::Tools { items, next_cursor: parse_next_cursor(fields)?, cache })
        }
        (_, ResultContent::Prompts(page)) => {
            let items = page.map_err(of("prompts"))?.items;
            Ok(ServerResult::Prompts { items, next_cursor: parse_next_cursor(fields)?, cache })
        }
        (_, ResultContent::Resources(page)) => {
            let items = page.map_err(of("resources"))?.items;
            Ok(ServerResult::Resources { items, next_cursor: parse_next_cursor(fields)?, cache })
        }
        (_, ResultContent::Templates(page)) => {
            let items = page.map_err(of("resourceTemplates"))?.items;
            Ok(ServerResult::Templates { items, next_cursor: parse_next_cursor(fields)?, cache })
        }
        (_, ResultContent::Content(content)) => {
            let content = content.map_err(of("content"))?;
            build_tool_result(content, fields, is_error).map(ServerResult::Tool)
        }
        (_, ResultContent::Contents(contents)) => {
            Ok(ServerResult::Contents { contents: contents.map_err(of("contents"))?, cache })
        }
        (ClientRequest::CallTool { .. }, ResultContent::None) if fields.contains_key("structuredContent") => {
            build_tool_result(Vec::new(), fields, is_error).map(ServerResult::Tool)
        }
        (ClientRequest::GetPrompt { .. }, _) => deserialize_object(fields).map(Box::new).map(ServerResult::Prompt),
        (ClientRequest::ListTasks { .. }, _) => tasks::parse_task_list_page(fields),
        (ClientRequest::Extension { .. }, _) => Ok(ServerResult::Extension { result: fields, cache }),
        (ClientRequest::Complete { .. }, _) => deserialize_object(fields)
            .map(|CompletionBody { completion }| ServerResult::Completion(Box::new(completion))),
        (ClientRequest::ListTools { .. }, _) => Err("missing field `tools`".into()),
        (ClientRequest::ListPrompts { .. }, _) => Err("missing field `prompts`".into()),
        (ClientRequest::ListResources { .. }, _) => Err("missing field `resources`".into()),
        (ClientRequest::ListResourceTemplates { .. }, _) => Err("missing field `resourceTemplates`".into()),
        (ClientRequest::CallTool { .. }, _) => Err("missing field `content`".into()),
        (ClientRequest::ReadResource { .. }, _) => Err("missing field `contents`".into()),
    }
}
