//! Descriptions of models: identity, limits, prices and capabilities.

use serde::{Deserialize, Serialize};

use crate::TokenUsage;

/// Reference to a model of a configured provider.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ModelRef {
    /// Identifier of the provider, as in the settings.
    pub provider: String,
    /// Identifier of the model in its provider's API.
    pub model: String,
}

/// A model in the list of its provider, completed from the table of known models. Unknown values are `None`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Model {
    /// Identifier of the model in its provider's API.
    pub id: String,
    /// Display name of the model.
    pub name: String,
    /// Maximum number of tokens of request and reply together, or `None` if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<u32>,
    /// Maximum number of tokens of a reply, or `None` if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u32>,
    /// Price of the model, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<ModelPrice>,
    /// Content and options that the model supports.
    #[serde(default)]
    pub takes: ModelCapabilities,
    /// Speed and intelligence relative to other models, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<ModelRank>,
}

/// Prices of a model, in units of the currency per million tokens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelPrice {
    /// Price of one million input tokens.
    pub input: f64,
    /// Price of one million output tokens.
    pub output: f64,
    /// Price of one million input tokens that the provider reads from its cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input: Option<f64>,
    /// Price of one million input tokens that the provider writes to its cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_input: Option<f64>,
    /// Prices of requests above a number of input tokens, or `None` if such requests cost the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long: Option<LongContextPrice>,
    /// Currency code, such as `USD`.
    pub currency: String,
    /// Date of the price, as `2026-11-20`, or a description of its source.
    pub as_of: String,
}

impl ModelPrice {
    /// Computes the cost of a request from its token usage, in units of the price's currency. Returns `None` if the
    /// provider did not report the number of tokens.
    ///
    /// # Examples
    ///
    /// ```
    /// use models::{LongContextPrice, ModelPrice, TokenUsage};
    ///
    /// let price = ModelPrice {
    ///     input: 3.0,
    ///     output: 15.0,
    ///     cached_input: Some(0.3),
    ///     written_input: None,
    ///     long: Some(LongContextPrice { above: 200_000, input: 6.0, output: 22.5 }),
    ///     currency: "USD".to_owned(),
    ///     as_of: "2026-11-20".to_owned(),
    /// };
    /// let usage = TokenUsage { input: Some(100_000), output: Some(2_000), ..TokenUsage::default() };
    /// let micros = |usage: &TokenUsage| price.cost(usage).map(|cost| (cost * 1e6).round());
    /// assert_eq!(micros(&usage), Some(330_000.0));
    /// assert_eq!(micros(&TokenUsage { cached_input: Some(90_000), ..usage }), Some(87_000.0));
    /// // The whole request has the higher price once it is long.
    /// assert_eq!(micros(&TokenUsage { input: Some(300_000), ..usage }), Some(1_845_000.0));
    /// assert_eq!(micros(&TokenUsage { output: None, ..usage }), None);
    /// ```
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "no answer has 2^52 tokens")]
    pub fn cost(&self, usage: &TokenUsage) -> Option<f64> {
        let (input, output) = (usage.input?, usage.output?);
        let long = self.long.filter(|long| input > u64::from(long.above));
        let (of_input, of_output) = long.map_or((self.input, self.output), |long| (long.input, long.output));
        // Prices of cached tokens grow in proportion to the input price.
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

/// Prices of a request whose length exceeds a threshold. They apply to all of its tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LongContextPrice {
    /// Number of input tokens above which these prices apply.
    pub above: u32,
    /// Price of one million input tokens of a long request.
    pub input: f64,
    /// Price of one million output tokens of the reply to a long request.
    pub output: f64,
}

/// Content and options that a model supports. A field is `None` if its support is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelCapabilities {
    /// Support for images in messages or tool results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub images: Option<bool>,
    /// Support for audio in messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audio: Option<bool>,
    /// Support for files in messages, such as PDFs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<bool>,
    /// Support for tool calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<bool>,
    /// Support for reasoning before the reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<bool>,
}

/// Rank of a model relative to all known models, from 0 (least) to 1 (most).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelRank {
    /// Speed of replies relative to all known models, from 0 to 1.
    pub speed: f64,
    /// Intelligence relative to all known models, from 0 to 1.
    pub intelligence: f64,
    /// Source of the estimated rank, such as `price`, for display.
    pub from: String,
}
