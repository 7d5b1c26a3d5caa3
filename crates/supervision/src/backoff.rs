//! Delays before a server that has ended is started again. The delays grow exponentially and are randomized, and the
//! number of attempts is limited. Used by the owner in `host`.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

/// Minimum delay before an attempt to restart a server.
const MIN_RESTART_DELAY: Duration = Duration::from_millis(500);
/// Maximum delay before an attempt to restart a server.
const MAX_RESTART_DELAY: Duration = Duration::from_secs(60);
/// Maximum number of restart attempts within [`RESTART_ATTEMPT_WINDOW`]. After that, the user has to start the server.
const MAX_RESTART_ATTEMPTS: usize = 5;
const RESTART_ATTEMPT_WINDOW: Duration = Duration::from_secs(5 * 60);
/// Time for which a server must have run so that the delays start from the minimum again.
const BACKOFF_RESET_RUN_TIME: Duration = Duration::from_secs(60);

/// Schedules the attempts to restart one server.
#[derive(Debug, Clone, Default)]
pub struct RestartBackoff {
    /// Number of attempts since the server last ran for [`BACKOFF_RESET_RUN_TIME`].
    attempt: u32,
    attempt_times: VecDeque<Instant>,
}

impl RestartBackoff {
    /// Returns the number of the next restart attempt, from 1, and the delay before it. Returns `None` if there were
    /// too many attempts.
    ///
    /// `random` is a random number from 0 to 1, which selects a delay between the minimum and the present maximum (full
    /// jitter). That maximum doubles with each attempt.
    pub fn next_attempt(&mut self, now: Instant, random: f64) -> Option<(u32, Duration)> {
        while self.attempt_times.front().is_some_and(|at| now.saturating_duration_since(*at) >= RESTART_ATTEMPT_WINDOW)
        {
            self.attempt_times.pop_front();
        }
        if self.attempt_times.len() >= MAX_RESTART_ATTEMPTS {
            return None;
        }
        self.attempt_times.push_back(now);
        self.attempt += 1;
        let most = (MIN_RESTART_DELAY * 2_u32.saturating_pow(self.attempt.min(16))).min(MAX_RESTART_DELAY);
        let pause = MIN_RESTART_DELAY + (most - MIN_RESTART_DELAY).mul_f64(random.clamp(0.0, 1.0));
        Some((self.attempt, pause))
    }

    /// Makes the delays start from the minimum again if the server has run (`lasted`) for at least
    /// 60 seconds.
    pub fn reset_after_run(&mut self, lasted: Duration) {
        if lasted >= BACKOFF_RESET_RUN_TIME {
            self.attempt = 0;
        }
    }

    /// Returns `true` if a restart was attempted and the server has not run for 60 seconds since then.
    pub const fn has_recent_restart(&self) -> bool {
        self.attempt > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn restart_delays_grow_to_a_maximum_and_attempts_end() {
        let (start, mut backoff) = (Instant::now(), RestartBackoff::default());
        let pauses: Vec<_> =
            (0..6).map(|_| backoff.next_attempt(start, 1.0).map(|(_, pause)| pause.as_secs_f64())).collect();
        let expected = [Some(1.0), Some(2.0), Some(4.0), Some(8.0), Some(16.0), None];
        assert_eq!(
            pauses, expected,
            "the maximum delay must double, and the sixth attempt within the window must be refused"
        );
        let later = start + RESTART_ATTEMPT_WINDOW;
        assert_eq!(
            backoff.next_attempt(later, 1.0).map(|(n, _)| n),
            Some(6),
            "attempts must be possible again after the window"
        );
        backoff.reset_after_run(BACKOFF_RESET_RUN_TIME);
        assert_eq!(
            backoff.next_attempt(later, 1.0).map(|(n, _)| n),
            Some(1),
            "the count must start again after a long run"
        );
    }

    #[test]
    fn restart_delays_are_within_bounds() {
        let (start, mut backoff) = (Instant::now(), RestartBackoff::default());
        for minute in 0..30 {
            let now = start + RESTART_ATTEMPT_WINDOW * minute;
            let random = f64::from(minute % 2);
            let (_, pause) = backoff.next_attempt(now, random).expect("one attempt in five minutes is always made");
            assert!(
                (MIN_RESTART_DELAY..=MAX_RESTART_DELAY).contains(&pause),
                "the delay of attempt {minute} is out of bounds: {pause:?}"
            );
        }
    }
}
