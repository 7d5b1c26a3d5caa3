//! The folders that servers may know of. The user's decision holds for one command: another program under the same name asks
//! again.

use std::path::PathBuf;

use domain::StoreError;
use mcp_proto::session::{Answer, ServerQuestion, ServerRequestId};
use mcp_proto::types::Root;
use policy::{By, Decision, Hash, canonical_json};
use ports::Document;
use ports::server_config::config_hash;
use serde::{Deserialize, Serialize};
use serde_json::json;
use url::Url;

use super::Owner;
use super::audit::{Decided, WaitingFolders};
use super::document_writer::with_entry;
use super::gate::{allowed_answer, refuses};
use super::questions::refusal;
use crate::connection::{RunId, Ticket};

/// The folders a server may know of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SharedRoots {
    /// The command that they were shared with.
    pub(in crate::owner) command: Hash,
    pub(in crate::owner) folders: Vec<PathBuf>,
}

impl Owner {
    /// The folders a server may know of, once the user has decided about its command.
    pub(super) fn shared_roots(&self, server: &str) -> Option<Vec<PathBuf>> {
        let (shared, record) = (self.permissions.folders.shared.get(server)?, self.servers.records.get(server)?);
        (shared.command == config_hash(&record.config)).then(|| shared.folders.clone())
    }

    /// Shares folders as the user decided, once that is written down. The server may have another command by then, with which they
    /// are not shared. Returns false if there is no server with this name any more.
    pub(super) fn share_roots(&mut self, server: &str, shared: SharedRoots) -> bool {
        if !self.servers.records.contains_key(server) {
            return false;
        }
        self.permissions.folders.shared.insert(server.to_owned(), shared);
        // What a script answers holds while the script runs; only a person decides for longer.
        if self.options.decides == "user" {
            self.keep_roots(server);
        }
        true
    }

    /// Takes back the folders that are not among those that the user shares now. It holds at once.
    pub(super) fn narrow_roots(&mut self, server: &str, now: &SharedRoots) {
        let Some(shared) = self.permissions.folders.shared.get(server) else { return };
        if shared.command != now.command || shared.folders.iter().all(|folder| now.folders.contains(folder)) {
            return;
        }
        let folders = shared.folders.iter().filter(|folder| now.folders.contains(folder)).cloned().collect();
        self.share_roots(server, SharedRoots { command: now.command.clone(), folders });
    }

    pub(super) fn rename_roots(&mut self, was: &str, name: &str) {
        if let Some(shared) = self.permissions.folders.shared.remove(was) {
            self.permissions.folders.shared.insert(name.to_owned(), shared);
            self.keep_roots(was);
            self.keep_roots(name);
        }
    }

    pub(super) fn forget_roots(&mut self, server: &str) {
        if self.permissions.folders.shared.remove(server).is_some() {
            self.keep_roots(server);
        }
    }

    /// Writes down what stands for one server. All else in the file stays: another host may have written it.
    fn keep_roots(&mut self, server: &str) {
        let own = self.permissions.folders.shared.get(server).cloned();
        let value = own.as_ref().and_then(|shared| serde_json::to_value(shared).ok());
        let (entry, server) = (server.to_owned(), server.to_owned());
        self.change_document(
            Document::Roots,
            move |kept| (with_entry(kept, &entry, value.as_ref()), ()),
            move |owner, written| match (written, own) {
                // The file has it by now. When the file is read again, this is no change of another program.
                (Ok(()), Some(own)) => drop(owner.permissions.folders.in_file.insert(server, own)),
                (Ok(()), None) => drop(owner.permissions.folders.in_file.remove(&server)),
                (Err(error), _) => {
                    tracing::error!(%error, "the shared folders could not be written; they hold until Drawbridge ends");
                }
            },
        );
    }

    /// Tells a server of the folders that are shared with it, by a decision that stands.
    pub(super) fn allow_folders(
        &mut self,
        server: &str,
        (run, request): (RunId, ServerRequestId),
        ticket: Option<Ticket>,
        by: By,
    ) {
        let told = self.told_roots(server).unwrap_or_default();
        let subject = canonical_json(&json!(told));
        let hash = Hash::of_bytes(subject.as_bytes());
        let entry = self.entry(Decided {
            server,
            kind: "roots",
            subject: &subject,
            decision: "allowed",
            by: "grant",
            hash: hash.as_str(),
            asker: "server",
            ..Decided::default()
        });
        let answer = allowed_answer(by, Answer::Roots(roots_in(&told)));
        let server = server.to_owned();
        self.tell_folders_written(WaitingFolders { server, run, request, ticket, answer, subject, hash }, entry);
    }

    /// Goes on once the log has the entry, or can't have it. If the server was muted meanwhile, or the folders were taken back or
    /// changed, its request is decided anew.
    pub(super) fn tell_folders(&mut self, folders: WaitingFolders, written: Result<(), StoreError>) {
        let WaitingFolders { server, run, request, ticket, answer, subject, hash } = folders;
        if let Err(error) = written {
            return self.servers.tell_answer(&server, run, request, refuses(refusal(error.to_string())));
        }
        let is_there =
            self.servers.records.get(&server).and_then(|r| r.session.connection.as_ref()).is_some_and(|c| c.run == run);
        let decision = self.permissions.policy.decide(&self.act_of(&server, &ServerQuestion::Roots), self.now());
        let is_same = canonical_json(&json!(self.told_roots(&server).unwrap_or_default())) == subject;
        if is_there && is_same && matches!(decision, Decision::Allow { .. }) {
            return self.servers.tell_answer(&server, run, request, answer);
        }
        self.note_not_told(&server, &subject, &hash);
        if is_there {
            self.on_asked(run, &server, request, ticket, ServerQuestion::Roots);
        }
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
