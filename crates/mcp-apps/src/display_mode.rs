//! Display modes of a view.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Way in which a view is displayed (specification 2026-01-26, section "Display Modes").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "AppDisplayMode"))]
#[serde(rename_all = "lowercase")]
pub enum DisplayMode {
    /// Within the content of the host.
    #[default]
    Inline,
    /// Over the whole window.
    Fullscreen,
    /// In a small area that floats over the content.
    Pip,
}

impl DisplayMode {
    /// Returns the name of the mode in messages.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Inline => "inline",
            Self::Fullscreen => "fullscreen",
            Self::Pip => "pip",
        }
    }

    /// Parses the name of a mode, or returns `None` for any other value.
    pub(crate) fn parse(value: &Value) -> Option<Self> {
        let name = value.as_str()?;
        [Self::Inline, Self::Fullscreen, Self::Pip].into_iter().find(|mode| mode.as_str() == name)
    }
}
