//! Frame of an opened app, its source, and its name, as the page of Drawbridge receives them.

use serde::{Deserialize, Serialize};

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
    /// Set unless the page declares that it prefers no border around it.
    pub has_border: bool,
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

/// App that is shown in a window, named by its server and the tool whose results it displays.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct ShownApp {
    /// Name of the app's server.
    pub server: String,
    /// Name of the tool whose results the app displays.
    pub tool: String,
}
