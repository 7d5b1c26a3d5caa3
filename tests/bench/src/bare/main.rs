//! Baseline of the benchmark: transfers the bytes of each scenario through the same pipe or HTTP stack, without the MCP
//! protocol and without JSON.
// This program starts the server under test directly, without the host.
#![allow(clippy::disallowed_methods)]

mod http;
mod idle;
mod pipe;

use std::error::Error;
use std::path::PathBuf;

use bench::scenario::Scenario;
use clap::Parser;

/// Result of a measurement, or the cause of its failure.
type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// JSON-RPC id of each request. It has as many digits as most ids that Drawbridge uses in a scenario, so that the
/// messages have equal sizes.
const REQUEST_ID: usize = 1000;

#[derive(Parser)]
#[command(about = "Moves the bytes of a scenario with no protocol and no JSON")]
struct Arguments {
    /// Name of the scenario to measure
    #[arg(value_enum)]
    scenario: Scenario,
    /// Path of the bench-server binary
    #[arg(long, value_name = "PATH", required_unless_present = "url")]
    server: Option<PathBuf>,
    /// URL that `bench-server http-bare` has printed
    #[arg(long)]
    url: Option<String>,
}

fn main() -> Outcome<()> {
    let Arguments { scenario, server, url } = Arguments::parse();
    let report = match (scenario, server, url) {
        (_, _, Some(url)) if scenario.is_over_http() => http::measure_http(scenario, &url)?,
        (Scenario::Idle200, Some(server), _) => idle::measure_idle_processes(&server)?,
        (_, Some(server), _) => pipe::measure_pipe(scenario, &server)?,
        _ => return Err("scenarios over HTTP need --url, all others --server".into()),
    };
    report.print()?;
    Ok(())
}
