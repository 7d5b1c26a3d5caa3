//! Requests of the scenarios, with exactly the bytes that Drawbridge sends.

use crate::scenario::{IMAGE_BYTES, NOTIFICATIONS, Scenario, TEXT};

/// Returns the request of a scenario with this id, without a line end.
#[must_use]
pub fn request(scenario: Scenario, id: usize) -> String {
    match scenario {
        Scenario::StdioList5000 => format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/list\"}}"),
        Scenario::StdioBig10MB => call("big", &format!("\"bytes\":{IMAGE_BYTES}"), id),
        Scenario::StdioProgress10000 => call("progress", &format!("\"count\":{NOTIFICATIONS}"), id),
        _ => call("echo", &format!("\"text\":\"{TEXT}\""), id),
    }
}

fn call(tool: &str, argument: &str, id: usize) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"{tool}\",\
         \"arguments\":{{{argument}}},\"_meta\":{{\"progressToken\":{id}}}}}}}"
    )
}
