//! Requests about apps: pages that servers provide for the results of their tools (MCP Apps).

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{AppAnswer, AppContext, DisplayedCall, SandboxGrants};

/// Request that refers to the MCP app of a tool: the HTML page from the server that displays the tool's results.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct AppRef {
    /// Name of the server in the settings.
    pub server: String,
    /// Name of the tool, as its server lists it.
    pub tool: String,
}

/// Request to approve exactly one version of an MCP app's HTML page.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct ApproveApp {
    /// Name of the server in the settings.
    pub server: String,
    /// Name of the tool, as its server lists it.
    pub tool: String,
    /// Hash of the page that was shown to the user.
    pub hash: String,
    /// Access that the user grants to the page.
    pub grants: SandboxGrants,
}

/// Request to remove the user's approval of an MCP app's HTML page.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct AppPageRef {
    /// Name of the server in the settings.
    pub server: String,
    /// URI of the app's page on its server.
    pub uri: String,
}

/// Request to display the MCP app of a called tool.
#[derive(Debug, Clone, PartialEq, Deserialize, TS)]
pub struct OpenApp {
    /// Name of the server in the settings.
    pub server: String,
    /// Name of the tool, as its server lists it.
    pub tool: String,
    /// Tool call whose arguments and result the app displays.
    pub call: DisplayedCall,
    /// Host context that the app receives, such as its theme, display mode and size.
    pub context: AppContext,
}

/// Message that a shown MCP app posted.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct AppMessage {
    /// Identifier of the shown MCP app.
    pub view: String,
    /// Message that the app posted, as JSON text.
    pub message: String,
}

/// Request to change the host context of a shown MCP app, such as its theme, display mode or size.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct SetAppContext {
    /// Identifier of the shown MCP app.
    pub view: String,
    /// Host context of the app after the change.
    pub context: AppContext,
}

/// Request to let models use the tools of a shown MCP app, or to turn them off.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct SetAppTools {
    /// Identifier of the shown MCP app.
    pub view: String,
    /// Hash of the tool definitions that were shown to the user, or `None` to turn the tools off.
    pub hash: Option<String>,
}

/// Decision of the user on a request of a shown MCP app.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct DecideAppRequest {
    /// Identifier of the shown MCP app.
    pub view: String,
    /// Number of the app's request that the user decides on.
    pub request: u64,
    /// User's decision on the request.
    pub answer: AppAnswer,
}

/// Request to save a file that a shown MCP app offers, at a place that the user selects.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct SaveAppFile {
    /// Identifier of the shown MCP app.
    pub view: String,
    /// Number of the app's request that offers the file.
    pub request: u64,
    /// Index of the file to save among the files in the app's request.
    pub file: u32,
}

/// Reference to a shown MCP app.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct AppViewRef {
    /// Identifier of the shown MCP app.
    pub view: String,
}

/// Page of an MCP app that the user has approved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct ApprovedApp {
    /// URI of the app's page on its server.
    pub uri: String,
    /// Hash of the approved version of the page.
    pub hash: String,
    /// Access that the user granted to the page.
    pub grants: SandboxGrants,
    /// Time of the approval, in milliseconds since 1970.
    pub since: u64,
}
