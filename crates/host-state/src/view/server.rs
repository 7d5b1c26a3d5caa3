//! Servers as displayed on the page. Created by the owner; `api` and the command line display them.

use std::path::PathBuf;

use credentials::sign_in::SignInNeeded;
use domain::Millis;
use domain::data_flow::DataFlow;
use launches::sandbox::SandboxPlanError;
use mcp_proto::session::ServerFacts;
use mcp_proto::types::LogLevel;
use mcp_transport::driver::DetectedTransport;
use offers::review::ReviewFindings;
use ports::server_config::{InstallationInfo, SandboxConfig, ServerConfig};
use process::sandbox::{ResolvedSandbox, SandboxProblem};
use process::{BlockedPath, MissingDependency};
use serde::{Deserialize, Serialize};

use crate::rules::TrustDuration;

/// A server and its current state.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerView {
    /// User's name for the server.
    pub name: String,
    /// Configuration of the server.
    pub config: ServerConfig,
    /// Current state of the server.
    pub state: ServerState,
    /// Time since which it is in this state.
    pub since: Millis,
    /// Set if exactly this command or address is approved to start without consent.
    pub approved: bool,
    /// Information from the initialization of the session, once ready.
    pub facts: Option<ServerFacts>,
    /// Numbers of offered tools, prompts, resources and templates.
    pub counts: [usize; 4],
    /// Number of tools and prompts that the user never reviewed, and number of those that changed since the review.
    pub unreviewed: [usize; 2],
    /// Folders shared with the server, or `None` before the user's decision.
    pub roots: Option<Vec<PathBuf>>,
    /// Folders among them that the server receives: with a sandbox, only those that it can access.
    pub told_roots: Option<Vec<PathBuf>>,
    /// Mechanism that enforces the sandbox while the server is running, if it has one.
    pub held_by: Option<&'static str>,
    /// URIs of the subscribed resources.
    pub subscriptions: Vec<String>,
    /// Minimum level of the log messages that it sends, once set.
    pub log_level: Option<LogLevel>,
    /// Set if its requests are refused automatically.
    pub muted: bool,
    /// End of the mute, if it is temporary because the user denied three requests in a row.
    pub muted_until: Option<Millis>,
    /// Number of its requests refused automatically, because of the rate limit or a mute, since the user last denied
    /// all.
    pub refused_questions: u64,
    /// Trust in the server for calls of its tools.
    pub trust: TrustDuration,
    /// Data flow settings of the server.
    pub flow: DataFlow,
    /// Identifier of its process while it is running.
    pub pid: Option<u32>,
    /// Connection to a remote server, once it was reached.
    pub connected: Option<RemoteConnection>,
    /// Reason why change notifications stopped, if they did. The host tries to subscribe again.
    pub subscriptions_lost: Option<String>,
    /// Warnings about its information about itself.
    pub marks: ReviewFindings,
    /// Record of its installation from a registry or a bundle, if it was installed.
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

/// The state of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerState {
    /// The server is not running.
    Stopped,
    /// Waiting for the user to approve the command or address.
    AwaitingApproval,
    /// Resolving, starting or initializing, and not ready yet.
    Starting,
    /// The session is initialized.
    Ready,
    /// The server is being stopped.
    Stopping,
    /// The server exited or disconnected, and is restarted after a pause.
    Reconnecting(Retry),
    /// The server is not running because of a failure.
    Failed(Failure),
    /// The server was reached, and requires its user to sign in.
    NeedsSignIn(SignInNeeded),
}

/// The next attempt to restart a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retry {
    /// Number of the attempt, starting at 1.
    pub attempt: u32,
    /// Time of the attempt.
    pub at: Millis,
    /// Reason why the server is not running.
    pub cause: String,
}

/// A failure of a server, with details.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Kind of the failure, for programs.
    pub reason: FailureReason,
    /// Cause of the failure, as text.
    pub message: String,
    /// Last lines of its standard error.
    pub stderr: Vec<String>,
    /// Folders in which its command was searched.
    pub looked_in: Vec<PathBuf>,
    /// Next step for the user, if known.
    pub hint: Option<String>,
    /// Files that the sandbox may have hidden from it.
    pub blocked: Box<[BlockedPath]>,
    /// Cause for which the sandbox can't be set up, if the failure is due to it.
    pub sandbox: Option<SandboxProblem>,
}

/// The kind of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum FailureReason {
    /// The program was not found.
    CommandNotFound,
    /// The system refused to start it.
    CouldNotStart,
    /// The process exited before the session was initialized.
    ExitedEarly,
    /// The process exited after the session was initialized.
    Exited,
    /// The server did not respond in time.
    NoAnswer,
    /// The server supports no common revision, or violates the protocol.
    Protocol,
    /// The user denied its command or address.
    Refused,
    /// The remote server could not be reached.
    Unreachable,
    /// The remote server requires an authorization that the request did not have.
    Unauthorized,
    /// A secret for the server could not be read.
    NoSecret,
    /// The server exceeded a resource limit, and was stopped.
    LimitReached,
}

/// A server that can change a file which another server runs, because its sandbox allows writing there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchFileWriter {
    /// Name of the server.
    pub server: String,
    /// Path of the file.
    pub file: PathBuf,
    /// Writable folder of its sandbox.
    pub folder: PathBuf,
}

/// The access that a local server would have if it were started now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxPreview {
    /// Sandbox plan that would be enforced.
    pub plan: ResolvedSandbox,
    /// Files that the server requires but can't access, as far as they can be determined.
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
    /// The command runs a container, which a sandbox would keep from the service that runs containers.
    Container,
    /// The sandbox can't be set up.
    Impossible {
        /// Settings of the sandbox.
        sandbox: SandboxConfig,
        /// Reason why it can't be set up.
        error: SandboxPlanError,
    },
}
