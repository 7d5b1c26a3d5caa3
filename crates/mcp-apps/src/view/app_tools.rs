//! Requests of the host to the page, with their timeouts: listing and calling the tools that the app offers (draft of
//! the specification), and teardown.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use mcp_proto::types::{Map, Tool};
use mcp_proto::{RawJson, RequestId, RpcError};
use serde_json::Value;

use super::fault::{ViewFault, ViewFaultKind};
use super::limits::{
    APP_TOOL_LIST_CHANGE_INTERVAL, APP_TOOL_REQUEST_TIMEOUT, MAX_APP_TOOL_BYTES, MAX_APP_TOOL_CALLS,
    MAX_APP_TOOL_LIST_BYTES, MAX_APP_TOOL_LIST_PAGES, MAX_APP_TOOL_RESULT_BYTES, MAX_APP_TOOLS,
    MAX_NAME_OR_CURSOR_BYTES,
};
use super::output::{ViewCloseCause, ViewEvent, ViewOutput};
use super::{View, ViewPhase, single_member_object};
use crate::text::{has_only_visible_characters, truncated};

/// Identifier of the host's call of an app's tool, unique in a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AppToolCallId(i64);

/// Tools that an app offers while its view exists. The host must not store them for later.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AppToolList {
    /// Valid tools, with distinct names.
    pub tools: Vec<AppTool>,
    /// Number of tools that were dropped because they are invalid or too large, their name is not unique, or there are
    /// too many.
    pub dropped: usize,
}

/// A tool that an app offers. Its definition is an unverified claim of the page.
#[derive(Debug, Clone, PartialEq)]
pub struct AppTool {
    /// Definition of the tool, as the app page sent it.
    pub definition: Tool,
}

/// Reason why an app's tools can't be listed or called.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AppToolError {
    /// The app page is not initialized, or did not declare that it offers tools.
    #[error("the app offers no tools")]
    NotOffered,
    /// The app did not list a tool of this name.
    #[error("the app has no such tool")]
    UnknownTool,
    /// Too many calls of the app's tools are in progress.
    #[error("too many calls of the app's tools are running")]
    TooManyCalls,
    /// The app page did not respond within [`APP_TOOL_REQUEST_TIMEOUT`].
    #[error("the app did not respond in time")]
    TimedOut,
    /// The app page's response is larger than [`MAX_APP_TOOL_RESULT_BYTES`].
    #[error("the response of the app is too large")]
    TooLarge,
    /// The app page's response is not a valid result.
    #[error("the response of the app is invalid")]
    InvalidResult,
    /// The app page responded with an error. Untrusted.
    #[error("the app responded with an error: {0}")]
    Failed(RpcError),
    /// The view was closed.
    #[error("the app is closed")]
    Closed,
}

/// A request of the host to the app page that has no response yet.
#[derive(Debug)]
struct RequestToPage {
    purpose: RequestToPagePurpose,
    deadline: Instant,
}

#[derive(Debug)]
enum RequestToPagePurpose {
    /// Listing the app's tools. Contains the tools of the result pages read so far and their size in bytes of JSON.
    List { found: AppToolList, bytes: usize, page: usize },
    /// Calling one of the app's tools.
    Call,
    /// Ending the view.
    Teardown,
}

/// State of the host's requests to the page, and the tools that the app listed.
#[derive(Debug, Default)]
pub(super) struct AppToolsState {
    requests: BTreeMap<i64, RequestToPage>,
    last_id: i64,
    /// Names of the app's tools in the last complete list.
    names: BTreeSet<String>,
    last_change: Option<Instant>,
    /// Time at which a change of the app's list is reported, or `None` if no change is waiting.
    next_change_report: Option<Instant>,
}

impl AppToolsState {
    pub(super) fn next_timeout(&self) -> Option<Instant> {
        self.requests.values().map(|request| request.deadline).chain(self.next_change_report).min()
    }
}

impl View {
    /// Requests the list of the app's tools. The view reports the outcome as [`ViewEvent::AppToolsListed`]. Has no
    /// effect while another such request is pending.
    ///
    /// # Errors
    ///
    /// Returns [`AppToolError::NotOffered`] if the page is not initialized or offers no tools, and
    /// [`AppToolError::Closed`] at the end of the view.
    pub fn list_app_tools(&mut self, now: Instant) -> Result<(), AppToolError> {
        self.require_page_with_app_tools()?;
        if !self.tools.requests.values().any(|request| matches!(request.purpose, RequestToPagePurpose::List { .. })) {
            let purpose = RequestToPagePurpose::List { found: AppToolList::default(), bytes: 0, page: 1 };
            self.send_request_to_page("tools/list", Map::new(), purpose, APP_TOOL_REQUEST_TIMEOUT, now);
        }
        Ok(())
    }

