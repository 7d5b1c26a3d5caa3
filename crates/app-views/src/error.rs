//! Errors of operations on apps.

use chat::ConversationError;
use domain::call::CallFailure;
use host::{HostClosed, ReviewError};

use crate::AppPageError;

/// Reason why an operation on an app failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AppViewError {
    /// The environment can't isolate the page of an app, so that apps are not shown.
    #[error("apps can't be shown here: {0}")]
    Unsupported(&'static str),
    /// The page can't be read, or the tool has none.
    #[error(transparent)]
    Page(#[from] AppPageError),
    /// The user has not approved this version of the page.
    #[error("the app has to be approved first")]
    NotApproved,
    /// The page is another one than the user has seen.
    #[error("the app has changed since it was shown for approval")]
    OtherPage,
    /// The approval could not be stored.
    #[error(transparent)]
    Review(#[from] ReviewError),
    /// The item is not a finished call of the tool.
    #[error("the item is not a call of this tool with a result")]
    NoResult,
    /// The conversation can't be read.
    #[error(transparent)]
    Conversation(#[from] ConversationError),
    /// The maximum number of apps is shown.
    #[error("too many apps are open; close some of them")]
    TooMany,
    /// No app with this identifier is shown.
    #[error("the app is closed")]
    Closed,
    /// The app has sent more messages than were processed.
    #[error("the app sends too many messages")]
    Busy,
    /// The app has no such request, or no such file.
    #[error("the app's request was withdrawn or answered")]
    NoRequest,
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
