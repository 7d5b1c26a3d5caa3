//! Tasks as they stand on the wire, and what a server says about having them: the core of 2025-11-25
//! (`basic/utilities/tasks`) and the extension `io.modelcontextprotocol/tasks` of 2026-07-28.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::jsonrpc::RpcError;
use crate::types::{Map, TaskStatus};

use super::mrtr::InputRequest;
use super::{Facts, ServerResult, results};

/// Name of the extension.
pub(super) const EXTENSION: &str = "io.modelcontextprotocol/tasks";
/// Key in `_meta` of messages that belong to a task (2025-11-25).
pub(super) const RELATED: &str = "io.modelcontextprotocol/related-task";
/// How often a task is asked about if its server does not say, and bounds for what it says.
const INTERVAL: Duration = Duration::from_secs(1);
const SHORTEST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(60);
/// How many bytes the name of a task may have.
const MAX_ID: usize = 4096;

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

impl TaskView {
    /// When to ask next, counted from now.
    pub(super) fn interval(&self) -> Duration {
        self.poll_interval.unwrap_or(INTERVAL).clamp(SHORTEST, LONGEST)
    }
}

/// What an answer or a notification says about a task. `result`, `error` and `inputRequests` are the
/// extension's.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Told {
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

impl Told {
    pub(super) fn read(body: Map) -> Result<Told, String> {
        let told: Told = results::read(body)?;
        if told.task_id.is_empty() || told.task_id.len() > MAX_ID {
            return Err(format!("a taskId has from 1 to {MAX_ID} bytes"));
        }
        Ok(told)
    }

    pub(super) fn view(&self) -> TaskView {
        TaskView {
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
struct Page {
    tasks: Vec<Told>,
    next_cursor: Option<String>,
}

/// The answer to `tasks/list`.
pub(super) fn page(body: Map) -> Result<ServerResult, String> {
    let Page { tasks, next_cursor } = results::read(body)?;
    Ok(ServerResult::Tasks { items: tasks.iter().map(Told::view).collect(), next_cursor })
}

/// The task that the answer to `tools/call` says it became, if it says so.
pub(super) fn created(body: &mut Map, core: bool) -> Option<Value> {
    if core {
        return body.shift_remove("task").filter(Value::is_object);
    }
    let is_task = body.get("resultType").and_then(Value::as_str) == Some("task");
    is_task.then(|| Value::Object(std::mem::take(body)))
}

/// Whether `tools/call` may be asked to become a task.
pub(super) fn may_augment(facts: &Facts) -> bool {
    facts.revision.has_core_tasks() && declares(facts, &["requests", "tools", "call"])
}

/// Whether the server can list its tasks.
pub(super) fn may_list(facts: &Facts) -> bool {
    facts.revision.has_core_tasks() && declares(facts, &["list"])
}

/// Whether a task can be cancelled.
pub(super) fn may_cancel(facts: &Facts) -> bool {
    facts.revision.has_listen() || declares(facts, &["cancel"])
}

/// Whether the server tells about tasks by `subscriptions/listen`.
pub(super) fn may_listen(facts: &Facts) -> bool {
    let extensions = facts.capabilities.extensions.as_ref();
    facts.revision.has_listen() && extensions.is_some_and(|extensions| extensions.contains_key(EXTENSION))
}

/// Whether the server's `tasks` capability has this part.
fn declares(facts: &Facts, path: &[&str]) -> bool {
    let Some((first, rest)) = path.split_first() else { return false };
    let at = facts.capabilities.tasks.as_ref().and_then(|tasks| tasks.get(*first));
    rest.iter().fold(at, |at, name| at.and_then(|at| at.get(name))).is_some_and(Value::is_object)
}
