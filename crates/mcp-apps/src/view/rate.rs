//! Limits the rate of a page's messages.

use std::time::Instant;

use super::limits::MESSAGE_BYTES_PER_RATE_TOKEN;

/// Token bucket that limits the rate of an app page's messages. One token is one message.
#[derive(Debug)]
pub(super) struct MessageRateLimit {
    per_second: f64,
    burst: f64,
    tokens: f64,
    updated: Instant,
}

impl MessageRateLimit {
    /// Creates a limit of `per_second` messages on average, and of `burst` messages after a pause.
    pub(super) fn new(per_second: u32, burst: u32, now: Instant) -> Self {
        let burst = f64::from(burst);
        Self { per_second: f64::from(per_second), burst, tokens: burst, updated: now }
    }

    /// Consumes the tokens for a message of `bytes` bytes. Returns `false` and consumes nothing if too few are left.
    pub(super) fn try_admit(&mut self, bytes: usize, now: Instant) -> bool {
        let seconds = now.saturating_duration_since(self.updated).as_secs_f64();
        self.updated = self.updated.max(now);
        self.tokens = (self.tokens + seconds * self.per_second).min(self.burst);
        let parts = u32::try_from(bytes / MESSAGE_BYTES_PER_RATE_TOKEN).unwrap_or(u32::MAX);
        let cost = 1.0 + f64::from(parts);
        let is_admitted = cost <= self.tokens;
        if is_admitted {
            self.tokens -= cost;
        }
        is_admitted
    }

    /// Consumes the tokens for the additional cost of a large response to the app page, so that the page can't cause
    /// large responses at a high rate. The balance may become negative, and then delays further messages.
    pub(super) fn charge_for_large_response(&mut self, bytes: usize) {
        self.tokens -= f64::from(u32::try_from(bytes / MESSAGE_BYTES_PER_RATE_TOKEN).unwrap_or(u32::MAX));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::limits::{MAX_PAGE_MESSAGE_BURST, MAX_PAGE_MESSAGE_BYTES, PAGE_MESSAGES_PER_SECOND};
    use super::*;

    fn page_message_rate_limit(start: Instant) -> MessageRateLimit {
        MessageRateLimit::new(PAGE_MESSAGES_PER_SECOND, MAX_PAGE_MESSAGE_BURST, start)
    }

    #[test]
    fn large_responses_delay_further_messages() {
        let start = Instant::now();
        let mut limit = page_message_rate_limit(start);
        limit.charge_for_large_response(
            MESSAGE_BYTES_PER_RATE_TOKEN * (MAX_PAGE_MESSAGE_BURST as usize + PAGE_MESSAGES_PER_SECOND as usize),
        );
        assert!(!limit.try_admit(1, start), "the burst should be used up");
        assert!(!limit.try_admit(1, start + Duration::from_secs(1)), "the response should be paid for first");
        assert!(limit.try_admit(1, start + Duration::from_secs(2)));
    }

    #[test]
    fn message_burst_and_rate_are_limited() {
        let start = Instant::now();
        let mut limit = page_message_rate_limit(start);
        let admitted = |limit: &mut MessageRateLimit, now| (0..1000).filter(|_| limit.try_admit(10, now)).count();
        assert_eq!(admitted(&mut limit, start), MAX_PAGE_MESSAGE_BURST as usize);
        assert_eq!(admitted(&mut limit, start + Duration::from_secs(1)), PAGE_MESSAGES_PER_SECOND as usize);
        assert_eq!(admitted(&mut limit, start), 0, "a clock that goes back adds nothing");
        assert_eq!(admitted(&mut limit, start + Duration::from_secs(3600)), MAX_PAGE_MESSAGE_BURST as usize);
    }

    #[test]
    fn large_messages_cost_more_and_the_largest_is_admitted() {
        let start = Instant::now();
        let mut limit = page_message_rate_limit(start);
        let admitted = (0..1000).filter(|_| limit.try_admit(MAX_PAGE_MESSAGE_BYTES, start)).count();
        assert_eq!(admitted, 3);
    }
}
