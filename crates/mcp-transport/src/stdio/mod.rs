//! MCP over the standard input and output of a local server, which the crate `process` starts and ends.
//!
//! [`drive`] drives the session of a started server. [`run`] does so in a spawned task. The server's standard error is
//! stored in a [`StderrRing`].

mod line_reader;
mod shutdown;
mod stderr;
mod stdio_driver;
mod write_queue;

use std::time::Duration;

use mcp_proto::SessionConfig;
use process::{GracePeriods, ServerProcess, SpawnedServerProcess};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;

pub use stderr::StderrRing;
use stderr::drain_stderr;
use stdio_driver::{StderrReader, StdioDriver};

use crate::driver::{ChannelSessionOwner, DriverCommand, DriverEvent, SessionOwner, WakeFlag};
use crate::line_decoder::DEFAULT_MAX_LINE_BYTES;

/// Maximum number of lines of the server's standard error that wait for the driver. Further lines are not reported, and
/// their bytes are counted as dropped.
const MAX_QUEUED_STDERR_LINES: usize = 64;

/// Maximum line length, write queue size and shutdown times for the driver of one local server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StdioDriverLimits {
    /// Maximum length of a received line, in bytes. Default: 16 MiB.
    pub line_bytes: usize,
    /// Maximum total size in bytes of messages that wait for the server to read its input. With more, the session is
    /// closed. Default: 32 MiB.
    pub write_queue_bytes: usize,
    /// Maximum time for which no byte of the waiting messages can be written to the server's input. The session is then
    /// closed. Default: 30 s.
    pub write_stall: Duration,
    /// Times to wait between the steps of a shutdown, from closing standard input to killing the process.
    pub grace: GracePeriods,
}

impl Default for StdioDriverLimits {
    fn default() -> StdioDriverLimits {
        StdioDriverLimits {
            line_bytes: DEFAULT_MAX_LINE_BYTES,
            write_queue_bytes: 32 * 1024 * 1024,
            write_stall: Duration::from_secs(30),
            grace: GracePeriods::default(),
        }
    }
}

/// Handle of a driver that runs in a spawned task. Dropping it stops the server.
#[derive(Debug)]
pub struct DriverHandle {
    /// Sender of commands to the driver, which may be used at any time. Use `try_send` to avoid waiting.
    pub commands: mpsc::Sender<DriverCommand>,
    /// Process IDs, start time and program of the server.
    pub process: SpawnedServerProcess,
    /// Last lines of the server's standard error.
    pub stderr: StderrRing,
}

/// Runs the session of a local server until no process of the server remains. Lines of the server's standard error are
/// stored in `ring`.
///
/// Must be called within a tokio runtime.
pub fn drive<'o>(
    session: SessionConfig,
    process: ServerProcess,
    ring: StderrRing,
    owner: &'o mut dyn SessionOwner,
    limits: StdioDriverLimits,
) -> impl Future<Output = ()> + Send + 'o {
    let ServerProcess { pipes, group } = process;
    let (shown, lines) = mpsc::channel(MAX_QUEUED_STDERR_LINES);
    let drain = tokio::spawn(drain_stderr(pipes.stderr, ring, shown)).abort_handle();
    let process = (group, StderrReader { lines, drain, more: WakeFlag::default() });
    StdioDriver::new(session, (pipes.stdout, pipes.stdin), Some(process), owner, limits).run()
}

/// Spawns the driver of a local server in a task. Events are sent to `events` in order. While the channel is full,
/// nothing is read from the server.
///
/// Must be called within a tokio runtime.
pub fn run(session: SessionConfig, process: ServerProcess, events: mpsc::Sender<DriverEvent>) -> DriverHandle {
    run_with_limits(session, process, events, StdioDriverLimits::default())
}

/// Spawns a driver as [`run`] does, with the given limits instead of the default ones.
pub fn run_with_limits(
    session: SessionConfig,
    process: ServerProcess,
    events: mpsc::Sender<DriverEvent>,
    limits: StdioDriverLimits,
) -> DriverHandle {
    let (commands, mut owner) = ChannelSessionOwner::new(events);
    let (spawned, stderr) = (process.spawned().clone(), StderrRing::default());
    let ring = stderr.clone();
    tokio::spawn(async move { drive(session, process, ring, &mut owner, limits).await });
    DriverHandle { commands, process: spawned, stderr }
}

/// Spawns a driver that uses two byte streams instead of a process. The writer must not buffer bytes.
///
/// Must be called within a tokio runtime.
///
/// # Examples
///
/// Lists the tools of a server in the same process:
///
/// ```
/// use mcp_proto::{
///     ClientRequest, HandshakeMode, Revision, ServerResult, SessionConfig, SessionEvent, SessionTimeouts,
/// };
/// use mcp_transport::{DriverCommand, DriverEvent, StdioDriverLimits, memory_end, run_over_streams};
/// use serde_json::{Value, json};
/// use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
/// use tokio::sync::{mpsc, oneshot};
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let (client, mut server) = memory_end::connected_stream_pair(64 * 1024);
///     tokio::spawn(async move {
///         let mut lines = BufReader::new(server.reader).lines();
///         while let Ok(Some(line)) = lines.next_line().await {
///             let request: Value = serde_json::from_str(&line).expect("each line is a message");
///             let result = match request["method"].as_str() {
///                 Some("initialize") => json!({ "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
///                     "serverInfo": { "name": "example", "version": "1.0" } }),
///                 Some("tools/list") => json!({ "tools": [{ "name": "add", "inputSchema": { "type": "object" } }] }),
///                 _ => continue,
///             };
///             let response = json!({ "jsonrpc": "2.0", "id": request["id"], "result": result });
///             server.writer.write_all(format!("{response}\n").as_bytes()).await.expect("the client reads");
///         }
///     });
///
///     let config = SessionConfig { handshake: HandshakeMode::Initialize, ..SessionConfig::default() };
///     // The server is read only while events are received.
///     let (sender, mut events) = mpsc::channel(16);
///     let commands = run_over_streams(config, client.reader, client.writer, sender, StdioDriverLimits::default());
///     let mut names = Vec::new();
///     while let Some(event) = events.recv().await {
///         match event {
///             DriverEvent::Session(SessionEvent::Ready(facts)) => {
///                 assert_eq!(facts.revision, Revision::V2025_11_25);
///                 let request = ClientRequest::ListTools { cursor: None };
///                 let (deadline, (reply, _)) = (SessionTimeouts::default().deadline(), oneshot::channel());
///                 commands.send(DriverCommand::Call { request, deadline, reply }).await?;
///             }
///             DriverEvent::Session(SessionEvent::Done { result, .. }) => {
///                 let ServerResult::Tools { items, .. } = result? else { panic!("the result is a page of tools") };
///                 names = items.iter().map(|tool| tool.name().to_owned()).collect();
///                 break;
///             }
///             _ => {}
///         }
///     }
///     assert_eq!(names, ["add"]);
///     Ok(())
/// }
/// ```
pub fn run_over_streams<R, W>(
    session: SessionConfig,
    reader: R,
    writer: W,
    events: mpsc::Sender<DriverEvent>,
    limits: StdioDriverLimits,
) -> mpsc::Sender<DriverCommand>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let (commands, mut owner) = ChannelSessionOwner::new(events);
    tokio::spawn(async move { StdioDriver::new(session, (reader, writer), None, &mut owner, limits).run().await });
    commands
}
