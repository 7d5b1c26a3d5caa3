//! Tests of the model providers with third-party servers: the fake provider of the other tests (aimock), LiteLLM's
//! proxy in front of it, and llama.cpp's server with a tiny model. `cargo xtask test models` installs them. Differences
//! are recorded in `PROVIDERS.md`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failed test panics")]

mod ask;
mod checks;
#[allow(dead_code, reason = "the other test package uses the remaining items")]
#[path = "../fake.rs"]
mod fake;
mod place;
#[path = "../running.rs"]
mod running;
mod stop;
mod table;

use place::{ModelServer, RunningServers};

/// Runs all checks with every API of every model server, and compares the table of observations with `PROVIDERS.md`, or
/// writes the file if an environment variable requests it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_model_server_has_the_recorded_results_on_every_wire() {
    let servers = RunningServers::start();
    let mut columns = Vec::new();
    for place in servers.served_wires() {
        let mut cells = Vec::new();
        for (name, check) in checks::MODEL_CHECKS {
            cells.push((name, check(&place).await));
        }
        columns.push((place, cells));
    }
    let wrong: Vec<String> = columns
        .iter()
        .flat_map(|(place, cells)| cells.iter().map(move |(name, cell)| (place, name, cell)))
        .filter_map(|(place, name, cell)| cell.as_ref().err().map(|why| format!("{place}: {name}: {why}")))
        .collect();
    assert!(wrong.is_empty(), "all checks should pass:\n{}", wrong.join("\n"));
    table::compare_or_write_provider_table(&columns);
}

/// A model server is killed while it streams responses. With every API, the received part is kept, and no response
/// looks complete.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn response_of_a_killed_server_is_marked_as_truncated() {
    for server in [ModelServer::Aimock, ModelServer::LiteLlm] {
        stop::assert_truncated_if_killed_on_all_apis(server).await;
    }
    for wire in ModelServer::LlamaCpp.wires() {
        stop::assert_truncated_if_killed(ModelServer::LlamaCpp, &[*wire]).await;
    }
}
