//! Model usage of one server: in total, and per minute within the last hour. Used by the budget in `host`.

use std::fmt;

use domain::Millis;
use policy::{LastUse, UsedBy};
use serde::{Deserialize, Serialize};

use super::{Budget, SamplingSettings};

const MINUTE_MILLIS: Millis = 60 * 1000;
const MINUTES_PER_HOUR: u64 = 60;
/// Maximum number of sampling requests with tool results that a server may send within an hour.
const MAX_TOOL_ROUNDS_PER_HOUR: u64 = 120;

/// Amount of model usage by sampling requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ModelUsage {
    /// Number of requests that were sent to a model and answered. A request that is sent again counts again.
    pub requests: u64,
    /// Number of tokens, of requests and answers together.
    pub tokens: u64,
    /// Cost in millionths of a US dollar. Runs of models without a known price count as zero.
    pub micros: u64,
    /// Number of requests that contain tool results and so continue an earlier answer.
    pub rounds: u64,
}

impl ModelUsage {
    fn add(&mut self, more: &Self) {
        self.requests = self.requests.saturating_add(more.requests);
        self.tokens = self.tokens.saturating_add(more.tokens);
        self.micros = self.micros.saturating_add(more.micros);
        self.rounds = self.rounds.saturating_add(more.rounds);
    }

    fn subtract(&mut self, less: &Self) {
        self.requests = self.requests.saturating_sub(less.requests);
        self.tokens = self.tokens.saturating_sub(less.tokens);
        self.micros = self.micros.saturating_sub(less.micros);
        self.rounds = self.rounds.saturating_sub(less.rounds);
    }
}

/// Recorded model usage of a server, as stored on disk.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ModelUsageRecord {
    /// Total usage since the first request.
    pub in_all: ModelUsage,
    /// Usage in each minute of the last hour, by the number of minutes since 1970-01-01, oldest first. At most one
    /// entry per minute.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub minutes: Vec<(u64, ModelUsage)>,
    /// Last request for which usage of a model was reserved, for display only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_use: Option<LastUse>,
}

impl ModelUsageRecord {
    /// Adds the usage of a request that is about to be sent to a model, and records it as the last use.
    pub fn reserve(&mut self, most: &ModelUsage, by: UsedBy, now: Millis) {
        self.add(most, now);
        self.last_use = Some(LastUse { at: now, by });
    }

    /// Adds this usage to the total, and to the minute that contains the time `now`.
    pub fn add(&mut self, spent: &ModelUsage, now: Millis) {
        self.in_all.add(spent);
        let minute = now / MINUTE_MILLIS;
        // Entries older than an hour, or from the future after a clock change, are dropped.
        self.minutes.retain(|(at, _)| *at <= minute && minute - at < MINUTES_PER_HOUR);
        match self.minutes.last_mut().filter(|(at, _)| *at == minute) {
            Some((_, of_minute)) => of_minute.add(spent),
            None => self.minutes.push((minute, *spent)),
        }
    }

    /// Replaces the estimate `counted`, which was recorded at `began`, by the actual usage.
    pub fn replace_estimate(&mut self, began: Millis, counted: &ModelUsage, spent: &ModelUsage) {
        let of_minute = self.minutes.iter_mut().find(|(at, _)| *at == began / MINUTE_MILLIS).map(|(_, sum)| sum);
        for sum in of_minute.into_iter().chain([&mut self.in_all]) {
            sum.subtract(counted);
            sum.add(spent);
        }
    }

    /// Returns the total usage within the last hour.
    #[must_use]
    pub fn usage_in_last_hour(&self, now: Millis) -> ModelUsage {
        let minute = now / MINUTE_MILLIS;
        let mut sum = ModelUsage::default();
        for (_, spent) in self.minutes.iter().filter(|(at, _)| *at <= minute && minute - at < MINUTES_PER_HOUR) {
            sum.add(spent);
        }
        sum
    }

    /// Returns a limit that the server has reached and that forbids it to use models now, or `None` if there is none.
    #[must_use]
    pub fn current_reached_limit(&self, settings: &SamplingSettings, now: Millis) -> Option<ReachedLimit> {
        let hour = self.usage_in_last_hour(now);
        reached_limit(LimitPeriod::Hour, &settings.per_hour, &hour)
            .or_else(|| reached_limit(LimitPeriod::Always, &settings.in_all, &self.in_all))
            .or_else(|| {
                let limit = ReachedLimit {
                    of: LimitedQuantity::Rounds,
                    span: LimitPeriod::Hour,
                    most: MAX_TOOL_ROUNDS_PER_HOUR,
                };
                (hour.rounds >= MAX_TOOL_ROUNDS_PER_HOUR).then_some(limit)
            })
    }

