//! The driver of a session: between the transport and the session's owner, in the owner's own task.
//!
//! It reads only while its owner takes the events, so a flood fills the server's own pipe and nothing
//! here; the owner may act at any time. Writing never keeps it from reading, so a server that does not
//! read its input cannot block it either.

pub(crate) mod alarm;
mod bell;
mod channels;
pub(crate) mod core;
mod ending;
mod frame;
pub(crate) mod intake;
mod line_reader;
pub(crate) mod outbox;
pub(crate) mod owner;
mod task;
mod write_queue;

use std::time::Duration;

use mcp_proto::{SessionConfig, SessionEvent};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;

pub use self::bell::Bell;
pub(crate) use self::channels::Channels;
pub use self::channels::DriverCommand;
pub use self::frame::{Direction, Frame, FrameAbout};
pub use self::owner::{Control, Owner};
use self::task::{Stderr, Task};
use crate::http::TransportFound;
use crate::lines::DEFAULT_LINE_LIMIT;
use crate::shutdown::Grace;
use crate::stdio::{ServerProcess, Spawned, StderrRing, drain};

/// How many lines of standard error may wait to be shown. More are counted as dropped.
const WAITING_STDERR: usize = 64;

/// What the owner learns, in order.
#[derive(Debug, Clone, PartialEq)]
pub enum DriverEvent {
    /// News from the session.
    Session(SessionEvent),
    /// A message that was sent or received.
    Frame(Frame),
    /// A line on standard error, safe to be shown. It proves no failure.
    Stderr {
        /// The line; at most 8 KiB of the server's bytes.
        line: String,
    },
    /// A remote server was found; comes before its [`SessionEvent::Ready`].
    Connected {
        /// What it speaks.
        transport: TransportFound,
        /// How that was found, in words, such as "server/discover answered 404, initialize answered".
        how: String,
    },
    /// News of the connection to a remote server, in words and safe to be shown: streams opened and lost, a
    /// redirect that was followed, what will be tried again and when. Of a local server: what it reached of the network,
    /// if it may reach named hosts.
    Note {
        /// One line.
        line: String,
    },
    /// Standard error came faster than it is shown.
    StderrDropped {
        /// Bytes that were not told as [`DriverEvent::Stderr`]; most are still in the ring.
        bytes: u64,
    },
    /// Invalid lines or other anomalies came faster than they are told.
    InvalidDropped {
        /// Lines that were not told as [`DriverEvent::Frame`].
        lines: u64,
        /// Their bytes.
        bytes: u64,
        /// Anomalies that were not told.
        anomalies: u64,
    },
    /// The server's process has ended.
    Exited {
        /// Its exit code, if it ended by itself.
        status: Option<i32>,
        /// The signal that ended it, if one did.
        signal: Option<i32>,
    },
}

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
