//! Measures a policy decision about a call, by the number of rules and by the number of pinned tools. The largest sizes
//! are the limits of the app.

use std::hint::black_box;

use bench::drawbridge::Outcome;
use bench::rules;
use offers::review::{DefinitionKind, MAX_PINNED_DEFINITIONS, ServerPins};
use policy::{Hash, RuleSet};
use serde_json::json;

use crate::{median_seconds, print_measured_point};

/// Number of decisions whose total time is measured at once.
const BATCH_SIZE: u32 = 10_000;
const TIMED_BATCHES: usize = 7;

pub(crate) fn measure_decisions_by_rule_count() -> Outcome<()> {
    for size in [10, 100, RuleSet::MAX_RULES] {
        let decision = rules::MeasuredDecision::with_rule_count(size)?;
        let taken = median_seconds(TIMED_BATCHES, || {
            for now in 0..BATCH_SIZE {
                black_box(decision.decide(u64::from(now)));
            }
            Ok(())
        })?;
        print_measured_point("rules", size, taken / f64::from(BATCH_SIZE))?;
    }
    Ok(())
}

pub(crate) fn measure_reviews_by_pin_count() -> Outcome<()> {
    let identity = Hash::of_json(&json!("identity"));
    for size in [10, 1_000, MAX_PINNED_DEFINITIONS] {
        let mut pins = ServerPins::default();
        for tool in 0..size {
            let name = format!("tool-{tool}");
            pins.pin(
                DefinitionKind::Tool,
                &name,
                &json!({"name": name, "inputSchema": {"type": "object"}}),
                Some(&identity),
                0,
            );
        }
        let name = format!("tool-{}", size / 2);
        let hash = Hash::of_json(&json!({"name": name, "inputSchema": {"type": "object"}}));
        let taken = median_seconds(TIMED_BATCHES, || {
            for _ in 0..BATCH_SIZE {
                black_box(pins.review_state(DefinitionKind::Tool, black_box(&name), &hash, Some(&identity)));
            }
            Ok(())
        })?;
        print_measured_point("pins", size, taken / f64::from(BATCH_SIZE))?;
    }
    Ok(())
}
