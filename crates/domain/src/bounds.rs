//! Limits on how much of a conversation a model receives, and on how many rounds of tool calls it makes before the user
//! has to confirm.

use serde::{Deserialize, Serialize};

/// Limits from Drawbridge's settings: how much of a conversation a model receives, and how many rounds of tool calls it
/// makes before the user has to confirm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(default, rename_all = "camelCase")]
pub struct ChatBounds {
    /// Maximum number of bytes of a tool result's text that a model receives. The model can read the rest with a
    /// built-in tool.
    pub result_bytes: u32,
    /// Number of consecutive rounds of tool calls after which the model stops until the user lets it continue.
    pub rounds: u32,
    /// Share of the model's context size in percent. If the definitions of all tools exceed it, the model has to search
    /// for tools instead of receiving all of them.
    pub tools_percent: u32,
}

impl Default for ChatBounds {
    fn default() -> Self {
        Self { result_bytes: 64 << 10, rounds: 25, tools_percent: 5 }
    }
}

impl ChatBounds {
    /// Returns these limits with each value clamped to its permitted range.
    #[must_use]
    pub const fn clamped_to_bounds(self) -> Self {
        const fn clamp(number: u32, (least, most): (u32, u32)) -> u32 {
            if number < least {
                least
            } else if number > most {
                most
            } else {
                number
            }
        }
        Self {
            result_bytes: clamp(self.result_bytes, (256, 4 << 20)),
            rounds: clamp(self.rounds, (1, 1_000)),
            tools_percent: clamp(self.tools_percent, (0, 100)),
        }
    }
}

/// Tool search threshold for models with an unknown context size, in tokens. No set of tool definitions reaches it, so
/// such a model receives all tools.
pub const NO_SEARCH_THRESHOLD_TOKENS: u64 = u32::MAX as u64;

impl ChatBounds {
    /// Returns the number of tokens of tool definitions above which a model with this context size has to search for
    /// tools. Returns [`NO_SEARCH_THRESHOLD_TOKENS`] if the size is unknown.
    #[must_use]
    pub fn tool_search_threshold(self, context: Option<u32>) -> u64 {
        context.map_or(NO_SEARCH_THRESHOLD_TOKENS, |context| u64::from(context) * u64::from(self.tools_percent) / 100)
    }
}
