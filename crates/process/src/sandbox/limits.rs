//! How much of this computer a server in a sandbox may use, and what it is told of one that used more.

use std::fmt;
#[cfg(target_os = "linux")]
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

const MIB: u64 = 1024 * 1024;
const GIB: u64 = 1024 * MIB;

/// The bounds of one server with all that it starts. A server that is over one of them is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ResourceLimits {
    /// Processes and threads at the same time.
    pub processes: u32,
    /// Memory of all of its processes together, in bytes.
    pub memory_bytes: u64,
    /// What its own home may hold, in bytes.
    pub home_bytes: u64,
    /// Processor time within an hour, in seconds, of all processors together.
    pub processor_seconds: u32,
}

impl ResourceLimits {
    /// Enough for servers that npm and Python install, a browser among them.
    pub const DEFAULT: Self =
        Self { processes: 512, memory_bytes: 4 * GIB, home_bytes: 2 * GIB, processor_seconds: 30 * 60 };
}

impl Default for ResourceLimits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// What is bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resource {
    /// Processes and threads.
    Processes,
    /// Memory.
    Memory,
    /// The server's own home.
    Home,
    /// Processor time.
    Processor,
}

/// A bound that a server went over, for which it was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exceeded {
    /// What it used too much of.
    pub resource: Resource,
    /// The bound.
    pub most: u64,
}

impl fmt::Display for Exceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let most = self.most;
        match self.resource {
            Resource::Processes => write!(f, "it ran more than {most} processes and threads"),
            Resource::Memory => write!(f, "it used more than {} of memory", Bytes(most)),
            Resource::Home => write!(f, "its own home held more than {}", Bytes(most)),
            Resource::Processor => write!(f, "it used more than {} of processor time within an hour", Seconds(most)),
        }
    }
}

struct Bytes(u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, name) = if self.0 >= GIB { (GIB, "GiB") } else { (MIB, "MiB") };
        let tenths = (self.0 as f64 / unit as f64 * 10.0).round() / 10.0;
        write!(f, "{tenths} {name}")
    }
}

struct Seconds(u64);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_multiple_of(60) { write!(f, "{} minutes", self.0 / 60) } else { write!(f, "{} seconds", self.0) }
    }
}

/// How much a server uses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ResourceUse {
    /// Processes and threads.
    pub processes: u64,
    /// Memory in bytes.
    pub memory_bytes: u64,
    /// Bytes in its own home.
    pub home_bytes: u64,
    /// Seconds of processor time within the last hour.
    pub processor_seconds: u64,
}

impl ResourceUse {
    /// The first bound that is exceeded.
    #[cfg(any(target_os = "linux", test))]
    pub(crate) fn beyond(&self, limits: &ResourceLimits) -> Option<Exceeded> {
        let bounds = [
            (Resource::Processes, self.processes, u64::from(limits.processes)),
            (Resource::Memory, self.memory_bytes, limits.memory_bytes),
            (Resource::Home, self.home_bytes, limits.home_bytes),
            (Resource::Processor, self.processor_seconds, u64::from(limits.processor_seconds)),
        ];
        let (resource, _, most) = bounds.into_iter().find(|(_, used, most)| used > most)?;
        Some(Exceeded { resource, most })
    }
}

/// What a server's use is held against.
#[cfg(target_os = "linux")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub(crate) limits: ResourceLimits,
    pub(crate) home: PathBuf,
}

/// The latest use of a running server, for whoever shows it.
#[derive(Debug, Clone)]
pub struct Meter {
    limits: ResourceLimits,
    seen: Arc<Mutex<Seen>>,
}

#[derive(Debug, Default)]
struct Seen {
    used: ResourceUse,
    exceeded: Option<Exceeded>,
}

impl Meter {
    #[cfg(any(target_os = "linux", test))]
    pub(crate) fn new(limits: ResourceLimits) -> Self {
        Self { limits, seen: Arc::default() }
    }

    /// The bounds.
    pub fn limits(&self) -> ResourceLimits {
        self.limits
    }

    /// How much it used when that was looked at last.
    pub fn used(&self) -> ResourceUse {
        self.lock().used
    }

    /// The bound for which it was stopped.
    pub fn exceeded(&self) -> Option<Exceeded> {
        self.lock().exceeded
    }

    /// Takes in what was seen. The first bound that is exceeded stays.
    #[cfg(any(target_os = "linux", test))]
    pub(crate) fn change(&self, change: impl FnOnce(&mut ResourceUse)) -> Option<Exceeded> {
        let mut seen = self.lock();
        change(&mut seen.used);
        if seen.exceeded.is_none() {
            seen.exceeded = seen.used.beyond(&self.limits);
        }
        seen.exceeded
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s37_a_bound_is_named_with_its_number() {
        let limits = ResourceLimits { memory_bytes: GIB + GIB / 2, processor_seconds: 90, ..ResourceLimits::DEFAULT };
        let used = |change: fn(&mut ResourceUse)| {
            let meter = Meter::new(limits);
            meter.change(change).map(|exceeded| exceeded.to_string()).unwrap_or_default()
        };
        assert_eq!(used(|used| used.processes = 513), "it ran more than 512 processes and threads");
        assert_eq!(used(|used| used.memory_bytes = 2 * GIB), "it used more than 1.5 GiB of memory");
        assert_eq!(used(|used| used.home_bytes = 3 * GIB), "its own home held more than 2 GiB");
        let spun = used(|used| used.processor_seconds = 91);
        assert_eq!(spun, "it used more than 90 seconds of processor time within an hour");
        assert_eq!(used(|used| used.processes = 512), "", "the bound itself may be reached");
    }

    #[test]
    fn s37_the_first_bound_that_is_exceeded_stays() {
        let meter = Meter::new(ResourceLimits::DEFAULT);
        let first = meter.change(|used| used.processes = 1_000);
        let then = meter.change(|used| *used = ResourceUse { memory_bytes: 8 * GIB, ..ResourceUse::default() });
        assert_eq!(first, then, "the cause is the one for which it was stopped");
    }
}
