//! A result that waits for the user's review before a model reads it. Caller: `owner/results.rs`.

use domain::item::ToolResult;
use tokio::sync::oneshot;

/// A result that waits.
pub(in crate::owner) struct HeldResult {
    pub(in crate::owner) result: ToolResult,
    pub(in crate::owner) reply: oneshot::Sender<ResultVerdict>,
}

/// The call that a result is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultOrigin {
    /// The conversation whose model asked for the call.
    pub conversation: String,
    /// The call, unique among those under way.
    pub call: String,
    /// The server.
    pub server: String,
    /// The tool.
    pub tool: String,
}

/// The decision on a result.
#[derive(Debug, Clone, PartialEq)]
pub enum ResultVerdict {
    /// The model reads it.
    Passes(Box<ToolResult>),
    /// The model does not read it, for this reason.
    LeftOut(String),
    /// The same, and the model does not go on.
    Stops(String),
}
