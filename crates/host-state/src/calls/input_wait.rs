//! Time during which calls wait for input that their server requested.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Total time during which a call waited for input that its server requested, such as a filled-in form. Shared by the
/// record of the call and its caller.
#[derive(Debug, Clone, Default)]
pub struct InputWait(Arc<Mutex<InputWaitRecord>>);

#[derive(Debug, Clone, Copy, Default)]
struct InputWaitRecord {
    /// Total time of the waits that have ended.
    ended: Duration,
    /// Start of the current wait, or `None` if the call is not waiting.
    since: Option<Instant>,
}

impl InputWait {
    /// Returns the total time so far, including the current wait.
    pub fn total(&self) -> Duration {
        let waited = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waited.ended + waited.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Begins or ends a wait.
    pub(super) fn set_waiting(&self, is_waiting: bool) {
        let mut waited = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match (is_waiting, waited.since) {
            (true, None) => waited.since = Some(Instant::now()),
            (false, Some(since)) => *waited = InputWaitRecord { ended: waited.ended + since.elapsed(), since: None },
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn waits_are_added_up_including_the_current_one() {
        const WAIT: Duration = Duration::from_secs(10);
        let own = InputWait::default();
        let shared = own.clone();
        for _ in 0..2 {
            own.set_waiting(true);
            advance(WAIT / 2).await;
            own.set_waiting(true);
            advance(WAIT / 2).await;
            own.set_waiting(false);
            advance(WAIT).await;
        }
        assert_eq!(shared.total(), 2 * WAIT, "only waits count, and a second form doesn't restart one");
        own.set_waiting(true);
        advance(WAIT).await;
        assert_eq!(shared.total(), 3 * WAIT, "the current wait counts");
    }
}
