//! Views of servers for display. Created by the owner, and displayed by the page and the command line.

use std::path::PathBuf;

use credentials::sign_in::SignInNeeded;
use domain::Millis;
use domain::data_flow::DataFlow;
use launches::sandbox::SandboxPlanError;
use mcp_proto::session::ServerFacts;
use mcp_proto::types::LogLevel;
use mcp_transport::driver::DetectedTransport;
use offers::review::ReviewFindings;
use policy::Hash;
use ports::server_config::{InstallationInfo, SandboxConfig, ServerConfig};
use process::sandbox::{ResolvedSandbox, SandboxProblem};
use process::{BlockedPath, MissingDependency};
use serde::{Deserialize, Serialize};

use crate::rules::TrustDuration;

/// A server and its current state, for display.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerView {
    /// Name of the server, as chosen by the user.
    pub name: String,
    /// Configuration of the server.
    pub config: ServerConfig,
    /// Current state of the server.
    pub state: ServerState,
    /// Time at which the server entered its current state.
    pub since: Millis,
    /// Set if the server's exact command or address is approved to start without consent.
    pub approved: bool,
    /// Hash of the command or address that was launched, with which the hash of a grant is compared. `None` if the
    /// server was not launched.
    pub launched: Option<Hash>,
    /// Information that the server sent on initialization, or `None` before the session is ready.
    pub facts: Option<ServerFacts>,
    /// Numbers of listed tools, prompts, resources and resource templates, in this order.
    pub counts: [usize; 4],
    /// Number of tools and prompts that the user has never reviewed, and number of those that changed since their
    /// review.
    pub unreviewed: [usize; 2],
    /// Folders that the user shares with the server, or `None` before the user has decided.
    pub roots: Option<Vec<PathBuf>>,
    /// Folders in `roots` that the server receives. A sandboxed server receives only those that its sandbox allows.
    pub sent_roots: Option<Vec<PathBuf>>,
    /// Name of the mechanism that enforces the sandbox of the running server, or `None` if the server has no sandbox or
    /// is not running.
    pub sandbox_mechanism: Option<&'static str>,
    /// URIs of the subscribed resources.
    pub subscriptions: Vec<String>,
    /// Minimum level of log messages that the server was requested to send, or `None` if none was set.
    pub log_level: Option<LogLevel>,
    /// Set if requests of the server are refused automatically.
    pub muted: bool,
    /// End of a temporary mute, which starts after three consecutive denials by the user. `None` otherwise.
    pub muted_until: Option<Millis>,
    /// Number of the server's requests that were refused automatically, because of the rate limit or a mute, since the
    /// user last denied all pending requests of the server at once.
    pub refused_requests: u64,
    /// Duration for which the user trusts the server's tool calls.
    pub trust: TrustDuration,
    /// Data flow settings of the server.
    pub flow: DataFlow,
    /// Process id of a local server while it is running, otherwise `None`.
    pub pid: Option<u32>,
    /// Connection to a remote server, or `None` before it was reached.
    pub connected: Option<RemoteConnection>,
    /// Reason why change notifications stopped, or `None` if they work. The host retries the subscription.
    pub subscriptions_lost: Option<String>,
    /// Warnings about the information that the server sends about itself.
    pub marks: ReviewFindings,
    /// Record of the server's installation, or `None` if the server was not installed from a registry or a bundle.
    pub installed: Option<InstallationInfo>,
}

/// The connection to a remote server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteConnection {
    /// Detected transport of the server.
    pub transport: DetectedTransport,
    /// Description of how the transport was detected.
    pub how: String,
}

/// State of a server, from the request to start it until its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerState {
    /// The server is not running.
    Stopped,
    /// Waiting for the user to approve the command or address.
    AwaitingApproval,
    /// The command is being resolved, the server started, or the session initialized.
    Starting,
    /// The session is initialized.
    Ready,
    /// The server is being stopped.
    Stopping,
    /// The server exited or disconnected, and will be restarted after a pause.
    Reconnecting(ScheduledRestart),
    /// The server failed, and is not running.
    Failed(ServerFailure),
    /// The server was reached, but requires its user to sign in.
    NeedsSignIn(SignInNeeded),
}

