//! The folders that servers may know of, as they are in memory and in their file. Caller: `owner/roots.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use domain::merge::changed_entries;
use mcp_proto::types::Root;
use policy::Hash;
use serde::{Deserialize, Serialize};
use url::Url;

/// Folders by server.
#[derive(Default)]
pub(in crate::owner) struct FolderShares {
    pub(in crate::owner) shared: BTreeMap<String, FolderShare>,
    /// The same as they are in the file.
    in_file: BTreeMap<String, FolderShare>,
}

/// The folders a server may know of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::owner) struct FolderShare {
    /// The command that they were shared with.
    pub(in crate::owner) command: Hash,
    pub(in crate::owner) folders: Vec<PathBuf>,
}

impl FolderShares {
    /// The folders as they were read from the file at the start.
    pub(in crate::owner) fn read(in_file: BTreeMap<String, FolderShare>) -> Self {
        Self { shared: in_file.clone(), in_file }
    }

    /// The folders that are shared with a server of this command, whose hash is only computed for a server that any are shared with: each
    /// view of a server asks.
    pub(in crate::owner) fn with_command(&self, server: &str, command: impl FnOnce() -> Hash) -> Option<Vec<PathBuf>> {
        let shared = self.shared.get(server)?;
        (shared.command == command()).then(|| shared.folders.clone())
    }

    /// The rest of the folders of a server if only those stay that are shared now; `None` if nothing is taken back.
    pub(in crate::owner) fn narrowed(&self, server: &str, now: &FolderShare) -> Option<FolderShare> {
        let shared = self.shared.get(server).filter(|shared| shared.command == now.command)?;
        let stays = |folder: &&PathBuf| now.folders.contains(folder);
        let folders: Vec<PathBuf> = shared.folders.iter().filter(stays).cloned().collect();
        (folders.len() < shared.folders.len()).then(|| FolderShare { command: now.command.clone(), folders })
    }

    /// The file has this of a server by now. When it is read again, this is no change of another program.
    pub(in crate::owner) fn written(&mut self, server: String, share: Option<FolderShare>) {
        match share {
            Some(share) => drop(self.in_file.insert(server, share)),
            None => drop(self.in_file.remove(&server)),
        }
    }

    /// Takes over what another program changed in the file. Returns the servers that it changed.
    pub(in crate::owner) fn merge(&mut self, in_file: BTreeMap<String, FolderShare>) -> Vec<String> {
        let before = std::mem::replace(&mut self.in_file, in_file);
        self.shared = changed_entries(&self.shared, &before, &self.in_file);
        let servers: BTreeSet<&String> = before.keys().chain(self.in_file.keys()).collect();
        servers.into_iter().filter(|server| before.get(*server) != self.in_file.get(*server)).cloned().collect()
    }
}

/// Folders as a server is told of them.
pub(in crate::owner) fn roots_in(folders: &[PathBuf]) -> Vec<Root> {
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

    fn shares(of: &[(&str, FolderShare)]) -> BTreeMap<String, FolderShare> {
        of.iter().map(|(server, share)| ((*server).to_owned(), share.clone())).collect()
    }

    #[test]
    fn folders_are_shared_with_one_command_only() {
        let shares = FolderShares::read(shares(&[("s", share("one", &["/a"]))]));
        let with = |command: &str| shares.with_command("s", || Hash::of_bytes(command.as_bytes()));
        assert_eq!(with("one"), Some(vec![PathBuf::from("/a")]), "as the user decided");
        assert_eq!(with("other"), None, "another program under the same name asks again");
    }

    #[test]
    fn narrowing_takes_back_and_never_adds() {
        let shares = FolderShares::read(shares(&[("s", share("one", &["/a", "/b"]))]));
        let narrowed = |command, folders: &[&str]| shares.narrowed("s", &share(command, folders));
        assert_eq!(narrowed("one", &["/b", "/c"]), Some(share("one", &["/b"])), "a new folder waits for the log");
        assert_eq!(narrowed("one", &["/a", "/b", "/c"]), None, "nothing is taken back");
        assert_eq!(narrowed("other", &[]), None, "what was shared with another command is not shared anyway");
    }

    #[test]
    fn a_change_of_another_program_leaves_what_is_not_in_the_file_yet() {
        let mut shares = FolderShares::read(shares(&[("s", share("one", &["/a"])), ("t", share("one", &["/t"]))]));
        shares.shared.insert("new".to_owned(), share("one", &["/new"]));
        let changed = shares.merge(self::shares(&[("s", share("one", &["/b"])), ("t", share("one", &["/t"]))]));
        assert_eq!(changed, ["s"], "only this one is another");
        assert_eq!(shares.shared.get("s"), Some(&share("one", &["/b"])), "as the other program wrote it");
        assert_eq!(
            shares.shared.get("new"),
            Some(&share("one", &["/new"])),
            "our own change is on its way to the file"
        );
        shares.written("new".to_owned(), Some(share("one", &["/new"])));
        let with_own = self::shares(&[
            ("s", share("one", &["/b"])),
            ("t", share("one", &["/t"])),
            ("new", share("one", &["/new"])),
        ]);
        assert!(shares.merge(with_own).is_empty(), "our own change is none of another program");
    }
}
