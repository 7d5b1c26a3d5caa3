//! What a server may reach, and how much of everything it gets.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What a local server may reach.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Sandbox {
    /// The folders. Those that are there are kept by where they really lie.
    pub folders: Vec<SandboxFolder>,
    /// Whether it may use the network.
    pub network: bool,
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
    /// Whether it may use the network.
    pub network: bool,
}

/// What a server would reach if it were started now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SandboxReport {
    /// What it would reach; nothing if it could not be held so, or has no sandbox.
    pub plan: Option<SandboxPlan>,
    /// Why it could not be started, in words.
    pub problem: Option<String>,
}

/// How much each server gets. What is out of bounds counts as the nearest that is in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// Calls at the same time; more are refused.
    pub calls: u32,
    /// Questions that wait for the user at the same time; more are refused.
    pub questions: u32,
    /// Questions in a minute; more are refused.
    pub questions_per_minute: u32,
    /// Notifications that are kept each second; more are left out and counted.
    pub notifications_per_second: u32,
    /// Bytes in a minute; then it is read slower.
    pub bytes_per_minute: u64,
    /// The largest message, in bytes; what waits for a larger one fails.
    pub message_bytes: u64,
    /// Bytes of its messages that are kept to be looked at.
    pub kept_bytes: u64,
}

/// How much a server uses of what it gets, since it was started last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct LimitsUse {
    /// Calls under way.
    pub calls: LimitCounter,
    /// Questions that wait for the user.
    pub questions: LimitCounter,
    /// Notifications of the last second.
    pub notifications: LimitCounter,
    /// Bytes of the last minute.
    pub bytes: LimitCounter,
    /// The largest message so far, in bytes.
    pub message: LimitCounter,
    /// Bytes that are kept of its messages.
    pub kept: LimitCounter,
    /// Whether it is read slower at the moment.
    pub slowed: bool,
}

/// One limit, and how near a server is to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct LimitCounter {
    /// How much there is now.
    pub now: u64,
    /// The limit.
    pub most: u64,
    /// How often, or how much, was beyond it: refused, left out, slowed down, let go.
    pub beyond: u64,
}
