//! Decodes and dispatches messages of the page.

use std::time::Instant;

use bytes::Bytes;
use mcp_proto::jsonrpc::code;
use mcp_proto::types::Map;
use mcp_proto::{IncomingMessage, InvalidMessage, RawJson, RequestId, RpcError};
use serde_json::json;

use super::fault::ViewFaultKind;
use super::limits::{MAX_PAGE_MESSAGE_BYTES, MAX_QUEUED_VIEW_OUTPUTS};
use super::request_parsing::{REQUEST_REFUSED_CODE, RequestAcceptanceConditions, RequestRefusal, parse_request};
use super::{View, ViewPhase};
use crate::diagnostics::is_diagnostic_report;
use crate::text::UntrustedTextExcerpt;

/// Prefix of the methods that only the host's sandbox proxy may send.
const SANDBOX_PROXY_METHOD_PREFIX: &str = "ui/notifications/sandbox-";
/// Number of bytes at each end of an oversized message that are searched for its id.
const BYTES_SEARCHED_FOR_REQUEST_ID: usize = 4096;

impl View {
    /// Processes a message that the app page posted, as JSON text: a message of the protocol, or a report of the
    /// diagnostic script.
    ///
    /// The caller has to verify that the frame of this view is the source of the message.
    pub fn handle_message(&mut self, text: &str, now: Instant) {
        if self.phase == ViewPhase::Closed {
            return;
        }
        if is_diagnostic_report(text) {
            return self.on_diagnostic_report(text, now);
        }
        let has_room = self.outputs.len() < MAX_QUEUED_VIEW_OUTPUTS;
        if !self.rate.try_admit(text.len().min(MAX_PAGE_MESSAGE_BYTES), now) || !has_room {
            self.dropped += 1;
            return;
        }
        if self.dropped > 0 {
            let detail = format!("{} messages were dropped, because the page sent too many", self.dropped);
            self.dropped = 0;
            self.push_fault(ViewFaultKind::TooMany, detail);
        }
        if text.len() > MAX_PAGE_MESSAGE_BYTES {
            return self.on_oversized_message(text.as_bytes());
        }
        match IncomingMessage::decode(&Bytes::copy_from_slice(text.as_bytes())) {
            Ok(message) => self.on_page_message(message, text.len(), now),
            Err(invalid) => self.on_invalid_message(&invalid, ViewFaultKind::Malformed),
        }
    }

    fn on_oversized_message(&mut self, text: &[u8]) {
        let head = text.get(..BYTES_SEARCHED_FOR_REQUEST_ID).unwrap_or(text);
        let tail = text.get(text.len().saturating_sub(BYTES_SEARCHED_FOR_REQUEST_ID)..).unwrap_or_default();
        let invalid = InvalidMessage::too_long(head, tail, MAX_PAGE_MESSAGE_BYTES, text.len());
        self.on_invalid_message(&invalid, ViewFaultKind::TooLarge);
    }

    fn on_invalid_message(&mut self, invalid: &InvalidMessage, kind: ViewFaultKind) {
        self.push_fault(kind, format!("{invalid}: {}", UntrustedTextExcerpt::of(&invalid.excerpt)));
        if let Some(id) = &invalid.id {
            self.on_unusable_page_response(id, kind);
        }
        if let Some(id) = &invalid.peer_request
            && self.can_send_to_page()
            && !self.pending.contains(id)
        {
            let error = RpcError::new(code::INVALID_REQUEST, invalid.to_string());
            self.send_response(id, Err(error));
        }
    }

