//! Servers: their configuration and state.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{
    AuthSettings, BlockedPath, ConfigProblem, DataFlow, FailureReason, InstallationInfo, ReviewMarks, Sandbox,
    SandboxProblem, ToolFilter, TrustDuration, UrlParts,
};

/// Configuration of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ServerConfig {
    /// Local server that is started as a process.
    Stdio {
        /// Program as a name on the search path or as a path.
        command: String,
        /// Arguments as passed to the program.
        #[serde(default)]
        args: Vec<String>,
        /// Environment variables, in addition to the allow-listed ones.
        #[serde(default)]
        env: BTreeMap<String, String>,
        /// Names of the variables whose values are stored in the system's keychain instead of the settings file. For a
        /// configured server, `env` contains `${secret:NAME}` for them, and sending that back keeps the stored value.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        secret_env: Option<Vec<String>>,
        /// Working directory of the server.
        #[serde(default)]
        cwd: Option<String>,
        /// Sandbox of the server, or `None` for unrestricted access.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        sandbox: Option<Sandbox>,
        /// Protocol revision to use exclusively, such as `2025-06-18`, or `None` to negotiate it.
        #[serde(default)]
        revision: Option<String>,
        /// Tools that are offered to models, or `None` for all. In an update, `None` keeps the current setting.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        tools: Option<ToolFilter>,
    },
    /// Remote server that is reached at a URL.
    Http {
        /// URL of the server.
        url: String,
        /// Headers of each request.
        #[serde(default)]
        headers: Vec<HttpHeader>,
        /// HTTP transport to use exclusively, or `None` to detect it.
        #[serde(default)]
        kind: Option<HttpKind>,
        /// Sign-in settings, in addition to or instead of the discovered metadata.
        #[serde(default)]
        auth: Option<AuthSettings>,
        /// Protocol revision to use exclusively, or `None` to negotiate it.
        #[serde(default)]
        revision: Option<String>,
        /// Tools that are offered to models, or `None` for all. In an update, `None` keeps the current setting.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        tools: Option<ToolFilter>,
    },
}

/// Header that is sent to a remote server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct HttpHeader {
    /// Name of the header.
    pub name: String,
    /// Value of the header. Never returned for a configured server, and `None` in an update keeps the stored value.
    #[serde(default)]
    pub value: Option<String>,
    /// `true` if the value is stored in the system's keychain instead of the settings file.
    #[serde(default)]
    pub secret: bool,
}

/// MCP transport over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum HttpKind {
    /// Streamable HTTP, since revision 2025-03-26.
    Http,
    /// HTTP+SSE of revision 2024-11-05.
    Sse,
}

/// Configuration and state of a server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Server {
    /// Name of the server in the settings, unique.
    pub name: String,
    /// Configuration of the server.
    pub config: ServerConfig,
    /// Program and arguments on one line, quoted where needed, or the URL of a remote server.
    pub command_line: String,
    /// URL of a remote server, parsed into its parts.
    pub url: Option<UrlParts>,
    /// Transport in use: `stdio`, `streamable-http` or `http-sse`, or `http` until it is detected.
    pub transport: String,
    /// Current state of the server.
    pub state: ServerState,
    /// Time of the last state change, in milliseconds since 1970.
    pub since: u64,
    /// `true` if exactly this command or URL was approved.
    pub approved: bool,
    /// Protocol revision in use, once the server is ready.
    pub revision: Option<String>,
    /// Method by which the revision and the transport of a remote server were detected.
    pub found_by: Option<String>,
    /// Claims of the server about itself, not verified.
    pub claims: Option<ServerClaims>,
    /// Capabilities of the server as named in the protocol, such as `tools.listChanged`.
    pub capabilities: Vec<String>,
    /// Instructions of the server for a model. Untrusted.
    pub instructions: Option<String>,
    /// Number of items in each list.
    pub counts: Counts,
    /// Number of items that the user has not reviewed, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub unreviewed: Option<UnreviewedCounts>,
    /// Folders that the server may know of.
    pub roots: RootsState,
    /// URIs of the resources that are subscribed.
    pub subscriptions: Vec<String>,
    /// Reason why change notifications are not received at present, if they are not. The subscriptions are retried.
    pub subscriptions_lost: Option<String>,
    /// Minimum level of the server's log messages, once set.
    pub log_level: Option<String>,
    /// `true` if consent requests of the server are denied automatically.
    pub muted: bool,
    /// Duration of the user's trust in calls of the server's tools.
    pub trust: TrustDuration,
    /// Settings that control how its content may be passed on.
    pub flow: DataFlow,
    /// End of a temporary mute, in milliseconds since 1970. Set after the user denied three consent requests in a row.
    pub muted_until: Option<u64>,
    /// Number of consent requests that were denied automatically, because of their number or a mute, since the user
    /// last denied all.
    pub refused_questions: u64,
    /// Findings about the server's claims.
    pub marks: ReviewMarks,
    /// Process identifier while the server runs.
    pub pid: Option<u32>,
    /// Sandbox mechanism of the running server, if it has a sandbox: `bubblewrap`, `Landlock` or `sandbox-exec`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub held_by: Option<String>,
    /// Origin of the installation, if the server is from a registry or a bundle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub installed: Option<InstallationInfo>,
}

