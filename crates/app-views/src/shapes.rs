//! Data that the page of Drawbridge exchanges with shown apps: the displayed call, decisions, and opened frames.

use domain::content::ToolResult;
use mcp_apps::DisplayMode;
use serde::{Deserialize, Serialize};

/// Decision on a request of an app.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum AppAnswer {
    /// The request was carried out.
    Done,
    /// The user refused the request, or it can't be carried out.
    Refused,
    /// Display mode that is in force now, whether it is the requested one or not.
    DisplayMode {
        /// Mode that is in force.
        mode: DisplayMode,
    },
}

/// Finished tool call that an app displays.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum DisplayedCall {
    /// Call of a conversation. Its result is read from the history.
    Item {
        /// Identifier of the conversation.
        conversation: String,
        /// Identifier of the call's item.
        item: String,
    },
    /// Call outside of conversations, with its result.
    Result {
        /// Result of the call.
        result: Box<ToolResult>,
    },
}

/// App that is ready to be loaded into a frame.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct OpenedApp {
    /// Identifier of the shown app, which is the host of its origin.
    pub view: String,
    /// Value of the frame's attribute `sandbox`.
    pub sandbox: String,
    /// Value of the frame's attribute `allow`. Empty if the app has no permission.
    pub allow: String,
}

/// Source of a shown app, for display as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct AppDocumentText {
    /// HTML document of the page.
    pub html: String,
    /// Value of the header `Content-Security-Policy` with which the document is loaded.
    pub policy: String,
}
