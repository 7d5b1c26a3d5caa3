//! State machine of one view of an app, without I/O. Its inputs are messages of the page and actions of the host, and
//! its outputs are messages to the page, requests and events.
//!
//! - `incoming`: decodes and dispatches messages of the page, within the limits of `limits` and `rate`.
//! - `handshake`: `ui/initialize`, and messages that are retained until the page is initialized.
//! - `request`, `request_parsing`, `pending`, `sampling`: requests of the page and the host's responses.
//! - `diagnostics`: reports of the diagnostic script in the page's document.
//! - `tool_call_delivery`: input and result of the tool call that the view shows.
//! - `notifications`: size, log messages and other notifications of the page.
//! - `context`: host context, display mode and changed lists.
//! - `app_tools`: tools that the app offers to the host.
//! - `teardown`: the end of the view.

mod app_tools;
mod context;
mod diagnostics;
mod fault;
mod handshake;
mod incoming;
pub mod limits;
mod notifications;
mod output;
mod pending;
mod rate;
mod request;
mod request_parsing;
mod sampling;
mod teardown;
mod tool_call_delivery;

pub use app_tools::{AppTool, AppToolCallId, AppToolError, AppToolList};
pub use context::{ServerListKind, UndeclaredDisplayMode};
pub use fault::{MessageDirection, ViewFault, ViewFaultKind};
pub use handshake::PROTOCOL_VERSIONS;
pub use output::{AppInfo, ViewCloseCause, ViewEvent, ViewOutput, ViewSize};
pub use request::{
    AppRequest, AppRequestId, HostResponse, HostResponseError, ModelContext, OfferedFile, OfferedFileContents,
};
pub use sampling::{SamplingResultProblem, SamplingResultRequirements};
pub use tool_call_delivery::ToolMessageOrderError;

use std::collections::{BTreeSet, VecDeque};
use std::time::Instant;

use mcp_proto::types::{Implementation, Map};
use mcp_proto::{RequestId, RpcError};
use serde_json::{Value, json};

use app_tools::AppToolsState;
use diagnostics::DiagnosticsState;
use handshake::MessagesBeforeHandshake;
use limits::{MAX_PAGE_MESSAGE_BURST, PAGE_MESSAGES_PER_SECOND};
use pending::PendingPageRequests;
use rate::MessageRateLimit;
use tool_call_delivery::ToolCallDelivery;

use crate::capabilities::HostCapabilities;
use crate::host_context::HostContext;

/// Configuration with which the host creates a view.
#[derive(Debug, Clone, Default)]
pub struct ViewConfig {
    /// Name and version of the host.
    pub host: Implementation,
    /// Capabilities of the host that the view announces to the app page. Requests that need others are refused.
    pub capabilities: HostCapabilities,
    /// Initial host context that the app page receives.
    pub context: HostContext,
    /// Names of the tools of the page's server that apps may call
    /// ([`ToolMetadata::is_callable_by_app`](crate::ToolMetadata::is_callable_by_app)).
    pub callable_tools: BTreeSet<String>,
}

/// Phase of a view, from loading its app page to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ViewPhase {
    /// The app page has not sent `ui/initialize` yet.
    Waiting,
    /// The response to `ui/initialize` was sent, and the app page has not confirmed that it is initialized.
    Answered,
    /// The app page is initialized.
    Ready,
    /// The view requested the app page's teardown. The page may still send requests.
    TearingDown,
    /// The view has ended.
    Closed,
}

/// State machine of one view of an app.
///
/// Time is a parameter. After each call, the host drains [`poll_output`](Self::poll_output), and calls
/// [`handle_timeout`](Self::handle_timeout) at [`poll_timeout`](Self::poll_timeout).
#[derive(Debug)]
pub struct View {
    config: ViewConfig,
    phase: ViewPhase,
    outputs: VecDeque<ViewOutput>,
    rate: MessageRateLimit,
    /// Number of messages of the app page that were dropped since the last processed one.
    dropped: u64,
    diagnostics: DiagnosticsState,
    early: MessagesBeforeHandshake,
    app: Option<AppInfo>,
    /// Host context that the app page last received.
    sent_context: Map,
    pending: PendingPageRequests,
    delivery: ToolCallDelivery,
    size: ViewSize,
    model_context: Option<(AppRequestId, ModelContext)>,
    teardown_requested: bool,
    tools: AppToolsState,
}

