//! The time of day, as a port. [`Clock`] decides when an approval, a rule or a cached list expires; the host and its parts get it from
//! outside. Spans of time and timeouts use tokio's clock, which a test can pause.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use domain::Millis;

/// The time of day. [`SystemClock`] is the real one; a test sets its own.
pub trait Clock: Debug + Send + Sync {
    /// The time of day.
    fn time(&self) -> SystemTime;

    /// The time of day as milliseconds since 1970.
    fn now(&self) -> Millis {
        millis(self.time())
    }
}

/// A clock that many parts share.
pub type SharedClock = Arc<dyn Clock>;

/// The system's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn time(&self) -> SystemTime {
        SystemTime::now()
    }
}

/// A time as milliseconds since 1970; 0 for an earlier one.
#[must_use]
pub fn millis(at: SystemTime) -> Millis {
    at.duration_since(UNIX_EPOCH).map_or(0, |d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX))
}

/// When a span that begins at `at` ends. A span without an end in sight ends after 292 million years.
#[must_use]
pub fn after(at: Millis, span: Duration) -> Millis {
    at.saturating_add(u64::try_from(span.as_millis()).unwrap_or(u64::MAX / 2))
}

/// The system's time as milliseconds since 1970, for stamps that decide nothing.
#[must_use]
pub fn now() -> Millis {
    SystemClock.now()
}
