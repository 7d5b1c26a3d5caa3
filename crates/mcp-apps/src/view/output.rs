//! Outputs of a view: messages to the page, requests and events for the host, and faults.

use mcp_proto::types::{Implementation, LogMessage, Map};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::app_tools::{AppToolCallId, AppToolError, AppToolList};
use super::fault::ViewFault;
use super::request::{AppRequest, AppRequestId};
use crate::diagnostics::AppDiagnostic;
use crate::display_mode::DisplayMode;

/// Output of a view. The host processes outputs in order.
#[derive(Debug, Clone, PartialEq)]
pub enum ViewOutput {
    /// A message that the host must post to the app page unchanged.
    Send(Value),
    /// A request of the app page. The host responds with [`View::respond`](super::View::respond), unless the request is
    /// withdrawn.
    Request {
        /// Identifier to pass to [`View::respond`](super::View::respond).
        id: AppRequestId,
        /// Kind and parameters of the request. Untrusted.
        request: AppRequest,
    },
    /// A request does not need the host's response, because the app page cancelled it or the view was closed.
    Withdrawn(AppRequestId),
    /// A change of the view or notification of its app page, which needs no response.
    Event(ViewEvent),
    /// A message that was not processed as sent.
    Fault(ViewFault),
}

/// Change of a view's state, or notification of its app page.
#[derive(Debug, Clone, PartialEq)]
pub enum ViewEvent {
    /// The app page is initialized.
    Initialized(AppInfo),
    /// The app page reported another size. Each axis whose extent the host does not set is present, within its maximum.
    Resized(ViewSize),
    /// The display mode changed at the request of the app page.
    DisplayModeChanged(DisplayMode),
    /// The app page logged a message. Untrusted.
    Logged(LogMessage),
    /// The diagnostic script in the document of the app page sent a report, or the page forged one. Untrusted.
    Diagnosed {
        /// Content of the report.
        diagnostic: AppDiagnostic,
        /// Number of reports that were discarded since the previous event of this type, because they were too many, too
        /// large or malformed.
        dropped: u64,
    },
    /// The app page requests its teardown. The host may ignore this.
    TeardownRequested,
    /// Outcome of [`View::list_app_tools`](super::View::list_app_tools).
    AppToolsListed(Result<AppToolList, AppToolError>),
    /// The app reported that its list of tools changed. Reported at most once per second.
    AppToolsChanged,
    /// A call of an app's tool ended. The result is the untrusted `CallToolResult` of the page.
    AppToolCallEnded {
        /// Identifier that [`View::call_app_tool`](super::View::call_app_tool) returned.
        call: AppToolCallId,
        /// Result of the tool, or the reason why the call has no result.
        result: Result<Map, AppToolError>,
    },
    /// The view is closed, and the frame can be removed. No output follows.
    Closed(ViewCloseCause),
}

/// Size of an app page in CSS pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ViewSize {
    /// Width, or `None` if the app page reported none or the host sets the width.
    pub width: Option<u32>,
    /// Height, or `None` if the app page reported none or the host sets the height.
    pub height: Option<u32>,
}

/// Data about an app from its page's `ui/initialize`. Everything in it is an unverified claim.
#[derive(Debug, Clone, PartialEq)]
pub struct AppInfo {
    /// Name and version of the app, truncated if too long.
    pub implementation: Implementation,
    /// Negotiated protocol version: the app page's, or the host's newest if the page's is unknown.
    pub protocol_version: &'static str,
    /// Display modes that the app page supports, or `None` if it declares none.
    pub display_modes: Option<Vec<DisplayMode>>,
    /// Set if the app declares that it offers tools.
    pub has_tools: bool,
    /// Set if the app declares that it reports changes of its tools.
    pub reports_tool_changes: bool,
}

/// Reason why a view is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "AppCloseCause"))]
#[serde(rename_all = "snake_case")]
pub enum ViewCloseCause {
    /// The app page responded to the teardown request, so that its frame can be removed.
    Confirmed,
    /// The app page responded to the teardown request with an error. It may have lost data.
    Failed,
    /// The app page did not respond to the teardown request within
    /// [`PAGE_TEARDOWN_TIMEOUT`](super::limits::PAGE_TEARDOWN_TIMEOUT).
    TimedOut,
    /// The app page was never initialized, so that no teardown was requested.
    NeverInitialized,
    /// The app page disappeared, for example because its process ended.
    PageGone,
}
