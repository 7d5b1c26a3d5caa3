//! What is known of a model.

use serde::{Deserialize, Serialize};

use crate::TokenUse;

/// A model of a provider, in our world.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ModelRef {
    /// The provider's id in the settings.
    pub provider: String,
    /// The model's id, as the provider names it.
    pub model: String,
}

/// A model, as its provider lists it and as far as it is known here. What is not known is none.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Model {
    /// Its id, as the provider names it.
    pub id: String,
    /// Its name, to show.
    pub name: String,
    /// How many tokens request and answer may have together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<u32>,
    /// How many tokens an answer may have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u32>,
    /// What it costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// What it takes.
    #[serde(default)]
    pub takes: Takes,
    /// How fast and how able it is beside others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<Rank>,
}

/// What a model costs, in the currency's units for a million tokens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Price {
    /// Of the request.
    pub input: f64,
    /// Of the answer.
    pub output: f64,
    /// Of the request, from the provider's cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input: Option<f64>,
    /// Of the request, to the provider's cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_input: Option<f64>,
    /// What longer requests cost, if more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long: Option<LongPrice>,
    /// The currency, such as `USD`.
    pub currency: String,
    /// The day on which this was so, as `2026-11-20`, or who says so.
    pub as_of: String,
}

impl Price {
    /// What a use costs. None if the provider did not say how many tokens it took.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "no answer has 2^52 tokens")]
    pub fn of(&self, usage: &TokenUse) -> Option<f64> {
        let (input, output) = (usage.input?, usage.output?);
        let long = self.long.filter(|long| input > u64::from(long.above));
        let (of_input, of_output) = long.map_or((self.input, self.output), |long| (long.input, long.output));
        // What of the cache costs grows with the rest.
        let grown = of_input / self.input.max(f64::MIN_POSITIVE);
        let cached = usage.cached_input.unwrap_or(0).min(input);
        let written = usage.written_input.unwrap_or(0).min(input - cached);
        let plain = input - cached - written;
        let sum = plain as f64 * of_input
            + cached as f64 * self.cached_input.map_or(of_input, |cached| cached * grown)
            + written as f64 * self.written_input.map_or(of_input, |written| written * grown)
            + output as f64 * of_output;
        Some(sum / 1_000_000.0)
    }
}

/// What a request costs that is longer than others, all of it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LongPrice {
    /// Beyond how many tokens of the request.
    pub above: u32,
    /// A million tokens of the request.
    pub input: f64,
    /// A million tokens of the answer.
    pub output: f64,
}

/// What a model takes. None is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Takes {
    /// Pictures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub images: Option<bool>,
    /// Recordings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audio: Option<bool>,
    /// Files, such as PDFs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<bool>,
    /// Tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<bool>,
    /// Being told to think first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<bool>,
}

/// How a model stands beside others: 0 is the least, 1 the most of those that are known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Rank {
    /// How fast it answers.
    pub speed: f64,
    /// How able it is.
    pub intelligence: f64,
    /// Where that is known from.
    pub from: String,
}
