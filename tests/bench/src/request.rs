//! Requests of the scenarios, with exactly the bytes that Drawbridge sends.

use crate::scenario::{ECHO_TEXT, IMAGE_BYTES, PROGRESS_NOTIFICATIONS, Scenario};

/// Returns the JSON-RPC request of a scenario with this id, as one line without its line end. It has exactly the bytes
/// that Drawbridge sends.
#[must_use]
pub fn request_json(scenario: Scenario, id: usize) -> String {
    match scenario {
        Scenario::StdioList5000 => format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/list\"}}"),
        Scenario::StdioBig10MB => tool_call_json("big", &format!("\"bytes\":{IMAGE_BYTES}"), id),
        Scenario::StdioProgress10000 => tool_call_json("progress", &format!("\"count\":{PROGRESS_NOTIFICATIONS}"), id),
        _ => tool_call_json("echo", &format!("\"text\":\"{ECHO_TEXT}\""), id),
    }
}

fn tool_call_json(tool: &str, argument: &str, id: usize) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"{tool}\",\
         \"arguments\":{{{argument}}},\"_meta\":{{\"progressToken\":{id}}}}}}}"
    )
}
