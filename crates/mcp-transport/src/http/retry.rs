//! How long to wait before a stream is opened again.

use std::time::Duration;

use super::HttpLimits;

/// What the server wants, within bounds.
pub(super) fn clamped(wanted: Duration) -> Duration {
    wanted.clamp(HttpLimits::SHORTEST_PAUSE, HttpLimits::LONGEST_PAUSE)
}

/// The pause after so many failures in a row. Without failures, what the server wants is kept to exactly.
pub(super) fn pause(wanted: Option<Duration>, base: Duration, failures: u32) -> Duration {
    match wanted {
        Some(wanted) if failures == 0 => clamped(wanted),
        Some(wanted) => clamped(wanted).max(backoff(base, failures)),
        None => backoff(base, failures),
    }
}

/// Doubles with each failure. Jittered, so that the clients of a server that comes back do not all come at once.
fn backoff(base: Duration, failures: u32) -> Duration {
    let longest = base.saturating_mul(2_u32.saturating_pow(failures)).min(HttpLimits::LONGEST_PAUSE);
    longest.mul_f64(0.5 + fastrand::f64() / 2.0).max(HttpLimits::SHORTEST_PAUSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: Duration = Duration::from_secs(1);

    #[test]
    fn what_the_server_wants_is_kept_to_within_bounds() {
        let after = |millis| pause(Some(Duration::from_millis(millis)), BASE, 0);
        assert_eq!(after(1500), Duration::from_millis(1500), "[http-sse-retry-field] the named time is waited");
        assert_eq!(after(0), HttpLimits::SHORTEST_PAUSE, "a retry of 0 must not make a busy loop");
        assert_eq!(after(u64::MAX), HttpLimits::LONGEST_PAUSE, "an endless retry must not end the stream for ever");
    }

    #[test]
    fn failures_make_it_wait_longer_up_to_a_bound() {
        for failures in 0..40 {
            let pause = pause(None, BASE, failures);
            let longest = Duration::from_secs(2_u64.saturating_pow(failures)).min(HttpLimits::LONGEST_PAUSE);
            assert!(pause <= longest, "after {failures} failures {pause:?} is longer than {longest:?}");
            assert!(pause >= longest / 2, "after {failures} failures {pause:?} is less than half of {longest:?}");
        }
    }
}
