//! Tasks: calls that outlive their request (`basic/utilities/tasks` of 2025-11-25; the extension
//! `io.modelcontextprotocol/tasks` of 2026-07-28).

use serde::{Deserialize, Serialize};

/// Status of a task as the server reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    /// The server is processing the task.
    Working,
    /// The server waits for input from the user.
    InputRequired,
    /// The task has a result.
    Completed,
    /// The task ended with an error.
    Failed,
    /// The client or the server cancelled the task before it had a result.
    Cancelled,
}

impl TaskStatus {
    /// Returns `true` if the status is final: completed, failed or cancelled.
    pub fn is_terminal(self) -> bool {
        matches!(self, TaskStatus::Completed | TaskStatus::Failed | TaskStatus::Cancelled)
    }
}
