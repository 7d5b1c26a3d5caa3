//! The current time, as a port. [`Clock`] decides when an approval, a rule or a cached list expires. The host receives
//! it from its creator. Durations and timeouts use tokio's clock, which tests can pause.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use domain::Millis;

/// A source of the current time: [`SystemClock`], or a clock that a test sets.
pub trait Clock: Debug + Send + Sync {
    /// Returns the current wall-clock time.
    fn time(&self) -> SystemTime;

    /// Returns the current time in milliseconds since 1970.
    fn now(&self) -> Millis {
        to_millis(self.time())
    }
}

/// A clock that is shared by several components.
pub type SharedClock = Arc<dyn Clock>;

/// The clock of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn time(&self) -> SystemTime {
        SystemTime::now()
    }
}

/// Converts a time to milliseconds since 1970. Times before 1970 become 0.
#[must_use]
pub fn to_millis(at: SystemTime) -> Millis {
    at.duration_since(UNIX_EPOCH).map_or(0, |d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX))
}

/// Returns the end of a time span that begins at `at`. If the end can't be represented, returns the maximum, after
/// about 292 million years.
#[must_use]
pub fn time_after(at: Millis, span: Duration) -> Millis {
    at.saturating_add(u64::try_from(span.as_millis()).unwrap_or(u64::MAX / 2))
}

/// Returns the operating system's time in milliseconds since 1970, for timestamps on which no decision depends.
#[must_use]
pub fn system_time_millis() -> Millis {
    SystemClock.now()
}
