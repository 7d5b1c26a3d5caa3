//! Sampling settings and usage of all servers, sampling requests that models reply to without consent, and sampling
//! requests of apps.

mod app_requests;
mod model_run;
mod reservation;

pub use app_requests::AppSamplingRequest;
pub use model_run::{ModelOutcome, ModelRun, SharedModelOutput};
pub use reservation::{UsageReservation, cost_micros, token_usage, tool_rounds_to_count};

use std::collections::BTreeMap;

use domain::Millis;
use mcp_proto::jsonrpc::code;
use mcp_proto::session::ClientResponse;
use mcp_proto::types::{CreateMessageParams, SamplingCapability};
use policy::{DecisionSource, SamplingUse};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use serde_json::Map;
use server_requests::sampling::{
    ModelUsageRecord, SamplingSettings, conversion, count_tool_rounds, estimated_input_tokens,
};
use supervision::token_bucket::TokenBucket;

use super::refusal_error;
use crate::{Requester, RunId};

/// Maximum number of tool rounds that a sampling request may contain.
const MAX_TOOL_ROUNDS: usize = 25;

/// Sampling state of all servers: settings, usage, and requests that a rule allowed.
#[derive(Default)]
pub struct Sampling {
    /// Settings and usage by server, as stored in the file.
    pub records: BTreeMap<String, SamplingRecord>,
    /// Sampling requests that are allowed by a rule, so that a model replies without consent.
    pub auto_approved: FxHashMap<Requester, AutoApprovedRequest>,
    /// Sampling requests of apps that have no response yet, by their number in [`Requester::App`].
    pub app_requests: FxHashMap<u64, AppSamplingRequest>,
    /// Rate limiters for the sampling requests of apps, by the run of the server that provides the apps.
    app_rates: FxHashMap<RunId, TokenBucket>,
    /// Number of the latest model run.
    pub last_run: u64,
    /// Number of the latest change of sampling settings.
    pub last_change: u64,
    /// Servers whose sampling was disabled, with the number of the change. An entry is removed when the file contains
    /// the change.
    pub turned_off: BTreeMap<String, u64>,
}

/// Sampling settings and usage of one server, as stored in the file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SamplingRecord {
    /// User's sampling settings for the server.
    #[serde(flatten)]
    pub settings: SamplingSettings,
    /// Recorded usage, including reservations of model runs in progress.
    #[serde(default)]
    pub spent: ModelUsageRecord,
}

/// A sampling request of a server or its app that a rule allowed, so that a model replies without the user's consent.
pub struct AutoApprovedRequest {
    /// Name of the server that sent the request, or to which the app belongs.
    pub server: String,
    /// Number of the model run for this request.
    pub number: u64,
    /// Model run in progress. `None` until the reserved usage is recorded, and after the model has replied.
    pub running: Option<ModelRun>,
    /// Sampling request of the server or app.
    pub params: Box<CreateMessageParams>,
    /// Rule that allowed the request.
    pub by: DecisionSource,
    /// Conversation of the app, or of the call during which the server sent the request, if any.
    pub conversation: Option<String>,
}

impl Sampling {
    /// Creates the state from `stored`, the content of `sampling.json` by server name. Entries that can't be parsed are
    /// dropped.
    pub fn from_documents(stored: BTreeMap<String, serde_json::Value>) -> Self {
        let read = |(server, value)| Some((server, serde_json::from_value(value).ok()?));
        Self { records: stored.into_iter().filter_map(read).collect(), ..Self::default() }
    }

    /// Returns the sampling settings of a server.
    pub fn settings(&self, server: &str) -> SamplingSettings {
        let mut settings = self.records.get(server).map(|record| record.settings.clone()).unwrap_or_default();
        settings.on &= !self.turned_off.contains_key(server);
        settings
    }

    /// Returns the recorded use of the user's models by a server.
    pub fn spending(&self, server: &str) -> ModelUsageRecord {
        self.records.get(server).map(|record| record.spent.clone()).unwrap_or_default()
    }

    /// Returns the sampling capability to declare in a new session with a server, or `None` if sampling is disabled.
    /// The `context` capability is never declared, since content of other servers is never included.
    pub fn offered_capability(&self, server: &str) -> Option<SamplingCapability> {
        let settings = Some(self.settings(server)).filter(|settings| settings.on)?;
        Some(SamplingCapability { context: None, tools: settings.tools.then(Map::new) })
    }

    /// Returns `true` if the auto-approved request `of` is still pending and the model run with this number replies to
    /// it.
    pub fn is_auto_approved_run(&self, of: Requester, number: u64) -> bool {
        self.auto_approved.get(&of).is_some_and(|auto_approved| auto_approved.number == number)
    }

