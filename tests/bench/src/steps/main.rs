//! Repeats one operation of Drawbridge. `cargo xtask bench guard` runs this program under callgrind with two repeat
//! counts. Their difference is the cost of one operation, without the start and the end of the program.

use std::hint::black_box;
use std::path::PathBuf;

use api::data::CallState;
use api::{Api, Event};
use bench::drawbridge::open::{self, Bench, SERVER};
use bench::drawbridge::{Outcome, calls};
use bench::rules::Decision;
use bench::scenario::FEW_TOOLS;
use clap::{Parser, ValueEnum};
use host::Host;
use mcp_proto::session::ListKind;
use policy::RuleSet;

/// Number of tools in the list that is read repeatedly.
const LIST_TOOLS: usize = 500;
/// Number of uncounted repetitions, after which tools are allowed and buffers have their final size.
const WARM_UP: usize = 5;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Step {
    /// Call a tool that is allowed
    Call,
    /// Read an unchanged list of 500 tools
    List,
    /// Add and start a server, until its lists are read
    Start,
    /// Decide by the policy among the maximum number of rules
    Decision,
    /// Call a tool, with its events in JSON as the page receives them
    Event,
}

#[derive(Parser)]
#[command(about = "Takes one step of Drawbridge's work many times")]
struct Arguments {
    #[arg(value_enum)]
    step: Step,
    /// Number of times to repeat the operation
    count: usize,
    /// Path of the server binary, started as `PATH stdio --tools N`
    #[arg(long, value_name = "PATH")]
    server: PathBuf,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome<()> {
    let arguments = Arguments::parse();
    tokio::spawn(async move { run(&arguments).await }).await?
}

async fn run(arguments: &Arguments) -> Outcome<()> {
    let Arguments { step, count, server } = arguments;
    if *step == Step::Decision {
        let decision = Decision::among(RuleSet::LIMIT)?;
        for now in 0..*count {
            black_box(decision.decide(u64::try_from(now)?));
        }
        return Ok(());
    }
    let bench = Bench::start().await;
    let user = bench.spawn_approving_user();
    let config = open::local(server, if *step == Step::List { LIST_TOOLS } else { FEW_TOOLS })?;
    bench.open(SERVER, &config).await?;
    for call in 0..WARM_UP {
        calls::echo(&bench.host, format!("warm-{call}")).await?;
    }
    match step {
        Step::Call => {
            for call in 0..*count {
                calls::echo(&bench.host, call.to_string()).await?;
            }
        }
        Step::List => {
            for _ in 0..*count {
                bench.host.refresh_list(SERVER.to_owned(), ListKind::Tools).await?;
            }
        }
        Step::Start => {
            for server in 0..*count {
                bench.open(&format!("server-{server}"), &config).await?;
            }
        }
        Step::Event => events(&bench.host, *count).await?,
        Step::Decision => {}
    }
    user.abort();
    bench.host.close().await;
    Ok(())
}

/// Makes calls, and serializes the events of each call up to the event of its end.
async fn events(host: &Host, count: usize) -> Outcome<()> {
    let mut stream = Api::new(host.clone()).events();
    for call in 0..count {
        let id = format!("event-{call}");
        calls::echo(host, id.clone()).await?;
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
