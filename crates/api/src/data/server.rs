//! Servers: how they are set up, and how they are.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{
    AuthSettings, Blocked, ConfigProblem, DataFlow, FailureReason, Installed, Marks, Sandbox, SandboxProblem, Trust,
    UrlParts,
};

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ServerConfig {
    /// A local program that is started.
    Stdio {
        /// The program, a name to be found or a path.
        command: String,
        /// Its arguments, each as it is passed.
        #[serde(default)]
        args: Vec<String>,
        /// Variables set beside the allow-listed ones.
        #[serde(default)]
        env: BTreeMap<String, String>,
        /// Those variables whose values lie, or are to be put, in the system's keychain and not in the settings file. Of a
        /// server that is set up, `env` has `${secret:NAME}` for them; to send that back keeps what is set.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        secret_env: Option<Vec<String>>,
        /// The folder it starts in.
        #[serde(default)]
        cwd: Option<String>,
        /// What it may reach; none if all that its user may.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        sandbox: Option<Sandbox>,
        /// The protocol revision to speak and no other, such as `2025-06-18`; none to find out.
        #[serde(default)]
        revision: Option<String>,
    },
    /// A URL.
    Http {
        /// Where it is.
        url: String,
        /// What is sent with each request.
        #[serde(default)]
        headers: Vec<HttpHeader>,
        /// The transport to use and no other; none to find out.
        #[serde(default)]
        kind: Option<HttpKind>,
        /// How to sign in, where that is not, or not only, to be found out.
        #[serde(default)]
        auth: Option<AuthSettings>,
        /// The protocol revision to speak and no other; none to find out.
        #[serde(default)]
        revision: Option<String>,
    },
}

/// A header that is sent to a remote server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct HttpHeader {
    /// Its name.
    pub name: String,
    /// Its value. Of a server that is set up it is never told; none in a change keeps the value that is set.
    #[serde(default)]
    pub value: Option<String>,
    /// Whether the value lies, or is to be put, in the system's keychain and not in the settings file.
    #[serde(default)]
    pub secret: bool,
}

/// A transport over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum HttpKind {
    /// Streamable HTTP, since 2025-03-26.
    Http,
    /// HTTP+SSE of 2024-11-05.
    Sse,
}

/// A server as the user sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Server {
    /// The user's own name for it; unique.
    pub name: String,
    /// How it is reached.
    pub config: ServerConfig,
    /// Program and arguments on one line, quoted where needed; of a remote server its URL.
    pub command_line: String,
    /// A remote server's URL taken apart.
    pub url: Option<UrlParts>,
    /// How messages travel: `stdio`, `streamable-http` or `http-sse`; `http` until that is found out.
    pub transport: String,
    /// How it is.
    pub state: ServerState,
    /// Since when, in milliseconds since 1970.
    pub since: u64,
    /// Whether exactly this command or address was approved.
    pub approved: bool,
    /// The revision in use once ready.
    pub revision: Option<String>,
    /// How the revision, and the transport of a remote server, were found.
    pub found_by: Option<String>,
    /// What the server says about itself; nothing of it is checked.
    pub claims: Option<ServerClaims>,
    /// What the server says it can do, as the protocol names it, such as `tools.listChanged`.
    pub capabilities: Vec<String>,
    /// What the server wants a model to know. Untrusted.
    pub instructions: Option<String>,
    /// How much it offers.
    pub counts: Counts,
    /// What of it the user has not reviewed as it is now, if there is any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub unreviewed: Option<Unreviewed>,
    /// The folders it may know of.
    pub roots: RootsState,
    /// The resources watched for changes.
    pub subscriptions: Vec<String>,
    /// Why changes are not told at the moment, if they are not. It is asked for them again.
    pub subscriptions_lost: Option<String>,
    /// The level from which it sends log messages, once set.
    pub log_level: Option<String>,
    /// Whether its questions are refused unseen.
    pub muted: bool,
    /// Whether it is trusted with calls of its tools.
    pub trust: Trust,
    /// How its content flows on.
    pub flow: DataFlow,
    /// Until when, if only for a while since the user refused three of its questions in a row; in milliseconds since 1970.
    pub muted_until: Option<u64>,
    /// How many of its questions were refused unseen, because they were too many or it is muted, since the user last denied all.
    pub refused_questions: u64,
    /// What is worth a second look about what it says of itself.
    pub marks: Marks,
    /// Process id while it runs.
    pub pid: Option<u32>,
    /// What holds it while it runs, if it has a sandbox: `bubblewrap`, `Landlock` or `sandbox-exec`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub held_by: Option<String>,
    /// Where it was installed from, if it was from a registry or a bundle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub installed: Option<Installed>,
}

