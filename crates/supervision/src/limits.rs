//! The limits of one server. A server that exceeds a limit is slowed down or its messages are refused. The cause is
//! recorded in its activity log, and other servers are not affected. Used by `host`, which enforces the limits, and by
//! the settings.
//!
//! Calls, consent requests and messages beyond a limit are refused. Excess notifications are omitted from the activity
//! log and counted. Excess bytes slow the server down: its connection stops reading, so the server's pipe fills. A
//! sandboxed server that exceeds the limit of processes, memory, processor time or home size is stopped. Changed
//! settings apply from the server's next start. Counting costs a call a few additions and doesn't read the clock.

use process::sandbox::{LimitedResource, ResourceLimits, ResourceMeter};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::activity::DEFAULT_MAX_ACTIVITY_BYTES;

/// Default maximum number of pending consent requests of one server. Further ones are refused.
pub const DEFAULT_MAX_CONSENT_REQUESTS: usize = 10;

const MIB: u64 = 1024 * 1024;
const GIB: u64 = 1024 * MIB;

/// The limits of a server, stored in the user's settings under `limits`. Values out of range are clamped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(default, rename_all = "camelCase")]
pub struct ServerLimits {
    /// Maximum number of concurrent calls; further ones are refused. Default: 256.
    pub calls: u32,
    /// Maximum number of pending consent requests; further ones are refused. Default: 10.
    #[serde(rename = "questions")]
    pub consent_requests: u32,
    /// Maximum rate of consent requests per minute, with a burst of as many as in ten seconds; further ones are
    /// refused. Default: 180.
    #[serde(rename = "questionsPerMinute")]
    pub consent_requests_per_minute: u32,
    /// Maximum rate of notifications recorded in the activity per second, with a burst of twice as many; further ones
    /// are omitted and counted. Their effects (progress, changed lists) are merged and never lost. Default: 1,000.
    pub notifications_per_second: u32,
    /// Maximum number of bytes read per minute, which may arrive in one burst; beyond it, reading slows down. Default:
    /// 1 GiB.
    pub bytes_per_minute: u64,
    /// Maximum size of a message, in bytes; a request with a larger response fails. Default: 16 MiB.
    pub message_bytes: u64,
    /// Maximum size of the activity log, in bytes; the oldest entries are dropped first. Default: 8 MiB.
    #[serde(rename = "keptBytes")]
    pub activity_log_bytes: u64,
    /// Maximum number of processes and threads of a sandboxed server; exceeding it stops the server. Default: 512.
    pub processes: u32,
    /// Maximum memory of a sandboxed server, in bytes; exceeding it stops the server. Default: 4 GiB.
    pub memory_bytes: u64,
    /// Maximum size of a sandboxed server's home directory, in bytes; exceeding it stops the server. Default: 2 GiB.
    pub home_bytes: u64,
    /// Maximum processor time of a sandboxed server within an hour, in seconds; exceeding it stops the server.
    /// Default: 30 minutes.
    pub processor_seconds: u32,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            calls: 256,
            consent_requests: DEFAULT_MAX_CONSENT_REQUESTS as u32,
            consent_requests_per_minute: 180,
            notifications_per_second: 1_000,
            bytes_per_minute: 1024 * MIB,
            message_bytes: 16 * MIB,
            activity_log_bytes: DEFAULT_MAX_ACTIVITY_BYTES as u64,
            processes: ResourceLimits::DEFAULT.processes,
            memory_bytes: ResourceLimits::DEFAULT.memory_bytes,
            home_bytes: ResourceLimits::DEFAULT.home_bytes,
            processor_seconds: ResourceLimits::DEFAULT.processor_seconds,
        }
    }
}

impl ServerLimits {
    /// Minimum of each limit. With lower values, servers would not work.
    pub const MIN: Self = Self {
        calls: 1,
        consent_requests: 1,
        consent_requests_per_minute: 2,
        notifications_per_second: 1,
        bytes_per_minute: 16 * MIB,
        message_bytes: 64 * 1024,
        activity_log_bytes: 64 * 1024,
        processes: 8,
        memory_bytes: 64 * MIB,
        home_bytes: MIB,
        processor_seconds: 5,
    };

    /// Maximum of each limit. With higher values, one server could affect the whole computer.
    pub const MAX: Self = Self {
        calls: 1_000,
        consent_requests: 50,
        consent_requests_per_minute: 6_000,
        notifications_per_second: 10_000,
        bytes_per_minute: 64 * 1024 * MIB,
        message_bytes: 64 * MIB,
        activity_log_bytes: 64 * MIB,
        processes: 100_000,
        memory_bytes: 1024 * GIB,
        home_bytes: 1024 * GIB,
        processor_seconds: 1_000_000,
    };

    /// Returns the limits with each value clamped to its valid range, from [`Self::MIN`] to [`Self::MAX`].
    #[must_use]
    pub fn clamped_to_bounds(&self) -> Self {
        let (least, most) = (Self::MIN, Self::MAX);
        Self {
            calls: self.calls.clamp(least.calls, most.calls),
            consent_requests: self.consent_requests.clamp(least.consent_requests, most.consent_requests),
            consent_requests_per_minute: self
                .consent_requests_per_minute
                .clamp(least.consent_requests_per_minute, most.consent_requests_per_minute),
            notifications_per_second: self
                .notifications_per_second
                .clamp(least.notifications_per_second, most.notifications_per_second),
            bytes_per_minute: self.bytes_per_minute.clamp(least.bytes_per_minute, most.bytes_per_minute),
            message_bytes: self.message_bytes.clamp(least.message_bytes, most.message_bytes),
            activity_log_bytes: self.activity_log_bytes.clamp(least.activity_log_bytes, most.activity_log_bytes),
            processes: self.processes.clamp(least.processes, most.processes),
            memory_bytes: self.memory_bytes.clamp(least.memory_bytes, most.memory_bytes),
            home_bytes: self.home_bytes.clamp(least.home_bytes, most.home_bytes),
            processor_seconds: self.processor_seconds.clamp(least.processor_seconds, most.processor_seconds),
        }
    }

