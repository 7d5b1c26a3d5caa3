//! Data that the page of Drawbridge exchanges with shown apps: the displayed call, decisions, and opened frames.

use domain::content::ToolResult;
use mcp_apps::DisplayMode;
use serde::{Deserialize, Serialize};

/// The user's decision on a request of an app.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum AppAnswer {
    /// The user accepted the request, and it was carried out.
    Done,
    /// The user refused the request, or it can't be carried out.
    Refused,
    /// Response to a request for another display mode: the mode in which the app is displayed from now on, which may
    /// differ from the requested one.
    DisplayMode {
        /// Mode in which the app is displayed.
        mode: DisplayMode,
    },
}

/// Tool call that an app displays.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum DisplayedCall {
    /// Finished call in a conversation. Its result is read from the conversation's history.
    Item {
        /// Identifier of the conversation.
        conversation: String,
        /// Identifier of the item of the call in the conversation.
        item: String,
    },
    /// Call that a model is writing in a reply in progress. The app receives the arguments so far, and later the
    /// result.
    Streamed {
        /// Identifier of the conversation.
        conversation: String,
        /// Identifier of the item of the reply in the conversation.
        reply: String,
        /// Identifier of the tool use in the reply.
        tool_use: String,
    },
    /// Finished call that was made outside of conversations, with its result.
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
    /// Identifier of the shown app, which is also the host name of the app's origin.
    pub view: String,
    /// URI of the app's page on its server.
    pub uri: String,
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
