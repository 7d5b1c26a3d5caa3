//! Counts a run's usage against its limits, and decides what happens beyond them. Used by the connections of `host`.
//!
//! Counting costs a call two additions; the displayed usage is updated together with other state every 50 ms.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mcp_transport::driver::{Direction, Frame, FrameKind};
use tokio::time::Instant;

use crate::limits::{LimitCounter, LimitsUsage, ServerLimits, UsageGauge};
use crate::token_bucket::TokenBucket;

/// Minimum and maximum interval after which a slowed-down server is checked again.
const MIN_PAUSE: Duration = Duration::from_millis(250);
const MAX_PAUSE: Duration = Duration::from_secs(5);

/// The usage of one run of a server.
pub struct UsageCounter {
    limits: ServerLimits,
    /// Gauge that displays the usage.
    shown: Arc<Mutex<UsageGauge>>,
    bytes: TokenBucket,
    notifications: TokenBucket,
    logs: TokenBucket,
    slowed: bool,
    slowed_often: u64,
    left_out: u64,
    refused_calls: u64,
    refused_questions: u64,
    largest: u64,
}

impl UsageCounter {
    /// Creates the counters of a run with no usage.
    pub fn new(limits: &ServerLimits, shown: Arc<Mutex<UsageGauge>>) -> Self {
        let each_second = limits.notifications_per_second;
        let notifications = TokenBucket::new(2 * u64::from(each_second), f64::from(each_second));
        Self {
            limits: limits.clone(),
            shown,
            bytes: TokenBucket::new(limits.bytes_per_minute, limits.bytes_per_minute as f64 / 60.0),
            logs: notifications.clone(),
            notifications,
            slowed: false,
            slowed_often: 0,
            left_out: 0,
            refused_calls: 0,
            refused_questions: 0,
            largest: 0,
        }
    }

    /// Counts a message, and returns true if it should be recorded.
    pub fn count_frame(&mut self, frame: &Frame) -> bool {
        if frame.direction == Direction::Sent {
            return true;
        }
        let bytes = frame.bytes.len() as u64;
        self.largest = self.largest.max(bytes);
        self.count_read(bytes);
        let is_kept = !matches!(frame.about, FrameKind::Notification { .. }) || self.notifications.try_take(1);
        self.left_out += u64::from(!is_kept);
        is_kept
    }

    /// Counts bytes that were read.
    pub fn count_read(&mut self, bytes: u64) {
        if !self.bytes.take_or_overdraw(bytes) && !self.slowed {
            self.slowed = true;
            self.slowed_often += 1;
        }
    }

    /// Counts a log message, and returns true if it should be recorded.
    pub fn count_log(&mut self) -> bool {
        let is_kept = self.logs.try_take(1);
        self.left_out += u64::from(!is_kept);
        is_kept
    }

    /// Returns true if the server has used up its allowance of bytes for now.
    pub const fn is_slowed(&self) -> bool {
        self.slowed
    }

    /// Returns the time for which to stop reading, or `None` if the server is not or no longer slowed down.
    pub fn read_pause(&mut self) -> Option<Duration> {
        // Waits for one second's worth of bytes, so that reading doesn't resume byte by byte.
        let a_second = self.limits.bytes_per_minute / 60;
        let wait = self.slowed.then(|| self.bytes.time_until_available(a_second)).filter(|wait| !wait.is_zero());
        self.slowed = wait.is_some();
        wait.map(|wait| wait.clamp(MIN_PAUSE, MAX_PAUSE))
    }

    /// Returns a message for the activity log about slowed-down reading, if one is due. Messages become rarer the
    /// more often it happens.
    pub fn pause_notice(&self) -> Option<String> {
        let (often, bytes) = (self.slowed_often, self.limits.bytes_per_minute);
        (self.slowed && often.is_power_of_two()).then(|| {
            format!("it sent more than {bytes} bytes in a minute and is read slower now ({often} times so far)")
        })
    }

    /// Returns a message for the activity log about omitted notifications, if one is due.
    pub fn omission_notice(&self) -> Option<String> {
        let (left_out, most) = (self.left_out, self.limits.notifications_per_second);
        left_out.is_power_of_two().then(|| {
            format!("more than {most} notifications came in a second: {left_out} entries are left out here so far")
        })
    }

    /// Counts a call that was refused because too many are in progress.
    pub const fn count_refused_call(&mut self) {
        self.refused_calls += 1;
    }

    /// Counts a consent request that was refused without being shown.
    pub const fn count_refused_request(&mut self) {
        self.refused_questions += 1;
    }

    /// Updates the displayed usage.
    pub fn update_gauge(&mut self, calls: usize, questions: usize, kept: usize, dropped: u64) {
        let limits = &self.limits;
        let counter = |now, most, beyond| LimitCounter { now, most, beyond };
        let a_second = u64::from(limits.notifications_per_second);
        let used = LimitsUsage {
            calls: counter(calls as u64, limits.calls.into(), self.refused_calls),
            questions: counter(questions as u64, limits.questions.into(), self.refused_questions),
            notifications: counter(self.notifications.used().min(a_second), a_second, self.left_out),
            bytes: counter(self.bytes.used(), limits.bytes_per_minute, self.slowed_often),
            message: counter(self.largest, limits.message_bytes, 0),
            kept: counter(kept as u64, limits.kept_bytes, dropped.saturating_sub(self.left_out)),
            is_slowed: self.slowed,
            resources: None,
        };
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).counted = Some((Instant::now(), used));
    }
}
