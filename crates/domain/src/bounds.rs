//! How much of a conversation a model gets, and for how long it goes on by itself.

use serde::{Deserialize, Serialize};

/// How much of a conversation a model gets, and for how long it goes on by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(default, rename_all = "camelCase")]
pub struct ChatBounds {
    /// The most bytes of text of one tool's result. The model reads the rest when it asks for it.
    pub result_bytes: u32,
    /// How often a model may call tools in a row before the user says that it goes on.
    pub rounds: u32,
    /// Beyond how many percent of the model's context its tools are found by search instead of all being sent.
    pub tools_percent: u32,
}

impl Default for ChatBounds {
    fn default() -> Self {
        Self { result_bytes: 64 << 10, rounds: 25, tools_percent: 5 }
    }
}

impl ChatBounds {
    /// The same where it makes sense, else what makes sense.
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

/// From so many tokens on tools are found by search where they never are, as with a model whose context is not known: a small one is not
/// assumed. None has so many.
pub const NO_THRESHOLD: u64 = u32::MAX as u64;

impl ChatBounds {
    /// From how many tokens on tools are found by search, with a model that takes so many.
    #[must_use]
    pub fn threshold(self, context: Option<u32>) -> u64 {
        context.map_or(NO_THRESHOLD, |context| u64::from(context) * u64::from(self.tools_percent) / 100)
    }
}