/// State of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "is", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ServerState {
    /// The server is not running.
    Stopped,
    /// The server waits for the user's consent to its command or URL.
    AwaitingApproval,
    /// The server was started and is not ready yet.
    Starting,
    /// The server is ready for use.
    Ready,
    /// The server is being stopped.
    Stopping,
    /// The server exited or the connection was lost, and it is restarted after a delay.
    Reconnecting {
        /// Number of the next attempt, from 1.
        attempt: u32,
        /// Time of the next attempt, in milliseconds since 1970.
        at: u64,
        /// Reason why the server is not running.
        cause: String,
    },
    /// The server is not running because of an error.
    Failed {
        /// Kind of the error, for the page to act on.
        reason: FailureReason,
        /// Cause as a sentence for the user.
        message: String,
        /// Last lines that the server wrote to standard error.
        stderr: Vec<String>,
        /// Folders in which the command was searched, if it was not found.
        looked_in: Vec<String>,
        /// Suggested remedy, if known.
        hint: Option<String>,
        /// Paths that the sandbox may have denied.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<BlockedPath>>", optional)]
        blocked: Vec<BlockedPath>,
        /// Cause for which the sandbox can't be set up, if the failure is due to it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        sandbox: Option<SandboxProblem>,
    },
    /// The server is not running because it requires the user to sign in.
    NeedsSignIn {
        /// Cause as a sentence for the user.
        cause: String,
        /// `true` if a sign-in is in progress.
        signing_in: bool,
    },
}

/// Claims of a server about itself, not verified.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ServerClaims {
    /// Name from the server.
    pub name: String,
    /// Title from the server.
    pub title: Option<String>,
    /// Version of the server's implementation.
    pub version: String,
    /// Description from the server.
    pub description: Option<String>,
    /// URL of the server's website.
    pub website_url: Option<String>,
}

/// Number of items that a server offers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// Number of the tools.
    pub tools: u32,
    /// Number of the prompts.
    pub prompts: u32,
    /// Number of the resources.
    pub resources: u32,
    /// Number of the resource templates.
    pub templates: u32,
}

/// Number of tools and prompts of a server that the user has not reviewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct UnreviewedCounts {
    /// Number of items that were never reviewed.
    pub new: u32,
    /// Number of items that changed since their review.
    pub changed: u32,
}

/// Folders that a server may know of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RootsState {
    /// `true` if the user has decided. Otherwise the first request of the server requires consent.
    pub decided: bool,
    /// Absolute paths of the folders.
    pub folders: Vec<String>,
    /// Folders that are disclosed to the server. With a sandbox, only those that it can reach.
    pub told: Vec<String>,
}

/// Storage of the secrets of an added or changed server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SecretStorageReport {
    /// Reason why secrets are stored only until Drawbridge exits, if they are: the keychain is missing or locked.
    pub only_this_run: Option<String>,
}

/// Request to replace a secret of a server.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SetSecret {
    /// Name of the server in the settings.
    pub server: String,
    /// Name of the header or environment variable, or name of a secret of the sign-in settings.
    pub header: String,
    /// New value of the secret.
    pub value: String,
}

/// Reference to a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ServerName {
    /// The user's name for it.
    pub server: String,
}

/// Request to add a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AddServer {
    /// Name of the server in the settings.
    pub name: String,
    /// Configuration of the server.
    pub config: ServerConfig,
}

/// Request to change a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct UpdateServer {
    /// Current name of the server.
    pub server: String,
    /// New name of the server.
    pub name: String,
    /// New configuration of the server.
    pub config: ServerConfig,
}

/// Pasted text, for example from a server's README.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ImportText {
    /// Text to parse for servers.
    pub text: String,
}

/// Servers found in pasted text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ImportPreview {
    /// Servers that were found.
    pub servers: Vec<ImportedServer>,
    /// Reason why the text can't be parsed, with line and column where known.
    pub problem: Option<ConfigProblem>,
}

/// Server found in pasted text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ImportedServer {
    /// Suggested name, unique among the configured servers.
    pub name: String,
    /// Configuration of the server.
    pub config: ServerConfig,
    /// Notes for the user: placeholders to fill in, unknown keys, or the reason why it can't be used.
    pub notes: Vec<String>,
    /// `true` if the server can be added without changes.
    pub usable: bool,
}

/// Request to set the log level of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SetLogLevel {
    /// Name of the server in the settings.
    pub server: String,
    /// Level: `debug`, `info`, `notice`, `warning`, `error`, `critical`, `alert` or `emergency`.
    pub level: String,
}

/// Request to set the folders that a server may know of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SetRoots {
    /// Name of the server in the settings.
    pub server: String,
    /// Absolute paths of the folders.
    pub folders: Vec<String>,
}

/// Folder selected by the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct PickedFolder {
    /// Absolute path of the folder, or `None` if the dialog was closed.
    pub folder: Option<String>,
}

/// Request to let the user select a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct PickFile {
    /// Kind of files that the dialog offers.
    pub kind: FileKind,
}

/// Kind of files that a dialog offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    /// Files of all kinds.
    Any,
    /// Bundles, recognized by their file name extension.
    Bundle,
}

/// File selected by the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct PickedFile {
    /// Absolute path of the file, or `None` if the dialog was closed.
    pub file: Option<String>,
}
