//! Delays before an event stream is reopened.

use std::time::Duration;

use super::HttpLimits;

/// Returns a server's `retry` value, raised to [`HttpLimits::MIN_STREAM_REOPEN_DELAY`] or lowered to
/// [`HttpLimits::MAX_STREAM_REOPEN_DELAY`] if it is out of these bounds.
pub(super) fn clamp_stream_retry_delay(requested: Duration) -> Duration {
    requested.clamp(HttpLimits::MIN_STREAM_REOPEN_DELAY, HttpLimits::MAX_STREAM_REOPEN_DELAY)
}

/// Returns the delay before reopening an event stream. `requested` is the server's `retry` value, and `fruitless` the
/// number of consecutive streams that ended without a message.
///
/// The first delay is the `retry` value. Each further one is at least [`HttpLimits::MIN_REPEATED_STREAM_REOPEN_DELAY`]
/// and grows, so that a server with `retry: 0` that ends each stream immediately causes no busy loop.
pub(super) fn stream_reopen_delay(requested: Option<Duration>, base: Duration, fruitless: u32) -> Duration {
    match (requested, fruitless) {
        (Some(requested), 0) => clamp_stream_retry_delay(requested),
        (None, 0) => backoff_delay(base, 0),
        (requested, _) => {
            let requested = requested.map_or(Duration::ZERO, clamp_stream_retry_delay);
            requested.max(backoff_delay(base, fruitless)).max(HttpLimits::MIN_REPEATED_STREAM_REOPEN_DELAY)
        }
    }
}

/// Returns a delay that grows exponentially with `failures`, with jitter, so that the clients of a restarted server do
/// not reconnect at the same time.
fn backoff_delay(base: Duration, failures: u32) -> Duration {
    let longest = base.saturating_mul(2_u32.saturating_pow(failures)).min(HttpLimits::MAX_STREAM_REOPEN_DELAY);
    longest.mul_f64(0.5 + fastrand::f64() / 2.0).max(HttpLimits::MIN_STREAM_REOPEN_DELAY)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE_DELAY: Duration = Duration::from_secs(1);

    #[test]
    fn stream_retry_delay_of_the_server_is_clamped() {
        let after = |millis| stream_reopen_delay(Some(Duration::from_millis(millis)), BASE_DELAY, 0);
        assert_eq!(after(1500), Duration::from_millis(1500), "[http-sse-retry-field] the server's pause must be used");
        assert_eq!(after(0), HttpLimits::MIN_STREAM_REOPEN_DELAY, "a retry of 0 must not make a busy loop");
        assert_eq!(
            after(u64::MAX),
            HttpLimits::MAX_STREAM_REOPEN_DELAY,
            "an endless retry must not end the stream forever"
        );
    }

    #[test]
    fn x52_retry_of_zero_backs_off_to_at_most_once_a_second() {
        let pauses: Vec<Duration> =
            (0..10).map(|fruitless| stream_reopen_delay(Some(Duration::ZERO), BASE_DELAY, fruitless)).collect();
        assert!(
            pauses[1..].iter().all(|pause| *pause >= Duration::from_secs(1)),
            "X52: at most one attempt in a second: {pauses:?}"
        );
        let in_a_minute = pauses.iter().scan(Duration::ZERO, |at, pause| {
            *at += *pause;
            Some(*at)
        });
        let in_a_minute = in_a_minute.take_while(|at| *at <= Duration::from_secs(60)).count();
        assert!(in_a_minute <= 8, "X52: {in_a_minute} attempts in a minute, {pauses:?}");
        assert!(pauses[9] >= HttpLimits::MAX_STREAM_REOPEN_DELAY / 2, "X52: the pause must grow: {pauses:?}");
    }

    #[test]
    fn failures_increase_the_reopen_delay_up_to_a_bound() {
        for failures in 0..40 {
            let pause = stream_reopen_delay(None, BASE_DELAY, failures);
            let longest = Duration::from_secs(2_u64.saturating_pow(failures)).min(HttpLimits::MAX_STREAM_REOPEN_DELAY);
            assert!(pause <= longest, "after {failures} failures {pause:?} is longer than {longest:?}");
            assert!(pause >= longest / 2, "after {failures} failures {pause:?} is less than half of {longest:?}");
        }
    }
}
