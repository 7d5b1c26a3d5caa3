//! Access rights of a local server as configured by the user: the `sandbox` member of an entry in `mcp.json`, an
//! extension by Drawbridge that other hosts ignore.

use std::path::Path;

pub use process::sandbox::{AccessMode, AllowedFolder, HostPattern, NetworkAccess};

use super::hashes::path_to_json;

/// Maximum number of folders in one sandbox.
const MAX_SANDBOX_FOLDERS: usize = 100;

/// Access rights of a local server. Without a sandbox, the server has all rights of the user.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SandboxConfig {
    /// Accessible folders, each as an absolute path without symbolic links.
    pub folders: Vec<AllowedFolder>,
    /// Network access of the server: none, some hosts, or all of the network.
    pub network: NetworkAccess,
}

impl SandboxConfig {
    /// Returns the reason why the sandbox settings are invalid, or `None` if they are valid. Doesn't check that folders
    /// exist, which is checked when the server starts.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        if self.folders.len() > MAX_SANDBOX_FOLDERS {
            return Some(format!("a sandbox has at most {MAX_SANDBOX_FOLDERS} folders"));
        }
        if let Some(problem) = self.network.problem() {
            return Some(problem);
        }
        self.folders.iter().find_map(|folder| {
            let shown = folder.path.display();
            if !folder.path.is_absolute() {
                Some(format!("the sandbox's folder {shown} must be an absolute path"))
            } else if folder.path.parent().is_none() {
                Some("the whole disk can't be a folder of a sandbox; name the folders that the server needs".to_owned())
            } else {
                None
            }
        })
    }

    /// Converts the sandbox settings to JSON for the hash that an approval covers, and for the readable text of the
    /// approval.
    pub fn to_json(&self) -> serde_json::Value {
        let folder = |folder: &AllowedFolder| serde_json::json!({ "path": path_to_json(&folder.path), "access": access_mode_name(folder.access) });
        serde_json::json!({
            "folders": self.folders.iter().map(folder).collect::<Vec<_>>(),
            "network": network_access_json(&self.network),
        })
    }

    /// Returns a folder of the sandbox that contains this path and is writable, or `None` if there is none.
    pub fn writable_folder_for(&self, path: &Path) -> Option<&AllowedFolder> {
        self.folders.iter().find(|folder| folder.access == AccessMode::Write && path.starts_with(&folder.path))
    }
}

/// Returns the network access as written in `mcp.json`: `false`, `true`, or the list of hosts.
fn network_access_json(network: &NetworkAccess) -> serde_json::Value {
    match network {
        NetworkAccess::None => false.into(),
        NetworkAccess::Full => true.into(),
        NetworkAccess::Hosts(hosts) => hosts.iter().map(ToString::to_string).collect(),
    }
}

/// Returns the name of an access mode in `mcp.json`.
#[must_use]
pub const fn access_mode_name(access: AccessMode) -> &'static str {
    match access {
        AccessMode::Read => "read",
        AccessMode::Write => "write",
    }
}
