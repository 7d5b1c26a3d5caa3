//! The limits of one server. Above them it is slowed down or refused, with the cause in its activity, and no other server notices. Callers:
//! `host`, which applies them, and the settings.
//!
//! Calls, consent requests and messages beyond a limit are refused. Notifications are left out of the activity and counted. Bytes slow the
//! server down: its connection has no room, so its own pipe fills. A sandboxed server with more processes, memory, processor time or files
//! in its home is stopped. A change of the settings holds from the server's next start. Counting costs a call a few additions and no look
//! at a clock.

use process::sandbox::{Meter, Resource, ResourceLimits};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::activity::MAX_BYTES;

/// The most questions of one server that wait for the user at a time; more are refused.
pub const MAX_QUESTIONS: usize = 10;

const MIB: u64 = 1024 * 1024;
const GIB: u64 = 1024 * MIB;

/// What each server gets. The user's settings have it under `limits`; what is out of bounds there counts as the nearest that is in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(default, rename_all = "camelCase")]
pub struct Limits {
    /// Calls at the same time; more are refused. 256.
    pub calls: u32,
    /// Questions that wait for the user at the same time; more are refused. 10.
    pub questions: u32,
    /// Questions in a minute, those of ten seconds at once; more are refused. 180.
    pub questions_per_minute: u32,
    /// Notifications that are kept in the activity each second, twice as many at once; more are left out and counted. What they
    /// tell of (progress, changed lists) is gathered and never lost. 1,000.
    pub notifications_per_second: u32,
    /// Bytes in a minute that are read from it, all of them at once if it likes; then it is read slower. 1 GiB.
    pub bytes_per_minute: u64,
    /// The largest message, in bytes; what waits for a larger one fails. 16 MiB.
    pub message_bytes: u64,
    /// Bytes of its messages that are kept to be looked at; the oldest go first. 8 MiB.
    pub kept_bytes: u64,
    /// Processes and threads of a server in a sandbox; one that runs more is stopped. 512.
    pub processes: u32,
    /// Memory of a server in a sandbox, in bytes; one that uses more is stopped. 4 GiB.
    pub memory_bytes: u64,
    /// What the home of a server in a sandbox holds, in bytes; one that keeps more is stopped. 2 GiB.
    pub home_bytes: u64,
    /// Processor time of a server in a sandbox within an hour, in seconds; one that uses more is stopped. 30 minutes.
    pub processor_seconds: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            calls: 256,
            questions: MAX_QUESTIONS as u32,
            questions_per_minute: 180,
            notifications_per_second: 1_000,
            bytes_per_minute: 1024 * MIB,
            message_bytes: 16 * MIB,
            kept_bytes: MAX_BYTES as u64,
            processes: ResourceLimits::DEFAULT.processes,
            memory_bytes: ResourceLimits::DEFAULT.memory_bytes,
            home_bytes: ResourceLimits::DEFAULT.home_bytes,
            processor_seconds: ResourceLimits::DEFAULT.processor_seconds,
        }
    }
}

impl Limits {
    /// The least that each can be set to: with less, nothing works.
    pub const LEAST: Self = Self {
        calls: 1,
        questions: 1,
        questions_per_minute: 2,
        notifications_per_second: 1,
        bytes_per_minute: 16 * MIB,
        message_bytes: 64 * 1024,
        kept_bytes: 64 * 1024,
        processes: 8,
        memory_bytes: 64 * MIB,
        home_bytes: MIB,
        processor_seconds: 5,
    };

    /// The most that each can be set to: with more, one server could be everybody's problem.
    pub const MOST: Self = Self {
        calls: 1_000,
        questions: 50,
        questions_per_minute: 6_000,
        notifications_per_second: 10_000,
        bytes_per_minute: 64 * 1024 * MIB,
        message_bytes: 64 * MIB,
        kept_bytes: 64 * MIB,
        processes: 100_000,
        memory_bytes: 1024 * GIB,
        home_bytes: 1024 * GIB,
        processor_seconds: 1_000_000,
    };

    /// The same within the bounds.
    #[must_use]
    pub fn within_bounds(&self) -> Self {
        let (least, most) = (Self::LEAST, Self::MOST);
        Self {
            calls: self.calls.clamp(least.calls, most.calls),
            questions: self.questions.clamp(least.questions, most.questions),
            questions_per_minute: self
                .questions_per_minute
                .clamp(least.questions_per_minute, most.questions_per_minute),
            notifications_per_second: self
                .notifications_per_second
                .clamp(least.notifications_per_second, most.notifications_per_second),
            bytes_per_minute: self.bytes_per_minute.clamp(least.bytes_per_minute, most.bytes_per_minute),
            message_bytes: self.message_bytes.clamp(least.message_bytes, most.message_bytes),
            kept_bytes: self.kept_bytes.clamp(least.kept_bytes, most.kept_bytes),
            processes: self.processes.clamp(least.processes, most.processes),
            memory_bytes: self.memory_bytes.clamp(least.memory_bytes, most.memory_bytes),
            home_bytes: self.home_bytes.clamp(least.home_bytes, most.home_bytes),
            processor_seconds: self.processor_seconds.clamp(least.processor_seconds, most.processor_seconds),
        }
    }