impl View {
    /// Returns the view of an app page that is about to be loaded.
    #[must_use]
    pub fn new(config: ViewConfig, now: Instant) -> Self {
        Self {
            config,
            phase: ViewPhase::Waiting,
            outputs: VecDeque::new(),
            rate: MessageRateLimit::new(PAGE_MESSAGES_PER_SECOND, MAX_PAGE_MESSAGE_BURST, now),
            dropped: 0,
            diagnostics: DiagnosticsState::new(now),
            early: MessagesBeforeHandshake::default(),
            app: None,
            sent_context: Map::new(),
            pending: PendingPageRequests::default(),
            delivery: ToolCallDelivery::default(),
            size: ViewSize::default(),
            model_context: None,
            teardown_requested: false,
            tools: AppToolsState::default(),
        }
    }

    /// Removes and returns the next output, or returns `None` if the queue is empty.
    pub fn poll_output(&mut self) -> Option<ViewOutput> {
        self.outputs.pop_front()
    }

    /// Returns the time at which [`handle_timeout`](Self::handle_timeout) must be called unless another input comes
    /// first.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        if self.phase == ViewPhase::Closed { None } else { self.tools.next_timeout() }
    }

    /// Ends the host's requests that have exceeded their timeout, and reports changes that were delayed.
    pub fn handle_timeout(&mut self, now: Instant) {
        if self.phase != ViewPhase::Closed {
            self.time_out_requests_to_page(now);
            self.report_due_app_tool_list_change(now);
        }
    }

    /// Returns the data of the app page's `ui/initialize`, or `None` before the page has sent it.
    #[must_use]
    pub const fn app(&self) -> Option<&AppInfo> {
        self.app.as_ref()
    }

    /// Returns the size that the app page last reported, for a frame that the host creates again.
    #[must_use]
    pub const fn size(&self) -> ViewSize {
        self.size
    }

    /// Returns the context for models that the app page last provided and the host accepted. Untrusted.
    #[must_use]
    pub fn model_context(&self) -> Option<&ModelContext> {
        self.model_context.as_ref().map(|(_, context)| context)
    }

    /// Returns `true` if the view has ended.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.phase == ViewPhase::Closed
    }

    /// Returns `true` if messages may be sent to the app page.
    const fn can_send_to_page(&self) -> bool {
        matches!(self.phase, ViewPhase::Ready | ViewPhase::TearingDown)
    }

    fn push(&mut self, output: ViewOutput) {
        self.outputs.push_back(output);
    }

    fn push_event(&mut self, event: ViewEvent) {
        self.push(ViewOutput::Event(event));
    }

    fn push_fault(&mut self, kind: ViewFaultKind, detail: impl Into<String>) {
        self.push(ViewOutput::Fault(ViewFault::in_message_from_page(kind, detail)));
    }

    fn send_notification(&mut self, method: &str, params: Map) {
        self.push(ViewOutput::Send(json!({ "jsonrpc": "2.0", "method": method, "params": params })));
    }

    fn send_request(&mut self, id: i64, method: &str, params: Map) {
        self.push(ViewOutput::Send(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })));
    }

    /// Sends the response to a request of the app page.
    fn send_response(&mut self, id: &RequestId, result: Result<Value, RpcError>) {
        self.push(ViewOutput::Send(match result {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err(error) => json!({ "jsonrpc": "2.0", "id": id, "error": error }),
        }));
    }
}

/// Returns a JSON object with one member.
fn single_member_object(name: &str, value: impl Into<Value>) -> Map {
    std::iter::once((name.to_owned(), value.into())).collect()
}
