//! Folders that the user shares with servers as roots, in memory and as stored in their file. Used by
//! `host/src/owner/roots.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use domain::merge::merge_file_changes;
use mcp_proto::types::Root;
use policy::Hash;
use serde::{Deserialize, Serialize};
use url::Url;

/// The folders that the user shares with servers as roots.
#[derive(Default)]
pub struct FolderShares {
    /// Current shares by server name. Servers without shared folders have no entry.
    pub shared: BTreeMap<String, FolderShare>,
    /// Shares in the file `roots.json`, as last read or written.
    in_file: BTreeMap<String, FolderShare>,
}

/// The folders that the user shares with one server as roots.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FolderShare {
    /// Hash of the server's command. The share applies only to this command.
    pub command: Hash,
    /// Shared folders. A sandboxed server receives only those that its sandbox allows.
    pub folders: Vec<PathBuf>,
}

impl FolderShares {
    /// Creates the shares from the content of the file of shared folders, at startup.
    pub fn read(in_file: BTreeMap<String, FolderShare>) -> Self {
        Self { shared: in_file.clone(), in_file }
    }

    /// Returns the folders that are shared with a server, or `None` if none are or the server no longer has the command
    /// for which they were shared. `command` returns the hash of the current command. It is called only for servers
    /// with shared folders, since hashing is slow and this is called for every view of a server.
    pub fn shared_for_command(&self, server: &str, command: impl FnOnce() -> Hash) -> Option<Vec<PathBuf>> {
        let shared = self.shared.get(server)?;
        (shared.command == command()).then(|| shared.folders.clone())
    }

    /// Returns the current share of a server without the folders that `now` doesn't contain, or `None` if `now`
    /// contains all of them.
    pub fn without_removed_folders(&self, server: &str, now: &FolderShare) -> Option<FolderShare> {
        let shared = self.shared.get(server).filter(|shared| shared.command == now.command)?;
        let stays = |folder: &&PathBuf| now.folders.contains(folder);
        let folders: Vec<PathBuf> = shared.folders.iter().filter(stays).cloned().collect();
        (folders.len() < shared.folders.len()).then(|| FolderShare { command: now.command.clone(), folders })
    }

    /// Records the share of a server that was written to the file, so that the next read is not mistaken for a change
    /// by another process.
    pub fn on_written(&mut self, server: String, share: Option<FolderShare>) {
        match share {
            Some(share) => drop(self.in_file.insert(server, share)),
            None => drop(self.in_file.remove(&server)),
        }
    }

    /// Applies changes that another process made to the file of shared folders. Returns the names of the servers whose
    /// entries changed.
    pub fn merge(&mut self, in_file: BTreeMap<String, FolderShare>) -> Vec<String> {
        let before = std::mem::replace(&mut self.in_file, in_file);
        self.shared = merge_file_changes(&self.shared, &before, &self.in_file);
        let servers: BTreeSet<&String> = before.keys().chain(self.in_file.keys()).collect();
        servers.into_iter().filter(|server| before.get(*server) != self.in_file.get(*server)).cloned().collect()
    }
}

/// Converts folders to MCP roots.
pub fn to_roots(folders: &[PathBuf]) -> Vec<Root> {
    let root = |folder: &PathBuf| {
        Some(Root {
            uri: Url::from_directory_path(folder).ok()?.as_str().trim_end_matches('/').to_owned(),
            name: folder.file_name().map(|name| name.to_string_lossy().into_owned()),
            ..Root::default()
        })
    };
    folders.iter().filter_map(root).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(command: &str, folders: &[&str]) -> FolderShare {
        FolderShare {
            command: Hash::of_bytes(command.as_bytes()),
            folders: folders.iter().map(PathBuf::from).collect(),
        }
    }

    fn folder_shares(of: &[(&str, FolderShare)]) -> BTreeMap<String, FolderShare> {
        of.iter().map(|(server, share)| ((*server).to_owned(), share.clone())).collect()
    }

    #[test]
    fn shared_folders_are_bound_to_one_command() {
        let shares = FolderShares::read(folder_shares(&[("s", share("one", &["/a"]))]));
        let with = |command: &str| shares.shared_for_command("s", || Hash::of_bytes(command.as_bytes()));
        assert_eq!(with("one"), Some(vec![PathBuf::from("/a")]), "the folders are shared with the approved command");
        assert_eq!(with("other"), None, "another command requires a new decision");
    }

    #[test]
    fn narrowing_a_folder_share_never_adds_folders() {
        let shares = FolderShares::read(folder_shares(&[("s", share("one", &["/a", "/b"]))]));
        let narrowed = |command, folders: &[&str]| shares.without_removed_folders("s", &share(command, folders));
        assert_eq!(
            narrowed("one", &["/b", "/c"]),
            Some(share("one", &["/b"])),
            "a new folder is not added before the audit entry is written"
        );
        assert_eq!(narrowed("one", &["/a", "/b", "/c"]), None, "no folder is removed");
        assert_eq!(narrowed("other", &[]), None, "a share for another command is unaffected");
    }

    #[test]
    fn external_change_keeps_unwritten_shares() {
        let mut shares =
            FolderShares::read(folder_shares(&[("s", share("one", &["/a"])), ("t", share("one", &["/t"]))]));
        shares.shared.insert("new".to_owned(), share("one", &["/new"]));
        let changed = shares.merge(folder_shares(&[("s", share("one", &["/b"])), ("t", share("one", &["/t"]))]));
        assert_eq!(changed, ["s"], "only the changed server is reported");
        assert_eq!(shares.shared.get("s"), Some(&share("one", &["/b"])), "the change of the other process is applied");
        assert_eq!(
            shares.shared.get("new"),
            Some(&share("one", &["/new"])),
            "an unwritten change in memory is retained"
        );
        shares.on_written("new".to_owned(), Some(share("one", &["/new"])));
        let with_own = folder_shares(&[
            ("s", share("one", &["/b"])),
            ("t", share("one", &["/t"])),
            ("new", share("one", &["/new"])),
        ]);
        assert!(shares.merge(with_own).is_empty(), "a written change is not reported as external");
    }
}
