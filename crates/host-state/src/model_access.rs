//! The user's models: their providers, the settings of these, and their usage by servers.

mod choice;
mod providers;

pub use providers::ProviderTable;

use mcp_proto::types::CreateMessageParams;
use models::{ModelPrice, ModelRef, TokenUsage};
use server_requests::sampling::estimated_tokens;

use super::{Sampling, micros, usage};

/// The models and their users.
#[derive(Default)]
pub struct ModelAccess {
    /// Providers that can receive requests.
    pub registry: models::ProviderRegistry,
    /// Settings and listed models of the providers.
    pub providers: ProviderTable,
    /// Sampling settings and usage of servers.
    pub sampling: Sampling,
}

impl ModelAccess {
    /// Returns the price of a model, if it is known and in US dollars.
    pub fn price_of(&self, model: &ModelRef) -> Option<ModelPrice> {
        self.registry.model(model)?.price.clone().filter(|price| price.currency == "USD")
    }

    /// Returns the maximum cost of a request, in millionths of a US dollar.
    pub fn most_micros(&self, model: &ModelRef, params: &CreateMessageParams) -> Option<u64> {
        let price = self.price_of(model)?;
        let plain = usage(estimated_tokens(params), params.max_tokens);
        // Writing input to a provider's cache may cost more.
        let kept = TokenUsage { written_input: plain.input, ..plain };
        micros(&price, &plain).max(micros(&price, &kept))
    }
}

#[cfg(test)]
mod tests;
