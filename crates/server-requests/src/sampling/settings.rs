//! The budget of a server for the user's models. Used by the crate `host`, and stored in the settings of a server.

use models::ModelRef;
use serde::{Deserialize, Serialize};

/// Sampling settings of a server. Sampling is off by default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct SamplingSettings {
    /// Set if the server may send sampling requests. The capability is declared to the server only when it starts.
    pub on: bool,
    /// Set if sampling requests may contain tools, which the server itself runs. Ignored unless `on` is set.
    pub tools: bool,
    /// Maximum number of tokens of one answer. If a server requests more, this maximum applies instead. Default: 4,096.
    pub max_tokens: u64,
    /// Model that answers, regardless of the server's preferences. `None` to select one by the preferences.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelRef>,
    /// Budget for each period of 60 minutes.
    pub per_hour: Budget,
    /// Budget for the total usage since the first request.
    pub in_all: Budget,
}

/// A budget for model usage. A member that is `None` is unlimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Budget {
    /// Maximum number of requests that are sent to a model and answered. A request that is sent again counts again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// Maximum number of tokens, of requests and answers together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Maximum cost in millionths of a US dollar.
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
    /// Returns the settings with `max_tokens` clamped to between 1 and 1,000,000.
    #[must_use]
    pub fn clamped_to_bounds(mut self) -> Self {
        self.max_tokens = self.max_tokens.clamp(1, 1_000_000);
        self
    }

    /// Returns `true` if a budget limits the cost, so that only models with a known price may be used.
    #[must_use]
    pub const fn limits_cost(&self) -> bool {
        self.per_hour.micros.is_some() || self.in_all.micros.is_some()
    }
}
