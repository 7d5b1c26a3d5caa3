//! How often more scopes were asked for, so that a server cannot ask for ever (`basic/authorization`, step-up).

use std::time::{Duration, SystemTime};

/// The most step-ups for one resource and operation within [`MEMORY`]; with the first sign-in, a user is asked three times.
pub(crate) const MOST: u32 = 2;
/// How long they count.
const MEMORY: Duration = Duration::from_secs(600);
/// The most operations that are remembered.
const OPERATIONS: usize = 64;

/// Step-ups, by operation; the resource is that of the authorization that this belongs to.
#[derive(Debug, Default)]
pub(crate) struct StepUps(Vec<(String, u32, SystemTime)>);

impl StepUps {
    /// Counts one more; false if there were too many.
    pub(crate) fn take(&mut self, operation: &str, now: SystemTime) -> bool {
        self.0.retain(|(_, _, since)| now.duration_since(*since).is_ok_and(|age| age < MEMORY));
        if let Some((_, count, _)) = self.0.iter_mut().find(|(known, ..)| known == operation) {
            *count += 1;
            return *count <= MOST;
        }
        if self.0.len() >= OPERATIONS {
            return false;
        }
        self.0.push((operation.to_owned(), 1, now));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_for_an_operation_and_no_more() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        let mut step_ups = StepUps::default();
        let taken = (0..10).filter(|_| step_ups.take("tools/call", now)).count();
        assert_eq!(taken, 2, "[auth-stepup-retry-limit] X51: two of ten");
        assert!(step_ups.take("resources/read", now), "[auth-stepup-track] another operation has its own count");
        assert!(step_ups.take("tools/call", now + MEMORY), "ten minutes later it may be tried again");
    }
}
