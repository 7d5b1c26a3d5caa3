//! The time, as whoever uses this crate tells it: the app from the system, a test as it likes.

use std::sync::Arc;
use std::time::SystemTime;

/// Tells the time. Tests have their own.
pub type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;