    /// Returns the limit that additional usage of this amount would exceed, or `None` if there is none.
    #[must_use]
    pub fn limit_exceeded_by(
        &self,
        settings: &SamplingSettings,
        more: &ModelUsage,
        now: Millis,
    ) -> Option<ReachedLimit> {
        let mut after = self.clone();
        after.add(more, now);
        let hour = after.usage_in_last_hour(now);
        exceeded_limit(LimitPeriod::Hour, &settings.per_hour, &hour)
            .or_else(|| exceeded_limit(LimitPeriod::Always, &settings.in_all, &after.in_all))
    }

    /// Returns the number of tokens that the server may still use within its budgets, or `None` if they don't limit
    /// tokens.
    #[must_use]
    pub fn tokens_left(&self, settings: &SamplingSettings, now: Millis) -> Option<u64> {
        let left = |budget: &Budget, spent: ModelUsage| budget.tokens.map(|most| most.saturating_sub(spent.tokens));
        let (hour, all) = (left(&settings.per_hour, self.usage_in_last_hour(now)), left(&settings.in_all, self.in_all));
        hour.into_iter().chain(all).min()
    }
}

fn exceeded_limit(span: LimitPeriod, budget: &Budget, spent: &ModelUsage) -> Option<ReachedLimit> {
    find_budget_limit(span, budget, spent, |spent, most| spent > most)
}

fn reached_limit(span: LimitPeriod, budget: &Budget, spent: &ModelUsage) -> Option<ReachedLimit> {
    find_budget_limit(span, budget, spent, |spent, most| spent >= most)
}

fn find_budget_limit(
    span: LimitPeriod,
    budget: &Budget,
    spent: &ModelUsage,
    is_over: impl Fn(u64, u64) -> bool,
) -> Option<ReachedLimit> {
    let limits = [
        (LimitedQuantity::Requests, budget.requests, spent.requests),
        (LimitedQuantity::Tokens, budget.tokens, spent.tokens),
        (LimitedQuantity::Money, budget.micros, spent.micros),
    ];
    limits.into_iter().find_map(|(of, most, spent)| {
        let most = most.filter(|most| is_over(spent, *most))?;
        Some(ReachedLimit { of, span, most })
    })
}

/// A limit of a server's sampling budget that was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReachedLimit {
    /// Quantity whose limit was reached, such as the number of tokens.
    pub of: LimitedQuantity,
    /// Period in which usage counts towards the limit.
    pub span: LimitPeriod,
    /// Value of the limit. A limit of cost is in millionths of a US dollar.
    pub most: u64,
}

/// Quantity that a limit of a sampling budget applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitedQuantity {
    /// Number of sampling requests.
    Requests,
    /// Number of tokens that were used.
    Tokens,
    /// Cost of the model's usage.
    Money,
    /// Number of tool rounds, which are requests with tool results.
    Rounds,
}

/// Period that a limit of a sampling budget applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitPeriod {
    /// The last 60 minutes before now.
    Hour,
    /// All time since the first request.
    Always,
}

