//! The models of the user: their providers, how these are set up, and how servers use them.

use mcp_proto::jsonrpc::code;
use mcp_proto::session::{Answer, ServerRequestId};
use mcp_proto::types::{CreateMessageParams, SamplingCapability};
use models::{Model, ModelRef, Price, Usage};
use policy::SamplingUse;
use ports::time::now;
use serde_json::Map;
use server_requests::sampling::{SamplingSettings, Spending, convert, estimated_tokens, tool_rounds};

use crate::connection::RunId;
use crate::owner::providers::Providers;
use crate::owner::questions::refusal;
use crate::owner::sampling::Sampling;
use crate::owner::sampling::asked::MAX_ROUNDS;
use crate::owner::sampling::budget::{micros, usage};

/// Models, and who uses them.
#[derive(Default)]
pub(crate) struct ModelAccess {
    /// The providers that can be asked.
    pub(crate) registry: models::Registry,
    /// How they are set up, and what they list.
    pub(in crate::owner) providers: Providers,
    pub(in crate::owner) sampling: Sampling,
}

impl ModelAccess {
    pub(in crate::owner) fn listed(&self, id: &str) -> Vec<Model> {
        self.providers.lists.get(id).map(|listed| listed.models.clone()).unwrap_or_default()
    }

    /// The known price of a model, if it is in US dollars.
    pub(in crate::owner) fn price_of(&self, model: &ModelRef) -> Option<Price> {
        self.registry.model(model)?.price.clone().filter(|price| price.currency == "USD")
    }

    /// What a request costs at the most, in millionths of a US dollar.
    pub(in crate::owner) fn most_micros(&self, model: &ModelRef, params: &CreateMessageParams) -> Option<u64> {
        let price = self.price_of(model)?;
        let plain = usage(estimated_tokens(params), params.max_tokens);
        // Where a provider keeps what it read, that costs more.
        let kept = Usage { written_input: plain.input, ..plain };
        micros(&price, &plain).max(micros(&price, &kept))
    }

    /// How a server may use the user's models.
    pub(in crate::owner) fn sampling_settings(&self, server: &str) -> SamplingSettings {
        let mut settings = self.sampling.kept.get(server).map(|kept| kept.settings.clone()).unwrap_or_default();
        settings.on &= !self.sampling.turned_off.contains_key(server);
        settings
    }

    pub(in crate::owner) fn spending(&self, server: &str) -> Spending {
        self.sampling.kept.get(server).map(|kept| kept.spent.clone()).unwrap_or_default()
    }

    /// What a server is told of sampling when its session opens. Context is never offered: nothing of any server is put in.
    pub(in crate::owner) fn sampling_offered(&self, server: &str) -> Option<SamplingCapability> {
        let settings = Some(self.sampling_settings(server)).filter(|settings| settings.on)?;
        Some(SamplingCapability { context: None, tools: settings.tools.then(Map::new) })
    }

    /// Returns true if a request still waits for its model.
    pub(in crate::owner) fn is_unasked(&self, of: (RunId, ServerRequestId), number: u64) -> bool {
        self.sampling.unasked.get(&of).is_some_and(|unasked| unasked.number == number)
    }

    /// Stops what models answer for requests that are over.
    pub(in crate::owner) fn end_unasked(&mut self, is_over: impl Fn((RunId, ServerRequestId)) -> bool) {
        self.sampling.unasked.retain(|of, _| !is_over(*of));
    }

    /// Whether a server may ask for this now; if not, why, and what it is told.
    pub(in crate::owner) fn may_sample(
        &self,
        server: &str,
        params: &CreateMessageParams,
    ) -> Result<(), (String, Answer)> {
        let settings = self.sampling_settings(server);
        let invalid = |cause: String| (cause.clone(), Answer::Refused { code: code::INVALID_PARAMS, message: cause });
        if !settings.on {
            let cause = "it is turned off for this server".to_owned();
            return Err((cause, refusal("the user turned sampling off for this server".to_owned())));
        }
        if params.tools.is_some() && !settings.tools {
            return Err(invalid("tools in sampling are turned off for this server".to_owned()));
        }
        convert::check(params).map_err(|unfit| invalid(unfit.to_string()))?;
        if tool_rounds(params) > MAX_ROUNDS {
            let cause = format!("the loop of tools is longer than {MAX_ROUNDS} rounds");
            return Err((cause.clone(), refusal(cause)));
        }
        if let Some(limit) = self.spending(server).stopped(&settings, now()) {
            let cause = format!("the limit is reached: {limit}");
            return Err((cause.clone(), refusal(cause)));
        }
        Ok(())
    }

    /// What a server would have used within the hour with one request more of so many tokens.
    pub(in crate::owner) fn would_use(&self, server: &str, tokens: u64) -> SamplingUse {
        let spent = self.spending(server).within_hour(now());
        SamplingUse { requests: spent.requests + 1, tokens: spent.tokens.saturating_add(tokens) }
    }

    /// The most tokens of an answer that a server gets: no more than it wants, than it may have, and than are left.
    pub(in crate::owner) fn most_answer(&self, server: &str, params: &CreateMessageParams) -> u64 {
        let settings = self.sampling_settings(server);
        let left = self.spending(server).tokens_left(&settings, now());
        // Of a request that takes all that is left, no answer is bounded: the user can make it shorter, or answer by hand.
        let left = left.map(|left| left.saturating_sub(estimated_tokens(params))).filter(|left| *left > 0);
        params.max_tokens.min(settings.max_tokens).min(left.unwrap_or(u64::MAX)).max(1)
    }

    /// The most tokens that a request comes to.
    pub(in crate::owner) fn most_tokens(&self, server: &str, params: &CreateMessageParams) -> u64 {
        estimated_tokens(params).saturating_add(self.most_answer(server, params))
    }
}
