//! The folders that servers may know of. The user's decision holds for one command: another program under the same name asks
//! again.

use std::path::PathBuf;

use mcp_proto::types::Root;
use policy::Hash;
use serde::{Deserialize, Serialize};
use url::Url;

use super::Owner;
use super::approvals::config_hash;
use crate::ports::Document;

/// The folders a server may know of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SharedRoots {
    /// The command that they were shared with.
    command: Hash,
    folders: Vec<PathBuf>,
}

impl Owner {
    /// The folders a server may know of, once the user has decided about its command.
    pub(super) fn shared_roots(&self, server: &str) -> Option<Vec<PathBuf>> {
        let (shared, record) = (self.roots.get(server)?, self.servers.get(server)?);
        (shared.command == config_hash(&record.config)).then(|| shared.folders.clone())
    }

    pub(super) fn share_roots(&mut self, server: &str, folders: Vec<PathBuf>) {
        let Some(record) = self.servers.get(server) else { return };
        let shared = SharedRoots { command: config_hash(&record.config), folders };
        self.roots.insert(server.to_owned(), shared);
        // What a script answers holds while the script runs; only a person decides for longer.
        if self.options.decides == "user" {
            self.keep_roots(server);
        }
    }

    pub(super) fn rename_roots(&mut self, was: &str, name: &str) {
        if let Some(shared) = self.roots.remove(was) {
            self.roots.insert(name.to_owned(), shared);
            self.keep_roots(was);
            self.keep_roots(name);
        }
    }

    pub(super) fn forget_roots(&mut self, server: &str) {
        if self.roots.remove(server).is_some() {
            self.keep_roots(server);
        }
    }

    /// Writes down what stands for one server. All else in the file stays: another host may have written it.
    fn keep_roots(&mut self, server: &str) {
        let own = self.roots.get(server).and_then(|shared| serde_json::to_value(shared).ok());
        let failure = "the shared folders could not be written; they hold until Drawbridge ends";
        self.write_entry_later(Document::Roots, failure, server, own);
    }
}

/// Folders as a server is told of them.
pub(super) fn roots_in(folders: &[PathBuf]) -> Vec<Root> {
    let root = |folder: &PathBuf| {
        Some(Root {
            uri: Url::from_directory_path(folder).ok()?.as_str().trim_end_matches('/').to_owned(),
            name: folder.file_name().map(|name| name.to_string_lossy().into_owned()),
            ..Root::default()
        })
    };
    folders.iter().filter_map(root).collect()
}
