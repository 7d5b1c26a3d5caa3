//! Sandboxes of local servers: the files and hosts that a server may access.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{LaunchFileRole, ResourceLimits, SandboxProblem};

/// Sandbox settings of a local server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Sandbox {
    /// Folders that the server may access. Paths of existing folders are stored in canonical form.
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
    /// The listed hosts, which the server reaches through Drawbridge's proxy.
    NamedHosts {
        /// Host patterns such as `example.com`, `*.example.com` or `10.0.0.7:8080`.
        hosts: Vec<String>,
    },
    /// The computer's network, without restrictions.
    Full,
}

/// Folder that a sandboxed server can access.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SandboxFolder {
    /// Absolute path of the folder.
    pub path: String,
    /// Kind of access that the server has to the folder.
    pub access: FolderAccess,
}

/// Kind of access that a sandbox gives to a folder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum FolderAccess {
    /// Reading files and executing programs.
    #[default]
    Read,
    /// Reading, executing and modifying files.
    Write,
}

/// Resolved sandbox: its mechanism, and all files and hosts that the server could access.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SandboxPlan {
    /// Mechanism that enforces the sandbox: `bubblewrap`, `Landlock` or `sandbox-exec`.
    pub mechanism: String,
    /// Folders that the user configured for the sandbox.
    pub folders: Vec<SandboxFolder>,
    /// Paths of the server's program and its files, which the server can read.
    pub program: Vec<String>,
    /// Paths of the operating system that the server can read.
    pub system: Vec<String>,
    /// Private home folder of the server, which it can read and write.
    pub home: String,
    /// Paths inside the accessible folders that stay hidden because they contain Drawbridge's records and secrets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<String>>", optional)]
    pub hidden: Vec<String>,
    /// Hosts that the server may connect to.
    pub network: SandboxNetwork,
    /// Resource limits. A server that exceeds one is stopped.
    pub limits: ResourceLimits,
}

/// Server whose sandbox lets it modify a file that another server runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct LaunchFileWriteAccess {
    /// Name of the server that may write to the file.
    pub server: String,
    /// Path of the file that this server can write and that another server runs.
    pub file: String,
    /// Folder that contains the file and that the sandbox lets the server write to.
    pub folder: String,
}

/// File that determines what a local server runs. The approval of a start is bound to its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct LaunchFile {
    /// Path of the file, as the command refers to it.
    pub path: String,
    /// Canonical path of the file, or `None` if it equals `path`.
    pub leads_to: Option<String>,
    /// Size of the launch file in bytes.
    pub bytes: u64,
    /// SHA-256 of the content in hexadecimal, or `None` if the file is too large or unreadable. The approval is then
    /// bound to the size and the times of the file (mtime and ctime).
    pub hash: Option<String>,
    /// Role of the file in the server's command.
    pub role: LaunchFileRole,
    /// `true` if the file has changed since the last approval of the server.
    pub changed: bool,
}

/// Files and hosts that a server could access if it were started now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct SandboxReport {
    /// Sandbox of the server, or `None` if it has none or it can't be set up.
    pub plan: Option<SandboxPlan>,
    /// Reason why the server could not be started, as a sentence for the user, or `None` if it could.
    pub problem: Option<String>,
    /// Stable identifier of the reason why the sandbox can't be set up, or `None` if the problem is not the sandbox or
    /// there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub cause: Option<SandboxProblem>,
    /// Files that the server appears to need but can't access, as sentences for the user.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<String>>", optional)]
    pub missing: Vec<String>,
}

/// Request for a sandbox proposal for a server whose start waits for consent.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct ProposeSandbox {
    /// Identifier of the consent request for the start of the server.
    pub id: String,
    /// Network access in the sandbox, or `None` to let Drawbridge propose one.
    pub network: Option<SandboxNetwork>,
}

/// Sandbox proposal for a server whose start waits for consent, or the reason why there is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum SandboxOffer {
    /// The server can run in the proposed sandbox.
    Possible {
        /// Settings of the proposed sandbox.
        sandbox: Sandbox,
        /// Files and hosts that the server could access in the sandbox.
        plan: SandboxPlan,
        /// Files that the server appears to need but could not access, as sentences for the user.
        missing: Vec<String>,
    },
    /// The command runs a container. Drawbridge provides no sandbox for containers.
    Container,
    /// The working folder is the root of the disk, or contains the home of the user, so no sandbox is proposed.
    BroadFolder {
        /// Working folder of the server.
        folder: String,
    },
    /// The sandbox can't be set up.
    Impossible {
        /// Settings of the proposed sandbox.
        sandbox: Sandbox,
        /// Reason why the sandbox can't be set up, as a sentence for the user.
        problem: String,
        /// Stable identifier of the cause, or `None` if the problem is not the sandbox.
        cause: Option<SandboxProblem>,
    },
}

/// Request to add a sandbox to the settings of a server whose start waits for consent.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct AddSandbox {
    /// Identifier of the consent request for the start of the server.
    pub id: String,
    /// Hash of the consent request that was shown to the user.
    pub hash: String,
    /// Sandbox for the settings of the server.
    pub sandbox: Sandbox,
}
