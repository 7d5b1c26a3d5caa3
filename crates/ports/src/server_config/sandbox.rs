//! What a local server may reach, as its user has set it up: the entry's `sandbox`, a key of Drawbridge's own that other hosts
//! leave alone.

use std::path::Path;

pub use process::sandbox::{Access, Folder, HostPattern, Network};

use super::hashes::path_in_json;

/// The most folders of one server.
const MAX_FOLDERS: usize = 100;

/// What a local server may reach. Without one it may all that its user may.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SandboxConfig {
    /// The folders, each by its whole path with no link in it.
    pub folders: Vec<Folder>,
    /// The hosts that the sandbox lets the server connect to.
    pub network: Network,
}

impl SandboxConfig {
    /// Why it can't be used, in words; nothing if it can. Whether the folders are there is found out when the server is started.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        if self.folders.len() > MAX_FOLDERS {
            return Some(format!("a sandbox has at most {MAX_FOLDERS} folders"));
        }
        if let Some(problem) = self.network.problem() {
            return Some(problem);
        }
        self.folders.iter().find_map(|folder| {
            let shown = folder.path.display();
            if !folder.path.is_absolute() {
                Some(format!("the sandbox's folder {shown} must be a whole path, from the root"))
            } else if folder.path.parent().is_none() {
                Some("the whole disk is no folder for a sandbox; name those that the server needs".to_owned())
            } else {
                None
            }
        })
    }

    /// The folders and what may be done there, and what is reached of the network, for the hash of an approval and for its words.
    pub fn in_json(&self) -> serde_json::Value {
        let folder =
            |folder: &Folder| serde_json::json!({ "path": path_in_json(&folder.path), "access": word(folder.access) });
        serde_json::json!({
            "folders": self.folders.iter().map(folder).collect::<Vec<_>>(),
            "network": network_in_json(&self.network),
        })
    }

    /// A folder that a server may write to and that holds this.
    pub fn may_change(&self, path: &Path) -> Option<&Folder> {
        self.folders.iter().find(|folder| folder.access == Access::Write && path.starts_with(&folder.path))
    }
}

/// As `mcp.json` has it: `false`, `true`, or the list of hosts.
fn network_in_json(network: &Network) -> serde_json::Value {
    match network {
        Network::None => false.into(),
        Network::Full => true.into(),
        Network::Hosts(hosts) => hosts.iter().map(ToString::to_string).collect(),
    }
}

/// As `mcp.json` names it.
#[must_use]
pub const fn word(access: Access) -> &'static str {
    match access {
        Access::Read => "read",
        Access::Write => "write",
    }
}
