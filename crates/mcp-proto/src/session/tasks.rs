//! Calls that go on as tasks of the server.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::types::{Map, TaskStatus};

use super::{Facts, ServerResult, results};

/// A task as the host sees it. Its texts and times are the server's claims.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskView {
    /// The server's name for it.
    pub id: String,
    /// Where it is.
    pub status: TaskStatus,
    /// What the server says about that.
    pub status_message: Option<String>,
    /// When it began, in ISO 8601.
    pub created_at: String,
    /// When it last changed, in ISO 8601.
    pub updated_at: String,
    /// How long after its beginning the server keeps it; `None` means without limit.
    pub ttl: Option<Duration>,
    /// How often the server wants to be asked about it.
    pub poll_interval: Option<Duration>,
}

/// A task as it stands on the wire: `ttl` and `pollInterval` in 2025-11-25, `ttlMs` and `pollIntervalMs`
/// in the extension.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireTask {
    task_id: String,
    status: TaskStatus,
    status_message: Option<String>,
    #[serde(default)]
    created_at: String,
    #[serde(default)]
    last_updated_at: String,
    #[serde(alias = "ttlMs")]
    ttl: Option<u64>,
    #[serde(alias = "pollIntervalMs")]
    poll_interval: Option<u64>,
}

impl From<WireTask> for TaskView {
    fn from(task: WireTask) -> TaskView {
        TaskView {
            id: task.task_id,
            status: task.status,
            status_message: task.status_message,
            created_at: task.created_at,
            updated_at: task.last_updated_at,
            ttl: task.ttl.map(Duration::from_millis),
            poll_interval: task.poll_interval.map(Duration::from_millis),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page {
    tasks: Vec<WireTask>,
    next_cursor: Option<String>,
}

/// The answer to `tasks/list`.
pub(super) fn page(body: Map) -> Result<ServerResult, String> {
    let Page { tasks, next_cursor } = results::read(body)?;
    Ok(ServerResult::Tasks { items: tasks.into_iter().map(TaskView::from).collect(), next_cursor })
}

/// Whether the server can list its tasks.
pub(super) fn may_list(facts: &Facts) -> bool {
    facts.revision.has_core_tasks() && declares(facts, "list")
}

/// Whether the server's `tasks` capability has this part.
fn declares(facts: &Facts, part: &str) -> bool {
    let Some(tasks) = &facts.capabilities.tasks else { return false };
    let mut parts = part.split('/').filter(|name| !name.is_empty());
    let Some(mut at) = parts.next().and_then(|name| tasks.get(name)) else { return false };
    for name in parts {
        let Some(next) = at.get(name) else { return false };
        at = next;
    }
    !at.is_null() && *at != Value::Bool(false)
}
