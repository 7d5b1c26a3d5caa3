//! Client that the official conformance suite runs. It uses the host in the same way as the app. The name of the
//! scenario selects only the steps with the server. The last argument is the server's URL.
#![allow(clippy::print_stderr, reason = "a program says why it failed")]

mod client;
mod scenarios;
mod sign_in;
mod user;

use std::process::ExitCode;
use std::time::Duration;

use client::ConformanceClient;
use serde_json::Value;

/// Time after which the client gives up a scenario. It is shorter than the timeout of the suite, which would never stop
/// waiting for a hanging client.
const SCENARIO_TIMEOUT: Duration = Duration::from_secs(25);

/// Scenario that the suite runs the client for, with the URL of its server.
struct ScenarioTask {
    url: String,
    scenario: String,
    /// Additional data that the suite passes for the scenario, such as sign-in options.
    context: Value,
}

impl ScenarioTask {
    fn from_environment() -> Result<Self, String> {
        let url = std::env::args().next_back().filter(|last| last.starts_with("http"));
        let scenario = std::env::var("MCP_CONFORMANCE_SCENARIO");
        let context = std::env::var("MCP_CONFORMANCE_CONTEXT").ok();
        Ok(Self {
            url: url.ok_or("the last argument has to be the server's URL")?,
            scenario: scenario.map_err(|_| "MCP_CONFORMANCE_SCENARIO has to name a scenario")?,
            context: context.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default(),
        })
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let task = match ScenarioTask::from_environment() {
        Ok(task) => task,
        Err(cause) => {
            eprintln!("{cause}");
            return ExitCode::from(2);
        }
    };
    let outcome = tokio::time::timeout(SCENARIO_TIMEOUT, run_task(&task)).await;
    match outcome.unwrap_or_else(|_| Err(format!("not done after {} s", SCENARIO_TIMEOUT.as_secs()))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(cause) => {
            eprintln!("{}: {cause}", task.scenario);
            ExitCode::FAILURE
        }
    }
}

async fn run_task(task: &ScenarioTask) -> Result<(), String> {
    let client = ConformanceClient::connect(&task.url, &task.context).await?;
    let outcome = scenarios::run_scenario(&client, &task.scenario, &task.context).await;
    if outcome.is_err() {
        client.print_activity().await;
    }
    client.close().await;
    outcome
}
