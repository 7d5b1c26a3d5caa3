//! The sandboxes of local servers: what they reach, the home that each has of its own, and the folders that they are told of.

use std::path::{Path, PathBuf};

use mcp_transport::sandbox::{Plan, Sandbox, SandboxError};
use mcp_transport::stdio::{CommandNotFound, SearchPath, ServerCommand};
use policy::Hash;
use serde_json::json;
use tokio::sync::oneshot;

use super::Owner;
use crate::server_config::{SandboxConfig, ServerEntry, StdioConfig};

/// Where the homes lie, in the data folder.
const HOMES: &str = "sandbox";
/// How much of a hash names a home.
const NAME: usize = 24;

/// Why a server's sandbox is not as it should be, or its command not there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoPlan {
    /// It has no sandbox.
    #[error("this server has no sandbox; it reaches all that you do")]
    NoSandbox,
    /// Its program is nowhere to be found.
    #[error(transparent)]
    NotFound(#[from] CommandNotFound),
    /// It can't be set up.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// With this folder it could change what holds it.
    #[error(
        "the sandbox's folder {0} holds Drawbridge's own settings, with which a server could let itself out; name a smaller one"
    )]
    OwnFolder(PathBuf),
}

impl Owner {
    /// How a local server is started.
    pub(super) fn command(&self, name: &str, config: &StdioConfig) -> ServerCommand {
        ServerCommand {
            program: config.command.clone(),
            arguments: config.args.clone(),
            environment: config.env.clone(),
            working_directory: config.cwd.clone(),
            sandbox: config.sandbox.as_ref().map(|sandbox| Sandbox {
                folders: sandbox.folders.clone(),
                network: sandbox.network,
                home: self.sandbox_home(name, config),
            }),
            approved: None,
        }
    }

    /// The home that a server has of its own in a sandbox. It lasts, as what a server remembers does. Another program under the
    /// same name has another.
    fn sandbox_home(&self, name: &str, config: &StdioConfig) -> PathBuf {
        let whose = Hash::of(&json!({ "server": name, "command": config.command }));
        let whose: String = whose.as_str().chars().take(NAME).collect();
        self.ports.documents.path().join(HOMES).join(whose)
    }

    /// Where Drawbridge's own files lie, which no server in a sandbox may change.
    pub(super) fn own_files(&self) -> Vec<PathBuf> {
        vec![self.ports.documents.path(), self.ports.servers.path()]
    }

    /// What a server would reach if it were started now. Nothing is started.
    pub(crate) fn plan_sandbox(&mut self, name: &str, reply: oneshot::Sender<Result<Plan, NoPlan>>) {
        let stdio = self.servers.get(name).and_then(|record| record.config.as_stdio()).cloned();
        let Some(stdio) = stdio.filter(|stdio| stdio.sandbox.is_some()) else {
            let _ = reply.send(Err(NoPlan::NoSandbox));
            return;
        };
        let (command, known, own) = (self.command(name, &stdio), self.search_path.clone(), self.own_files());
        tokio::spawn(async move {
            let (path, found) = super::starting::find(command.clone(), known).await;
            let planned = match found {
                Ok(program) => plan(&command, &program, &path, &stdio, &own).await,
                Err(error) => Err(error.into()),
            };
            let _ = reply.send(planned.and_then(|plan| plan.ok_or(NoPlan::NoSandbox)));
        });
    }

    /// The folders that a server is told of: those that its user shared, and of them no more than its sandbox lets it reach.
    pub(super) fn told_roots(&self, server: &str) -> Option<Vec<PathBuf>> {
        let shared = self.shared_roots(server)?;
        let config = self.servers.get(server)?.config.as_stdio();
        Some(match config.and_then(|config| config.sandbox.as_ref()) {
            Some(sandbox) => reachable(&shared, sandbox),
            None => shared,
        })
    }

