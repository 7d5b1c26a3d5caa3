//! Drawbridge's built-in tools for models: one that finds tools if there are too many to send, and one that reads more
//! of a long result. They use local data only: nothing is sent to a server. The history stores their calls as
//! [`ItemBody::OwnTool`].

use domain::item::{ChatItem, FoundTool, ItemBody};
use models::ModelTool;
use serde_json::{Map, Value, json};

use super::model_context::{READ_RESULT_TOOL_NAME, contains_truncated_tool_results, result_source_text, result_text};
use super::offered_tools::{OfferedTool, OfferedTools};
use super::search_index::SearchIndex;

/// Name of the built-in tool by which a model searches for tools. It can't collide with names of servers' tools for the
/// model, which always contain `__`.
pub(super) const SEARCH_TOOL_NAME: &str = "search_tools";

/// Maximum number of tools that one search returns to the model.
const MAX_SEARCH_RESULTS: usize = 8;
/// Maximum length of a tool's description in a search result, in characters.
const MAX_DESCRIPTION_CHARS_IN_SEARCH_RESULT: usize = 300;

/// The result of a model's call of a built-in tool.
pub(super) struct BuiltinToolResult {
    pub(super) text: String,
    pub(super) found: Vec<FoundTool>,
    pub(super) is_error: bool,
}

impl BuiltinToolResult {
    pub(super) const fn error(text: String) -> Self {
        Self { text, found: Vec::new(), is_error: true }
    }
}

/// Returns the tools whose definitions are sent to a model: all offered tools or, if these exceed `threshold` tokens
/// ([`ChatBounds::tool_search_threshold`](domain::bounds::ChatBounds::tool_search_threshold), unless the conversation's
/// settings state otherwise), the search tool and the tools that it found earlier on `path`, the visible branch of the
/// conversation. Adds [`READ_RESULT_TOOL_NAME`] if a tool result was truncated.
pub(super) fn select_tools_for_model(offering: &OfferedTools, path: &[ChatItem], threshold: u64) -> Vec<ModelTool> {
    let mut tools: Vec<ModelTool> = if offering.tokens > threshold {
        let mut servers: Vec<&str> = offering.offered().map(|tool| tool.server.as_str()).collect();
        servers.dedup();
        let found = tool_keys_found_by_searches(path);
        let found = found.iter().filter_map(|key| offering.tool(key)?.definition().cloned());
        std::iter::once(search_tools_definition(offering.offered().count(), &servers)).chain(found).collect()
    } else {
        offering.offered().filter_map(|tool| tool.definition().cloned()).collect()
    };
    if contains_truncated_tool_results(path) {
        tools.push(read_result_definition());
    }
    tools
}

/// Returns the definition of the built-in tool by which a model searches for tools.
fn search_tools_definition(count: usize, servers: &[&str]) -> ModelTool {
    let description = format!(
        "Finds tools that you can use. There are {count}, of these servers: {}. The tools that are found can be used from then on.",
        json!(servers)
    );
    ModelTool {
        name: SEARCH_TOOL_NAME.to_owned(),
        description: Some(description),
        input_schema: json!({
            "type": "object",
            "properties": { "query": { "type": "string", "description": "What the tool should do, in a few words" } },
            "required": ["query"],
        }),
    }
}

/// Returns the definition of the built-in tool [`READ_RESULT_TOOL_NAME`].
fn read_result_definition() -> ModelTool {
    ModelTool {
        name: READ_RESULT_TOOL_NAME.to_owned(),
        description: Some("Reads on in the result of a call that was too long to be sent whole.".to_owned()),
        input_schema: json!({
            "type": "object",
            "properties": {
                "call": { "type": "string", "description": "The call, as the note at the end of its result names it" },
                "from": { "type": "integer", "minimum": 0, "description": "The byte to read from" },
            },
            "required": ["call", "from"],
        }),
    }
}

/// Executes a model's call of the built-in tool [`SEARCH_TOOL_NAME`].
pub(super) fn search_tools(
    offering: &OfferedTools,
    index: &SearchIndex,
    arguments: &Map<String, Value>,
) -> BuiltinToolResult {
    let Some(query) = arguments.get("query").and_then(Value::as_str) else {
        return BuiltinToolResult::error(
            "\"query\" is missing: describe in a few words what the tool should do".to_owned(),
        );
    };
    let found = offering.find(index, query, MAX_SEARCH_RESULTS);
    if found.is_empty() {
        return BuiltinToolResult {
            text: "No tool fits. Try other words.".to_owned(),
            found: Vec::new(),
            is_error: false,
        };
    }
    let line = |tool: &&OfferedTool| {
        let words: String = tool.description().chars().take(MAX_DESCRIPTION_CHARS_IN_SEARCH_RESULT).collect();
        json!({ "tool": tool.key, "does": words }).to_string()
    };
    let lines: Vec<String> = found.iter().map(line).collect();
    let text = format!("These tools are available now. The descriptions are from their servers:\n{}", lines.join("\n"));
    let found = found
        .iter()
        .map(|t| FoundTool {
            server: t.server.clone(),
            tool: t.tool.clone(),
            app: t.app.as_ref().map(|app| app.tool.clone()),
            key: t.key.clone(),
        })
        .collect();
    BuiltinToolResult { text, found, is_error: false }
}

