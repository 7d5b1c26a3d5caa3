//! Errors of operations on apps.

use chat::ConversationError;
use domain::call::CallFailure;
use host::{HostClosed, ReviewError};

use crate::AppPageError;

/// Error of an operation on an app (MCP Apps).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AppViewError {
    /// Apps can't be shown, since this environment can't isolate their pages.
    #[error("apps can't be shown here: {0}")]
    Unsupported(&'static str),
    /// The app's page can't be read, or the tool has no page.
    #[error(transparent)]
    Page(#[from] AppPageError),
    /// The user has not approved this version of the app's page.
    #[error("the app has to be approved first")]
    NotApproved,
    /// The server now provides another page than the one that was displayed to the user for approval.
    #[error("the app has changed since it was shown for approval")]
    OtherPage,
    /// The user's approval of the app's page could not be stored.
    #[error(transparent)]
    Review(#[from] ReviewError),
    /// The conversation's item is not a finished call of the app's tool.
    #[error("the item is not a call of this tool with a result")]
    NoResult,
    /// The reply in progress in the conversation has no such call of the app's tool.
    #[error("no model is writing this call of the tool")]
    NotStreamed,
    /// A rule or the user may still decide about the call that the model is writing, so that the app must not receive
    /// its arguments yet.
    #[error("the app may not receive the arguments before the call is decided")]
    NotDecided,
    /// The conversation with the displayed call can't be read.
    #[error(transparent)]
    Conversation(#[from] ConversationError),
    /// The maximum number of apps is already shown.
    #[error("too many apps are open; close some of them")]
    TooMany,
    /// No app with this identifier is shown.
    #[error("the app is closed")]
    Closed,
    /// Too many messages or decisions wait for the app's async task.
    #[error("the app sends too many messages")]
    Busy,
    /// No request of the app with this number waits for the user, or the request offers no such file.
    #[error("the app's request was withdrawn or answered")]
    NoRequest,
    /// The app offers other tools than those that were displayed to the user, or it belongs to no conversation.
    #[error("the app's tools changed since they were shown")]
    OtherTools,
    /// The operating system provided no random numbers.
    #[error("the operating system provided no random numbers")]
    NoRandomNumbers,
}

impl From<HostClosed> for AppViewError {
    fn from(_: HostClosed) -> Self {
        Self::Page(AppPageError::Call(CallFailure::Closing))
    }
}

impl From<CallFailure> for AppViewError {
    fn from(failure: CallFailure) -> Self {
        Self::Page(AppPageError::Call(failure))
    }
}
