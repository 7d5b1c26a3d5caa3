//! Limits how often a server may require more scopes (`basic/authorization`, step-up).

use std::time::{Duration, SystemTime};

/// Maximum number of step-ups for one resource and operation within [`STEP_UP_WINDOW`]. With the first sign-in, the
/// user is prompted at most three times.
pub(crate) const MAX_STEP_UPS_PER_OPERATION: u32 = 2;
/// Time for which a step-up counts. Older step-ups of an operation are ignored.
const STEP_UP_WINDOW: Duration = Duration::from_secs(600);
/// Maximum number of operations whose step-ups are counted.
const MAX_COUNTED_OPERATIONS: usize = 64;

/// For each operation with recent step-ups, their number and the time of the last one. All of them are for the resource
/// of this authorization.
#[derive(Debug, Default)]
pub(crate) struct StepUpCounter(Vec<(String, u32, SystemTime)>);

impl StepUpCounter {
    /// Returns `true` if the limit allows a step-up for this operation.
    pub(crate) fn is_allowed(&mut self, operation: &str, now: SystemTime) -> bool {
        self.0.retain(|(_, _, since)| now.duration_since(*since).is_ok_and(|age| age < STEP_UP_WINDOW));
        match self.0.iter().find(|(known, ..)| known == operation) {
            Some((_, count, _)) => *count < MAX_STEP_UPS_PER_OPERATION,
            None => self.0.len() < MAX_COUNTED_OPERATIONS,
        }
    }

    /// Counts a step-up that has ended with any outcome. Interrupted step-ups are not counted.
    pub(crate) fn record(&mut self, operation: &str, now: SystemTime) {
        match self.0.iter_mut().find(|(known, ..)| known == operation) {
            Some((_, count, _)) => *count += 1,
            None => self.0.push((operation.to_owned(), 1, now)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_step_ups_per_operation_are_allowed() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        let mut step_ups = StepUpCounter::default();
        let mut take = |operation: &str, now| {
            let may = step_ups.is_allowed(operation, now);
            if may {
                step_ups.record(operation, now);
            }
            may
        };
        let taken = (0..10).filter(|_| take("tools/call", now)).count();
        assert_eq!(taken, 2, "[auth-stepup-retry-limit] X51: two of ten must be allowed");
        assert!(take("resources/read", now), "[auth-stepup-track] another operation must have its own limit");
        let others = (0..1000).filter(|number| take(&format!("other/{number}"), now)).count();
        assert_eq!(others, MAX_COUNTED_OPERATIONS - 2, "the number of operations must be limited");
        assert!(take("tools/call", now + STEP_UP_WINDOW), "a step-up must be allowed after ten minutes");
    }
}
