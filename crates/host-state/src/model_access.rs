//! The user's models: providers and their settings, and the use of models by servers.

mod choice;
mod providers;

pub use providers::ProviderTable;

use mcp_proto::types::CreateMessageParams;
use models::{ModelPrice, ModelRef, TokenUsage};
use server_requests::sampling::estimated_input_tokens;

use super::{Sampling, cost_micros, token_usage};

/// The user's model providers, and the use of their models by servers.
#[derive(Default)]
pub struct ModelAccess {
    /// Model providers that requests can be sent to.
    pub registry: models::ProviderRegistry,
    /// Settings of the model providers, and the models that they listed.
    pub providers: ProviderTable,
    /// Sampling settings of servers, and their usage of models.
    pub sampling: Sampling,
}

impl ModelAccess {
    /// Returns the price of a model, or `None` if it is unknown or not in US dollars.
    pub fn price_of(&self, model: &ModelRef) -> Option<ModelPrice> {
        self.registry.model(model)?.price.clone().filter(|price| price.currency == "USD")
    }

    /// Returns the maximum cost of a sampling request and the model's reply, in millionths of a US dollar, or `None` if
    /// the model's price is unknown.
    pub fn max_cost_micros(&self, model: &ModelRef, params: &CreateMessageParams) -> Option<u64> {
        let price = self.price_of(model)?;
        let plain = token_usage(estimated_input_tokens(params), params.max_tokens);
        // Writing the input to the provider's cache may cost more than plain input.
        let cached = TokenUsage { written_input: plain.input, ..plain };
        cost_micros(&price, &plain).max(cost_micros(&price, &cached))
    }
}

#[cfg(test)]
mod tests;
