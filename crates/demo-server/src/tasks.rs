//! `do_later`: a tool whose call becomes a task (extension `io.modelcontextprotocol/tasks` of 2026-07-28).

use std::time::Duration;

use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, CreateTaskResult, Tool};
use rmcp::task_manager::{TaskManager, TaskOptions};
use serde_json::{Value, json};

use crate::client::{self, Context};

/// Name of the tool whose call becomes a task.
pub(crate) const DO_LATER_TOOL: &str = "do_later";
const POLL_INTERVAL_MILLIS: u64 = 200;
const TASK_DURATION: Duration = Duration::from_millis(600);

/// Returns `true` if the host declared the tasks extension. The tool is not available to other hosts.
pub(crate) fn client_supports_tasks(context: &Context) -> bool {
    client::is_stateless(context) && client::host_capabilities(context).supports_tasks()
}

/// Returns the definition of the tool `do_later`.
pub(crate) fn do_later_definition() -> Tool {
    let input = match json!({ "type": "object", "properties": {}, "additionalProperties": false }) {
        Value::Object(object) => object,
        _ => Default::default(),
    };
    Tool::new(DO_LATER_TOOL, "Sweeps the quay as a task: the call is answered at once, the result comes later.", input)
        .with_title("Do it later")
}

/// Starts a task, and returns it as the response to the call.
pub(crate) fn do_later(tasks: &TaskManager) -> CallToolResponse {
    let options =
        TaskOptions::new().with_poll_interval_ms(POLL_INTERVAL_MILLIS).with_status_message("Looking for the broom.");
    let task = tasks.spawn(options, |context| {
        Box::pin(async move {
            tokio::time::sleep(TASK_DURATION / 2).await;
            context.set_status_message("Half of the quay is swept.");
            tokio::time::sleep(TASK_DURATION / 2).await;
            Ok(CallToolResult::success(vec![ContentBlock::text("The quay is swept.")]))
        })
    });
    CallToolResponse::Task(CreateTaskResult::new(task))
}
