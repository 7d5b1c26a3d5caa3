//! The handshake: `ui/initialize`, its response, and `ui/notifications/initialized`. The host sends nothing else to the
//! page before it is initialized, and retains messages that the page sends too early, within bounds.

use std::time::Instant;

use mcp_proto::jsonrpc::code;
use mcp_proto::types::{Implementation, Map};
use mcp_proto::{IncomingMessage, RawJson, RequestId, RpcError};
use serde_json::{Value, json};

use super::fault::{ViewFaultKind, method_name_correction_hint};
use super::incoming::parse_params_object;
use super::limits::{MAX_MESSAGE_BYTES_BEFORE_HANDSHAKE, MAX_MESSAGES_BEFORE_HANDSHAKE, MAX_NAME_OR_CURSOR_BYTES};
use super::output::{AppInfo, ViewEvent};
use super::{View, ViewPhase};
use crate::display_mode::DisplayMode;
use crate::text::{UntrustedTextExcerpt, truncated};

/// Protocol versions that this crate supports. The first one is the response to an unknown version.
pub const PROTOCOL_VERSIONS: [&str; 2] = ["2026-01-26", "2025-11-21"];

/// Maximum number of display modes that are read from the app page's `ui/initialize`.
const MAX_DECLARED_DISPLAY_MODES: usize = 8;

/// Messages that the app page sent before it was initialized.
#[derive(Debug, Default)]
pub(super) struct MessagesBeforeHandshake {
    messages: Vec<(IncomingMessage, usize)>,
    bytes: usize,
}

impl MessagesBeforeHandshake {
    pub(super) fn contains_request(&self, expected: &RequestId) -> bool {
        let has_id =
            |message: &IncomingMessage| matches!(message, IncomingMessage::Request { id, .. } if id == expected);
        self.messages.iter().any(|(message, _)| has_id(message))
    }

    /// Stores an early message unless the limits are reached. Returns `true` if the message was stored.
    fn add(&mut self, message: IncomingMessage, bytes: usize) -> bool {
        let has_room = self.messages.len() < MAX_MESSAGES_BEFORE_HANDSHAKE
            && self.bytes.saturating_add(bytes) <= MAX_MESSAGE_BYTES_BEFORE_HANDSHAKE;
        if has_room {
            self.bytes += bytes;
            self.messages.push((message, bytes));
        }
        has_room
    }
}

impl View {
    /// Stores a message of the app page until the page is initialized.
    pub(super) fn retain_early_message(&mut self, message: IncomingMessage, bytes: usize) {
        let method = match &message {
            IncomingMessage::Request { method, .. } | IncomingMessage::Notification { method, .. } => method.clone(),
            _ => return,
        };
        let detail = if self.early.add(message, bytes) {
            format!(
                "{} was sent before ui/notifications/initialized, and waits for it",
                UntrustedTextExcerpt::of(&method)
            )
        } else {
            format!(
                "{} was sent before ui/notifications/initialized, and was dropped",
                UntrustedTextExcerpt::of(&method)
            )
        };
        let hint = method_name_correction_hint(&method);
        self.push_fault(ViewFaultKind::Early, format!("{detail}{hint}"));
    }

    pub(super) fn on_initialize(&mut self, id: &RequestId, params: Option<&RawJson>) {
        if self.can_send_to_page() {
            self.push_fault(ViewFaultKind::OutOfOrder, "ui/initialize was sent again");
            let error = RpcError::new(code::INVALID_REQUEST, "the app is initialized already");
            return self.send_response(id, Err(error));
        }
        match parse_params_object(params).and_then(|params| self.parse_app_info(&params)) {
            Ok(app) => {
                let context = self.config.context.to_map();
                let result = json!({
                    "protocolVersion": app.protocol_version,
                    "hostInfo": self.config.host,
                    "hostCapabilities": self.config.capabilities.to_value(),
                    "hostContext": context,
                });
                self.sent_context = context;
                self.app = Some(app);
                self.phase = ViewPhase::Answered;
                self.send_response(id, Ok(result));
            }
            Err(error) => {
                self.push_fault(ViewFaultKind::InvalidContent, format!("ui/initialize was refused: {}", error.message));
                self.send_response(id, Err(error));
            }
        }
    }

    fn parse_app_info(&mut self, params: &Map) -> Result<AppInfo, RpcError> {
        let invalid = |message: &str| RpcError::new(code::INVALID_PARAMS, message);
        let info = params.get("appInfo").cloned().unwrap_or_default();
        let info: Implementation =
            serde_json::from_value(info).map_err(|_| invalid("appInfo is not an object with a name and a version"))?;
        let shortened = |text: &str| truncated(text, MAX_NAME_OR_CURSOR_BYTES).to_owned();
        let implementation = Implementation {
            name: shortened(&info.name),
            title: info.title.as_deref().map(shortened),
            version: shortened(&info.version),
            description: info.description.as_deref().map(shortened),
            ..Implementation::default()
        };
        let requested = params.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
        let known = PROTOCOL_VERSIONS.into_iter().find(|version| *version == requested);
        if known.is_none() {
            let detail = format!(
                "the protocol version {} is unknown; the response has ours",
                UntrustedTextExcerpt::of(requested)
            );
            self.push_fault(ViewFaultKind::InvalidContent, detail);
        }
        let capabilities = params.get("appCapabilities").and_then(Value::as_object);
        if capabilities.is_none() {
            self.push_fault(
                ViewFaultKind::InvalidContent,
                "appCapabilities is not an object; no capability is assumed",
            );
        }
        let member = |name: &str| capabilities.and_then(|capabilities| capabilities.get(name));
        let modes = member("availableDisplayModes").and_then(Value::as_array);
        let tools = member("tools").and_then(Value::as_object);
        Ok(AppInfo {
            implementation,
            protocol_version: known.unwrap_or(PROTOCOL_VERSIONS[0]),
            display_modes: modes
                .map(|modes| modes.iter().take(MAX_DECLARED_DISPLAY_MODES).filter_map(DisplayMode::parse).collect()),
            has_tools: tools.is_some(),
            reports_tool_changes: tools.is_some_and(|tools| tools.get("listChanged") == Some(&Value::Bool(true))),
        })
    }

    pub(super) fn on_initialized(&mut self, now: Instant) {
        let (ViewPhase::Answered, Some(app)) = (self.phase, self.app.clone()) else {
            return self
                .push_fault(ViewFaultKind::OutOfOrder, "ui/notifications/initialized was sent at the wrong time");
        };
        self.phase = ViewPhase::Ready;
        self.push_event(ViewEvent::Initialized(app));
        self.send_context_change();
        self.send_retained_tool_messages();
        for (message, bytes) in std::mem::take(&mut self.early).messages {
            self.on_page_message(message, bytes, now);
        }
    }
}