/// The next automatic restart of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduledRestart {
    /// Number of the attempt, starting at 1.
    pub attempt: u32,
    /// Time at which the server is restarted.
    pub at: Millis,
    /// Reason why the server ended.
    pub cause: String,
}

/// A failure of a server, with details for finding the cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerFailure {
    /// Kind of the failure, by which programs distinguish failures.
    pub reason: FailureReason,
    /// Cause of the failure, as text.
    pub message: String,
    /// Last lines of the server's standard error.
    pub stderr: Vec<String>,
    /// Folders in which the command was searched, if it was not found.
    pub looked_in: Vec<PathBuf>,
    /// Suggested next step for the user, if known. The command line displays it. The page displays it for a
    /// sandbox and a start that the user refused, and otherwise its own text for `reason`
    /// (`ui/src/servers/failures.ts`).
    pub hint: Option<String>,
    /// Files that the sandbox may have hidden from the server.
    pub blocked: Box<[BlockedPath]>,
    /// Reason why the sandbox can't be set up, if that caused the failure.
    pub sandbox: Option<SandboxProblem>,
    /// Refusal of the start. `None` if nobody decided, for example because the audit log could not be written, and for
    /// other reasons than [`FailureReason::Refused`].
    pub refusal: Option<StartRefusal>,
}

/// Refusal of a server's start by the user or a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum StartRefusal {
    /// The user denied the consent request. On the command line, the answers file can decide for the user.
    DeniedByUser,
    /// The user closed the consent request without a decision.
    ClosedByUser,
    /// A rule denies the start.
    DeniedByRule,
}

/// Kind of a server's failure, which programs can distinguish.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum FailureReason {
    /// The program was not found.
    CommandNotFound,
    /// The operating system could not start the program.
    CouldNotStart,
    /// The process exited, or closed its output, before the session was initialized.
    ExitedEarly,
    /// The session ended after it was initialized: the process exited or closed its output, or the connection to a
    /// remote server was lost.
    Exited,
    /// The server did not complete the handshake in time.
    NoAnswer,
    /// The server did not respond to a ping after the session was initialized.
    Unresponsive,
    /// The server supports no protocol revision of Drawbridge, or violates the protocol.
    Protocol,
    /// The server's command or address was not approved.
    Refused,
    /// The remote server could not be reached.
    Unreachable,
    /// The remote server rejected the request because it requires authorization.
    Unauthorized,
    /// A secret in the server's settings could not be read.
    NoSecret,
    /// The server exceeded a resource limit and was stopped.
    LimitReached,
}

/// A server whose sandbox allows writing to a file that another server runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchFileWriter {
    /// Name of the server.
    pub server: String,
    /// Path of the file.
    pub file: PathBuf,
    /// Folder in the server's sandbox that contains the file and is writable.
    pub folder: PathBuf,
}

/// The access that a local server would have if it were started now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxPreview {
    /// Sandbox plan that would be enforced.
    pub plan: ResolvedSandbox,
    /// Files that the server requires but can't access, as far as detectable.
    pub missing: Vec<MissingDependency>,
}

/// A sandbox for a server whose start waits for consent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SandboxOffer {
    /// The server can run in this sandbox.
    Possible {
        /// Settings of the sandbox.
        sandbox: SandboxConfig,
        /// Access that the server would have in it.
        preview: Box<SandboxPreview>,
    },
    /// The server's command runs a container. A sandbox would prevent the command from reaching the service that runs
    /// containers.
    Container,
    /// The working folder of the server is the root of the disk, or contains the user's home, so a sandbox that
    /// contains it would protect little. No sandbox is proposed.
    BroadFolder {
        /// Working folder of the server.
        folder: PathBuf,
    },
    /// The sandbox can't be set up.
    Impossible {
        /// Settings of the sandbox.
        sandbox: SandboxConfig,
        /// Reason why it can't be set up.
        error: SandboxPlanError,
    },
}