    /// A server has another name: its home goes with it. One that runs keeps the old one, and has lost it then.
    pub(super) fn rename_sandbox(&self, was: &str, entry: &ServerEntry) {
        let Some(stdio) = entry.config.as_stdio() else { return };
        let (from, to) = (self.sandbox_home(was, stdio), self.sandbox_home(&entry.name, stdio));
        if from.exists()
            && let Err(error) = std::fs::rename(&from, &to)
        {
            tracing::warn!(%error, "the home of a server could not be renamed: {}", from.display());
        }
    }

    /// Removes the home of a server that its user removed. It may be large.
    pub(super) fn forget_sandbox(&self, name: &str) {
        let config = self.servers.get(name).map(|record| &record.config);
        let Some(stdio) = config.and_then(|config| config.as_stdio()) else { return };
        let home = self.sandbox_home(name, stdio);
        tokio::task::spawn_blocking(move || {
            if let Err(error) = std::fs::remove_dir_all(&home)
                && error.kind() != std::io::ErrorKind::NotFound
            {
                tracing::warn!(%error, "the home of a server that is gone could not be removed: {}", home.display());
            }
        });
    }
}

/// What a command would reach; nothing if it has no sandbox.
pub(super) async fn plan(
    command: &ServerCommand,
    program: &Path,
    path: &SearchPath,
    config: &StdioConfig,
    own: &[PathBuf],
) -> Result<Option<Plan>, NoPlan> {
    if let Some(sandbox) = &config.sandbox {
        let changes = own.iter().find_map(|file| {
            // A link on the way there must not hide it.
            let real = file.canonicalize().unwrap_or_else(|_| file.clone());
            sandbox.may_change(&real)
        });
        if let Some(folder) = changes {
            return Err(NoPlan::OwnFolder(folder.path.clone()));
        }
    }
    Ok(Plan::make(command, program, path).await?)
}

/// What lies both in the folders that were shared and in those of a sandbox.
fn reachable(shared: &[PathBuf], sandbox: &SandboxConfig) -> Vec<PathBuf> {
    let mut both: Vec<PathBuf> = Vec::new();
    for folder in shared {
        for reached in sandbox.folders.iter().map(|reached| &reached.path) {
            // By whole names: /a/bc does not lie in /a/b.
            let inner = if folder.starts_with(reached) {
                folder
            } else if reached.starts_with(folder) {
                reached
            } else {
                continue;
            };
            if !both.contains(inner) {
                both.push(inner.clone());
            }
        }
    }
    both
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server_config::{Access, Folder};

    #[test]
    fn a_server_is_told_of_what_it_reaches_and_was_shared() {
        let folder = |path: &str| Folder { path: path.into(), access: Access::Read };
        let sandbox =
            SandboxConfig { folders: vec![folder("/a/b"), folder("/c/d/e"), folder("/root")], network: false };
        let told = |shared: &[&str]| {
            let shared: Vec<PathBuf> = shared.iter().map(PathBuf::from).collect();
            reachable(&shared, &sandbox)
        };
        let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
        assert_eq!(told(&["/a/b/inner"]), paths(&["/a/b/inner"]), "a shared folder in a reachable one");
        assert_eq!(told(&["/c"]), paths(&["/c/d/e"]), "a reachable folder in a shared one");
        assert_eq!(
            told(&["/x", "/a/bc", "/rootX"]),
            paths(&[]),
            "X29: a name that only begins alike is another folder"
        );
        assert_eq!(told(&["/a", "/a/b"]), paths(&["/a/b"]), "each once");
        assert_eq!(told(&[]), paths(&[]), "nothing was shared");
    }

    #[test]
    fn folders_that_hold_own_files_are_found() {
        let write = |path: &str| Folder { path: path.into(), access: Access::Write };
        let sandbox = SandboxConfig { folders: vec![write("/home/ann")], network: true };
        let own = Path::new("/home/ann/.local/share/drawbridge");
        assert!(sandbox.may_change(own).is_some(), "a server that may change it could let itself out");
        let read = Folder { access: Access::Read, ..write("/home/ann") };
        assert!(
            SandboxConfig { folders: vec![read], network: true }.may_change(own).is_none(),
            "reading lets nobody out"
        );
    }
}
