//! Usage of a model run: the maximum is reserved at the start, and replaced by the actual usage at the end. Used by
//! `host/src/owner/sampling`.

use domain::Millis;
use mcp_proto::types::CreateMessageParams;
use models::{ModelPrice, TokenUsage};
use server_requests::sampling::{ModelUsage, count_tool_rounds};

/// Number of bytes of a reply that are counted as one token if the provider reports no usage.
const ASSUMED_BYTES_PER_TOKEN: u64 = 3;

/// The maximum usage of a model run, reserved at its start.
#[derive(Debug, Clone)]
pub struct UsageReservation {
    /// Name of the server that sent the sampling request.
    pub server: String,
    /// Time of the reservation, which is also recorded as the time of the actual usage.
    pub at: Millis,
    /// Reserved usage: one request with the maximum number of tokens and cost.
    pub spent: ModelUsage,
    /// Estimated number of tokens in the request.
    pub input: u64,
    /// Price of the model, or `None` if it is unknown or not in US dollars.
    pub price: Option<ModelPrice>,
}

impl UsageReservation {
    /// Returns the usage of a model run with a complete reply, and its cost in millionths of a US dollar if the price
    /// is known. `received` is the number of bytes of the reply, from which the usage is estimated if the provider
    /// reports none.
    pub fn fill_in_missing_usage(&self, usage: TokenUsage, received: u64) -> (ModelUsage, Option<u64>) {
        let input = usage.input.unwrap_or(self.input);
        let output = usage.output.unwrap_or_else(|| received.div_ceil(ASSUMED_BYTES_PER_TOKEN));
        let known = TokenUsage { input: Some(input), output: Some(output), ..usage };
        let cost = self.price.as_ref().and_then(|price| cost_micros(price, &known));
        let tokens = input.saturating_add(output);
        (ModelUsage { tokens, micros: cost.unwrap_or(0), ..self.spent }, cost)
    }

    /// Returns the usage of a model run with an incomplete reply, estimated from the number of `received` bytes if
    /// necessary. Returns `None` if the reservation must remain: a model without output may have used tokens for
    /// reasoning.
    pub fn partial_usage(&self, usage: TokenUsage, received: u64) -> Option<ModelUsage> {
        if received == 0 && usage.output.is_none() {
            return None;
        }
        let output = usage.output.unwrap_or(0).max(received.div_ceil(ASSUMED_BYTES_PER_TOKEN));
        Some(self.fill_in_missing_usage(TokenUsage { output: Some(output), ..usage }, received).0)
    }

    /// Returns the usage of a run whose request the provider did not accept: one request without tokens and cost.
    pub const fn unanswered_usage(&self) -> ModelUsage {
        ModelUsage { tokens: 0, micros: 0, ..self.spent }
    }

    #[cfg(test)]
    pub(super) fn for_tests(input: u64, tokens: u64) -> Self {
        let spent = ModelUsage { requests: 1, tokens, ..ModelUsage::default() };
        Self { server: "s".to_owned(), at: 0, spent, input, price: None }
    }
}

/// Returns the number of tool rounds that a sampling request adds to a server's usage: one if the request contains
/// results of tool uses, otherwise zero.
pub fn tool_rounds_to_count(params: &CreateMessageParams) -> u64 {
    u64::from(count_tool_rounds(params) > 0)
}

/// Creates a token usage with these numbers of input and output tokens.
pub fn token_usage(input: u64, output: u64) -> TokenUsage {
    TokenUsage { input: Some(input), output: Some(output), ..TokenUsage::default() }
}

/// Converts a cost to millionths of the currency unit, rounded up.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cost is not negative, and more than 2^63 millionths is the most there can be"
)]
pub fn cost_micros(price: &ModelPrice, usage: &TokenUsage) -> Option<u64> {
    price.cost(usage).filter(|cost| cost.is_finite() && *cost >= 0.0).map(|cost| (cost * 1_000_000.0).ceil() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reported_usage_takes_precedence_over_an_estimate() {
        let reservation = UsageReservation::for_tests(100, 1_000);
        let reported = reservation.fill_in_missing_usage(token_usage(7, 5), 300).0;
        assert_eq!((reported.tokens, reported.requests), (12, 1), "the usage reported by the provider is counted");
        assert_eq!(
            reservation.fill_in_missing_usage(TokenUsage::default(), 300).0.tokens,
            200,
            "without a report the usage is estimated"
        );
        let cut = reservation
            .partial_usage(TokenUsage { output: Some(1), ..TokenUsage::default() }, 300)
            .map(|spent| spent.tokens);
        assert_eq!(cut, Some(200), "the received bytes of an interrupted reply exceed the reported usage");
    }

    #[test]
    fn cost_is_rounded_up() {
        let price = ModelPrice {
            input: 0.1,
            output: 0.0,
            cached_input: None,
            written_input: None,
            long: None,
            currency: "USD".to_owned(),
            as_of: String::new(),
        };
        let reservation = UsageReservation { price: Some(price), ..UsageReservation::for_tests(0, 0) };
        assert_eq!(
            reservation.fill_in_missing_usage(token_usage(1, 0), 0).1,
            Some(1),
            "a fraction of a millionth is rounded up"
        );
    }
}
