//! Servers: their configuration and state.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{
    AuthSettings, BlockedPath, ConfigProblem, DataFlow, FailureReason, ImportNote, InstallationInfo, ReviewMarks,
    Sandbox, SandboxProblem, StartRefusal, ToolFilter, TrustDuration, UrlParts,
};

/// Configuration of a local or remote server.
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
        /// Environment variables of the server, in addition to those that Drawbridge passes on from its own
        /// environment.
        #[serde(default)]
        env: BTreeMap<String, String>,
        /// Names of the variables whose values are stored in the keychain. In responses, `env` contains
        /// `${secret:NAME}` as their value, and an update with this value keeps the stored one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        secret_env: Option<Vec<String>>,
        /// Working directory of the server.
        #[serde(default)]
        cwd: Option<String>,
        /// Sandbox of the server, or `None` if it runs with all rights of the user.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        sandbox: Option<Sandbox>,
        /// The only MCP protocol revision that may be used, such as `2025-06-18`, or `None` to negotiate the revision.
        #[serde(default)]
        revision: Option<String>,
        /// Tools that Drawbridge offers to models, or `None` for all. In an update, `None` keeps the current setting.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        tools: Option<ToolFilter>,
        /// `false` if the server does not start together with Drawbridge, or `None` if it does, once its start is
        /// approved. In an update, `None` keeps the current setting.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        autostart: Option<bool>,
    },
    /// Remote server that is reached at a URL.
    Http {
        /// URL of the server.
        url: String,
        /// Headers of each request.
        #[serde(default)]
        headers: Vec<HttpHeader>,
        /// The only HTTP transport that may be used, or `None` to detect the transport.
        #[serde(default)]
        kind: Option<HttpKind>,
        /// Sign-in settings that override discovered metadata, or `None` if there are none.
        #[serde(default)]
        auth: Option<AuthSettings>,
        /// The only MCP protocol revision that may be used, or `None` to negotiate the revision.
        #[serde(default)]
        revision: Option<String>,
        /// Tools that Drawbridge offers to models, or `None` for all. In an update, `None` keeps the current setting.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        tools: Option<ToolFilter>,
        /// `false` if the server does not start together with Drawbridge, or `None` if it does, once its start is
        /// approved. In an update, `None` keeps the current setting.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        autostart: Option<bool>,
    },
}

/// HTTP header that is sent with each request to a remote server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct HttpHeader {
    /// Name of the HTTP header.
    pub name: String,
    /// Value of the header. `None` in responses for a configured server. `None` in an update keeps the stored value.
    #[serde(default)]
    pub value: Option<String>,
    /// `true` if the value is stored in the keychain instead of the settings file.
    #[serde(default)]
    pub secret: bool,
}

/// HTTP transport of MCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum HttpKind {
    /// Streamable HTTP, since revision 2025-03-26.
    Http,
    /// HTTP+SSE of revision 2024-11-05.
    Sse,
}

