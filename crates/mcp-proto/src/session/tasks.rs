//! Wire format of tasks, and the related capabilities of servers: the core feature of 2025-11-25
//! (`basic/utilities/tasks`) and the extension `io.modelcontextprotocol/tasks` of 2026-07-28.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::jsonrpc::RpcError;
use crate::types::{Map, TaskStatus};

use super::results::InputRequest;
use super::{ServerFacts, ServerResult, TaskState, results};

/// Identifier of the tasks extension.
pub(super) const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";
/// Key in `_meta` of messages that belong to a task (2025-11-25).
pub(super) const RELATED_TASK_KEY: &str = "io.modelcontextprotocol/related-task";
/// Maximum length of a task id in bytes.
const MAX_TASK_ID_BYTES: usize = 4096;

/// State of a task as a response or notification contains it. `result`, `error` and `inputRequests` exist in the
/// extension only.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TaskStateMessage {
    pub(super) task_id: String,
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
    pub(super) result: Option<Map>,
    pub(super) error: Option<RpcError>,
    pub(super) input_requests: Option<indexmap::IndexMap<String, InputRequest>>,
}

impl TaskStateMessage {
    pub(super) fn read(body: Map) -> Result<TaskStateMessage, String> {
        let message: TaskStateMessage = results::deserialize_object(body)?;
        if message.task_id.is_empty() || message.task_id.len() > MAX_TASK_ID_BYTES {
            return Err(format!("a taskId has from 1 to {MAX_TASK_ID_BYTES} bytes"));
        }
        Ok(message)
    }

    pub(super) fn to_task_state(&self) -> TaskState {
        TaskState {
            id: self.task_id.clone(),
            status: self.status,
            status_message: self.status_message.clone(),
            created_at: self.created_at.clone(),
            updated_at: self.last_updated_at.clone(),
            ttl: self.ttl.map(Duration::from_millis),
            poll_interval: self.poll_interval.map(Duration::from_millis),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TaskListPage {
    tasks: Vec<TaskStateMessage>,
    next_cursor: Option<String>,
}

/// Decodes the result of `tasks/list`.
pub(super) fn parse_task_list_page(body: Map) -> Result<ServerResult, String> {
    let TaskListPage { tasks, next_cursor } = results::deserialize_object(body)?;
    Ok(ServerResult::Tasks { items: tasks.iter().map(TaskStateMessage::to_task_state).collect(), next_cursor })
}

/// Removes and returns the task from the result of `tools/call`, or returns `None` if the result is not a task. `core`
/// selects the format of 2025-11-25 instead of that of the extension.
pub(super) fn take_created_task(body: &mut Map, core: bool) -> Option<Value> {
    if core {
        return body.shift_remove("task").filter(Value::is_object);
    }
    let is_task = body.get("resultType").and_then(Value::as_str) == Some("task");
    is_task.then(|| Value::Object(std::mem::take(body)))
}

/// Returns `true` if the server accepts the `task` parameter in `tools/call`.
pub(super) fn supports_task_calls(facts: &ServerFacts) -> bool {
    facts.revision.has_core_tasks() && declares_task_capability_at_path(facts, &["requests", "tools", "call"])
}

/// Returns `true` if the server supports `tasks/list`.
pub(super) fn supports_task_list(facts: &ServerFacts) -> bool {
    facts.revision.has_core_tasks() && declares_task_capability_at_path(facts, &["list"])
}

/// Returns `true` if the server supports `tasks/cancel`.
pub(super) fn supports_task_cancellation(facts: &ServerFacts) -> bool {
    facts.revision.has_subscriptions_listen() || declares_task_capability_at_path(facts, &["cancel"])
}

/// Returns `true` if the server notifies about tasks through `subscriptions/listen`.
pub(super) fn supports_task_notifications(facts: &ServerFacts) -> bool {
    let extensions = facts.capabilities.extensions.as_ref();
    facts.revision.has_subscriptions_listen()
        && extensions.is_some_and(|extensions| extensions.contains_key(TASKS_EXTENSION))
}

/// Returns `true` if the server's `tasks` capability has the member at `path`.
fn declares_task_capability_at_path(facts: &ServerFacts, path: &[&str]) -> bool {
    let Some((first, rest)) = path.split_first() else { return false };
    let at = facts.capabilities.tasks.as_ref().and_then(|tasks| tasks.get(*first));
    rest.iter().fold(at, |at, name| at.and_then(|at| at.get(name))).is_some_and(Value::is_object)
}
