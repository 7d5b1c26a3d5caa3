//! Source of the current time, injected by the caller.

use std::sync::Arc;
use std::time::SystemTime;

/// Returns the current time of day.
pub type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;