    /// Returns those of the limits that stop a sandboxed server when it exceeds them.
    #[must_use]
    pub fn resource_limits(&self) -> ResourceLimits {
        let Self { processes, memory_bytes, home_bytes, processor_seconds, .. } = self.clamped_to_bounds();
        ResourceLimits { processes, memory_bytes, home_bytes, processor_seconds }
    }
}

/// The latest usage counts of a running server, and the meter of its sandbox's resources, if it has a sandbox.
#[derive(Debug, Clone, Default)]
pub struct LatestServerUsage {
    /// The latest usage counts of the server, with the time at which they were taken. `None` before the first count.
    pub counted: Option<(Instant, LimitsUsage)>,
    /// Meter that measures the resource use of a sandboxed server. `None` for other servers.
    pub meter: Option<ResourceMeter>,
}

impl LatestServerUsage {
    /// Returns the usage at present, which is calculated from the latest counts and the time since then.
    pub fn current_usage(&self, limits: &ServerLimits) -> LimitsUsage {
        let used = self.counted.map_or_else(
            || LimitsUsage::for_never_started_server(limits),
            |(at, used)| used.after_silence_of_seconds(at.elapsed().as_secs_f64()),
        );
        LimitsUsage { resources: self.meter.as_ref().map(ResourcesUsage::from_meter), ..used }
    }
}

/// Usage of a server since its last start, compared with its limits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct LimitsUsage {
    /// Number of calls in progress.
    pub calls: LimitCounter,
    /// Number of pending consent requests.
    pub consent_requests: LimitCounter,
    /// Number of notifications within the last second.
    pub notifications: LimitCounter,
    /// Number of bytes read within the last minute.
    pub read_bytes: LimitCounter,
    /// Size of the largest message so far, in bytes.
    pub largest_message: LimitCounter,
    /// Size of the activity log, in bytes.
    pub activity_log: LimitCounter,
    /// Set while reading from the server is slowed down.
    #[serde(rename = "slowed")]
    pub is_slowed: bool,
    /// Resources used by a sandboxed server; `None` for other servers.
    pub resources: Option<ResourcesUsage>,
}

impl LimitsUsage {
    /// Returns the usage that these counts become after `seconds` in which the server sends nothing.
    #[must_use]
    pub fn after_silence_of_seconds(mut self, seconds: f64) -> Self {
        let back = |counter: &LimitCounter, span: f64| {
            counter.current.saturating_sub((counter.limit as f64 * seconds / span) as u64)
        };
        self.notifications.current = back(&self.notifications, 1.0);
        self.read_bytes.current = back(&self.read_bytes, 60.0);
        self
    }

    /// Returns the usage of a server that was never started: zero for each of these limits.
    #[must_use]
    pub fn for_never_started_server(limits: &ServerLimits) -> Self {
        let counter = |limit| LimitCounter { current: 0, limit, excess: 0 };
        Self {
            calls: counter(limits.calls.into()),
            consent_requests: counter(limits.consent_requests.into()),
            notifications: counter(limits.notifications_per_second.into()),
            read_bytes: counter(limits.bytes_per_minute),
            largest_message: counter(limits.message_bytes),
            activity_log: counter(limits.activity_log_bytes),
            is_slowed: false,
            resources: None,
        }
    }
}

/// Resources used by a sandboxed server. If a limit was exceeded and the server was stopped, `excess` of that counter
/// is 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ResourcesUsage {
    /// Number of processes and threads.
    pub processes: LimitCounter,
    /// Memory of the processes, in bytes.
    pub memory: LimitCounter,
    /// Size of the home directory, in bytes.
    pub home: LimitCounter,
    /// Processor time within the last hour, in seconds.
    pub processor: LimitCounter,
}

impl ResourcesUsage {
    fn from_meter(meter: &ResourceMeter) -> Self {
        let (used, limits, exceeded) = (meter.usage(), meter.limits(), meter.exceeded_limit());
        let counter = |resource, current, limit| {
            let is_beyond = exceeded.is_some_and(|exceeded| exceeded.resource == resource);
            LimitCounter { current, limit, excess: u64::from(is_beyond) }
        };
        Self {
            processes: counter(LimitedResource::Processes, used.processes, limits.processes.into()),
            memory: counter(LimitedResource::Memory, used.memory_bytes, limits.memory_bytes),
            home: counter(LimitedResource::Home, used.home_bytes, limits.home_bytes),
            processor: counter(LimitedResource::Processor, used.processor_seconds, limits.processor_seconds.into()),
        }
    }
}

/// A limit, the present usage that counts towards it, and how often it was exceeded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LimitCounter {
    /// Current usage, in the unit of the limit.
    pub current: u64,
    /// Maximum usage that the limit permits.
    pub limit: u64,
    /// Number of events beyond the limit, each of which was refused, omitted or slowed down.
    pub excess: u64,
}
