//! Faults in messages between page and host, for display to developers.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::text::UntrustedTextExcerpt;

/// A fault in a message that was therefore not processed, or not processed as sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewFault {
    /// Direction in which the message was sent.
    pub direction: MessageDirection,
    /// Reason why the message was not processed as sent.
    pub kind: ViewFaultKind,
    /// Explanation in English, with hidden characters escaped. At most a few hundred characters.
    pub detail: String,
}

/// Direction of a message between an app page and the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "AppMessageDirection"))]
#[serde(rename_all = "snake_case")]
pub enum MessageDirection {
    /// The app page sent the message to the host.
    FromPage,
    /// The host sent the message to the app page.
    ToPage,
}

/// Reason why a message was not processed as sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "AppFaultKind"))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ViewFaultKind {
    /// The text is not a JSON-RPC message.
    Malformed,
    /// The parameters or the result do not match the method.
    InvalidContent,
    /// The method is unknown. A request is refused, and a notification is dropped.
    UnknownMethod,
    /// The app page sent a message that only the host's sandbox proxy may send.
    Forgery,
    /// The host did not announce the capability that the message requires.
    NotOffered,
    /// The app page sent the message before it was initialized. The message is processed after that, or dropped if
    /// there are many.
    Early,
    /// The message is not allowed in the current state, such as a second `ui/initialize`.
    OutOfOrder,
    /// The request has the id of another request of the app page that still waits for its response.
    DuplicateId,
    /// The response has an id for which no request is pending. It may have arrived too late.
    UnknownId,
    /// The message or a part of it is too large.
    TooLarge,
    /// The app page sends too many messages, or has too many pending requests.
    TooMany,
    /// The app page did not respond in time.
    TimedOut,
}

impl ViewFault {
    pub(super) fn in_message_to_page(kind: ViewFaultKind, detail: impl Into<String>) -> Self {
        Self { direction: MessageDirection::ToPage, kind, detail: detail.into() }
    }

    pub(super) fn in_message_from_page(kind: ViewFaultKind, detail: impl Into<String>) -> Self {
        Self { direction: MessageDirection::FromPage, kind, detail: detail.into() }
    }
}

/// Method names that pages send by mistake, each with the correct name.
const METHOD_NAME_MISTAKES: [(&str, &str); 5] = [
    ("initialize", "ui/initialize"),
    ("notifications/initialized", "ui/notifications/initialized"),
    ("ui/notifications/size-change", "ui/notifications/size-changed"),
    ("ui/size-changed", "ui/notifications/size-changed"),
    ("ui/openLink", "ui/open-link"),
];

/// Returns a text with the correct name of a method that pages send by mistake. Empty for other methods.
pub(super) fn method_name_correction_hint(method: &str) -> String {
    let mistake = METHOD_NAME_MISTAKES.iter().find(|(mistake, _)| *mistake == method);
    mistake.map(|(_, right)| format!("; the specification has {right}")).unwrap_or_default()
}

/// Message about an unknown method. Includes the correct name if the method is a common mistake.
pub(super) struct UnknownMethodText<'a>(pub(super) &'a str);

impl fmt::Display for UnknownMethodText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the method {} is unknown{}", UntrustedTextExcerpt::of(self.0), method_name_correction_hint(self.0))
    }
}
