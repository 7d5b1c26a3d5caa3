//! The state of a task, in the same form for every revision that has tasks.

use std::time::Duration;

use crate::types::TaskStatus;

/// Interval at which the state of a task is polled if the server does not request one.
const DEFAULT_POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Minimum interval at which the state of a task is polled, even if the server requests a shorter one.
const MIN_POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Maximum interval at which the state of a task is polled, even if the server requests a longer one.
const MAX_POLL_INTERVAL: Duration = Duration::from_secs(60);

/// State of a task. Texts and times are unverified claims of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskState {
    /// Task id that the server chose.
    pub id: String,
    /// Status as last reported by the server.
    pub status: TaskStatus,
    /// Human-readable explanation of the status by the server. Untrusted text.
    pub status_message: Option<String>,
    /// Time at which the task was created, in ISO 8601.
    pub created_at: String,
    /// Time at which the task last changed, in ISO 8601.
    pub updated_at: String,
    /// Time for which the server retains the task after its creation, or `None` if unlimited.
    pub ttl: Option<Duration>,
    /// Polling interval that the server requests, or `None` if it requests none.
    pub poll_interval: Option<Duration>,
}

impl TaskState {
    /// Returns the time until the next poll of the task: the server's interval within the limits of this client.
    pub(super) fn time_until_poll(&self) -> Duration {
        self.poll_interval.unwrap_or(DEFAULT_POLL_INTERVAL).clamp(MIN_POLL_INTERVAL, MAX_POLL_INTERVAL)
    }
}