    /// Processes a decoded message of the app page. `bytes` is the size of the message.
    pub(super) fn on_page_message(&mut self, message: IncomingMessage, bytes: usize, now: Instant) {
        match message {
            IncomingMessage::Request { id, method, params } => self.on_page_request(id, method, params, bytes),
            IncomingMessage::Notification { method, params } => self.on_page_notification(method, params, bytes, now),
            IncomingMessage::Response { id, result } => self.on_page_response(&id, result, now),
            IncomingMessage::ErrorWithoutId { error } => {
                self.push_fault(
                    ViewFaultKind::Malformed,
                    format!("an error without an id: {}", UntrustedTextExcerpt::of(&error.message)),
                );
            }
            IncomingMessage::Batch(_) => {
                self.push_fault(ViewFaultKind::Malformed, "a batch of messages, which MCP Apps does not have");
            }
        }
    }

    fn on_page_request(&mut self, id: RequestId, method: String, params: Option<RawJson>, bytes: usize) {
        if self.pending.contains(&id) || self.early.contains_request(&id) {
            let detail = format!("a request with the id {id} of another that waits for its response was dropped");
            return self.push_fault(ViewFaultKind::DuplicateId, detail);
        }
        if method == "ui/initialize" {
            return self.on_initialize(&id, params.as_ref());
        }
        if method.starts_with(SANDBOX_PROXY_METHOD_PREFIX) {
            self.push_fault(
                ViewFaultKind::Forgery,
                format!("the page sent {} as a request", UntrustedTextExcerpt::of(&method)),
            );
            if self.can_send_to_page() {
                self.send_response(&id, Err(RpcError::new(code::METHOD_NOT_FOUND, "only a sandbox proxy sends this")));
            }
            return;
        }
        if !self.can_send_to_page() {
            return self.retain_early_message(IncomingMessage::Request { id, method, params }, bytes);
        }
        if method == "ping" {
            return self.send_response(&id, Ok(json!({})));
        }
        let parsed = match parse_params_object(params.as_ref()) {
            Ok(params) => {
                let callable_tools = &self.config.callable_tools;
                let accepted =
                    RequestAcceptanceConditions { capabilities: &self.config.capabilities, callable_tools, bytes };
                parse_request(&method, params, &accepted)
            }
            Err(error) => Err(RequestRefusal { kind: ViewFaultKind::InvalidContent, error }),
        };
        let accepted = parsed.and_then(|request| {
            if self.pending.has_room(bytes) {
                Ok(request)
            } else {
                Err(RequestRefusal::new(
                    ViewFaultKind::TooMany,
                    REQUEST_REFUSED_CODE,
                    "too many requests of the app wait for the host",
                ))
            }
        });
        match accepted {
            Ok(request) => self.emit_page_request(id, request, bytes),
            Err(RequestRefusal { kind, error }) => {
                self.push_fault(kind, format!("{} was refused: {}", UntrustedTextExcerpt::of(&method), error.message));
                self.send_response(&id, Err(error));
            }
        }
    }

    fn on_page_notification(&mut self, method: String, params: Option<RawJson>, bytes: usize, now: Instant) {
        if method.starts_with(SANDBOX_PROXY_METHOD_PREFIX) {
            let detail =
                format!("the page sent {}, which only a sandbox proxy sends", UntrustedTextExcerpt::of(&method));
            return self.push_fault(ViewFaultKind::Forgery, detail);
        }
        if method == "ui/notifications/initialized" {
            return self.on_initialized(now);
        }
        if !self.can_send_to_page() {
            return self.retain_early_message(IncomingMessage::Notification { method, params }, bytes);
        }
        match parse_params_object(params.as_ref()) {
            Ok(params) => self.process_notification(&method, params, bytes, now),
            Err(error) => {
                self.push_fault(
                    ViewFaultKind::InvalidContent,
                    format!("{}: {}", UntrustedTextExcerpt::of(&method), error.message),
                );
            }
        }
    }
}

/// Parses the parameters of a message as a JSON object. Absent parameters count as an empty object.
pub(super) fn parse_params_object(params: Option<&RawJson>) -> Result<Map, RpcError> {
    let Some(params) = params else { return Ok(Map::new()) };
    params.parse().map_err(|_| RpcError::new(code::INVALID_PARAMS, "params is not an object"))
}
