//! Faults of messages, for the inspector.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::text::Excerpt;

/// A message, or a part of one, that was not processed as sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewFault {
    /// Sender and receiver of the message.
    pub direction: MessageDirection,
    /// Kind of the fault.
    pub kind: FaultKind,
    /// Explanation in English, with hidden characters escaped. At most a few hundred characters.
    pub detail: String,
}

/// Direction of a message between a page and the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "AppMessageDirection"))]
#[serde(rename_all = "snake_case")]
pub enum MessageDirection {
    /// Sent by the page.
    FromPage,
    /// Sent by the host.
    ToPage,
}

/// Kind of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "AppFaultKind"))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FaultKind {
    /// The text is not a JSON-RPC message.
    Malformed,
    /// The parameters or the result do not match the method.
    InvalidContent,
    /// The method is unknown. A request is refused, and a notification is dropped.
    UnknownMethod,
    /// The page sent a message that only a sandbox proxy sends.
    Forgery,
    /// The host did not announce the capability that the message requires.
    NotOffered,
    /// The message was sent before the page was initialized. It is processed afterwards, or dropped if there are many.
    Early,
    /// The message is not allowed in the current state, such as a second `ui/initialize`.
    OutOfOrder,
    /// The id is that of a request that still waits for its response.
    DuplicateId,
    /// The response has the id of no request that waits for one. It may be late.
    UnknownId,
    /// The message or a part of it is too large.
    TooLarge,
    /// The page sends too many messages, or has too many requests that wait.
    TooMany,
    /// The page did not respond in time.
    TimedOut,
}

impl ViewFault {
    pub(super) fn to_page(kind: FaultKind, detail: impl Into<String>) -> Self {
        Self { direction: MessageDirection::ToPage, kind, detail: detail.into() }
    }

    pub(super) fn from_page(kind: FaultKind, detail: impl Into<String>) -> Self {
        Self { direction: MessageDirection::FromPage, kind, detail: detail.into() }
    }
}

/// Names that pages send by mistake, with the right ones.
const MISTAKES: [(&str, &str); 5] = [
    ("initialize", "ui/initialize"),
    ("notifications/initialized", "ui/notifications/initialized"),
    ("ui/notifications/size-change", "ui/notifications/size-changed"),
    ("ui/size-changed", "ui/notifications/size-changed"),
    ("ui/openLink", "ui/open-link"),
];

/// Returns a hint at the right name of a method that pages send by mistake. Empty for other methods.
pub(super) fn hint_at_right_name(method: &str) -> String {
    let mistake = MISTAKES.iter().find(|(mistake, _)| *mistake == method);
    mistake.map(|(_, right)| format!("; the specification has {right}")).unwrap_or_default()
}

/// Description of an unknown method. Names the right one for a known mistake.
pub(super) struct UnknownMethod<'a>(pub(super) &'a str);

impl fmt::Display for UnknownMethod<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the method {} is unknown{}", Excerpt::of(self.0), hint_at_right_name(self.0))
    }
}
