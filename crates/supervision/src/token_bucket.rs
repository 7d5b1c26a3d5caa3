//! A token bucket. As long as tokens are left, taking one costs a subtraction and doesn't read the clock. Used by
//! `usage_counter.rs`, and by the consent requests of a connection.

use std::time::Duration;

use tokio::time::Instant;

/// A token bucket for rate limiting, with a capacity and a refill rate.
#[derive(Debug, Clone)]
pub struct TokenBucket {
    most: i64,
    per_second: f64,
    /// Number of tokens left. Negative after an amount was taken that was larger than the number left.
    left: i64,
    counted_at: Instant,
}

impl TokenBucket {
    /// Creates a full bucket with a capacity of `most` tokens, which is refilled with `per_second` tokens per second.
    pub fn new(most: u64, per_second: f64) -> Self {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        Self { most, per_second, left: most, counted_at: Instant::now() }
    }

    /// Takes `amount` tokens and returns `true` if at least one token is left, even if `amount` is larger than the
    /// number left. Otherwise takes none and returns `false`.
    pub fn try_take(&mut self, amount: u64) -> bool {
        if self.left <= 0 {
            self.refill(Instant::now());
        }
        let may = self.left > 0;
        if may {
            self.left = self.left.saturating_sub(i64::try_from(amount).unwrap_or(i64::MAX));
        }
        may
    }

    /// Takes `amount` tokens, even if none are left. Returns `true` if the bucket contains tokens afterwards.
    pub fn take_or_overdraw(&mut self, amount: u64) -> bool {
        self.left = self.left.saturating_sub(i64::try_from(amount).unwrap_or(i64::MAX));
        if self.left <= 0 {
            self.refill(Instant::now());
        }
        self.left > 0
    }

    /// Returns the time until `amount` tokens are available, or until the bucket is full if that is less.
    pub fn time_until_available(&mut self, amount: u64) -> Duration {
        self.refill(Instant::now());
        let missing = i64::try_from(amount).unwrap_or(i64::MAX).min(self.most).saturating_sub(self.left);
        Duration::try_from_secs_f64(missing.max(0) as f64 / self.per_second).unwrap_or(Duration::MAX)
    }

    /// Returns the number of tokens that were taken and have not been refilled yet.
    pub fn tokens_not_refilled(&mut self) -> u64 {
        self.refill(Instant::now());
        u64::try_from(self.most - self.left).unwrap_or(0)
    }

    fn refill(&mut self, now: Instant) {
        let back = now.duration_since(self.counted_at).as_secs_f64() * self.per_second;
        let left = self.left.saturating_add(back as i64);
        if left >= self.most {
            (self.left, self.counted_at) = (self.most, now);
        } else if back >= 1.0 {
            self.left = left;
            // The remaining fraction of a token counts for the next refill.
            self.counted_at += Duration::from_secs_f64(back.floor() / self.per_second);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn token_bucket_refills_over_time_up_to_its_capacity() {
        let mut allowance = TokenBucket::new(10, 2.0);
        let taken = (0..20).filter(|_| allowance.try_take(1)).count();
        assert_eq!(taken, 10, "the whole capacity must be available at first");
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!((0..20).filter(|_| allowance.try_take(1)).count(), 2, "two tokens per second must be refilled");
        tokio::time::advance(Duration::from_secs(3600)).await;
        assert_eq!(allowance.tokens_not_refilled(), 0, "the bucket must be full again");
        assert_eq!((0..20).filter(|_| allowance.try_take(1)).count(), 10, "the bucket must not exceed its capacity");
    }

    #[tokio::test(start_paused = true)]
    async fn overdrawn_token_bucket_must_refill_first() {
        let mut allowance = TokenBucket::new(10, 2.0);
        assert!(!allowance.take_or_overdraw(30), "no token must be left after an overdraft");
        let wait = allowance.time_until_available(1);
        assert!(
            (10.0..12.0).contains(&wait.as_secs_f64()),
            "the overdraft must be refilled at two tokens per second: {wait:?}"
        );
        tokio::time::advance(wait).await;
        assert!(allowance.try_take(1), "a token must be available after the wait");
    }
}