    /// Calls a tool of the app. The view reports the outcome as [`ViewEvent::AppToolCallEnded`] with the returned id.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`list_app_tools`](Self::list_app_tools), [`AppToolError::UnknownTool`] for a name that is
    /// not in the last list, and [`AppToolError::TooManyCalls`] above the limit.
    pub fn call_app_tool(&mut self, name: &str, arguments: Map, now: Instant) -> Result<AppToolCallId, AppToolError> {
        self.require_page_with_app_tools()?;
        if !self.tools.names.contains(name) {
            return Err(AppToolError::UnknownTool);
        }
        let running = self
            .tools
            .requests
            .values()
            .filter(|request| matches!(request.purpose, RequestToPagePurpose::Call))
            .count();
        if running >= MAX_APP_TOOL_CALLS {
            return Err(AppToolError::TooManyCalls);
        }
        let mut params = single_member_object("name", name);
        params.insert("arguments".to_owned(), Value::Object(arguments));
        Ok(AppToolCallId(self.send_request_to_page(
            "tools/call",
            params,
            RequestToPagePurpose::Call,
            APP_TOOL_REQUEST_TIMEOUT,
            now,
        )))
    }

    /// Cancels a call of an app's tool. The view then reports no outcome of it. A call that has ended is ignored.
    pub fn cancel_app_tool_call(&mut self, call: AppToolCallId) {
        if let Some(RequestToPage { purpose: RequestToPagePurpose::Call, .. }) = self.tools.requests.get(&call.0) {
            self.tools.requests.remove(&call.0);
            self.send_notification("notifications/cancelled", single_member_object("requestId", call.0));
        }
    }

    fn require_page_with_app_tools(&self) -> Result<(), AppToolError> {
        match (self.phase, &self.app) {
            (ViewPhase::TearingDown | ViewPhase::Closed, _) => Err(AppToolError::Closed),
            (ViewPhase::Ready, Some(app)) if app.has_tools => Ok(()),
            _ => Err(AppToolError::NotOffered),
        }
    }

    fn send_request_to_page(
        &mut self,
        method: &str,
        params: Map,
        purpose: RequestToPagePurpose,
        limit: Duration,
        now: Instant,
    ) -> i64 {
        self.tools.last_id += 1;
        let id = self.tools.last_id;
        self.tools.requests.insert(id, RequestToPage { purpose, deadline: now + limit });
        self.send_request(id, method, params);
        id
    }

    pub(super) fn send_teardown_request(&mut self, limit: Duration, now: Instant) {
        // The schema defines no parameters here, although the prose of the specification mentions a reason.
        self.send_request_to_page("ui/resource-teardown", Map::new(), RequestToPagePurpose::Teardown, limit, now);
    }

    pub(super) fn on_page_response(&mut self, id: &RequestId, result: Result<RawJson, RpcError>, now: Instant) {
        let Some((id, request)) = self.take_request_to_page(id) else { return };
        match request.purpose {
            RequestToPagePurpose::Teardown => {
                self.close(if result.is_ok() { ViewCloseCause::Confirmed } else { ViewCloseCause::Failed })
            }
            RequestToPagePurpose::Call => {
                let result = parse_app_tool_result(result).and_then(|result| {
                    if is_tool_call_result(&result) { Ok(result) } else { Err(AppToolError::InvalidResult) }
                });
                self.push_event(ViewEvent::AppToolCallEnded { call: AppToolCallId(id), result });
            }
            RequestToPagePurpose::List { found, bytes, page } => match parse_app_tool_result(result) {
                Ok(result) => self.on_app_tool_list_page(found, bytes, page, result, now),
                Err(error) => self.push_event(ViewEvent::AppToolsListed(Err(error))),
            },
        }
    }

    /// Ends the host's request whose response can't be read.
    pub(super) fn on_unusable_page_response(&mut self, id: &RequestId, kind: ViewFaultKind) {
        let Some((id, request)) = self.take_request_to_page(id) else { return };
        let error = if kind == ViewFaultKind::TooLarge { AppToolError::TooLarge } else { AppToolError::InvalidResult };
        match request.purpose {
            RequestToPagePurpose::Teardown => self.close(ViewCloseCause::Failed),
            purpose => self.push_app_tool_error_event(id, &purpose, error),
        }
    }

    fn take_request_to_page(&mut self, id: &RequestId) -> Option<(i64, RequestToPage)> {
        let number = if let RequestId::Number(number) = id { Some(*number) } else { None };
        let request = number.and_then(|number| Some((number, self.tools.requests.remove(&number)?)));
        if request.is_none() {
            self.push_fault(ViewFaultKind::UnknownId, format!("a response to the request {id}, which waits for none"));
        }
        request
    }

