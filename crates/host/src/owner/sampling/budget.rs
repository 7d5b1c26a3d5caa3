//! What servers use of the user's models is counted here, and bounded: at its most when a model begins, as it was when it is done.

use domain::Millis;
use mcp_proto::types::CreateMessageParams;
use models::{ModelRef, Price, TokenUse};
use server_requests::sampling::{Spending, Spent, estimated_tokens, tool_rounds};
use supervision::activity::ActivityKind;

use super::Owner;
use crate::owner::AnswerError;
use crate::view::HostEvent;

/// Bytes of an answer that make a token, where its provider does not count.
const BYTES_PER_TOKEN: u64 = 3;

/// What was counted when a model began.
#[derive(Debug, Clone)]
pub(super) struct Counted {
    server: String,
    at: Millis,
    spent: Spent,
    /// Tokens of the request, as far as they can be known before.
    input: u64,
    price: Option<Price>,
}

impl Owner {
    /// Counts one more request at its most, and goes on with `then`, which gets the cause if that would be beyond what the server
    /// may use. Then nothing is counted.
    pub(super) fn count_run(
        &mut self,
        server: &str,
        model: &ModelRef,
        params: &CreateMessageParams,
        then: impl FnOnce(&mut Self, Result<Counted, AnswerError>) + Send + 'static,
    ) {
        let settings = self.models.sampling.settings(server);
        let (input, price) = (estimated_tokens(params), self.models.price_of(model));
        // What runs on this computer costs nothing.
        let is_local = self.provider_settings(&model.provider).is_ok_and(|provider| provider.is_local());
        if settings.bounds_money() && price.is_none() && !is_local {
            return then(self, Err(AnswerError::NoPrice(model.model.clone())));
        }
        let micros = self.models.most_micros(model, params).unwrap_or(0);
        let tokens = input.saturating_add(params.max_tokens);
        let spent = Spent { requests: 1, tokens, micros, rounds: rounds(params) };
        let at = self.now();
        if let Some(limit) = self.models.sampling.spending(server).too_much(&settings, &spent, at) {
            return then(self, Err(AnswerError::Budget(limit)));
        }
        let counted = Counted { server: server.to_owned(), at, spent, input, price };
        // Once more as it is on disk at that moment: another program may let the same server ask.
        let change = move |own: &mut Spending| {
            let over = own.too_much(&settings, &spent, at);
            if over.is_none() {
                own.add(&spent, at);
            }
            over
        };
        self.change_spending(server, change, |owner, over| match over.flatten() {
            Some(limit) => then(owner, Err(AnswerError::Budget(limit))),
            // What could not be written counts here.
            None => then(owner, Ok(counted)),
        });
    }

    /// Counts a request that the user answers by hand. It takes no tokens.
    pub(super) fn count_by_hand(&mut self, server: &str, params: &CreateMessageParams) {
        let (spent, at) = (Spent { requests: 1, rounds: rounds(params), ..Spent::default() }, self.now());
        self.change_spending(server, move |own| own.add(&spent, at), |_, _| ());
    }

    /// A model is done: what it took takes the place of what it could have taken. What the provider does not say is estimated
    /// by what came. Gives what it cost, in millionths of a US dollar, if its price is known.
    pub(super) fn settle(&mut self, counted: &Counted, usage: TokenUse, came: u64) -> Option<u64> {
        let input = usage.input.unwrap_or(counted.input);
        let output = usage.output.unwrap_or_else(|| came.div_ceil(BYTES_PER_TOKEN));
        let known = TokenUse { input: Some(input), output: Some(output), ..usage };
        let cost = counted.price.as_ref().and_then(|price| micros(price, &known));
        let tokens = input.saturating_add(output);
        let spent = Spent { tokens, micros: cost.unwrap_or(0), ..counted.spent };
        self.settle_as(counted, spent);
        cost
    }

    /// A model did not come to its end. What it took until then is known in part at best. One of which nothing came may have
    /// thought all the time: it counts as at its most.
    pub(super) fn settle_cut(&mut self, counted: &Counted, usage: TokenUse, came: u64) {
        if came > 0 || usage.output.is_some() {
            let output = usage.output.unwrap_or(0).max(came.div_ceil(BYTES_PER_TOKEN));
            self.settle(counted, TokenUse { output: Some(output), ..usage }, came);
        }
    }

    /// A model was asked for nothing: its provider did not take the request.
    pub(super) fn settle_unanswered(&mut self, counted: &Counted) {
        let spent = Spent { tokens: 0, micros: 0, ..counted.spent };
        self.settle_as(counted, spent);
    }

    fn settle_as(&mut self, counted: &Counted, spent: Spent) {
        let (at, most) = (counted.at, counted.spent);
        self.change_spending(&counted.server, move |own| own.settle(at, &most, &spent), |_, _| ());
    }

    /// Counts at once, here and then in the file, and goes on with `then`, which gets what `change` gave of the file; none if it
    /// could not be written.
    fn change_spending<T: Send + 'static>(
        &mut self,
        server: &str,
        change: impl Fn(&mut Spending) -> T + Send + 'static,
        then: impl FnOnce(&mut Self, Option<T>) + Send + 'static,
    ) {
        let settings = self.models.sampling.settings(server);
        let before = self.models.sampling.spending(server).stopped(&settings, self.now());
        let own = self.models.sampling.kept.get(server).cloned().unwrap_or_default();
        change(&mut self.models.sampling.kept.entry(server.to_owned()).or_default().spent);
        let after = self.models.sampling.spending(server).stopped(&settings, self.now());
        if let (None, Some(limit), Some(record)) = (before, after, self.servers.records.get(server)) {
            record.note(ActivityKind::State, &format!("sampling stops here: {limit} were used"));
        }
        self.events.emit(HostEvent::SamplingChanged(server.to_owned()));
        self.change_sampling_of(
            own,
            server,
            move |kept| change(&mut kept.spent),
            |owner, given| {
                let given = given.inspect_err(|error| {
                    tracing::error!(%error, "what a server used could not be written; it counts until Drawbridge ends");
                });
                then(owner, given.ok());
            },
        );
    }
}

/// Whether a request goes on after tools were used.
fn rounds(params: &CreateMessageParams) -> u64 {
    u64::from(tool_rounds(params) > 0)
}

pub(in crate::owner) fn usage(input: u64, output: u64) -> TokenUse {
    TokenUse { input: Some(input), output: Some(output), ..TokenUse::default() }
}

/// A price in millionths, rounded up.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cost is not negative, and more than 2^63 millionths is the most there can be"
)]
pub(in crate::owner) fn micros(price: &Price, usage: &TokenUse) -> Option<u64> {
    price.of(usage).filter(|cost| cost.is_finite() && *cost >= 0.0).map(|cost| (cost * 1_000_000.0).ceil() as u64)
}
