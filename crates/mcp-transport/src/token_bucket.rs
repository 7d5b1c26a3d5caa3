//! A token bucket that limits the rate of events.

use std::time::Instant;

/// Limits the rate of events: allows a burst, and then a constant number of events per second.
#[derive(Debug)]
pub(crate) struct TokenBucket {
    burst: f64,
    per_second: f64,
    tokens: f64,
    filled_at: Option<Instant>,
}

impl TokenBucket {
    pub(crate) fn new(burst: u32, per_second: u32) -> TokenBucket {
        TokenBucket {
            burst: f64::from(burst),
            per_second: f64::from(per_second),
            tokens: f64::from(burst),
            filled_at: None,
        }
    }

    /// Consumes one token. Returns `false` if no token is left, in which case the caller must suppress the event.
    pub(crate) fn take(&mut self, now: Instant) -> bool {
        let passed = self.filled_at.map_or(0.0, |at| now.saturating_duration_since(at).as_secs_f64());
        self.filled_at = Some(now);
        self.tokens = (self.tokens + passed * self.per_second).min(self.burst);
        let taken = self.tokens >= 1.0;
        if taken {
            self.tokens -= 1.0;
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::TokenBucket;

    #[test]
    fn token_bucket_burst_is_followed_by_the_steady_rate() {
        let mut bucket = TokenBucket::new(3, 2);
        let start = Instant::now();
        let at_once = (0..10).filter(|_| bucket.take(start)).count();
        assert_eq!(at_once, 3, "only the burst must be allowed at once");
        let later = start + Duration::from_secs(1);
        let after = (0..10).filter(|_| bucket.take(later)).count();
        assert_eq!(after, 2, "two tokens must be added each second");
    }
}