    fn on_app_tool_list_page(
        &mut self,
        mut found: AppToolList,
        mut bytes: usize,
        page: usize,
        mut result: Map,
        now: Instant,
    ) {
        let Some(Value::Array(tools)) = result.shift_remove("tools") else {
            return self.push_event(ViewEvent::AppToolsListed(Err(AppToolError::InvalidResult)));
        };
        for tool in tools {
            let total = bytes.saturating_add(tool.to_string().len());
            match parse_app_tool(tool) {
                Some(tool)
                    if found.tools.len() < MAX_APP_TOOLS
                        && total <= MAX_APP_TOOL_LIST_BYTES
                        && !found.offers_tool(&tool.definition.name) =>
                {
                    bytes = total;
                    found.tools.push(tool);
                }
                _ => found.dropped += 1,
            }
        }
        let cursor =
            result.get("nextCursor").and_then(Value::as_str).filter(|cursor| cursor.len() <= MAX_NAME_OR_CURSOR_BYTES);
        match cursor {
            Some(cursor) if page < MAX_APP_TOOL_LIST_PAGES && found.tools.len() < MAX_APP_TOOLS => {
                let purpose = RequestToPagePurpose::List { found, bytes, page: page + 1 };
                self.send_request_to_page(
                    "tools/list",
                    single_member_object("cursor", cursor),
                    purpose,
                    APP_TOOL_REQUEST_TIMEOUT,
                    now,
                );
            }
            _ => {
                self.tools.names = found.tools.iter().map(|tool| tool.definition.name.clone()).collect();
                self.push_event(ViewEvent::AppToolsListed(Ok(found)));
            }
        }
    }

    pub(super) fn on_app_tools_changed(&mut self, now: Instant) {
        if !self.app.as_ref().is_some_and(|app| app.reports_tool_changes) {
            let detail = "notifications/tools/list_changed: the app did not declare tools.listChanged";
            return self.push_fault(ViewFaultKind::NotOffered, detail);
        }
        let next = self.tools.last_change.map_or(now, |last| last + APP_TOOL_LIST_CHANGE_INTERVAL);
        self.tools.next_change_report.get_or_insert(next.max(now));
        self.report_due_app_tool_list_change(now);
    }

    pub(super) fn report_due_app_tool_list_change(&mut self, now: Instant) {
        if self.tools.next_change_report.is_some_and(|next| next <= now) {
            self.tools.next_change_report = None;
            self.tools.last_change = Some(now);
            self.push_event(ViewEvent::AppToolsChanged);
        }
    }

    /// Ends the host's requests whose deadline has passed.
    pub(super) fn time_out_requests_to_page(&mut self, now: Instant) {
        let is_late = |request: &RequestToPage| request.deadline <= now;
        let late: Vec<i64> =
            self.tools.requests.iter().filter(|(_, request)| is_late(request)).map(|(id, _)| *id).collect();
        for id in late {
            let Some(request) = self.tools.requests.remove(&id) else { continue };
            if let RequestToPagePurpose::Teardown = request.purpose {
                return self.close(ViewCloseCause::TimedOut);
            }
            let detail = format!("the page did not respond to the request {id} in time");
            self.push(ViewOutput::Fault(ViewFault::in_message_to_page(ViewFaultKind::TimedOut, detail)));
            self.send_notification("notifications/cancelled", single_member_object("requestId", id));
            self.push_app_tool_error_event(id, &request.purpose, AppToolError::TimedOut);
        }
    }

    /// Ends all requests of the host at the end of the view, and discards the app's tools.
    pub(super) fn end_requests_to_page(&mut self) {
        let ended = std::mem::take(&mut self.tools);
        for (id, request) in ended.requests {
            self.push_app_tool_error_event(id, &request.purpose, AppToolError::Closed);
        }
    }

    fn push_app_tool_error_event(&mut self, id: i64, purpose: &RequestToPagePurpose, error: AppToolError) {
        match purpose {
            RequestToPagePurpose::Call => {
                self.push_event(ViewEvent::AppToolCallEnded { call: AppToolCallId(id), result: Err(error) })
            }
            RequestToPagePurpose::List { .. } => self.push_event(ViewEvent::AppToolsListed(Err(error))),
            RequestToPagePurpose::Teardown => {}
        }
    }
}

impl AppToolList {
    fn offers_tool(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| tool.definition.name == name)
    }
}

fn parse_app_tool_result(result: Result<RawJson, RpcError>) -> Result<Map, AppToolError> {
    let result = result.map_err(|error| {
        let message = truncated(&error.message, MAX_NAME_OR_CURSOR_BYTES).to_owned();
        AppToolError::Failed(RpcError::new(error.code, message))
    })?;
    if result.get().len() > MAX_APP_TOOL_RESULT_BYTES {
        return Err(AppToolError::TooLarge);
    }
    result.parse().map_err(|_| AppToolError::InvalidResult)
}

/// Returns `true` if a result has the form of a `CallToolResult`.
fn is_tool_call_result(result: &Map) -> bool {
    result.get("content").is_some_and(Value::is_array) || result.get("structuredContent").is_some()
}

/// Parses a tool of the app. Returns `None` if its name or schema is invalid, or it is larger than the limit.
fn parse_app_tool(tool: Value) -> Option<AppTool> {
    if tool.to_string().len() > MAX_APP_TOOL_BYTES {
        return None;
    }
    let definition: Tool = serde_json::from_value(tool).ok()?;
    let has_name = !definition.name.is_empty()
        && definition.name.len() <= MAX_NAME_OR_CURSOR_BYTES
        && has_only_visible_characters(&definition.name);
    (has_name && definition.input_schema.is_object()).then_some(AppTool { definition })
}
