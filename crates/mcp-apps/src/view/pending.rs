//! Requests of the page that wait for the host's response. Each gets exactly one response, unless the page cancels it.

use std::collections::BTreeMap;

use mcp_proto::types::Map;
use mcp_proto::{RequestId, RpcError};
use serde_json::{Value, json};

use super::limits::{MAX_PENDING_PAGE_REQUEST_BYTES, MAX_PENDING_PAGE_REQUESTS};
use super::output::ViewOutput;
use super::request::{AppRequest, AppRequestId, HostResponse, HostResponseError, ModelContext};
use super::request_parsing::REQUEST_REFUSED_CODE;
use super::sampling::{SAMPLING_REFUSED_CODE, SamplingResultRequirements};
use super::{View, single_member_object};

/// A request of the app page that waits for the host's response.
#[derive(Debug)]
struct PendingPageRequest {
    /// JSON-RPC id that the app page chose for the request.
    wire_id: RequestId,
    expected: ExpectedHostResponse,
    bytes: usize,
}

/// The response that a pending request expects from the host: its valid kinds, and what is done with it.
#[derive(Debug)]
enum ExpectedHostResponse {
    /// An MCP request whose result is passed to the app page unchanged.
    Mcp,
    /// `tools/list`, whose result the view filters.
    ToolList,
    /// A request for an action that has no result, such as opening a link.
    Act,
    /// A request to replace the context for models by this one.
    ModelContext(ModelContext),
    /// A request for another display mode.
    DisplayMode,
    /// A sampling request, whose result must have this form.
    Sampling(SamplingResultRequirements),
}

/// Requests of the app page that wait for the host's response, oldest first.
#[derive(Debug, Default)]
pub(super) struct PendingPageRequests {
    requests: BTreeMap<AppRequestId, PendingPageRequest>,
    last_id: u64,
}

impl PendingPageRequests {
    pub(super) fn contains(&self, wire_id: &RequestId) -> bool {
        self.find(wire_id).is_some()
    }

    /// Returns `true` if another request of `bytes` bytes stays within the limits on pending requests.
    pub(super) fn has_room(&self, bytes: usize) -> bool {
        let waiting: usize = self.requests.values().map(|request| request.bytes).sum();
        self.requests.len() < MAX_PENDING_PAGE_REQUESTS
            && waiting.saturating_add(bytes) <= MAX_PENDING_PAGE_REQUEST_BYTES
    }

    fn find(&self, wire_id: &RequestId) -> Option<AppRequestId> {
        self.requests.iter().find(|(_, request)| request.wire_id == *wire_id).map(|(id, _)| *id)
    }
}

impl View {
    /// Responds to a request of the app page.
    ///
    /// # Errors
    ///
    /// Returns [`HostResponseError::NotOpen`] if the request does not wait for a response,
    /// [`HostResponseError::WrongKind`] if the response is for another kind of request,
    /// [`HostResponseError::InvalidResult`] for a result that is not valid for the sampling request, and
    /// [`HostResponseError::UndeclaredDisplayMode`] for a display mode that the page does not support.
    pub fn respond(&mut self, id: AppRequestId, response: HostResponse) -> Result<(), HostResponseError> {
        let request = self.pending.requests.get(&id).ok_or(HostResponseError::NotOpen)?;
        let mut mode = None;
        let result = match (&request.expected, response) {
            (ExpectedHostResponse::DisplayMode, HostResponse::DisplayMode(chosen)) => {
                if !self.is_mode_current_or_declared(chosen) {
                    return Err(HostResponseError::UndeclaredDisplayMode);
                }
                mode = Some(chosen);
                Ok(json!({ "mode": chosen }))
            }
            (ExpectedHostResponse::DisplayMode, HostResponse::Refused(_) | HostResponse::Failed(_)) => {
                Ok(json!({ "mode": self.config.context.display_mode }))
            }
            (ExpectedHostResponse::Sampling(_), HostResponse::Refused(reason)) => {
                Err(RpcError::new(SAMPLING_REFUSED_CODE, reason))
            }
            (_, HostResponse::Refused(reason)) => Err(RpcError::new(REQUEST_REFUSED_CODE, reason)),
            (_, HostResponse::Failed(error)) => Err(error),
            (ExpectedHostResponse::Mcp, HostResponse::Result(result)) => Ok(Value::Object(result)),
            (ExpectedHostResponse::ToolList, HostResponse::Result(result)) => {
                Ok(Value::Object(self.remove_tools_hidden_from_app(result)))
            }
            (ExpectedHostResponse::Sampling(form), HostResponse::Sampling(result)) => {
                Ok(json!(form.adapt_result(*result).map_err(HostResponseError::InvalidResult)?))
            }
            (ExpectedHostResponse::Act | ExpectedHostResponse::ModelContext(_), HostResponse::Done) => Ok(json!({})),
            (
                _,
                HostResponse::Result(_) | HostResponse::Sampling(_) | HostResponse::Done | HostResponse::DisplayMode(_),
            ) => return Err(HostResponseError::WrongKind),
        };
        let Some(request) = self.pending.requests.remove(&id) else { return Err(HostResponseError::NotOpen) };
        if let (ExpectedHostResponse::ModelContext(context), Ok(_)) = (request.expected, &result) {
            self.replace_model_context(id, context);
        }
        // Serializing a value to text can't fail.
        self.rate.charge_for_large_response(result.as_ref().map_or(0, |result| result.to_string().len()));
        self.send_response(&request.wire_id, result);
        if let Some(mode) = mode {
            self.apply_display_mode(mode);
        }
        Ok(())
    }

