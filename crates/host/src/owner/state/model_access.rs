//! The models of the user: their providers, how these are set up, and how servers use them.

mod choice;
mod providers;

pub(in crate::owner) use providers::ProviderTable;

use mcp_proto::types::CreateMessageParams;
use models::{ModelRef, Price, TokenUse};
use server_requests::sampling::estimated_tokens;

use super::{Sampling, micros, usage};

/// Models, and who uses them.
#[derive(Default)]
pub(crate) struct ModelAccess {
    /// The providers that can be asked.
    pub(crate) registry: models::Registry,
    /// How they are set up, and what they list.
    pub(crate) providers: ProviderTable,
    pub(in crate::owner) sampling: Sampling,
}

impl ModelAccess {
    /// The known price of a model, if it is in US dollars.
    pub(in crate::owner) fn price_of(&self, model: &ModelRef) -> Option<Price> {
        self.registry.model(model)?.price.clone().filter(|price| price.currency == "USD")
    }

    /// The most that a request costs, in millionths of a US dollar.
    pub(in crate::owner) fn most_micros(&self, model: &ModelRef, params: &CreateMessageParams) -> Option<u64> {
        let price = self.price_of(model)?;
        let plain = usage(estimated_tokens(params), params.max_tokens);
        // Where a provider keeps what it read, that costs more.
        let kept = TokenUse { written_input: plain.input, ..plain };
        micros(&price, &plain).max(micros(&price, &kept))
    }
}

#[cfg(test)]
mod tests;
