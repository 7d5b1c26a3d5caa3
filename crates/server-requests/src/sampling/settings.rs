//! The budget of a server for the user's models. Used by the owner in `host`, and by the settings of a server.

use models::ModelRef;
use serde::{Deserialize, Serialize};

/// The sampling settings of a server. Sampling is off until the user turns it on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct SamplingSettings {
    /// Set if the server may send sampling requests. The capability is declared when the server starts.
    pub on: bool,
    /// Set if requests may include tools for the model, which the server runs itself. Takes effect only if `on` is
    /// set.
    pub tools: bool,
    /// Maximum number of tokens per answer; a request for more is reduced to it. Defaults to 4,096.
    pub max_tokens: u64,
    /// Model that answers, regardless of the server's preferences.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelRef>,
    /// Budget of usage within an hour.
    pub per_hour: Budget,
    /// Budget of total usage, without expiry.
    pub in_all: Budget,
}

/// A budget. `None` means unlimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Budget {
    /// Number of answered requests; each run of a model counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// Number of tokens, of requests and answers together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Cost in millionths of a US dollar.
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
    /// Returns the settings with the maximum number of tokens clamped to between 1 and 1,000,000.
    #[must_use]
    pub fn within_bounds(mut self) -> Self {
        self.max_tokens = self.max_tokens.clamp(1, 1_000_000);
        self
    }

    /// Returns true if a budget limits cost, so that only models with a known price may be asked.
    #[must_use]
    pub const fn limits_cost(&self) -> bool {
        self.per_hour.micros.is_some() || self.in_all.micros.is_some()
    }
}
