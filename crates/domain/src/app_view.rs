//! Changes of shown apps (MCP Apps), as the page receives them. Created by the crate `app-views`.

use mcp_apps::{AppDiagnostic, DisplayMode, MessageDirection, ViewCloseCause, ViewFaultKind};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Identifier of a shown MCP app, and host name in the origin of the app's frame: 32 random hexadecimal digits, so that
/// other web pages can't guess it.
pub type AppViewId = String;

/// A change of one shown MCP app, sent to Drawbridge's page.
#[derive(Debug, Clone, PartialEq)]
pub struct AppViewEvent {
    /// Identifier of the shown MCP app.
    pub view: AppViewId,
    /// Event in the app, or a request of the app to the user or the host.
    pub change: AppViewChange,
}

/// Event in a shown MCP app, or a request of the app. All texts in it are from the app, and untrusted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum AppViewChange {
    /// Message that Drawbridge's page posts to the frame of the MCP app.
    Message {
        /// JSON-RPC message, which the page posts to the frame unchanged.
        message: Value,
    },
    /// The MCP app has completed its initialization.
    Initialized {
        /// Name that the app claims to have.
        name: String,
        /// Version that the app claims to have.
        version: String,
        /// Display modes that the app supports, or `None` if it declares no list of them. An empty list means that it
        /// supports none of the known modes.
        display_modes: Option<Vec<DisplayMode>>,
    },
    /// The MCP app reported a new size.
    Resized {
        /// New width of the app in CSS pixels, or `None` if the host decides it.
        width: Option<u32>,
        /// New height of the app in CSS pixels, or `None` if the host decides it.
        height: Option<u32>,
    },
    /// The display mode changed at the request of the MCP app.
    DisplayModeChanged {
        /// Display mode that is in force after the change.
        mode: DisplayMode,
    },
    /// The MCP app requests something that the user decides.
    Requested {
        /// Number that identifies the request among all requests of the shown app.
        request: u64,
        /// Content of the app's request.
        user_request: AppUserRequest,
    },
    /// A request of the MCP app was withdrawn, so that the user need not decide it.
    Withdrawn {
        /// Number of the withdrawn request.
        request: u64,
    },
    /// The MCP app replaced the context that it offers for the model.
    ModelContextChanged {
        /// New context as text. Empty if the app removed it.
        text: String,
    },
    /// The tools that the MCP app offers to models changed, or the user turned them on or off.
    ToolsChanged {
        /// Tools that the app offers.
        tools: Vec<AppToolView>,
        /// Hash of the definitions in `tools`. When the user lets models use the tools, the permission is valid only
        /// for this hash.
        hash: String,
        /// Number of tools that the app offers but that `tools` does not contain, because they are invalid or have the
        /// name of a tool of the server.
        dropped: u64,
        /// Set if the model of the conversation may use the tools.
        on: bool,
    },
    /// The MCP app requests that the host removes it.
    TeardownRequested,
    /// The host did not process a message from or to the MCP app, or not in the form in which it was sent.
    Fault {
        /// Direction in which the message was sent.
        direction: MessageDirection,
        /// Kind of the fault in the message.
        kind: ViewFaultKind,
        /// Explanation of the fault in English.
        detail: String,
    },
    /// The MCP app logged a message.
    Logged {
        /// Level of the logged message, as in MCP.
        level: String,
        /// Text of the logged message.
        text: String,
    },
    /// The document of the MCP app reported a blocked request, an error or console output.
    Diagnosed {
        /// Content of the report, which the app may have forged.
        diagnostic: AppDiagnostic,
        /// Number of reports that were discarded since the previous event of this type, because they were too many, too
        /// large or malformed.
        dropped: u64,
    },
    /// The MCP app is closed. No further change of it follows.
    Closed {
        /// Reason for which the app was closed.
        cause: ViewCloseCause,
    },
}

/// Reason why all shown MCP apps of a window were closed together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AppStopCause {
    /// The web page of the window stopped responding while it displayed the apps.
    Unresponsive,
    /// The process that renders the web page of the window, or one that serves it, used too much memory.
    MemoryLimit,
    /// The process that renders the web page of the window ended.
    PageEnded,
}

/// Tool that an MCP app offers to models, as the app defines it. All texts in it are untrusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AppToolView {
    /// Name of the tool, as the app defines it.
    pub name: String,
    /// Whole definition of the tool as indented JSON.
    pub definition: String,
}

/// The shown MCP app that provides a tool for models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProvidingApp {
    /// Identifier of the shown app.
    pub view: AppViewId,
    /// Name, on its server, of the tool whose results the app displays.
    pub tool: String,
}

/// Request of an MCP app that the user decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum AppUserRequest {
    /// The MCP app requests to open a link in the system's browser.
    OpenLink {
        /// Address of the link, which is shown before it is opened.
        url: String,
    },
    /// The MCP app requests to save files.
    SaveFiles {
        /// Files that the app offers for saving, at least one.
        files: Vec<AppFile>,
    },
    /// The MCP app requests to add a message to the conversation, as a draft that the user sends.
    SendMessage {
        /// Text of the message for the conversation.
        text: String,
    },
    /// The MCP app requests another display mode.
    DisplayMode {
        /// Display mode that the app requests.
        mode: DisplayMode,
    },
}

/// File that an MCP app offers for saving.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct AppFile {
    /// Suggested name of the file.
    pub name: String,
    /// Media type of the file, as the app claims. Empty if unknown.
    pub mime_type: String,
    /// Size of the file in bytes.
    pub bytes: u64,
}