    /// Drops the auto-approved requests for which `is_over` returns `true`, which stops their model runs, and the
    /// requests of apps, which notifies the apps.
    pub fn end_requests(&mut self, is_over: impl Fn(Requester) -> bool) {
        self.auto_approved.retain(|of, _| !is_over(*of));
        self.app_requests.retain(|number, request| !is_over(Requester::App { run: request.run, number: *number }));
        self.app_rates.retain(|run, _| !is_over(Requester::App { run: *run, number: 0 }));
    }

    /// Checks a server's sampling request against the server's settings and limits.
    ///
    /// # Errors
    ///
    /// Returns the cause for the server's activity log, and the error response to the server.
    pub fn check_sampling_allowed(
        &self,
        server: &str,
        params: &CreateMessageParams,
        now: Millis,
    ) -> Result<(), (String, ClientResponse)> {
        let settings = self.settings(server);
        let invalid =
            |cause: String| (cause.clone(), ClientResponse::Refused { code: code::INVALID_PARAMS, message: cause });
        if !settings.on {
            let cause = "it is disabled for this server".to_owned();
            return Err((cause, refusal_error("the user turned sampling off for this server".to_owned())));
        }
        if params.tools.is_some() && !settings.tools {
            return Err(invalid("tools in sampling are turned off for this server".to_owned()));
        }
        conversion::check_sampling_request(params).map_err(|unfit| invalid(unfit.to_string()))?;
        if count_tool_rounds(params) > MAX_TOOL_ROUNDS {
            let cause = format!("the loop of tools is longer than {MAX_TOOL_ROUNDS} rounds");
            return Err((cause.clone(), refusal_error(cause)));
        }
        if let Some(limit) = self.spending(server).current_reached_limit(&settings, now) {
            let cause = format!("the limit is reached: {limit}");
            return Err((cause.clone(), refusal_error(cause)));
        }
        Ok(())
    }

    /// Returns the usage of a server within the last hour as it would be after another request with this many tokens.
    pub fn projected_usage(&self, server: &str, tokens: u64, now: Millis) -> SamplingUse {
        let spent = self.spending(server).usage_in_last_hour(now);
        SamplingUse { requests: spent.requests + 1, tokens: spent.tokens.saturating_add(tokens) }
    }

    /// Returns the maximum number of tokens of a model's reply to a sampling request: the minimum of the request's
    /// limit, the limit in the server's settings, and the remaining budget.
    pub fn max_reply_tokens(&self, server: &str, params: &CreateMessageParams, now: Millis) -> u64 {
        let settings = self.settings(server);
        let left = self.spending(server).tokens_left(&settings, now);
        // If the request alone would use the remaining budget, the budget doesn't limit the reply: the user can still
        // shorten the request, or reply without a model.
        let left = left.map(|left| left.saturating_sub(estimated_input_tokens(params))).filter(|left| *left > 0);
        params.max_tokens.min(settings.max_tokens).min(left.unwrap_or(u64::MAX)).max(1)
    }

    /// Returns the maximum number of tokens of a sampling request and its reply together.
    pub fn max_total_tokens(&self, server: &str, params: &CreateMessageParams, now: Millis) -> u64 {
        estimated_input_tokens(params).saturating_add(self.max_reply_tokens(server, params, now))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn params(max_tokens: u64) -> CreateMessageParams {
        let message = json!({ "role": "user", "content": { "type": "text", "text": "hello" } });
        serde_json::from_value(json!({ "messages": [message], "maxTokens": max_tokens })).expect("a request")
    }

    #[test]
    fn sampling_is_off_by_default_and_bounded_by_its_settings() {
        let mut sampling = Sampling::default();
        assert!(sampling.check_sampling_allowed("s", &params(10), 0).is_err(), "sampling is disabled by default");
        assert_eq!(sampling.offered_capability("s"), None, "the capability is not offered");
        let settings = SamplingSettings { on: true, tools: false, max_tokens: 100, ..SamplingSettings::default() };
        sampling.records.insert("s".to_owned(), SamplingRecord { settings, ..SamplingRecord::default() });
        assert!(sampling.check_sampling_allowed("s", &params(10), 0).is_ok(), "an enabled server may sample");
        assert_eq!(sampling.max_reply_tokens("s", &params(1_000), 0), 100, "the settings limit the length of a reply");
        assert_eq!(sampling.max_reply_tokens("s", &params(10), 0), 10, "the request limits the length of a reply");
        assert!(
            sampling.check_sampling_allowed("other", &params(10), 0).is_err(),
            "sampling stays disabled for other servers"
        );
        sampling.turned_off.insert("s".to_owned(), 1);
        assert!(
            sampling.check_sampling_allowed("s", &params(10), 0).is_err(),
            "disabling takes effect before the file is written"
        );
    }
}
