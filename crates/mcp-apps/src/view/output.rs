//! Outputs of a view: messages to the page, requests and events for the host, and faults.

use mcp_proto::types::{Implementation, LogMessage, Map};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::app_tools::{AppCallId, AppToolError, AppToolList};
use super::fault::ViewFault;
use super::request::{AppRequest, AppRequestId};
use crate::display_mode::DisplayMode;

/// Output of a view, in the order in which the host processes it.
#[derive(Debug, Clone, PartialEq)]
pub enum ViewOutput {
    /// Message for the page, to be posted unchanged.
    Send(Value),
    /// Request of the page. The host responds with [`View::respond`](super::View::respond), unless it is withdrawn.
    Request {
        /// Identifier for the response.
        id: AppRequestId,
        /// Content of the request. Untrusted.
        request: AppRequest,
    },
    /// The request needs no response any more: the page cancelled it, or the view is closed.
    Withdrawn(AppRequestId),
    /// Change or notification that needs no response.
    Event(ViewEvent),
    /// Message that was not processed as sent.
    Fault(ViewFault),
}

/// Change of a view, or notification of its page.
#[derive(Debug, Clone, PartialEq)]
pub enum ViewEvent {
    /// The page is initialized.
    Initialized(AppInfo),
    /// The page has another size. Each axis that the host does not fix is present, within its maximum.
    Resized(ViewSize),
    /// The display mode changed at the request of the page.
    DisplayModeChanged(DisplayMode),
    /// The page logged a message. Untrusted.
    Logged(LogMessage),
    /// The page requests to be removed. The host may ignore it.
    TeardownRequested,
    /// The app's tools were listed at the request of the host.
    AppToolsListed(Result<AppToolList, AppToolError>),
    /// The app's list of tools changed. Reported at most once in a second.
    AppToolsChanged,
    /// A call of an app's tool ended. The result is the untrusted `CallToolResult` of the page.
    AppToolCallEnded {
        /// Identifier of the call.
        call: AppCallId,
        /// Result of the tool, or the reason why there is none.
        result: Result<Map, AppToolError>,
    },
    /// The view is closed, and the frame can be removed. No output follows.
    Closed(CloseCause),
}

/// Size of a page in CSS pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ViewSize {
    /// Width, or `None` if the page did not report one or the host fixes it.
    pub width: Option<u32>,
    /// Height, or `None` if the page did not report one or the host fixes it.
    pub height: Option<u32>,
}

/// Data of the page in `ui/initialize`. All of it is an unverified claim.
#[derive(Debug, Clone, PartialEq)]
pub struct AppInfo {
    /// Name and version of the app, truncated.
    pub implementation: Implementation,
    /// Protocol version of the response: the page's, or the host's if the page's is unknown.
    pub protocol_version: &'static str,
    /// Display modes that the page supports, or `None` if it declares none.
    pub display_modes: Option<Vec<DisplayMode>>,
    /// Set if the app offers tools.
    pub has_tools: bool,
    /// Set if the app reports changes of its tools.
    pub reports_tool_changes: bool,
}

/// Reason why a view is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "AppCloseCause"))]
#[serde(rename_all = "snake_case")]
pub enum CloseCause {
    /// The page confirmed that it can be removed.
    Confirmed,
    /// The page responded with an error. It may have lost data.
    Failed,
    /// The page did not respond within [`TEARDOWN_TIMEOUT`](super::limits::TEARDOWN_TIMEOUT).
    TimedOut,
    /// The page was never initialized, so that it was not notified.
    NeverInitialized,
    /// The page is gone.
    PageGone,
}