    /// Reports a request of the app page to the host, or responds immediately if the request needs no action.
    pub(super) fn emit_page_request(&mut self, wire_id: RequestId, request: AppRequest, bytes: usize) {
        let expected = match &request {
            AppRequest::RequestDisplayMode { mode } if !self.may_page_request_mode(*mode) => {
                let mode = self.config.context.display_mode;
                return self.send_response(&wire_id, Ok(Value::Object(single_member_object("mode", mode.as_str()))));
            }
            AppRequest::RequestDisplayMode { .. } => ExpectedHostResponse::DisplayMode,
            AppRequest::UpdateModelContext(context) => ExpectedHostResponse::ModelContext(context.clone()),
            AppRequest::OpenLink { .. } | AppRequest::DownloadFile { .. } | AppRequest::SendMessage { .. } => {
                ExpectedHostResponse::Act
            }
            AppRequest::ListTools { .. } => ExpectedHostResponse::ToolList,
            AppRequest::CallTool { .. }
            | AppRequest::ReadResource { .. }
            | AppRequest::ListResources { .. }
            | AppRequest::ListResourceTemplates { .. }
            | AppRequest::ListPrompts { .. } => ExpectedHostResponse::Mcp,
            AppRequest::Sample(params) => {
                ExpectedHostResponse::Sampling(SamplingResultRequirements::for_request(params))
            }
        };
        self.pending.last_id += 1;
        let id = AppRequestId(self.pending.last_id);
        self.pending.requests.insert(id, PendingPageRequest { wire_id, expected, bytes });
        self.push(ViewOutput::Request { id, request });
    }

    /// Withdraws a request that the app page cancelled. It gets no response.
    pub(super) fn on_request_cancelled_by_page(&mut self, wire_id: &RequestId) {
        if let Some(id) = self.pending.find(wire_id) {
            self.pending.requests.remove(&id);
            self.push(ViewOutput::Withdrawn(id));
        }
    }

    /// Withdraws all requests of the app page at the end of the view. Responds to them with errors if the page still
    /// exists.
    pub(super) fn end_all_page_requests(&mut self, has_page: bool) {
        for (id, request) in std::mem::take(&mut self.pending.requests) {
            self.push(ViewOutput::Withdrawn(id));
            if has_page {
                self.send_response(&request.wire_id, Err(RpcError::new(REQUEST_REFUSED_CODE, "the view is closed")));
            }
        }
    }

    /// Replaces the app page's context for models, unless the host has already accepted the context of a later request.
    fn replace_model_context(&mut self, from: AppRequestId, context: ModelContext) {
        if self.model_context.as_ref().is_none_or(|(last, _)| *last < from) {
            self.model_context = Some((from, context));
        }
    }

    /// Returns a result of `tools/list` without the tools that apps may not call.
    fn remove_tools_hidden_from_app(&self, mut result: Map) -> Map {
        if let Some(Value::Array(tools)) = result.get_mut("tools") {
            let name = |tool: &Value| tool.get("name").and_then(Value::as_str).map(str::to_owned);
            tools.retain(|tool| name(tool).is_some_and(|name| self.config.callable_tools.contains(&name)));
        }
        result
    }
}
