//! MCP over the standard input and output of a local server, which the crate `process` starts and ends.
//!
//! [`drive`] drives the session of a started server; [`run`] does so in a task of its own. What the server prints on standard error is
//! kept in a [`StderrRing`].

mod ending;
mod line_reader;
mod stderr;
mod task;
mod write_queue;

use std::time::Duration;

use mcp_proto::SessionConfig;
use process::{Grace, ServerProcess, Spawned};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;

pub use stderr::StderrRing;
use stderr::drain;
use task::{Stderr, Task};

use crate::driver::{Bell, Channels, DriverCommand, DriverEvent, Owner};
use crate::lines::DEFAULT_LINE_LIMIT;

/// How many lines of standard error may wait to be shown. More are counted as dropped.
const WAITING_STDERR: usize = 64;

/// Bounds of one driver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DriverLimits {
    /// Longest line that is accepted, in bytes. 16 MiB.
    pub line_bytes: usize,
    /// The most that may wait to be written, in bytes, before the session is closed. 32 MiB.
    pub write_queue_bytes: usize,
    /// How long the server may take no byte of what waits before the session is closed. 30 s.
    pub write_stall: Duration,
    /// How long it is given to end.
    pub grace: Grace,
}

impl Default for DriverLimits {
    fn default() -> DriverLimits {
        DriverLimits {
            line_bytes: DEFAULT_LINE_LIMIT,
            write_queue_bytes: 32 * 1024 * 1024,
            write_stall: Duration::from_secs(30),
            grace: Grace::default(),
        }
    }
}

/// The hold on a driver that runs in a task of its own. Dropping it stops the server.
#[derive(Debug)]
pub struct DriverHandle {
    /// Takes commands at any time. `try_send` if the sender must not wait.
    pub commands: mpsc::Sender<DriverCommand>,
    /// Facts of the process.
    pub process: Spawned,
    /// What it has printed on standard error.
    pub stderr: StderrRing,
}

/// Drives the session of a server until nothing of the server is left. What it prints on standard error is kept in
/// `ring`.
///
/// Must be called within a tokio runtime.
pub fn drive<'o>(
    session: SessionConfig,
    process: ServerProcess,
    ring: StderrRing,
    owner: &'o mut dyn Owner,
    limits: DriverLimits,
) -> impl Future<Output = ()> + Send + 'o {
    let ServerProcess { pipes, group } = process;
    let (shown, lines) = mpsc::channel(WAITING_STDERR);
    let drain = tokio::spawn(drain(pipes.stderr, ring, shown)).abort_handle();
    let process = (group, Stderr { lines, drain, more: Bell::default() });
    Task::new(session, (pipes.stdout, pipes.stdin), Some(process), owner, limits).run()
}

/// Starts the driver of a server in a task of its own. Every event goes to `events`, in order; when they are not
/// taken, the server is not read.
///
/// Must be called within a tokio runtime.
pub fn run(session: SessionConfig, process: ServerProcess, events: mpsc::Sender<DriverEvent>) -> DriverHandle {
    run_with(session, process, events, DriverLimits::default())
}

/// As [`run`], with other bounds.
pub fn run_with(
    session: SessionConfig,
    process: ServerProcess,
    events: mpsc::Sender<DriverEvent>,
    limits: DriverLimits,
) -> DriverHandle {
    let (commands, mut owner) = Channels::new(events);
    let (spawned, stderr) = (process.spawned().clone(), StderrRing::default());
    let ring = stderr.clone();
    tokio::spawn(async move { drive(session, process, ring, &mut owner, limits).await });
    DriverHandle { commands, process: spawned, stderr }
}

/// Starts a driver on two byte streams without a process. The writer must not hold bytes back
/// until it is flushed.
///
/// Must be called within a tokio runtime.
pub fn run_streams<R, W>(
    session: SessionConfig,
    reader: R,
    writer: W,
    events: mpsc::Sender<DriverEvent>,
    limits: DriverLimits,
) -> mpsc::Sender<DriverCommand>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let (commands, mut owner) = Channels::new(events);
    tokio::spawn(async move { Task::new(session, (reader, writer), None, &mut owner, limits).run().await });
    commands
}