/// Configuration and state of a server.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Server {
    /// Name of the server in the settings, unique.
    pub name: String,
    /// Configuration of the server, as in the settings file.
    pub config: ServerConfig,
    /// Program and arguments on one line, quoted where needed, or the URL of a remote server.
    pub command_line: String,
    /// URL of a remote server, parsed into its parts. `None` for a local server.
    pub url: Option<UrlParts>,
    /// Transport of the server: `stdio`, `streamable-http` or `http-sse`, or `http` if it is not detected yet.
    pub transport: String,
    /// State of the server's process or connection.
    pub state: ServerState,
    /// Time of the last state change, in milliseconds since 1970.
    pub since: u64,
    /// `true` if the user has approved this exact command or URL.
    pub approved: bool,
    /// Hash of the command or URL that was launched, which a grant for it has as `boundHash`. `None` if the server was
    /// not launched.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub launched_hash: Option<String>,
    /// Protocol revision of the session, or `None` if there is no session.
    pub revision: Option<String>,
    /// Explanation of how Drawbridge detected the protocol revision and, for a remote server, the transport. `None`
    /// before the detection.
    pub detection: Option<String>,
    /// Unverified claims of the server about itself, or `None` before the server has sent them.
    pub claims: Option<ServerClaims>,
    /// Capabilities of the server as named in the protocol, such as `tools.listChanged`.
    pub capabilities: Vec<String>,
    /// Instructions of the server for a model, or `None` if it provides none. Untrusted text.
    pub instructions: Option<String>,
    /// Number of items in each list.
    pub counts: ListCounts,
    /// Number of tools and prompts that the user has not reviewed, or `None` if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub unreviewed: Option<UnreviewedCounts>,
    /// Folders whose paths the server receives as its roots.
    pub roots: RootsState,
    /// URIs of the resources to which Drawbridge is subscribed.
    pub subscriptions: Vec<String>,
    /// Reason why change notifications currently do not arrive, or `None` if they do. The subscriptions are retried.
    pub subscriptions_lost: Option<String>,
    /// Minimum level of log messages that was set for the server, or `None` if none was set.
    pub log_level: Option<String>,
    /// `true` if consent requests of the server are denied automatically.
    pub muted: bool,
    /// Duration of the user's trust in the server. While the server is trusted, its reviewed tools may be called
    /// without a consent request.
    pub trust: TrustDuration,
    /// Data flow settings of the server.
    pub flow: DataFlow,
    /// Time at which a temporary mute ends, in milliseconds since 1970. A server is muted temporarily after the user
    /// has denied three of its consent requests in a row. `None` if no temporary mute is in effect.
    pub muted_until: Option<u64>,
    /// Number of the server's requests that were refused automatically, because of a mute or too many requests, since
    /// the user last denied all pending requests of the server at once.
    pub refused_consent_requests: u64,
    /// Warnings about the server's claims about itself.
    pub marks: ReviewMarks,
    /// Process identifier of a local server, while it runs.
    pub pid: Option<u32>,
    /// Mechanism that enforces the running server's sandbox: `bubblewrap`, `Landlock` or `sandbox-exec`. `None` without
    /// a sandbox.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub sandbox_mechanism: Option<String>,
    /// Origin of the installed version, or `None` if the server is not from a registry or a bundle.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub installed: Option<InstallationInfo>,
}

/// State of a server's process or connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(tag = "is", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ServerState {
    /// The server is not running.
    Stopped,
    /// The server waits for the user's consent to its command or URL.
    AwaitingApproval,
    /// The server was started and the MCP session is not ready yet.
    Starting,
    /// The MCP session is ready for use.
    Ready,
    /// The server is being stopped.
    Stopping,
    /// The server exited or the connection was lost. Another attempt follows after a delay.
    Reconnecting {
        /// Number of the next attempt, counted from 1.
        attempt: u32,
        /// Time of the next attempt, in milliseconds since 1970.
        at: u64,
        /// Reason why the server exited or the connection was lost.
        cause: String,
    },
    /// The server is not running because of an error.
    Failed {
        /// Kind of the error, by which the page selects the message and the actions that it shows.
        reason: FailureReason,
        /// Cause of the failure, as a sentence for the user.
        message: String,
        /// Last lines that the server wrote to standard error.
        stderr: Vec<String>,
        /// Folders that were searched for the command, if it was not found.
        searched_folders: Vec<String>,
        /// Suggested remedy for the error, if known.
        hint: Option<String>,
        /// Paths to which the sandbox may have denied access.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<BlockedPath>>", optional)]
        blocked: Vec<BlockedPath>,
        /// Reason why the sandbox can't be set up, if this caused the failure.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        sandbox: Option<SandboxProblem>,
        /// Refusal of the start by the user or a rule, if there was one.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        refusal: Option<StartRefusal>,
    },
    /// The server is not running because it requires the user to sign in.
    NeedsSignIn {
        /// Reason why the server requires a sign-in, as a sentence for the user.
        cause: String,
        /// `true` if a sign-in is in progress.
        signing_in: bool,
    },
}