/// How a server is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "is", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ServerState {
    /// Not running.
    Stopped,
    /// Waits for the user to approve its command or address.
    AwaitingApproval,
    /// Started, not ready to be used yet.
    Starting,
    /// In use.
    Ready,
    /// Being ended.
    Stopping,
    /// It ended or dropped, and is brought back after a pause.
    Reconnecting {
        /// The number of the next attempt, from 1.
        attempt: u32,
        /// When it is made, in milliseconds since 1970.
        at: u64,
        /// Why it is not running.
        cause: String,
    },
    /// Not running, though it should.
    Failed {
        /// What to act on.
        reason: FailureReason,
        /// The cause in words.
        message: String,
        /// The last lines it wrote to standard error.
        stderr: Vec<String>,
        /// Where the command was looked for, if it was not found.
        looked_in: Vec<String>,
        /// What to do about it, if known.
        hint: Option<String>,
        /// What it may have missed in its sandbox.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<Blocked>>", optional)]
        blocked: Vec<Blocked>,
        /// Why its sandbox can't be set up, if that is the cause.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        sandbox: Option<SandboxProblem>,
    },
    /// Not running: it was reached, and wants its user to sign in.
    NeedsSignIn {
        /// Why, in words.
        cause: String,
        /// Whether a sign-in is under way.
        signing_in: bool,
    },
}

/// What a server says about itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ServerClaims {
    /// Its name.
    pub name: String,
    /// Its title.
    pub title: Option<String>,
    /// Its version.
    pub version: String,
    /// What it is.
    pub description: Option<String>,
    /// Its website.
    pub website_url: Option<String>,
}

/// How much a server offers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// Tools.
    pub tools: u32,
    /// Prompts.
    pub prompts: u32,
    /// Resources.
    pub resources: u32,
    /// Resource templates.
    pub templates: u32,
}

/// How many tools and prompts of a server the user has not reviewed as they are now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Unreviewed {
    /// Those never seen.
    pub new: u32,
    /// Those that are others than when they were seen.
    pub changed: u32,
}

/// The folders a server may know of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RootsState {
    /// Whether the user has decided; until then the first request asks.
    pub decided: bool,
    /// Absolute paths.
    pub folders: Vec<String>,
    /// Those that it is told of: in a sandbox no more than it reaches.
    pub told: Vec<String>,
}

/// What became of the secrets of a server that was added or changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SecretsKept {
    /// Why secrets are kept only until Drawbridge is closed, if they are: there is no keychain, or it is locked.
    pub only_this_run: Option<String>,
}

/// A secret of a header, or of a local server's variable, to be entered again.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SetSecret {
    /// The server.
    pub server: String,
    /// The name of the header, or of the variable; or, of what signing in needs, the name of the secret itself.
    pub header: String,
    /// The new value.
    pub value: String,
}

/// A server by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ServerName {
    /// The user's name for it.
    pub server: String,
}

/// A new server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AddServer {
    /// The user's name for it.
    pub name: String,
    /// How it is reached.
    pub config: ServerConfig,
}

/// A changed server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct UpdateServer {
    /// Its name until now.
    pub server: String,
    /// Its name from now on.
    pub name: String,
    /// How it is reached from now on.
    pub config: ServerConfig,
}

/// Text that a server's README says to paste.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ImportText {
    /// The text.
    pub text: String,
}

/// What was found in pasted text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ImportPreview {
    /// The servers in it.
    pub servers: Vec<ImportedServer>,
    /// Why nothing could be read, with line and column where known.
    pub problem: Option<ConfigProblem>,
}

/// One server in pasted text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ImportedServer {
    /// The name it would get; free among the user's servers.
    pub name: String,
    /// How it would be reached.
    pub config: ServerConfig,
    /// What to look at: placeholders to fill in, keys that are not understood, why it can't be used.
    pub notes: Vec<String>,
    /// Whether it can be added as it is.
    pub usable: bool,
}

/// A log level for a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SetLogLevel {
    /// The server.
    pub server: String,
    /// `debug`, `info`, `notice`, `warning`, `error`, `critical`, `alert` or `emergency`.
    pub level: String,
}

/// Folders for a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SetRoots {
    /// The server.
    pub server: String,
    /// Absolute paths.
    pub folders: Vec<String>,
}

/// A folder the user picked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct PickedFolder {
    /// Its absolute path, or nothing when the dialog was closed.
    pub folder: Option<String>,
}

/// Asks the user for a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct PickFile {
    /// What is offered.
    pub kind: FileKind,
}

/// The files that a dialog offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    /// All.
    Any,
    /// Bundles, by their names.
    Bundle,
}

/// A file the user picked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct PickedFile {
    /// Its absolute path, or nothing when the dialog was closed.
    pub file: Option<String>,
}
