//! Source of the current time, injected by the caller.

use std::sync::Arc;
use std::time::SystemTime;

/// Function that returns the current system time.
pub type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;