/// Executes a model's call of the built-in tool [`READ_RESULT_TOOL_NAME`] for a result on `path`, the visible branch.
pub(super) fn read_more_of_result(
    path: &[ChatItem],
    arguments: &Map<String, Value>,
    limit: usize,
) -> BuiltinToolResult {
    let call = arguments.get("call").and_then(Value::as_str).unwrap_or_default();
    let from = arguments.get("from").and_then(Value::as_u64).and_then(|from| usize::try_from(from).ok());
    let result = path.iter().filter(|item| item.id == call).find_map(|item| match &item.body {
        ItemBody::ToolCall { server, tool, app, result: Some(result), .. } => Some((server, tool, app, result)),
        _ => None,
    });
    let (Some((server, tool, app, result)), Some(from)) = (result, from) else {
        return BuiltinToolResult::error(
            "this conversation has no such call; \"call\" and \"from\" are at the end of a truncated result".to_owned(),
        );
    };
    let text = result_text(result);
    let from = text.ceil_char_boundary(from.min(text.len()));
    let end = text.floor_char_boundary(from.saturating_add(limit).min(text.len()));
    let rest = text.len() - end;
    let more = if rest > 0 {
        format!("\n({rest} more bytes follow. Read on with {}.)", json!({ "call": call, "from": end }))
    } else {
        String::new()
    };
    let source = result_source_text(server, tool, app.as_deref());
    let text = format!("{source}\n{}{more}", &text[from..end]);
    BuiltinToolResult { text, found: Vec::new(), is_error: false }
}

/// Returns the keys of the tools that searches found earlier in a conversation, in this order. Later searches only
/// append keys, so that the prompt caches of providers stay valid.
fn tool_keys_found_by_searches(path: &[ChatItem]) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    for item in path {
        if let ItemBody::OwnTool { found, .. } = &item.body {
            for tool in found {
                if !keys.contains(&tool.key) {
                    keys.push(tool.key.clone());
                }
            }
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use domain::item::{Content, ItemState, ToolResult, ToolUsed};

    use super::*;

    fn tool_call_item(text: &str) -> ChatItem {
        let result = ToolResult {
            content: vec![Content::Text { text: text.into() }],
            structured: None,
            structured_problem: None,
            is_error: false,
            meta: None,
            arguments: json!({}),
        };
        let body = ItemBody::ToolCall {
            call: "c1".into(),
            server: "a".into(),
            tool: "b".into(),
            app: None,
            arguments: json!({}),
            result: Some(result),
            error: None,
            failure: None,
            refusal: None,
            duration_milliseconds: 1,
            waited_milliseconds: None,
            used: None,
            omitted_bytes: Some(9),
        };
        ChatItem { id: "c1".into(), parent: None, at: 1, state: ItemState::Whole, body }
    }

    fn json_object(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn long_tool_result_is_read_in_parts() {
        let path = [tool_call_item("0123ä6789")];
        let read = |from: u64| read_more_of_result(&path, &json_object(json!({"call": "c1", "from": from})), 5).text;
        assert!(read(0).contains("0123\n(6 more bytes follow"), "only complete characters are returned: {}", read(0));
        assert!(read(4).contains("ä678\n(1 more bytes follow"), "reading continues at the offset: {}", read(4));
        assert!(read(9).ends_with("\n9"), "the last part is returned: {}", read(9));
        assert!(read(u64::MAX).ends_with(":\n"), "an offset beyond the end returns nothing");
        let other = read_more_of_result(&path, &json_object(json!({"call": "c2", "from": 0})), 5);
        assert!(other.is_error, "a call of another conversation can't be read");
    }

    #[test]
    fn later_tool_searches_only_append_found_tools() {
        let found = |keys: &[&str]| {
            let tool = |key: &&str| FoundTool { server: "a".into(), tool: "b".into(), app: None, key: (*key).into() };
            let used = ToolUsed { reply: "r".into(), id: "u".into(), tool_key: SEARCH_TOOL_NAME.into() };
            let found = keys.iter().map(tool).collect();
            let body = ItemBody::OwnTool { used, arguments: json!({}), text: String::new(), found, is_error: false };
            ChatItem { id: "i".into(), parent: None, at: 1, state: ItemState::Whole, body }
        };
        assert_eq!(
            tool_keys_found_by_searches(&[found(&["z", "b"]), found(&["a", "z"])]),
            ["z", "b", "a"],
            "the tools have no duplicates, and new ones are last"
        );
    }
}
