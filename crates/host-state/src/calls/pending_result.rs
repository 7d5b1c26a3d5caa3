//! A result that waits for the user's review before a model reads it. Used by `host/src/owner/result_reviews.rs`.

use domain::item::ToolResult;
use tokio::sync::oneshot;

/// A call's result that waits for the user's review before a model reads it.
pub struct ResultUnderReview {
    /// Result as received from the server.
    pub result: ToolResult,
    /// Sender for the user's verdict on the result.
    pub reply: oneshot::Sender<ResultReviewVerdict>,
}

/// The call that returned a result under review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultOrigin {
    /// Conversation whose model requested the call.
    pub conversation: String,
    /// Identifier of the call, unique among those in progress.
    pub call: String,
    /// Name of the called server.
    pub server: String,
    /// Name of the called tool.
    pub tool: String,
    /// Name, on the server, of the tool whose shown MCP app provides the called tool. `None` if the server itself
    /// provides it.
    pub app: Option<String>,
}

/// Outcome of the user's review of the result of a call that a model requested.
#[derive(Debug, Clone, PartialEq)]
pub enum ResultReviewVerdict {
    /// The model reads the result.
    Passes(Box<ToolResult>),
    /// The model does not read the result, for the given reason.
    Withheld(String),
    /// The model does not read the result, for the given reason, and its run stops.
    Stops(String),
}
