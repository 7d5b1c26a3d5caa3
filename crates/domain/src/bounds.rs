//! Limits on what a model receives of a conversation, and on how long it continues without the user.

use serde::{Deserialize, Serialize};

/// Limits on what a model receives of a conversation, and on how long it continues without the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(default, rename_all = "camelCase")]
pub struct ChatBounds {
    /// Maximum size of the text of one tool result, in bytes. The model can request the rest with a tool.
    pub result_bytes: u32,
    /// Number of consecutive rounds of tool calls after which the user has to let the model continue.
    pub rounds: u32,
    /// Share of the model's context, in percent, above which tools are found by search instead of all being sent.
    pub tools_percent: u32,
}

impl Default for ChatBounds {
    fn default() -> Self {
        Self { result_bytes: 64 << 10, rounds: 25, tools_percent: 5 }
    }
}

impl ChatBounds {
    /// Returns these limits, each clamped to its allowed range.
    #[must_use]
    pub const fn within_bounds(self) -> Self {
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

/// Threshold, in tokens, that no set of tools reaches. Used for models whose context size is unknown: a small context
/// is not assumed.
pub const NO_THRESHOLD: u64 = u32::MAX as u64;

impl ChatBounds {
    /// Returns the number of tokens from which tools are found by search, for a model with this context size. Returns
    /// [`NO_THRESHOLD`] if the size is unknown.
    #[must_use]
    pub fn threshold(self, context: Option<u32>) -> u64 {
        context.map_or(NO_THRESHOLD, |context| u64::from(context) * u64::from(self.tools_percent) / 100)
    }
}
