//! Resource limits of a sandboxed server, and the message for a server that was stopped because it exceeded one.

use std::fmt;
#[cfg(target_os = "linux")]
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

const MIB: u64 = 1024 * 1024;
const GIB: u64 = 1024 * MIB;

/// Resource limits of one server with all its descendants. A server that exceeds one of them is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ResourceLimits {
    /// Maximum number of the server's concurrent processes and threads.
    pub processes: u32,
    /// Maximum memory of all the server's processes together, in bytes.
    pub memory_bytes: u64,
    /// Maximum size of the server's own home folder, in bytes.
    pub home_bytes: u64,
    /// Maximum processor time of the server within an hour, in seconds, summed over all processors.
    pub processor_seconds: u32,
}

impl ResourceLimits {
    /// Limits that are sufficient for servers installed by npm or Python, including those that run a browser.
    pub const DEFAULT: Self =
        Self { processes: 512, memory_bytes: 4 * GIB, home_bytes: 2 * GIB, processor_seconds: 30 * 60 };
}

impl Default for ResourceLimits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// A resource whose use by a server is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitedResource {
    /// Number of a server's concurrent processes and threads.
    Processes,
    /// Memory of all the server's processes together.
    Memory,
    /// Size of the content of the server's home folder.
    Home,
    /// Processor time of all the server's processes within an hour.
    Processor,
}

/// The resource limit that a server exceeded, so that it was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExceededLimit {
    /// Resource of which the server used too much.
    pub resource: LimitedResource,
    /// Value of the exceeded limit, in the unit of the corresponding field of [`ResourceLimits`].
    pub most: u64,
}

impl fmt::Display for ExceededLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let most = self.most;
        match self.resource {
            LimitedResource::Processes => write!(f, "it ran more than {most} processes and threads"),
            LimitedResource::Memory => write!(f, "it used more than {} of memory", DisplayedBytes(most)),
            LimitedResource::Home => write!(f, "its home folder contained more than {}", DisplayedBytes(most)),
            LimitedResource::Processor => {
                write!(f, "it used more than {} of processor time within an hour", DisplayedSeconds(most))
            }
        }
    }
}

struct DisplayedBytes(u64);

impl fmt::Display for DisplayedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, name) = if self.0 >= GIB { (GIB, "GiB") } else { (MIB, "MiB") };
        let tenths = (self.0 as f64 / unit as f64 * 10.0).round() / 10.0;
        write!(f, "{tenths} {name}")
    }
}

struct DisplayedSeconds(u64);

impl fmt::Display for DisplayedSeconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_multiple_of(60) { write!(f, "{} minutes", self.0 / 60) } else { write!(f, "{} seconds", self.0) }
    }
}

/// Resource use of a server at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ResourceUsage {
    /// Number of processes and threads of the server.
    pub processes: u64,
    /// Memory of all the server's processes, in bytes.
    pub memory_bytes: u64,
    /// Size of the folder that belongs to this server only, in bytes.
    pub home_bytes: u64,
    /// Processor time of the server within the last hour, in seconds.
    pub processor_seconds: u64,
}

impl ResourceUsage {
    /// Returns the first of the four limits that this usage exceeds, or `None` if it exceeds none.
    #[cfg(any(target_os = "linux", test))]
    pub(crate) fn first_exceeded(&self, limits: &ResourceLimits) -> Option<ExceededLimit> {
        let bounds = [
            (LimitedResource::Processes, self.processes, u64::from(limits.processes)),
            (LimitedResource::Memory, self.memory_bytes, limits.memory_bytes),
            (LimitedResource::Home, self.home_bytes, limits.home_bytes),
            (LimitedResource::Processor, self.processor_seconds, u64::from(limits.processor_seconds)),
        ];
        let (resource, _, most) = bounds.into_iter().find(|(_, used, most)| used > most)?;
        Some(ExceededLimit { resource, most })
    }
}

/// The resource limits of a server, and the path of its home folder, whose size is limited too.
#[cfg(target_os = "linux")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ResourceBounds {
    pub(crate) limits: ResourceLimits,
    pub(crate) home: PathBuf,
}

/// The latest measured resource use of a running server. Clones refer to the same measurements.
#[derive(Debug, Clone)]
pub struct ResourceMeter {
    limits: ResourceLimits,
    state: Arc<Mutex<ResourceMeterState>>,
}

#[derive(Debug, Default)]
struct ResourceMeterState {
    used: ResourceUsage,
    exceeded: Option<ExceededLimit>,
}

impl ResourceMeter {
    #[cfg(any(target_os = "linux", test))]
    pub(crate) fn new(limits: ResourceLimits) -> Self {
        Self { limits, state: Arc::default() }
    }

    /// Returns the limits with which each measurement is compared.
    pub fn limits(&self) -> ResourceLimits {
        self.limits
    }

    /// Returns the resource use at the last measurement.
    pub fn usage(&self) -> ResourceUsage {
        self.lock().used
    }

    /// Returns the limit because of which the server was stopped, or `None` if it exceeded none.
    pub fn exceeded_limit(&self) -> Option<ExceededLimit> {
        self.lock().exceeded
    }

    /// Records a measurement of resource use: `change` updates the last measurement. Returns the limit that was
    /// exceeded first, even if the use is below that limit again.
    #[cfg(any(target_os = "linux", test))]
    pub(crate) fn record_usage(&self, change: impl FnOnce(&mut ResourceUsage)) -> Option<ExceededLimit> {
        let mut state = self.lock();
        change(&mut state.used);
        if state.exceeded.is_none() {
            state.exceeded = state.used.first_exceeded(&self.limits);
        }
        state.exceeded
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, ResourceMeterState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s37_exceeded_resource_limit_is_named_with_its_value() {
        let limits = ResourceLimits { memory_bytes: GIB + GIB / 2, processor_seconds: 90, ..ResourceLimits::DEFAULT };
        let used = |change: fn(&mut ResourceUsage)| {
            let meter = ResourceMeter::new(limits);
            meter.record_usage(change).map(|exceeded| exceeded.to_string()).unwrap_or_default()
        };
        assert_eq!(used(|used| used.processes = 513), "it ran more than 512 processes and threads");
        assert_eq!(used(|used| used.memory_bytes = 2 * GIB), "it used more than 1.5 GiB of memory");
        assert_eq!(used(|used| used.home_bytes = 3 * GIB), "its home folder contained more than 2 GiB");
        let spun = used(|used| used.processor_seconds = 91);
        assert_eq!(spun, "it used more than 90 seconds of processor time within an hour");
        assert_eq!(used(|used| used.processes = 512), "", "the limit itself must be allowed");
    }

    #[test]
    fn s37_first_exceeded_resource_limit_is_retained() {
        let meter = ResourceMeter::new(ResourceLimits::DEFAULT);
        let first = meter.record_usage(|used| used.processes = 1_000);
        let then =
            meter.record_usage(|used| *used = ResourceUsage { memory_bytes: 8 * GIB, ..ResourceUsage::default() });
        assert_eq!(first, then, "the first exceeded limit must be retained");
    }
}