    /// Those that a server in a sandbox is stopped for.
    #[must_use]
    pub fn resources(&self) -> ResourceLimits {
        let Self { processes, memory_bytes, home_bytes, processor_seconds, .. } = self.within_bounds();
        ResourceLimits { processes, memory_bytes, home_bytes, processor_seconds }
    }
}

/// The last count of what a running server used, and the meter of the rest.
#[derive(Debug, Clone, Default)]
pub struct UsageGauge {
    /// The last count, and when it was made.
    pub counted: Option<(Instant, LimitsUse)>,
    /// Measures the resources of a server in a sandbox.
    pub meter: Option<Meter>,
}

impl UsageGauge {
    /// How much it uses now.
    pub fn now(&self, limits: &Limits) -> LimitsUse {
        let used =
            self.counted.map_or_else(|| LimitsUse::none(limits), |(at, used)| used.after(at.elapsed().as_secs_f64()));
        LimitsUse { resources: self.meter.as_ref().map(ResourcesUse::of), ..used }
    }
}

/// How much of it one server uses, since it was started last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct LimitsUse {
    /// Calls under way.
    pub calls: LimitCounter,
    /// Questions that wait for the user.
    pub questions: LimitCounter,
    /// Notifications of the last second.
    pub notifications: LimitCounter,
    /// Bytes of the last minute.
    pub bytes: LimitCounter,
    /// The largest message so far, in bytes.
    pub message: LimitCounter,
    /// Bytes that are kept of its messages.
    pub kept: LimitCounter,
    /// Whether it is read slower at the moment.
    #[serde(rename = "slowed")]
    pub is_slowed: bool,
    /// ResourcesUse that a sandboxed server uses; `None` for other servers.
    pub resources: Option<ResourcesUse>,
}

impl LimitsUse {
    /// What is left of it later, when nothing came meanwhile.
    #[must_use]
    pub fn after(mut self, seconds: f64) -> Self {
        let back = |counter: &LimitCounter, span: f64| {
            counter.now.saturating_sub((counter.most as f64 * seconds / span) as u64)
        };
        self.notifications.now = back(&self.notifications, 1.0);
        self.bytes.now = back(&self.bytes, 60.0);
        self
    }

    /// Of a server that was not started yet.
    #[must_use]
    pub fn none(limits: &Limits) -> Self {
        let counter = |most| LimitCounter { now: 0, most, beyond: 0 };
        Self {
            calls: counter(limits.calls.into()),
            questions: counter(limits.questions.into()),
            notifications: counter(limits.notifications_per_second.into()),
            bytes: counter(limits.bytes_per_minute),
            message: counter(limits.message_bytes),
            kept: counter(limits.kept_bytes),
            is_slowed: false,
            resources: None,
        }
    }
}

/// ResourcesUse that a sandboxed server uses. `beyond` is 1 for the limit that stopped it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ResourcesUse {
    /// Processes and threads.
    pub processes: LimitCounter,
    /// Memory in bytes.
    pub memory: LimitCounter,
    /// Bytes in its own home.
    pub home: LimitCounter,
    /// Seconds of processor time within the last hour.
    pub processor: LimitCounter,
}

impl ResourcesUse {
    fn of(meter: &Meter) -> Self {
        let (used, limits, exceeded) = (meter.used(), meter.limits(), meter.exceeded());
        let counter = |resource, now, most| {
            let is_beyond = exceeded.is_some_and(|exceeded| exceeded.resource == resource);
            LimitCounter { now, most, beyond: u64::from(is_beyond) }
        };
        Self {
            processes: counter(Resource::Processes, used.processes, limits.processes.into()),
            memory: counter(Resource::Memory, used.memory_bytes, limits.memory_bytes),
            home: counter(Resource::Home, used.home_bytes, limits.home_bytes),
            processor: counter(Resource::Processor, used.processor_seconds, limits.processor_seconds.into()),
        }
    }
}

/// One limit, and how near a server is to it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LimitCounter {
    /// How much there is now.
    pub now: u64,
    /// The limit.
    pub most: u64,
    /// How often, or how much, was beyond it: refused, left out, slowed down.
    pub beyond: u64,
}
