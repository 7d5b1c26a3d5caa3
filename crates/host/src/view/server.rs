//! Servers as the page shows them. Callers: the owner, which makes them, and `api` and the command line, which show them.

use std::path::PathBuf;

use credentials::sign_in::SignInNeeded;
use domain::Millis;
use domain::flow::DataFlow;
use mcp_proto::session::Facts;
use mcp_proto::types::LogLevel;
use mcp_transport::driver::TransportFound;
use offers::review::Marks;
use ports::server_config::{Installed, ServerConfig};
use process::sandbox::{Plan, SandboxProblem};
use process::{Blocked, Missing};
use serde::{Deserialize, Serialize};

use crate::rules::Trust;

/// A server as it is.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerView {
    /// The user's own name for it.
    pub name: String,
    /// How it is reached.
    pub config: ServerConfig,
    /// How it is.
    pub state: ServerState,
    /// Since when.
    pub since: Millis,
    /// Whether exactly this command, or address, is approved to start without asking.
    pub approved: bool,
    /// What the opening of its session told, once ready.
    pub facts: Option<Facts>,
    /// How many tools, prompts, resources and templates it offers.
    pub counts: [usize; 4],
    /// How many tools and prompts the user has never seen, and how many are others than those that they saw.
    pub unreviewed: [usize; 2],
    /// The folders it may know of, once the user has decided.
    pub roots: Option<Vec<PathBuf>>,
    /// Of them, those that it is told of: in a sandbox no more than it reaches.
    pub told_roots: Option<Vec<PathBuf>>,
    /// What holds it while it runs, if it has a sandbox.
    pub held_by: Option<&'static str>,
    /// The resources watched for changes.
    pub subscriptions: Vec<String>,
    /// The level from which it sends log messages, once set.
    pub log_level: Option<LogLevel>,
    /// Whether what it asks for is refused unseen.
    pub muted: bool,
    /// Until when, if only for a while since the user refused three of its questions in a row.
    pub muted_until: Option<Millis>,
    /// How many of its questions were refused unseen, because they were too many or it is muted, since the user last denied all.
    pub refused_questions: u64,
    /// Whether it is trusted with calls of its tools.
    pub trust: Trust,
    /// When calls ask after its own content.
    pub flow: DataFlow,
    /// Its process while it runs.
    pub pid: Option<u32>,
    /// How it was reached, if it is a remote server.
    pub connected: Option<Connected>,
    /// Why changes are not told at the moment, if they are not. It is asked for them again.
    pub subscriptions_lost: Option<String>,
    /// What is worth a second look about what it says of itself.
    pub marks: Marks,
    /// Where it was installed from, if it was from a registry or a bundle.
    pub installed: Option<Installed>,
}

/// How a remote server was reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connected {
    /// The transport that it speaks.
    pub transport: TransportFound,
    /// How that was found, in words.
    pub how: String,
}

/// How a server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerState {
    /// Not running.
    Stopped,
    /// Waits for the user to approve its command or address.
    AwaitingApproval,
    /// Started, or being looked for, not ready yet.
    Starting,
    /// In use.
    Ready,
    /// Being ended.
    Stopping,
    /// It ended or dropped, and is brought back after a pause.
    Reconnecting(Retry),
    /// Not running, though it should.
    Failed(Failure),
    /// It was reached, and wants its user to sign in.
    NeedsSignIn(SignInNeeded),
}

/// The next attempt to bring a server back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retry {
    /// Its number, from 1.
    pub attempt: u32,
    /// When it is made.
    pub at: Millis,
    /// Why the server is not running.
    pub cause: String,
}

/// Why a server is not running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What to act on.
    pub reason: FailureReason,
    /// The cause in words.
    pub message: String,
    /// The last lines it wrote to standard error.
    pub stderr: Vec<String>,
    /// Where its command was looked for.
    pub looked_in: Vec<PathBuf>,
    /// What to do, if known.
    pub hint: Option<String>,
    /// What it may have missed in its sandbox.
    pub blocked: Box<[Blocked]>,
    /// Why its sandbox can't be set up, if that is the cause.
    pub sandbox: Option<SandboxProblem>,
}

/// Why a server is not running.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum FailureReason {
    /// The program was not found.
    CommandNotFound,
    /// The system refused to start it.
    CouldNotStart,
    /// It ended before it was ready.
    ExitedEarly,
    /// It ended while in use.
    Exited,
    /// It did not answer in time.
    NoAnswer,
    /// It speaks no revision spoken here, or not the protocol at all.
    Protocol,
    /// The user refused its command or address.
    Refused,
    /// A remote server could not be reached.
    Unreachable,
    /// A remote server wants an authorization that it was not given.
    Unauthorized,
    /// A secret for a remote server could not be read.
    NoSecret,
    /// It used more of this computer than it may, and was stopped for it.
    LimitReached,
}

/// A server that may change a file which another one runs: its sandbox lets it write there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Writer {
    /// Its name.
    pub server: String,
    /// The file.
    pub file: PathBuf,
    /// The folder of its sandbox.
    pub folder: PathBuf,
}

/// The reach of a local server if it were started now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxPreview {
    /// The sandbox that would hold it.
    pub plan: Plan,
    /// Files that it needs and would not reach, as far as that can be told.
    pub missing: Vec<Missing>,
}