/// Unverified claims of a server about itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ServerClaims {
    /// Name that the server reports in its server info.
    pub name: String,
    /// Display title that the server reports in its server info.
    pub title: Option<String>,
    /// Version of the server's implementation.
    pub version: String,
    /// Description that the server provides. Untrusted text.
    pub description: Option<String>,
    /// URL of the server's website, not verified.
    pub website_url: Option<String>,
}

/// Number of items in each list of a server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ListCounts {
    /// Number of tools that the server lists.
    pub tools: u32,
    /// Number of prompts that the server lists.
    pub prompts: u32,
    /// Number of resources that the server lists.
    pub resources: u32,
    /// Number of resource templates that the server lists.
    pub templates: u32,
}

/// Number of tools and prompts that the user has not reviewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
pub struct UnreviewedCounts {
    /// Number of tools and prompts that were never reviewed.
    pub new: u32,
    /// Number of tools and prompts that changed since their review.
    pub changed: u32,
}

/// Folders whose paths a server receives as its roots.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RootsState {
    /// `true` if the user has selected the folders. Otherwise the server's first request for roots requires consent.
    pub decided: bool,
    /// Absolute paths of the folders that the user selected for the server.
    pub folders: Vec<String>,
    /// Absolute paths that the server actually receives: all of `folders`, or, with a sandbox, only those that the
    /// sandbox allows it to access.
    pub sent_folders: Vec<String>,
}

/// Result of storing the secrets of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SecretStorageReport {
    /// Reason why the secrets are stored only until Drawbridge exits, or `None` if the keychain stores them.
    pub only_this_run: Option<String>,
}

/// Request to replace a secret of a server.
#[derive(Clone, PartialEq, Eq, Deserialize, TS)]
pub struct SetSecret {
    /// Name of the server in the settings.
    pub server: String,
    /// Name of the header, environment variable or sign-in secret.
    pub header: String,
    /// New value of the secret.
    pub value: String,
}

/// Request that refers to a server by its name in the settings.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct ServerName {
    /// Name of the server in the settings.
    pub server: String,
}

/// Request to add a server to the settings.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct AddServer {
    /// Name of the server in the settings.
    pub name: String,
    /// Configuration of the server, as in the settings file.
    pub config: ServerConfig,
}

/// Request to change the name or the configuration of a server.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
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
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct ParseImport {
    /// Pasted text, in one of the formats of the command `parse_import`.
    pub text: String,
}

/// Servers found in pasted text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct ImportPreview {
    /// Servers that were found in the text.
    pub servers: Vec<ImportedServer>,
    /// Reason why the text can't be parsed, with line and column where known. `None` if it was parsed.
    pub problem: Option<ConfigProblem>,
}

/// Server found in pasted text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ImportedServer {
    /// Suggested name, unique among the configured servers.
    pub name: String,
    /// Configuration that can be added as it is if `usable` is `true`.
    pub config: ServerConfig,
    /// Notes for the user, such as placeholders to replace, unknown keys, or the reason why the server can't be used.
    pub notes: Vec<ImportNote>,
    /// `true` if the server can be added without changes.
    pub usable: bool,
}

/// Request to set the log level of a server.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct SetLogLevel {
    /// Name of the server in the settings.
    pub server: String,
    /// Minimum level: `debug`, `info`, `notice`, `warning`, `error`, `critical`, `alert` or `emergency`.
    pub level: String,
}

/// Request to set the folders whose paths a server receives as its roots.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct SetRoots {
    /// Name of the server in the settings.
    pub server: String,
    /// Absolute paths of the folders that the server receives as its roots.
    pub folders: Vec<String>,
}

/// Folder selected by the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct PickedFolder {
    /// Absolute path of the folder, or `None` if the user closed the dialog.
    pub folder: Option<String>,
}

/// Request to let the user select a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, TS)]
pub struct PickFile {
    /// Kind of files that the dialog shows.
    pub kind: FileKind,
}

/// Kind of files that a dialog shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    /// Files of all kinds.
    Any,
    /// MCP bundles, which have the extension `.mcpb` or `.dxt`.
    Bundle,
}

/// File selected by the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct PickedFile {
    /// Absolute path of the file, or `None` if the user closed the dialog.
    pub file: Option<String>,
}
