//! Benchmark client of Drawbridge: the complete host with in-memory ports. A policy that allows everything replaces the
//! user.

mod idle;

use std::path::PathBuf;

use bench::drawbridge::open::{self, BENCH_SERVER_NAME, BenchHost};
use bench::drawbridge::{Outcome, calls};
use bench::report::{BenchClock, BenchReport};
use bench::scenario::{Scenario, WARM_UP_CALLS};
use clap::Parser;

#[derive(Parser)]
#[command(
    about = "Measures Drawbridge's client against a server with the tools echo {text}, big {bytes} and progress {count}"
)]
struct Arguments {
    /// Name of the scenario to measure
    #[arg(value_enum)]
    scenario: Scenario,
    /// Path of the server binary, started as `PATH stdio --tools N`
    #[arg(long, value_name = "PATH", required_unless_present = "url", conflicts_with = "url")]
    server: Option<PathBuf>,
    /// URL of a running server
    #[arg(long)]
    url: Option<String>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome<()> {
    let arguments = Arguments::parse();
    // Runs in a spawned task, like all callers of the host. The runtime polls the future of `block_on` differently.
    tokio::spawn(async move {
        let bench = BenchHost::start().await;
        let report = measure_scenario(&bench, &arguments).await?;
        report.print()?;
        bench.host.close().await;
        Ok(())
    })
    .await?
}

async fn measure_scenario(bench: &BenchHost, arguments: &Arguments) -> Outcome<BenchReport> {
    let Arguments { scenario, server, url } = arguments;
    let config = match (server, url) {
        (Some(program), _) if !scenario.is_over_http() => open::local_server_config(program, scenario.tool_count())?,
        (None, Some(url)) if scenario.is_over_http() || *scenario == Scenario::Idle200 => {
            open::remote_server_config(url)
        }
        _ => return Err("a server is needed: --url for the http scenarios, --server for the others".into()),
    };
    let user = bench.spawn_approving_user();
    bench.add_and_start_server(BENCH_SERVER_NAME, &config).await?;
    for call in 0..WARM_UP_CALLS {
        calls::call_echo(&bench.host, format!("warm-{call}")).await?;
    }
    if *scenario == Scenario::Idle200 {
        return idle::measure_idle_sessions(bench, &config).await;
    }
    calls::call_scenario_tool_once(&bench.host, *scenario).await?;
    // All tools are allowed by now. Another observer of events would distort the measurement.
    user.abort();
    let _ = user.await;
    let clock = BenchClock::start()?;
    let counted = calls::run_scenario_operations(&bench.host, *scenario).await?;
    Ok(BenchReport { counted, ..clock.stop(*scenario)? })
}
