//! Records the definitions of listed tools that calls depend on, and recovers if a call's headers did not match the
//! current definition (`basic/transports/streamable-http`, 2026-07-28).

use memchr::memmem::Finder;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::jsonrpc::{RawJson, RpcError, code, escape_and_truncate};
use crate::types::{ListEntry, Tool};

use super::request_table::RequestPurpose;
use super::{
    CallError, CallId, ClientRequest, DroppedListEntry, ListKind, Session, SessionEvent, TransportKind, results,
};

/// Maximum number of pages of `tools/list` that are searched for one tool.
const MAX_TOOL_LIST_PAGES_FOR_HEADERS: u32 = 100;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolListPageForHeaders {
    tools: Vec<Value>,
    next_cursor: Option<String>,
}

/// Keyword that is searched for in the raw JSON of tools, so that tools without it need not be parsed.
struct SchemaKeywordSearch {
    plain: Finder<'static>,
    escape: Finder<'static>,
}

impl SchemaKeywordSearch {
    fn new(word: &'static str) -> SchemaKeywordSearch {
        SchemaKeywordSearch { plain: Finder::new(word), escape: Finder::new("\\u") }
    }

    /// Returns `true` if the JSON of the tool contains the keyword, or has escapes that may spell it.
    fn may_occur_in(&self, tool: &ListEntry<Tool>) -> bool {
        let text = tool.raw().get().as_bytes();
        self.plain.find(text).is_some() || self.escape.find(text).is_some()
    }
}

impl Session {
    fn sends_tool_argument_headers(&self) -> bool {
        self.config.carrier == TransportKind::StreamableHttp && self.revision().has_request_headers()
    }

    /// Records the header definitions and the task support of `tools`, and removes tools with invalid header
    /// definitions.
    pub(super) fn record_listed_tools(&mut self, tools: &mut Vec<ListEntry<Tool>>) {
        if self.revision().has_core_tasks() {
            // Avoids parsing the many tools without this keyword.
            let word = SchemaKeywordSearch::new("taskSupport");
            for tool in tools.iter() {
                let read = word.may_occur_in(tool).then(|| tool.read().ok()).flatten();
                let support = read.and_then(|tool| tool.execution?.task_support);
                self.tasks.record_tool(tool.name(), support.as_deref());
            }
        }
        if !self.sends_tool_argument_headers() {
            return;
        }
        let word = SchemaKeywordSearch::new("x-mcp-header");
        let mut dropped = Vec::new();
        tools.retain(|tool| {
            // Avoids parsing the many tools without this keyword.
            let learnt = if word.may_occur_in(tool) {
                tool.read().map_err(|error| error.to_string()).map(|tool| tool.input_schema)
            } else {
                Ok(Value::Null)
            };
            let learnt = learnt.and_then(|schema| self.mirrored.record_tool(tool.name(), &schema));
            if let Err(cause) = learnt {
                dropped.push(DroppedListEntry {
                    name: escape_and_truncate(tool.name(), 200),
                    cause: escape_and_truncate(&cause, 300),
                });
                return false;
            }
            true
        });
        if !dropped.is_empty() {
            self.events.push(SessionEvent::ItemsDropped { list: ListKind::Tools, items: dropped });
        }
    }

    /// Handles an error that reports that the headers of a call do not match its body: requests `tools/list` and
    /// returns `true`. Happens at most once for each call, because the arguments may be the cause. Returns `false` for
    /// other errors.
    pub(super) fn on_header_mismatch_error(&mut self, id: CallId, error: &RpcError) -> bool {
        let refused = error.code == code::HEADER_MISMATCH && self.sends_tool_argument_headers();
        let Some(call) = self.calls.get_mut(&id).filter(|_| refused) else { return false };
        if call.has_relisted_tools || !matches!(call.request, ClientRequest::CallTool { .. }) {
            return false;
        }
        call.has_relisted_tools = true;
        self.request_tool_list_for_headers(id, None, 1);
        true
    }

    fn request_tool_list_for_headers(&mut self, id: CallId, cursor: Option<String>, page: u32) {
        let params = cursor.map_or_else(|| json!({}), |cursor| json!({ "cursor": cursor }));
        let wire = self.send_request(RequestPurpose::Relist { call: id, page }, "tools/list", params, None);
        if let Some(call) = self.calls.get_mut(&id) {
            call.wire = Some(wire);
        }
    }

    /// Processes one page of `tools/list`: records the header definitions of the call's tool and sends the call again,
    /// or requests the next page.
    pub(super) fn on_tool_list_for_headers(&mut self, id: CallId, page: u32, answer: Result<RawJson, RpcError>) {
        let Some(call) = self.calls.get_mut(&id) else { return };
        call.wire = None;
        let ClientRequest::CallTool { name, .. } = &call.request else { return };
        let name = name.clone();
        let read = match answer {
            Ok(body) => {
                results::parse_body_object(&body).and_then(results::deserialize_object::<ToolListPageForHeaders>)
            }
            Err(error) => return self.end_call(id, Err(CallError::Server(error))),
        };
        let ToolListPageForHeaders { tools, next_cursor } = match read {
            Ok(page) => page,
            Err(cause) => return self.end_call(id, Err(CallError::BadAnswer { cause })),
        };
        let found = tools.iter().find(|tool| tool.get("name").and_then(Value::as_str) == Some(&name));
        match (found, next_cursor) {
            (None, Some(cursor)) if page < MAX_TOOL_LIST_PAGES_FOR_HEADERS => {
                return self.request_tool_list_for_headers(id, Some(cursor), page + 1);
            }
            (None, _) => self.mirrored.remove_tool(&name),
            (Some(tool), _) => {
                if let Err(what) = self.mirrored.record_tool(&name, tool.get("inputSchema").unwrap_or(&Value::Null)) {
                    return self.end_call(id, Err(CallError::Unsupported { what }));
                }
            }
        }
        self.events.push(SessionEvent::ListChanged(ListKind::Tools));
        self.send_call_request(id);
    }
}
