//! Tasks: calls that outlive their request (`basic/utilities/tasks` of 2025-11-25; the extension
//! `io.modelcontextprotocol/tasks` of 2026-07-28).

use serde::{Deserialize, Serialize};

/// Where a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    /// The server works on it.
    Working,
    /// The server waits for an answer of the user.
    InputRequired,
    /// It has a result.
    Completed,
    /// It ended with an error.
    Failed,
    /// It was stopped.
    Cancelled,
}

impl TaskStatus {
    /// Whether nothing comes after it.
    pub fn is_terminal(self) -> bool {
        matches!(self, TaskStatus::Completed | TaskStatus::Failed | TaskStatus::Cancelled)
    }
}