impl fmt::Display for ReachedLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let most = self.most;
        match self.of {
            LimitedQuantity::Requests => write!(f, "{most} sampling requests")?,
            LimitedQuantity::Tokens => write!(f, "{most} tokens of sampling")?,
            LimitedQuantity::Money => write!(f, "{}.{:06} US dollars of sampling", most / 1_000_000, most % 1_000_000)?,
            LimitedQuantity::Rounds => write!(f, "{most} rounds of tools in sampling")?,
        }
        f.write_str(match self.span {
            LimitPeriod::Hour => " within an hour",
            LimitPeriod::Always => " in all",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR_MILLIS: Millis = 60 * MINUTE_MILLIS;

    fn model_usage(requests: u64, tokens: u64, micros: u64) -> ModelUsage {
        ModelUsage { requests, tokens, micros, rounds: 0 }
    }

    #[test]
    fn hourly_model_usage_covers_sixty_minutes_and_the_total_everything() {
        let mut spending = ModelUsageRecord::default();
        let start = 1_000 * HOUR_MILLIS;
        spending.add(&model_usage(1, 100, 10), start);
        spending.add(&model_usage(1, 50, 5), start + 59 * MINUTE_MILLIS);
        assert_eq!(
            spending.usage_in_last_hour(start + 59 * MINUTE_MILLIS),
            model_usage(2, 150, 15),
            "both entries must be within the hour"
        );
        assert_eq!(
            spending.usage_in_last_hour(start + 60 * MINUTE_MILLIS),
            model_usage(1, 50, 5),
            "the first entry must be outside of the hour"
        );
        spending.add(&model_usage(1, 1, 1), start + 10 * HOUR_MILLIS);
        assert_eq!(spending.minutes.len(), 1, "old entries must be dropped");
        assert_eq!(spending.in_all, model_usage(3, 151, 16), "the total must include dropped entries");
        assert_eq!(
            spending.usage_in_last_hour(start),
            ModelUsage::default(),
            "a clock that was set back must not count entries twice"
        );
    }

    #[test]
    fn last_use_is_that_of_the_last_request_to_a_model_and_is_stored() {
        let mut spending = ModelUsageRecord::default();
        spending.reserve(&model_usage(1, 5_000, 900), UsedBy::Server, 1_000);
        spending.reserve(&model_usage(1, 50, 9), UsedBy::App, 2_000);
        spending.add(&model_usage(1, 0, 0), 3_000);
        let last_use = Some(LastUse { at: 2_000, by: UsedBy::App });
        assert_eq!(spending.last_use, last_use, "a reply that the user wrote must not be a use of a model");
        assert_eq!(spending.in_all.requests, 3, "all requests must be counted");
        let stored = serde_json::to_value(&spending).unwrap();
        assert_eq!(serde_json::from_value::<ModelUsageRecord>(stored).unwrap().last_use, last_use);
        let without = serde_json::to_value(ModelUsageRecord::default()).unwrap();
        assert_eq!(serde_json::from_value::<ModelUsageRecord>(without).unwrap().last_use, None, "none was recorded");
    }

    #[test]
    fn one_record_per_minute_of_an_hour_is_stored() {
        let mut spending = ModelUsageRecord::default();
        for minute in 0..1_000 {
            spending.add(&model_usage(1, 1, 1), minute * MINUTE_MILLIS);
        }
        assert_eq!(spending.minutes.len(), 60, "there must be one entry for each minute of the last hour");
        assert_eq!(spending.usage_in_last_hour(999 * MINUTE_MILLIS).requests, 60, "each entry must count once");
    }

    #[test]
    fn estimated_usage_is_replaced_by_actual_usage() {
        let mut spending = ModelUsageRecord::default();
        spending.add(&model_usage(1, 5_000, 900), 0);
        spending.add(&model_usage(1, 7, 1), 2 * MINUTE_MILLIS);
        spending.replace_estimate(0, &model_usage(1, 5_000, 900), &model_usage(1, 40, 3));
        assert_eq!(
            spending.usage_in_last_hour(2 * MINUTE_MILLIS),
            model_usage(2, 47, 4),
            "the estimate must be replaced by the actual usage"
        );
        assert_eq!(spending.in_all, model_usage(2, 47, 4), "the total must be corrected as well");
        spending.replace_estimate(9 * HOUR_MILLIS, &model_usage(0, 40, 3), &model_usage(0, 50, 4));
        assert_eq!(
            spending.in_all,
            model_usage(2, 57, 5),
            "the total must be corrected even if the minute was dropped"
        );
    }

    #[test]
    fn each_usage_limit_applies_when_it_is_reached() {
        let none = Budget::default();
        let settings = |per_hour, in_all| SamplingSettings { per_hour, in_all, ..SamplingSettings::default() };
        let mut spending = ModelUsageRecord::default();
        spending.add(&model_usage(2, 100, 10), 0);
        let cases = [
            (
                settings(Budget { requests: Some(2), ..none }, none),
                Some((LimitedQuantity::Requests, LimitPeriod::Hour)),
            ),
            (settings(Budget { requests: Some(3), ..none }, none), None),
            (settings(Budget { tokens: Some(100), ..none }, none), Some((LimitedQuantity::Tokens, LimitPeriod::Hour))),
            (settings(Budget { micros: Some(10), ..none }, none), Some((LimitedQuantity::Money, LimitPeriod::Hour))),
            (
                settings(none, Budget { requests: Some(1), ..none }),
                Some((LimitedQuantity::Requests, LimitPeriod::Always)),
            ),
            (settings(none, Budget { tokens: Some(101), ..none }), None),
            (settings(none, none), None),
        ];
        for (settings, expected) in cases {
            let stopped = spending.current_reached_limit(&settings, 0).map(|limit| (limit.of, limit.span));
            assert_eq!(stopped, expected, "[sampling-rate-limit], X26: {settings:?}");
        }
        let settings = settings(Budget { tokens: Some(150), ..none }, Budget { tokens: Some(1_000), ..none });
        assert_eq!(spending.tokens_left(&settings, 0), Some(50), "the smaller of the budgets must apply");
        let too_much =
            |tokens| spending.limit_exceeded_by(&settings, &model_usage(1, tokens, 0), 0).map(|limit| limit.of);
        assert_eq!(too_much(50), None, "all remaining tokens may be used");
        assert_eq!(
            too_much(51),
            Some(LimitedQuantity::Tokens),
            "[sampling-rate-limit], X26: more tokens must exceed the limit"
        );
        let mut looping = ModelUsageRecord::default();
        looping.add(&ModelUsage { rounds: MAX_TOOL_ROUNDS_PER_HOUR, ..ModelUsage::default() }, 0);
        let limit = looping.current_reached_limit(&settings, 0).map(|limit| limit.of);
        assert_eq!(
            limit,
            Some(LimitedQuantity::Rounds),
            "[sampling-iteration-limit]: the number of tool rounds must be limited"
        );
    }
}
