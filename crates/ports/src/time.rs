//! The system's clock, in the unit in which times are shown and stored. Callers: everything that notes when something happened.

use std::time::{SystemTime, UNIX_EPOCH};

use domain::Millis;

/// A time as milliseconds since 1970; 0 for an earlier one.
#[must_use]
pub fn millis(at: SystemTime) -> Millis {
    at.duration_since(UNIX_EPOCH).map_or(0, |d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX))
}

/// The time now as milliseconds since 1970.
#[must_use]
pub fn now() -> Millis {
    millis(SystemTime::now())
}
