//! States of the tools in a conversation. Used by `offered_tools.rs`, and displayed by the page.

use serde::{Deserialize, Serialize};

/// State of a tool in a conversation: available to the model, or the reason why not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ToolState {
    /// The tool is available to the model: its definition is sent, or can be found by search.
    Offered,
    /// The user disabled the tool in this conversation.
    Off,
    /// The user disabled the tool for all models in the server's settings.
    Disabled,
    /// The server offers the tool only to its apps, and not to models.
    AppOnly,
    /// The user has not reviewed the tool's definition yet.
    New,
    /// The tool's definition has changed since the user's review, or its server has reported a change of its tools and
    /// the list was not read again yet.
    Changed,
    /// The tool can't be offered: its definition is invalid, its name for the model is already in use, or there are too
    /// many tools.
    Unusable,
    /// The tool is not available, because its server is not running.
    NotReady,
}
