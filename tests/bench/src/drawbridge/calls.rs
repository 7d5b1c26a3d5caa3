//! Calls that the host makes in each scenario.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::scenario::{ECHO_TEXT, IMAGE_BYTES, PROGRESS_NOTIFICATIONS, Scenario};
use host::view::HostEvent;
use host::{CallOrigin, Host};
use mcp_proto::session::ListKind;
use mcp_proto::types::CallToolResult;
use serde_json::{Map, Value};
use tokio::sync::oneshot;

use super::Outcome;
use super::open::BENCH_SERVER_NAME;

/// Makes the measured calls of a scenario. Returns the number of received progress notifications if the scenario
/// measures progress.
///
/// # Errors
/// Returns an error if a call fails or its result is not the expected one.
pub async fn run_scenario_operations(host: &Host, scenario: Scenario) -> Outcome<Option<u64>> {
    let operations = scenario.operation_count();
    match scenario {
        Scenario::StdioSeq | Scenario::HttpSeqJson | Scenario::HttpSeqSse => {
            for call in 0..operations {
                call_echo(host, call.to_string()).await?;
            }
        }
        Scenario::Stdio64 | Scenario::Http64 => {
            call_echo_concurrently(host, operations, scenario.calls_in_flight()).await?
        }
        Scenario::StdioList5000 => {
            for _ in 0..operations {
                let found = host.refresh_list(BENCH_SERVER_NAME.to_owned(), ListKind::Tools).await?;
                let tools = found.entry_counts()[0];
                if tools != scenario.tool_count() {
                    return Err(format!("the list has {tools} tools").into());
                }
            }
        }
        Scenario::StdioBig10MB => {
            for call in 0..operations {
                call_image_tool(host, call.to_string(), IMAGE_BYTES).await?;
            }
        }
        Scenario::StdioProgress10000 => return call_tool_with_progress(host, PROGRESS_NOTIFICATIONS).await.map(Some),
        Scenario::Idle200 => {}
    }
    Ok(None)
}

/// Calls the scenario's tool once before the measurement, unless it is `echo`. The user's approval of this call also
/// covers the measured calls.
///
/// # Errors
/// Returns an error if the call fails or its result is not the expected one.
pub async fn call_scenario_tool_once(host: &Host, scenario: Scenario) -> Outcome<()> {
    match scenario {
        Scenario::StdioBig10MB => call_image_tool(host, "once".to_owned(), 1).await,
        Scenario::StdioProgress10000 => call_tool_with_progress(host, 1).await.map(|_| ()),
        _ => Ok(()),
    }
}

/// Calls a tool on behalf of the user.
async fn call_tool(host: &Host, id: String, tool: &str, arguments: Map<String, Value>) -> Outcome<CallToolResult> {
    let (user, sent) = (CallOrigin::User { conversation: None }, oneshot::channel().0);
    Ok(host.call_tool_as(user, id, BENCH_SERVER_NAME.to_owned(), tool.to_owned(), arguments, sent).await?)
}

/// Calls the tool `echo`.
///
/// # Errors
/// Returns an error if the call fails or its result is not the expected one.
pub async fn call_echo(host: &Host, id: String) -> Outcome<()> {
    let arguments = Map::from_iter([("text".to_owned(), Value::from(ECHO_TEXT))]);
    let result = call_tool(host, id, "echo", arguments).await?;
    if result.is_error || result.content.len() != 1 {
        return Err("echo did not answer with one text".into());
    }
    Ok(())
}

/// Makes `calls` calls of the tool `echo`, of which at most `at_once` wait for a response at the same time.
async fn call_echo_concurrently(host: &Host, calls: usize, at_once: usize) -> Outcome<()> {
    let next = Arc::new(AtomicUsize::new(0));
    let callers: Vec<_> = (0..at_once)
        .map(|_| {
            let (host, next) = (host.clone(), Arc::clone(&next));
            tokio::spawn(async move {
                loop {
                    let call = next.fetch_add(1, Ordering::Relaxed);
                    if call >= calls {
                        return Ok(());
                    }
                    call_echo(&host, call.to_string()).await?;
                }
            })
        })
        .collect();
    for caller in callers {
        let ended: Outcome<()> = caller.await?;
        ended?;
    }
    Ok(())
}

async fn call_image_tool(host: &Host, id: String, bytes: usize) -> Outcome<()> {
    let arguments = Map::from_iter([("bytes".to_owned(), Value::from(bytes))]);
    let result = call_tool(host, id, "big", arguments).await?;
    if result.is_error || result.content.len() != 1 {
        return Err("big did not answer with one image".into());
    }
    Ok(())
}

/// Calls the tool `progress`, and returns the number of notifications that the caller received.
async fn call_tool_with_progress(host: &Host, count: usize) -> Outcome<u64> {
    let mut events = host.events();
    let arguments = Map::from_iter([("count".to_owned(), Value::from(count))]);
    call_tool(host, "progress".to_owned(), "progress", arguments).await?;
    let mut counted = 0;
    while let Some(event) = events.try_next() {
        if let HostEvent::CallChanged(call) = &event.event
            && let Some(progress) = &call.progress
        {
            counted = progress.count;
        }
    }
    Ok(counted)
}
