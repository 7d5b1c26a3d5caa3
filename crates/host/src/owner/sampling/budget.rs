//! Limits the use of the user's models by servers: the maximum usage is reserved when a model starts, and replaced by
//! the actual usage when it has finished.

use mcp_proto::types::CreateMessageParams;
use models::ModelRef;
use policy::UsedBy;
use server_requests::sampling::{ModelUsage, ModelUsageRecord, estimated_input_tokens};
use supervision::activity::ActivityKind;

use super::Owner;
use crate::owner::state::{DecisionError, ModelOutcome, ModelRun, UsageReservation, tool_rounds_to_count};
use crate::view::HostEvent;

impl Owner {
    /// Reserves the maximum model usage of a sampling request, and calls `then`. If that would exceed the server's
    /// budget, nothing is reserved and `then` receives an error.
    pub(super) fn reserve_budget(
        &mut self,
        server: &str,
        by: UsedBy,
        model: &ModelRef,
        params: &CreateMessageParams,
        then: impl FnOnce(&mut Self, Result<UsageReservation, DecisionError>) + Send + 'static,
    ) {
        let settings = self.models.sampling.settings(server);
        let (input, price) = (estimated_input_tokens(params), self.models.price_of(model));
        // Local models are free of charge.
        let is_local = self.models.providers.settings_of(&model.provider).is_ok_and(|provider| provider.is_local());
        if settings.limits_cost() && price.is_none() && !is_local {
            return then(self, Err(DecisionError::NoPrice(model.model.clone())));
        }
        let micros = self.models.max_cost_micros(model, params).unwrap_or(0);
        let tokens = input.saturating_add(params.max_tokens);
        let spent = ModelUsage { requests: 1, tokens, micros, rounds: tool_rounds_to_count(params) };
        let at = self.now();
        if let Some(limit) = self.models.sampling.spending(server).limit_exceeded_by(&settings, &spent, at) {
            return then(self, Err(DecisionError::Budget(limit)));
        }
        let reservation = UsageReservation { server: server.to_owned(), at, spent, input, price };
        // The usage on disk is checked again, since another process may handle requests of the same server.
        let change = move |own: &mut ModelUsageRecord| {
            let over = own.limit_exceeded_by(&settings, &spent, at);
            if over.is_none() {
                own.reserve(&spent, by, at);
            }
            over
        };
        self.change_sampling_usage(server, change, |owner, over| match over.flatten() {
            Some(limit) => then(owner, Err(DecisionError::Budget(limit))),
            // If the usage can't be written to disk, the reservation exists in memory only.
            None => then(owner, Ok(reservation)),
        });
    }

    /// Counts a sampling request to which the user replies without a model, and which therefore uses no tokens.
    pub(super) fn count_user_written_reply(&mut self, server: &str, params: &CreateMessageParams) {
        let (spent, at) =
            (ModelUsage { requests: 1, rounds: tool_rounds_to_count(params), ..ModelUsage::default() }, self.now());
        self.change_sampling_usage(server, move |own| own.add(&spent, at), |_, _| ());
    }

    /// Replaces the reservation of a finished model run by the actual usage. Returns the cost in millionths of a US
    /// dollar, if the reply is complete and the price is known.
    pub(super) fn record_final_sampling_usage(&mut self, run: &ModelRun, outcome: &ModelOutcome) -> Option<u64> {
        let (spent, cost) = run.final_usage(outcome);
        if let Some(spent) = spent {
            self.replace_usage_reservation(&run.reservation, spent);
        }
        cost
    }

    /// Replaces the reservation of a stopped model run by its actual usage, if that is known at least in part.
    pub(super) fn record_usage_of_stopped_run(&mut self, run: &ModelRun) {
        if let Some(spent) = run.usage_if_stopped_now() {
            self.replace_usage_reservation(&run.reservation, spent);
        }
    }

    /// Reduces a reservation to one request without tokens, because the model did not accept the sampling request.
    pub(super) fn record_unanswered_reservation(&mut self, reservation: &UsageReservation) {
        self.replace_usage_reservation(reservation, reservation.unanswered_usage());
    }

    fn replace_usage_reservation(&mut self, reservation: &UsageReservation, spent: ModelUsage) {
        let (at, most) = (reservation.at, reservation.spent);
        self.change_sampling_usage(&reservation.server, move |own| own.replace_estimate(at, &most, &spent), |_, _| ());
    }

    /// Changes the recorded usage of a server in memory immediately and then in the file. Calls `then` with the value
    /// that `change` returned for the file, or `None` if the file could not be written.
    fn change_sampling_usage<T: Send + 'static>(
        &mut self,
        server: &str,
        change: impl Fn(&mut ModelUsageRecord) -> T + Send + 'static,
        then: impl FnOnce(&mut Self, Option<T>) + Send + 'static,
    ) {
        let settings = self.models.sampling.settings(server);
        let before = self.models.sampling.spending(server).current_reached_limit(&settings, self.now());
        let own = self.models.sampling.records.get(server).cloned().unwrap_or_default();
        change(&mut self.models.sampling.records.entry(server.to_owned()).or_default().spent);
        let after = self.models.sampling.spending(server).current_reached_limit(&settings, self.now());
        if let (None, Some(limit), Some(record)) = (before, after, self.servers.records.get(server)) {
            record.log_activity_line(ActivityKind::State, &format!("sampling stops here: {limit} were used"));
        }
        self.events.emit(HostEvent::SamplingChanged(server.to_owned()));
        self.change_sampling_record_from(
            own,
            server,
            move |stored| change(&mut stored.spent),
            |owner, given| {
                let given = given.inspect_err(|error| {
                    tracing::error!(%error, "the usage of a server could not be written; it counts until Drawbridge exits");
                });
                then(owner, given.ok());
            },
        );
    }
}
