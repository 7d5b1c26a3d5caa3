//! Display modes of a view, such as inline or fullscreen.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Placement of a view in the host's window (specification 2026-01-26, section "Display Modes").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "AppDisplayMode"))]
#[serde(rename_all = "lowercase")]
pub enum DisplayMode {
    /// The view is part of the host's content, such as a conversation.
    #[default]
    Inline,
    /// The view covers the whole window.
    Fullscreen,
    /// The view is in a small area that floats over the host's content.
    Pip,
}

impl DisplayMode {
    /// Returns the name of the mode in protocol messages.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Inline => "inline",
            Self::Fullscreen => "fullscreen",
            Self::Pip => "pip",
        }
    }

    /// Parses the name of a mode from a protocol message. Returns `None` for any other value.
    pub(crate) fn parse(value: &Value) -> Option<Self> {
        let name = value.as_str()?;
        [Self::Inline, Self::Fullscreen, Self::Pip].into_iter().find(|mode| mode.as_str() == name)
    }
}
