//! Conversations: what the user, models, tools and prompts said. Items form a tree, so that a message can be written anew without
//! losing what followed the old one; the path from the first item to the head is what is shown, and what a model gets.
//!
//! A run ([`run`]) is one task: it asks the model, makes the calls that the model wants, and goes on until it wants none.

pub mod attachments;
mod content;
pub mod context;
mod engine;
mod error;
pub mod export;
mod inert_markdown;
pub mod item;
pub mod keys;
mod log;
pub mod offered;
mod own_tools;
mod replies;
pub(crate) mod review;
mod run;
pub mod search;
mod shown;
mod stream;
mod system;

use serde::{Deserialize, Serialize};

pub use engine::{Begun, ConversationTools, Instructions, NewMessage, Spent};
pub use error::ConversationError;
pub use models::ModelRef;
pub(crate) use replies::Replies;

/// What the user set for a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The model that answers.
    pub model: Option<ModelRef>,
    /// How it should behave, in the user's words.
    pub system_prompt: String,
    /// The servers whose tools it may use, in the order in which they are offered. None is until the user turns it on.
    pub servers: Vec<Offered>,
    /// Whether it is told which folders these servers may know of.
    pub share_roots: bool,
    /// Whether it should think before it answers, where it can.
    pub thinking: bool,
}

/// A server whose tools a model may use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offered {
    /// The server.
    pub server: String,
    /// Those of its tools; none stands for all that the user has reviewed.
    #[serde(default)]
    pub tools: Option<Vec<String>>,
    /// The hash of the server's instructions as the user saw them when they let the model have them, as data with their source
    /// named; none if it does not get them. Others than these it does not get.
    #[serde(default)]
    pub instructions: Option<String>,
}

impl Offered {
    /// Whether a tool is turned on.
    #[must_use]
    pub fn has(&self, tool: &str) -> bool {
        self.tools.as_ref().is_none_or(|on| on.iter().any(|name| name == tool))
    }
}

/// How much of a conversation a model gets, and for how long it goes on by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Bounds {
    /// The most bytes of text of one tool's result. The model reads the rest when it asks for it.
    pub result_bytes: u32,
    /// How often a model may call tools in a row before the user says that it goes on.
    pub rounds: u32,
    /// Beyond how many percent of the model's context its tools are found by search instead of all being sent.
    pub tools_percent: u32,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { result_bytes: 64 << 10, rounds: 25, tools_percent: 5 }
    }
}

impl Bounds {
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

/// How many tokens a model takes of which it is not known: as few as models on one's own computer often do.
const UNKNOWN_CONTEXT: u32 = 32_768;

impl Bounds {
    /// From how many tokens on tools are found by search, with a model that takes so many.
    #[must_use]
    pub fn threshold(self, context: Option<u32>) -> u64 {
        u64::from(context.unwrap_or(UNKNOWN_CONTEXT)) * u64::from(self.tools_percent) / 100
    }
}
