//! What a server may reach, and how much of everything it gets.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{LaunchFileRole, ResourceLimits, SandboxProblem};

/// What a local server may reach.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Sandbox {
    /// The folders. Those that are there are kept by where they really lie.
    pub folders: Vec<SandboxFolder>,
    /// The hosts that the sandbox lets the server connect to.
    pub network: SandboxNetwork,
}

/// The network access of a sandboxed server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "preset", rename_all = "snake_case")]
pub enum SandboxNetwork {
    /// No network but its own loopback.
    #[default]
    FilesOnly,
    /// These hosts, through Drawbridge's proxy.
    NamedHosts {
        /// Such as `example.com`, `*.example.com` or `10.0.0.7:8080`.
        hosts: Vec<String>,
    },
    /// The network of the computer, without a proxy.
    Full,
}

/// A folder that a server may reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SandboxFolder {
    /// Its absolute path.
    pub path: String,
    /// What may be done there.
    pub access: FolderAccess,
}

/// What may be done in a folder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum FolderAccess {
    /// Reading, and running what lies there.
    #[default]
    Read,
    /// Changing as well.
    Write,
}

/// A sandbox that can be set up: what holds the server, and all that it reaches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SandboxPlan {
    /// What holds it: `bubblewrap`, `Landlock` or `sandbox-exec`.
    pub held_by: String,
    /// The folders that the user has named.
    pub folders: Vec<SandboxFolder>,
    /// What its program consists of. To be read.
    pub program: Vec<String>,
    /// What is the system's. To be read.
    pub system: Vec<String>,
    /// The server's own home, to be read and changed.
    pub home: String,
    /// Folders in the others that are not reached: Drawbridge's own records and secrets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<String>>", optional)]
    pub hidden: Vec<String>,
    /// The hosts that the sandbox lets the server connect to.
    pub network: SandboxNetwork,
    /// Resource limits; a server beyond one is stopped.
    pub limits: ResourceLimits,
}

/// A server that may change a file which another one runs: its sandbox lets it write there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct FileWriter {
    /// The server whose sandbox may write to the file.
    pub server: String,
    /// The path of a file that decides what another server runs.
    pub file: String,
    /// The folder of its sandbox.
    pub folder: String,
}

/// A file that decides what a local server runs. The approval of a start is over it as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct LaunchFile {
    /// The path that the command leads to.
    pub path: String,
    /// Where the file really lies, if that is elsewhere.
    pub leads_to: Option<String>,
    /// Its size in bytes.
    pub bytes: u64,
    /// The SHA-256 of its content, in hexadecimal digits. None if it is too large to be read, or can't be: then its size and its times
    /// of modification and status change count.
    pub hash: Option<String>,
    /// How the command leads to this file.
    pub role: LaunchFileRole,
    /// True if the server was approved before and the file is not as it was then.
    pub changed: bool,
}

/// What a server would reach if it were started now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SandboxReport {
    /// What it would reach; nothing if it could not be held so, or has no sandbox.
    pub plan: Option<SandboxPlan>,
    /// Why it could not be started, in words.
    pub problem: Option<String>,
    /// Why the sandbox can't be set up, if that is the cause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub cause: Option<SandboxProblem>,
    /// Files that it needs and would not reach, in words, as far as that can be told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<String>>", optional)]
    pub missing: Vec<String>,
}
