//! Counts how much of its limits a run uses, and decides what becomes of the rest. Caller: a connection of `host`.
//!
//! Counting costs a call two additions; what is shown of it is passed on with the rest every 50 ms.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mcp_transport::driver::{Direction, Frame, FrameAbout};
use tokio::time::Instant;

use crate::allowance::Allowance;
use crate::limits::{LimitCounter, Limits, LimitsUse, UsageGauge};

/// A server that is read slower is looked at again after this at the earliest, and at the latest.
const LEAST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// What one run of a server uses.
pub struct Usage {
    limits: Limits,
    /// Where it is shown.
    shown: Arc<Mutex<UsageGauge>>,
    bytes: Allowance,
    notifications: Allowance,
    logs: Allowance,
    slowed: bool,
    slowed_often: u64,
    left_out: u64,
    refused_calls: u64,
    refused_questions: u64,
    largest: u64,
}

impl Usage {
    /// Nothing is used yet.
    pub fn new(limits: &Limits, shown: Arc<Mutex<UsageGauge>>) -> Self {
        let each_second = limits.notifications_per_second;
        let notifications = Allowance::new(2 * u64::from(each_second), f64::from(each_second));
        Self {
            limits: limits.clone(),
            shown,
            bytes: Allowance::new(limits.bytes_per_minute, limits.bytes_per_minute as f64 / 60.0),
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

    /// Counts a message. Whether it is to be kept.
    pub fn frame(&mut self, frame: &Frame) -> bool {
        if frame.direction == Direction::Sent {
            return true;
        }
        let bytes = frame.bytes.len() as u64;
        self.largest = self.largest.max(bytes);
        self.read(bytes);
        let is_kept = !matches!(frame.about, FrameAbout::Notification { .. }) || self.notifications.take(1);
        self.left_out += u64::from(!is_kept);
        is_kept
    }

    /// Counts bytes that were read.
    pub fn read(&mut self, bytes: u64) {
        if !self.bytes.spend(bytes) && !self.slowed {
            self.slowed = true;
            self.slowed_often += 1;
        }
    }

    /// Whether a log message is to be kept.
    pub fn log(&mut self) -> bool {
        let is_kept = self.logs.take(1);
        self.left_out += u64::from(!is_kept);
        is_kept
    }

    /// Whether it has used up what is read of it for now.
    pub const fn is_slowed(&self) -> bool {
        self.slowed
    }

    /// How long it is read no further, if it is slowed down; otherwise it is not any more.
    pub fn pause(&mut self) -> Option<Duration> {
        // What comes in a second at once, and not byte by byte.
        let a_second = self.limits.bytes_per_minute / 60;
        let wait = self.slowed.then(|| self.bytes.wait(a_second)).filter(|wait| !wait.is_zero());
        self.slowed = wait.is_some();
        wait.map(|wait| wait.clamp(LEAST_PAUSE, LONGEST_PAUSE))
    }

    /// What became too much, in words for its activity, if it is time to say so again: the more often, the rarer.
    pub fn told_of_pause(&self) -> Option<String> {
        let (often, bytes) = (self.slowed_often, self.limits.bytes_per_minute);
        (self.slowed && often.is_power_of_two()).then(|| {
            format!("it sent more than {bytes} bytes in a minute and is read slower now ({often} times so far)")
        })
    }

    /// The same of notifications.
    pub fn told_of_left_out(&self) -> Option<String> {
        let (left_out, most) = (self.left_out, self.limits.notifications_per_second);
        left_out.is_power_of_two().then(|| {
            format!("more than {most} notifications came in a second: {left_out} entries are left out here so far")
        })
    }

    /// A call was not sent since too many are under way.
    pub const fn refused_call(&mut self) {
        self.refused_calls += 1;
    }

    /// A question was refused unseen.
    pub const fn refused_question(&mut self) {
        self.refused_questions += 1;
    }

    /// Shows it.
    pub fn show(&mut self, calls: usize, questions: usize, kept: usize, dropped: u64) {
        let limits = &self.limits;
        let counter = |now, most, beyond| LimitCounter { now, most, beyond };
        let a_second = u64::from(limits.notifications_per_second);
        let used = LimitsUse {
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
