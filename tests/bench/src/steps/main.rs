//! Repeats one operation of Drawbridge. `cargo xtask bench guard` runs this program under callgrind with two repeat
//! counts. Their difference is the cost of one operation, without the start and the end of the program.

use std::hint::black_box;
use std::path::PathBuf;

use api::data::CallState;
use api::{Api, Event};
use bench::drawbridge::open::{self, BENCH_SERVER_NAME, BenchHost};
use bench::drawbridge::{Outcome, calls};
use bench::rules::MeasuredDecision;
use bench::scenario::FEW_TOOLS_COUNT;
use clap::{Parser, ValueEnum};
use host::Host;
use mcp_proto::session::ListKind;
use policy::RuleSet;

/// Number of tools in the list that [`BenchStep::List`] reads.
const LISTED_TOOL_COUNT: usize = 500;
/// Number of repetitions before the counted ones. After them, all tools are approved and buffers have their final size.
const WARM_UP_REPETITIONS: usize = 5;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum BenchStep {
    /// Call a tool that the user has approved
    Call,
    /// Read an unchanged list of 500 tools
    List,
    /// Add and start a server, until its lists are read
    Start,
    /// Decide on a call by a policy with the maximum number of rules
    Decision,
    /// Call a tool, with its events in JSON as the page receives them
    Event,
}

#[derive(Parser)]
#[command(about = "Takes one step of Drawbridge's work many times")]
struct Arguments {
    #[arg(value_enum)]
    step: BenchStep,
    /// Number of times to repeat the operation
    count: usize,
    /// Path of the server binary, started as `PATH stdio --tools N`
    #[arg(long, value_name = "PATH")]
    server: PathBuf,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome<()> {
    let arguments = Arguments::parse();
    tokio::spawn(async move { run_steps(&arguments).await }).await?
}

async fn run_steps(arguments: &Arguments) -> Outcome<()> {
    let Arguments { step, count, server } = arguments;
    if *step == BenchStep::Decision {
        let decision = MeasuredDecision::with_rule_count(RuleSet::MAX_RULES)?;
        for now in 0..*count {
            black_box(decision.decide(u64::try_from(now)?));
        }
        return Ok(());
    }
    let bench = BenchHost::start().await;
    let user = bench.spawn_approving_user();
    let config =
        open::local_server_config(server, if *step == BenchStep::List { LISTED_TOOL_COUNT } else { FEW_TOOLS_COUNT })?;
    bench.add_and_start_server(BENCH_SERVER_NAME, &config).await?;
    for call in 0..WARM_UP_REPETITIONS {
        calls::call_echo(&bench.host, format!("warm-{call}")).await?;
    }
    match step {
        BenchStep::Call => {
            for call in 0..*count {
                calls::call_echo(&bench.host, call.to_string()).await?;
            }
        }
        BenchStep::List => {
            for _ in 0..*count {
                bench.host.refresh_list(BENCH_SERVER_NAME.to_owned(), ListKind::Tools).await?;
            }
        }
        BenchStep::Start => {
            for server in 0..*count {
                bench.add_and_start_server(&format!("server-{server}"), &config).await?;
            }
        }
        BenchStep::Event => call_and_serialize_events(&bench.host, *count).await?,
        BenchStep::Decision => {}
    }
    user.abort();
    bench.host.close().await;
    Ok(())
}

/// Makes `count` calls, and serializes the events of each call to JSON until the event that reports its end.
async fn call_and_serialize_events(host: &Host, count: usize) -> Outcome<()> {
    let mut stream = Api::new(host.clone()).events();
    for call in 0..count {
        let id = format!("event-{call}");
        calls::call_echo(host, id.clone()).await?;
        loop {
            let batch = stream.next().await.ok_or("the host has ended")?;
            black_box(serde_json::to_string(&batch)?);
            let has_ended = |event: &Event| match event {
                Event::CallChanged { call } => call.id == id && call.state == CallState::Done,
                _ => false,
            };
            if batch.events.iter().any(has_ended) {
                break;
            }
        }
    }
    Ok(())
}
