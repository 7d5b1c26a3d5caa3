//! Sandboxes of local servers: what a server may reach.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{LaunchFileRole, ResourceLimits, SandboxProblem};

/// Files and network that a local server may reach.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Sandbox {
    /// Folders that the server may reach. Paths of existing folders are stored canonicalized.
    pub folders: Vec<SandboxFolder>,
    /// Hosts that the server may connect to.
    pub network: SandboxNetwork,
}

/// Network access of a sandboxed server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "preset", rename_all = "snake_case")]
pub enum SandboxNetwork {
    /// No network except the sandbox's own loopback interface.
    #[default]
    FilesOnly,
    /// The listed hosts, through Drawbridge's proxy.
    NamedHosts {
        /// Host patterns such as `example.com`, `*.example.com` or `10.0.0.7:8080`.
        hosts: Vec<String>,
    },
    /// The network of the computer, without a proxy.
    Full,
}

/// Folder that a server may reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SandboxFolder {
    /// Absolute path of the folder.
    pub path: String,
    /// Access that the server has to the folder.
    pub access: FolderAccess,
}

/// Access to a folder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum FolderAccess {
    /// Reading files and executing programs.
    #[default]
    Read,
    /// Reading, executing and modifying files.
    Write,
}

/// Sandbox that can be set up: its mechanism, and everything that the server could reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SandboxPlan {
    /// Sandbox mechanism: `bubblewrap`, `Landlock` or `sandbox-exec`.
    pub held_by: String,
    /// Folders that the user configured.
    pub folders: Vec<SandboxFolder>,
    /// Paths of the server's program files, readable.
    pub program: Vec<String>,
    /// Paths of the operating system, readable.
    pub system: Vec<String>,
    /// Private home folder of the server, readable and writable.
    pub home: String,
    /// Folders inside the others that are not accessible: Drawbridge's own records and secrets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<String>>", optional)]
    pub hidden: Vec<String>,
    /// Hosts that the server may connect to.
    pub network: SandboxNetwork,
    /// Resource limits. A server that exceeds one is stopped.
    pub limits: ResourceLimits,
}

/// Server whose sandbox lets it write to a file that another server runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct FileWriter {
    /// Name of the server that may write to the file.
    pub server: String,
    /// Path of a file that determines what another server runs.
    pub file: String,
    /// Writable folder of the sandbox that contains the file.
    pub folder: String,
}

/// File that determines what a local server runs. The approval of a start is bound to its current content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct LaunchFile {
    /// Path that the command refers to.
    pub path: String,
    /// Canonical path of the file, if it differs.
    pub leads_to: Option<String>,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// SHA-256 of the content in hexadecimal, or `None` if the file is too large or unreadable. The approval is then
    /// bound to its size and its times of modification and status change.
    pub hash: Option<String>,
    /// Role of the file in the command.
    pub role: LaunchFileRole,
    /// `true` if the server was approved before and the file has changed since.
    pub changed: bool,
}

/// Access that a server would have if it were started now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SandboxReport {
    /// Sandbox of the server, or `None` if it can't be set up or the server has no sandbox.
    pub plan: Option<SandboxPlan>,
    /// Reason why the server could not be started, as a sentence for the user.
    pub problem: Option<String>,
    /// Stable identifier of the cause, if the sandbox can't be set up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub cause: Option<SandboxProblem>,
    /// Files that the server appears to need and could not reach, as sentences for the user.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<String>>", optional)]
    pub missing: Vec<String>,
}

/// Start request whose server could get a sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct OfferSandbox {
    /// Identifier of the consent request.
    pub id: String,
    /// Access to the network in the sandbox, or `None` for the proposed one.
    pub network: Option<SandboxNetwork>,
}

/// Sandbox for the server of a start request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum SandboxOffer {
    /// The server can run in this sandbox.
    Possible {
        /// Settings of the sandbox.
        sandbox: Sandbox,
        /// Access that the server would have in it.
        plan: SandboxPlan,
        /// Files that the server appears to need and could not reach, as sentences for the user.
        missing: Vec<String>,
    },
    /// The command runs a container, which gets no sandbox.
    Container,
    /// The sandbox can't be set up.
    Impossible {
        /// Settings of the sandbox.
        sandbox: Sandbox,
        /// Reason, as a sentence for the user.
        problem: String,
        /// Stable identifier of the cause, or `None` if the sandbox is not the cause.
        cause: Option<SandboxProblem>,
    },
}

/// Sandbox that the user chose in a start request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ContainStart {
    /// Identifier of the consent request.
    pub id: String,
    /// Hash of the consent request as it was shown.
    pub hash: String,
    /// Sandbox for the settings of the server.
    pub sandbox: Sandbox,
}
