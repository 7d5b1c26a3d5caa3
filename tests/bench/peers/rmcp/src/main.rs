//! Benchmark client on the Rust SDK (rmcp), measured like the client of Drawbridge, on a multi-threaded or
//! single-threaded runtime.
// This program starts the server under test directly, without the host.
#![allow(clippy::disallowed_methods)]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use bench::report::{BenchClock, BenchReport, ProcessMemory};
use bench::scenario::{ECHO_TEXT, IMAGE_BYTES, PROGRESS_NOTIFICATIONS, Scenario, WARM_UP_CALLS};
use clap::Parser;
use rmcp::model::{CallToolRequestParams, ProgressNotificationParam};
use rmcp::service::{NotificationContext, Peer, RoleClient, RunningService};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientHandler, ServiceExt as _};
use tokio::process::Command;

/// Result of a measurement, or the cause of its failure.
type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

#[derive(Parser)]
struct Arguments {
    /// Name of the scenario to measure
    #[arg(value_enum)]
    scenario: Scenario,
    /// Path of the server binary, started as `PATH stdio --tools N`
    #[arg(long, required_unless_present = "url")]
    server: Option<PathBuf>,
    /// URL of a running server
    #[arg(long)]
    url: Option<String>,
    /// Use a single-threaded runtime instead of a multi-threaded one
    #[arg(long)]
    current_thread: bool,
    /// Use an HTTP client that keeps connections alive, instead of the SDK's default
    #[arg(long)]
    pooled: bool,
}

/// MCP client handler that counts the progress notifications that it receives.
#[derive(Clone, Default)]
struct ProgressCounter {
    counted: Arc<AtomicU64>,
}

impl ClientHandler for ProgressCounter {
    async fn on_progress(&self, _: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.counted.fetch_add(1, Ordering::Relaxed);
    }
}

type Client = RunningService<RoleClient, ProgressCounter>;

fn main() -> Outcome<()> {
    let arguments = Arguments::parse();
    let runtime = if arguments.current_thread {
        tokio::runtime::Builder::new_current_thread().enable_all().build()?
    } else {
        tokio::runtime::Builder::new_multi_thread().enable_all().build()?
    };
    // Runs in a spawned task, like the calls of an app.
    runtime.block_on(async { tokio::spawn(measure(arguments)).await })??.print()?;
    Ok(())
}

async fn measure(arguments: Arguments) -> Outcome<BenchReport> {
    let scenario = arguments.scenario;
    let handler = ProgressCounter::default();
    let client = connect(&arguments, &handler).await?;
    for _ in 0..WARM_UP_CALLS {
        call_tool(client.peer(), "echo", "text", ECHO_TEXT.into()).await?;
    }
    if scenario == Scenario::Idle200 {
        return measure_idle_sessions(&arguments, client).await;
    }
    let clock = BenchClock::start()?;
    run_operations(&client, scenario).await?;
    let mut report = clock.stop(scenario)?;
    if scenario == Scenario::StdioProgress10000 {
        report.counted = Some(handler.counted.load(Ordering::Relaxed));
    }
    client.cancel().await?;
    Ok(report)
}

async fn connect(arguments: &Arguments, handler: &ProgressCounter) -> Outcome<Client> {
    match (&arguments.server, &arguments.url) {
        (Some(server), _) => start_stdio_client(server, arguments.scenario.tool_count(), handler).await,
        (None, Some(url)) if arguments.pooled => {
            let config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
            let transport = StreamableHttpClientTransport::with_client(reqwest::Client::new(), config);
            Ok(handler.clone().serve(transport).await?)
        }
        (None, Some(url)) => Ok(handler.clone().serve(StreamableHttpClientTransport::from_uri(url.as_str())).await?),
        (None, None) => Err("a server is needed: --server or --url".into()),
    }
}

async fn start_stdio_client(server: &Path, tools: usize, handler: &ProgressCounter) -> Outcome<Client> {
    let mut command = Command::new(server);
    command.args(["stdio", "--tools", &tools.to_string()]);
    Ok(handler.clone().serve(TokioChildProcess::new(command)?).await?)
}

async fn call_tool(peer: &Peer<RoleClient>, tool: &'static str, name: &str, value: serde_json::Value) -> Outcome<()> {
    let arguments = serde_json::Map::from_iter([(name.to_owned(), value)]);
    let result = peer.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments)).await?;
    if result.is_error == Some(true) || result.content.len() != 1 {
        return Err(format!("{tool} did not answer with one item").into());
    }
    Ok(())
}

async fn run_operations(client: &Client, scenario: Scenario) -> Outcome<()> {
    let peer = client.peer();
    match scenario {
        Scenario::StdioList5000 => {
            for _ in 0..scenario.operation_count() {
                let tools = peer.list_tools(None).await?.tools.len();
                if tools != scenario.tool_count() {
                    return Err(format!("the list has {tools} tools").into());
                }
            }
        }
        Scenario::StdioBig10MB => {
            for _ in 0..scenario.operation_count() {
                call_tool(peer, "big", "bytes", IMAGE_BYTES.into()).await?;
            }
        }
        Scenario::StdioProgress10000 => call_tool(peer, "progress", "count", PROGRESS_NOTIFICATIONS.into()).await?,
        Scenario::Stdio64 | Scenario::Http64 => {
            let next = Arc::new(AtomicUsize::new(0));
            let callers: Vec<_> = (0..scenario.calls_in_flight())
                .map(|_| {
                    let (peer, next) = (peer.clone(), Arc::clone(&next));
                    tokio::spawn(async move {
                        while next.fetch_add(1, Ordering::Relaxed) < scenario.operation_count() {
                            call_tool(&peer, "echo", "text", ECHO_TEXT.into()).await?;
                        }
                        Ok(())
                    })
                })
                .collect();
            for caller in callers {
                let ended: Outcome<()> = caller.await?;
                ended?;
            }
        }
        _ => {
            for _ in 0..scenario.operation_count() {
                call_tool(peer, "echo", "text", ECHO_TEXT.into()).await?;
            }
        }
    }
    Ok(())
}

async fn measure_idle_sessions(arguments: &Arguments, first: Client) -> Outcome<BenchReport> {
    let settle = Duration::from_secs(1);
    tokio::time::sleep(settle).await;
    let before = ProcessMemory::measure()?;
    let clock = BenchClock::start()?;
    let mut clients = vec![first];
    while clients.len() < arguments.scenario.operation_count() {
        clients.push(connect(arguments, &ProgressCounter::default()).await?);
    }
    let mut report = clock.stop(arguments.scenario)?;
    tokio::time::sleep(settle).await;
    ProcessMemory::measure()?.add_memory_per_session(before, clients.len() - 1, &mut report);
    for client in clients {
        client.cancel().await?;
    }
    Ok(report)
}
