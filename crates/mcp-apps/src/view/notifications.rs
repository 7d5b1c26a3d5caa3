//! Notifications of the page: size, log messages, cancellation and request for teardown.

use std::time::Instant;

use mcp_proto::RequestId;
use mcp_proto::types::{LogMessage, Map};
use serde_json::Value;

use super::fault::{UnknownMethodText, ViewFaultKind};
use super::limits::{MAX_LOG_MESSAGE_BYTES, MAX_VIEW_PIXELS};
use super::output::ViewEvent;
use super::{View, ViewSize};
use crate::host_context::ContainerAxisSize;
use crate::text::UntrustedTextExcerpt;

impl View {
    pub(super) fn process_notification(&mut self, method: &str, params: Map, bytes: usize, now: Instant) {
        match method {
            "ui/notifications/size-changed" => self.on_size_changed(&params),
            "ui/notifications/request-teardown" => {
                if !std::mem::replace(&mut self.teardown_requested, true) {
                    self.push_event(ViewEvent::TeardownRequested);
                }
            }
            "notifications/message" => self.on_log_message(params, bytes),
            "notifications/tools/list_changed" => self.on_app_tools_changed(now),
            "notifications/cancelled" => {
                match params.get("requestId").cloned().map(serde_json::from_value::<RequestId>) {
                    Some(Ok(id)) => self.on_request_cancelled_by_page(&id),
                    _ => self
                        .push_fault(ViewFaultKind::InvalidContent, "notifications/cancelled has no usable requestId"),
                }
            }
            _ => self.push_fault(ViewFaultKind::UnknownMethod, UnknownMethodText(method).to_string()),
        }
    }

    fn on_size_changed(&mut self, params: &Map) {
        let axis = |name: &str| match params.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => value.as_f64().map(Some).ok_or(name.to_owned()),
        };
        let (width, height) = match (axis("width"), axis("height")) {
            (Ok(width), Ok(height)) => (width, height),
            (Err(name), _) | (_, Err(name)) => {
                let detail = format!("ui/notifications/size-changed: {name} is not a number");
                return self.push_fault(ViewFaultKind::InvalidContent, detail);
            }
        };
        let container = self.config.context.container;
        let size = ViewSize {
            width: width.and_then(|width| clamp_view_extent(width, container.width)).or(self.size.width),
            height: height.and_then(|height| clamp_view_extent(height, container.height)).or(self.size.height),
        };
        // A page that reports the same size again would otherwise be laid out in a loop.
        if size != self.size {
            self.size = size;
            self.push_event(ViewEvent::Resized(size));
        }
    }

    fn on_log_message(&mut self, params: Map, bytes: usize) {
        if !self.config.capabilities.logging {
            return self
                .push_fault(ViewFaultKind::NotOffered, "notifications/message: the host does not offer logging");
        }
        if bytes > MAX_LOG_MESSAGE_BYTES {
            return self.push_fault(ViewFaultKind::TooLarge, "notifications/message is too large");
        }
        match serde_json::from_value::<LogMessage>(Value::Object(params)) {
            Ok(message) => self.push_event(ViewEvent::Logged(message)),
            Err(error) => {
                let detail = format!("notifications/message: {}", UntrustedTextExcerpt::of(&error.to_string()));
                self.push_fault(ViewFaultKind::InvalidContent, detail);
            }
        }
    }
}

/// Limits the app page's reported extent to the maximum of `axis`, in whole pixels. Returns `None` if the host sets the
/// extent.
fn clamp_view_extent(pixels: f64, axis: ContainerAxisSize) -> Option<u32> {
    let maximum = match axis {
        ContainerAxisSize::Fixed(_) => return None,
        ContainerAxisSize::UpTo(maximum) => maximum.min(MAX_VIEW_PIXELS),
        ContainerAxisSize::Unbounded => MAX_VIEW_PIXELS,
    };
    let pixels = pixels.ceil().clamp(0.0, f64::from(maximum));
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the range of u32")]
    Some(pixels as u32)
}
