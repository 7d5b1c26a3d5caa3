//! Counts what a server uses of its limits from its start to its end, and decides about messages beyond them. Used by
//! the connections of `host`.
//!
//! Counting costs a call two additions. The displayed usage is updated together with other state, every 50 ms.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mcp_transport::driver::{Frame, FrameDirection, FrameKind};
use tokio::time::Instant;

use crate::limits::{LatestServerUsage, LimitCounter, LimitsUsage, ServerLimits};
use crate::token_bucket::TokenBucket;

/// Minimum time for which reading from a slowed-down server stops.
const MIN_READ_PAUSE: Duration = Duration::from_millis(250);
/// Maximum time for which reading from a slowed-down server stops.
const MAX_READ_PAUSE: Duration = Duration::from_secs(5);

/// Counts the usage of a server since its start against its limits.
pub struct UsageCounter {
    limits: ServerLimits,
    /// Current usage of the server, for display in Drawbridge's page.
    shown: Arc<Mutex<LatestServerUsage>>,
    bytes: TokenBucket,
    notifications: TokenBucket,
    logs: TokenBucket,
    slowed: bool,
    slowdown_count: u64,
    omitted: u64,
    refused_calls: u64,
    refused_requests: u64,
    largest: u64,
}

impl UsageCounter {
    /// Creates the counters for a server that has just started, with no usage.
    pub fn new(limits: &ServerLimits, shown: Arc<Mutex<LatestServerUsage>>) -> Self {
        let each_second = limits.notifications_per_second;
        let notifications = TokenBucket::new(2 * u64::from(each_second), f64::from(each_second));
        Self {
            limits: limits.clone(),
            shown,
            bytes: TokenBucket::new(limits.bytes_per_minute, limits.bytes_per_minute as f64 / 60.0),
            logs: notifications.clone(),
            notifications,
            slowed: false,
            slowdown_count: 0,
            omitted: 0,
            refused_calls: 0,
            refused_requests: 0,
            largest: 0,
        }
    }

    /// Counts a protocol message that was sent or received. Returns `true` if the message should be recorded in the
    /// activity log.
    pub fn count_frame(&mut self, frame: &Frame) -> bool {
        if frame.direction == FrameDirection::Sent {
            return true;
        }
        let bytes = frame.bytes.len() as u64;
        self.largest = self.largest.max(bytes);
        self.count_read_bytes(bytes);
        let is_recorded = !matches!(frame.about, FrameKind::Notification { .. }) || self.notifications.try_take(1);
        self.omitted += u64::from(!is_recorded);
        is_recorded
    }

    /// Counts bytes that were read from the server.
    pub fn count_read_bytes(&mut self, bytes: u64) {
        if !self.bytes.take_or_overdraw(bytes) && !self.slowed {
            self.slowed = true;
            self.slowdown_count += 1;
        }
    }

    /// Counts a log message. Returns `true` if it should be recorded in the activity log.
    pub fn count_log_message(&mut self) -> bool {
        let is_recorded = self.logs.try_take(1);
        self.omitted += u64::from(!is_recorded);
        is_recorded
    }

    /// Returns `true` if the server has exceeded its limit of bytes per minute.
    pub const fn must_slow_reading(&self) -> bool {
        self.slowed
    }

    /// Returns the time for which the caller must stop reading from the server, or `None` if the server need not be
    /// slowed down any more.
    pub fn pause_before_next_read(&mut self) -> Option<Duration> {
        // Waits until a second's worth of bytes may be read, so that reading doesn't resume with a few bytes.
        let a_second = self.limits.bytes_per_minute / 60;
        let wait = self.slowed.then(|| self.bytes.time_until_available(a_second)).filter(|wait| !wait.is_zero());
        self.slowed = wait.is_some();
        wait.map(|wait| wait.clamp(MIN_READ_PAUSE, MAX_READ_PAUSE))
    }

    /// Returns a message for the activity log that says that reading from the server is slowed down. Returns `None` if
    /// reading is not slowed down, or if the number of slowdowns so far is not a power of two.
    pub fn read_pause_notice(&self) -> Option<String> {
        let (often, bytes) = (self.slowdown_count, self.limits.bytes_per_minute);
        (self.slowed && often.is_power_of_two()).then(|| {
            format!("it sent more than {bytes} bytes in a minute and is read slower now ({often} times so far)")
        })
    }

    /// Returns a message for the activity log that says that notifications were omitted from the log. Returns `None`
    /// unless the number of omissions so far is a power of two.
    pub fn log_omission_notice(&self) -> Option<String> {
        let (omitted, most) = (self.omitted, self.limits.notifications_per_second);
        omitted.is_power_of_two().then(|| {
            format!("more than {most} notifications were received within a second: {omitted} entries are omitted here so far")
        })
    }

    /// Counts a call that was refused because too many are in progress.
    pub const fn count_refused_call(&mut self) {
        self.refused_calls += 1;
    }

    /// Counts a consent request that was refused without being shown.
    pub const fn count_refused_consent_request(&mut self) {
        self.refused_requests += 1;
    }

    /// Updates the displayed usage. `calls` and `consent_requests` are the numbers of pending ones, `retained` is the
    /// size of the activity log in bytes, and `dropped` is the number of entries that are missing in it.
    pub fn update_displayed_usage(&mut self, calls: usize, consent_requests: usize, retained: usize, dropped: u64) {
        let limits = &self.limits;
        let counter = |current, limit, excess| LimitCounter { current, limit, excess };
        let a_second = u64::from(limits.notifications_per_second);
        let used = LimitsUsage {
            calls: counter(calls as u64, limits.calls.into(), self.refused_calls),
            consent_requests: counter(consent_requests as u64, limits.consent_requests.into(), self.refused_requests),
            notifications: counter(self.notifications.tokens_not_refilled().min(a_second), a_second, self.omitted),
            read_bytes: counter(self.bytes.tokens_not_refilled(), limits.bytes_per_minute, self.slowdown_count),
            largest_message: counter(self.largest, limits.message_bytes, 0),
            activity_log: counter(retained as u64, limits.activity_log_bytes, dropped.saturating_sub(self.omitted)),
            is_slowed: self.slowed,
            resources: None,
        };
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).counted = Some((Instant::now(), used));
    }
}
