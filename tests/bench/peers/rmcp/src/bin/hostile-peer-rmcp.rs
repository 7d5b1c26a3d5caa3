//! A client on the Rust SDK with its defaults, against a hostile server: `hostile-peer-rmcp TOOL SERVER ARGUMENTS...`.
//! Prints its progress in a line of JSON. The time limits belong to this program, so that it always ends.
// This program starts the server under test directly, without the host.
#![allow(clippy::disallowed_methods)]

use std::io::Write as _;
use std::time::{Duration, Instant};

use rmcp::ServiceExt as _;
use rmcp::model::CallToolRequestParams;
use rmcp::transport::TokioChildProcess;
use serde_json::{Value, json};
use tokio::process::Command;

/// Time after which a step of the client counts as hanging.
const STEP_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum number of characters of a response that are reported.
const MAX_RESPONSE_CHARS: usize = 20_000;

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let (tool, server) = (arguments.next().unwrap_or_default(), arguments.next().unwrap_or_default());
    let outcome = run_attack(tool, server, arguments.collect()).await;
    let status = match writeln!(std::io::stdout(), "{outcome}") {
        Ok(()) => 0,
        Err(_) => 1,
    };
    // Exits without waiting for tasks that hang.
    std::process::exit(status);
}

async fn run_attack(tool: String, server: String, arguments: Vec<String>) -> Value {
    let mut steps = Vec::new();
    let mut command = Command::new(server);
    command.args(arguments);
    let transport = match TokioChildProcess::new(command) {
        Ok(transport) => transport,
        Err(error) => return json!({"steps": [["start", error.to_string()]]}),
    };
    let connecting = run_with_timeout(&mut steps, "connect", ().serve(transport)).await;
    let Some(client) = connecting else { return json_report(steps, String::new()) };
    run_with_timeout(&mut steps, "list", client.peer().list_all_tools()).await;
    let text = serde_json::Map::from_iter([("text".to_owned(), json!("hello"))]);
    let call = CallToolRequestParams::new(tool).with_arguments(text);
    let result = run_with_timeout(&mut steps, "call", client.peer().call_tool(call)).await;
    let outcome = result.map(|result| json!(result).to_string()).unwrap_or_default();
    run_with_timeout(&mut steps, "end", client.cancel()).await;
    // Processes of the server get a second to end before they are counted.
    tokio::time::sleep(Duration::from_secs(1)).await;
    json_report(steps, outcome)
}

/// Runs a step with a time limit, and records in `steps` its duration in milliseconds, its error, or that it timed out.
async fn run_with_timeout<T, E: std::fmt::Display>(
    steps: &mut Vec<(&'static str, String)>,
    name: &'static str,
    step: impl Future<Output = Result<T, E>>,
) -> Option<T> {
    let began = Instant::now();
    match tokio::time::timeout(STEP_TIMEOUT, step).await {
        Ok(Ok(done)) => {
            steps.push((name, format!("{} ms", began.elapsed().as_millis())));
            Some(done)
        }
        Ok(Err(error)) => {
            let outcome: String = error.to_string().chars().take(80).collect();
            steps.push((name, format!("error: {outcome}")));
            None
        }
        Err(_) => {
            steps.push((name, "hangs".to_owned()));
            None
        }
    }
}

fn json_report(steps: Vec<(&'static str, String)>, outcome: String) -> Value {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak: u64 = peak.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or_default();
    let outcome: String = outcome.chars().take(MAX_RESPONSE_CHARS).collect();
    json!({"steps": steps, "memory_mib": peak / 1024, "said": outcome})
}
