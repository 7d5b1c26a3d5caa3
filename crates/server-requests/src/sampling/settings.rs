//! The budget of a server for the user's models. Callers: the owner of `host`, and the settings of a server.

use models::ModelRef;
use serde::{Deserialize, Serialize};

/// How a server may use the user's models. Nothing until the user turns it on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct SamplingSettings {
    /// Whether it may ask at all. The server is told when it is started.
    pub on: bool,
    /// Whether its requests may bring tools for the model, which the server runs itself. False unless `on`.
    pub tools: bool,
    /// The most tokens of one answer; a request for more gets this many. 4,096.
    pub max_tokens: u64,
    /// The model that answers, whatever the server would like.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelRef>,
    /// The most within an hour.
    pub per_hour: Budget,
    /// The most in all.
    pub in_all: Budget,
}

/// The most that may be used. None is no bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Budget {
    /// Requests that were answered, each run of a model being one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// Tokens, of requests and answers together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Money, in millionths of a US dollar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub micros: Option<u64>,
}

impl Default for SamplingSettings {
    fn default() -> Self {
        Self {
            on: false,
            tools: true,
            max_tokens: 4_096,
            model: None,
            per_hour: Budget { requests: Some(60), tokens: Some(200_000), micros: None },
            in_all: Budget::default(),
        }
    }
}

impl SamplingSettings {
    /// The same within bounds: an answer has at least one token, and no more than a message can hold.
    #[must_use]
    pub fn within_bounds(mut self) -> Self {
        self.max_tokens = self.max_tokens.clamp(1, 1_000_000);
        self
    }

    /// Whether money is bounded, so that only models with a known price can be asked.
    #[must_use]
    pub const fn bounds_money(&self) -> bool {
        self.per_hour.micros.is_some() || self.in_all.micros.is_some()
    }
}
