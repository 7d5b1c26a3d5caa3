//! Sandboxes of local servers: accessible paths, home folders, and the roots that servers receive.

use std::path::PathBuf;

use launches::home::sandbox_home_name_unresolved;
use launches::sandbox::{SandboxPlanError, plan_sandbox};
use ports::server_config::{AccessMode, AllowedFolder, SandboxConfig, StdioConfig};
use process::sandbox::{ResolvedSandbox, SandboxSettings};
use process::{LaunchFile, LaunchFiles, SearchPath, ServerCommand, missing_dependencies};
use tokio::sync::oneshot;

use super::Owner;
use crate::view::{LaunchFileWriter, SandboxPreview};

/// Maximum number of entries in a consent request's list of launch files that other servers' sandboxes can write to.
const MAX_LISTED_FILE_WRITERS: usize = 32;

impl Owner {
    /// Returns the command that starts a local server, including its environment and sandbox.
    pub(super) fn server_command(&self, name: &str, config: &StdioConfig) -> ServerCommand {
        // The name of the sandbox home depends on the configured settings, since the approved command may refer to a
        // container image by its content hash.
        let configured = self.servers.records.get(name).and_then(|record| record.config.as_stdio()).unwrap_or(config);
        ServerCommand {
            program: config.command.clone(),
            arguments: config.args.clone(),
            environment: config.env.clone(),
            working_directory: config.cwd.clone(),
            sandbox: config.sandbox.as_ref().map(|sandbox| SandboxSettings {
                folders: sandbox.folders.clone(),
                network: sandbox.network.clone(),
                home: self.sandbox_home(name, configured),
                hidden: self.launches.own_files.hidden_folders(),
                limits: self.settings.current.limits.resource_limits(),
            }),
            approved: None,
            files: None,
        }
    }

    /// Returns the sandbox home of a server as determined for its last start. If the server was not started yet,
    /// symbolic links are not resolved, since code that has locked the host's state must not wait for the disk.
    fn sandbox_home(&self, name: &str, config: &StdioConfig) -> PathBuf {
        let plan = self.servers.records.get(name).and_then(|record| record.launch.plan.as_ref());
        match plan {
            Some(plan) => plan.reach.home.clone(),
            None => self.launches.own_files.sandbox_homes().join(sandbox_home_name_unresolved(name, config)),
        }
    }

    /// Returns the launch files of server `name` that other servers can write to in their sandboxes.
    pub(super) fn launch_file_writers(&self, name: &str, files: &LaunchFiles) -> Vec<LaunchFileWriter> {
        let mut found = Vec::new();
        for (server, record) in self.servers.records.iter().filter(|(server, _)| *server != name) {
            let Some(stdio) = record.config.as_stdio() else { continue };
            let Some(sandbox) = &stdio.sandbox else { continue };
            let home = AllowedFolder { path: self.sandbox_home(server, stdio), access: AccessMode::Write };
            let folders = sandbox.folders.iter().chain([&home]).filter(|folder| folder.access == AccessMode::Write);
            for folder in folders.map(|folder| &folder.path) {
                let reached =
                    files.iter().filter(|file| file.path.starts_with(folder) || file.real.starts_with(folder));
                let writer = |file: &LaunchFile| LaunchFileWriter {
                    server: server.clone(),
                    file: file.path.clone(),
                    folder: folder.clone(),
                };
                found.extend(reached.map(writer));
            }
        }
        found.truncate(MAX_LISTED_FILE_WRITERS);
        found
    }

    /// Determines which files and networks a server could access if it were started now, with the sandbox `proposed`
    /// or, if that is `None`, the one in its settings. Nothing is started.
    pub(crate) fn plan_sandbox(
        &mut self,
        name: &str,
        proposed: Option<SandboxConfig>,
        reply: oneshot::Sender<Result<SandboxPreview, SandboxPlanError>>,
    ) {
        let mut stdio = self.servers.records.get(name).and_then(|record| record.config.as_stdio()).cloned();
        if let (Some(stdio), Some(proposed)) = (&mut stdio, proposed) {
            stdio.sandbox = Some(proposed);
        }
        let Some(stdio) = stdio.filter(|stdio| stdio.sandbox.is_some()) else {
            let _ = reply.send(Err(SandboxPlanError::NoSandbox));
            return;
        };
        let (command, known, own) =
            (self.server_command(name, &stdio), self.launches.search_path.clone(), self.launches.own_files.clone());
        let name = name.to_owned();
        tokio::spawn(async move {
            let command = own.add_home_and_hidden_folders_to_sandbox(&name, &stdio, command).await;
            let (path, found) = known.find(&command).await;
            let _ = reply.send(match found {
                Ok(program) => match plan_sandbox(&command, &program, &path, &stdio, &own).await {
                    Ok(Some(plan)) => Ok(sandbox_preview(command, program, path, plan).await),
                    Ok(None) => Err(SandboxPlanError::NoSandbox),
                    Err(error) => Err(error),
                },
                Err(error) => Err(error.into()),
            });
        });
    }

    /// Returns the folders that a server receives as roots: those shared folders that its sandbox can access.
    pub(super) fn accessible_roots(&self, server: &str) -> Option<Vec<PathBuf>> {
        Some(self.servers.folders_sent_to_server(server, self.shared_roots(server)?))
    }

    /// Deletes the sandbox home of a removed server in the background, since it may be large.
    pub(super) fn delete_sandbox_home(&self, name: &str) {
        let config = self.servers.records.get(name).map(|record| &record.config);
        let Some(stdio) = config.and_then(|config| config.as_stdio()).cloned() else { return };
        let (own, name) = (self.launches.own_files.clone(), name.to_owned());
        tokio::task::spawn_blocking(move || {
            let home = own.sandbox_home(&name, &stdio);
            if let Err(error) = std::fs::remove_dir_all(&home)
                && error.kind() != std::io::ErrorKind::NotFound
            {
                tracing::warn!(%error, "the home of a removed server could not be deleted: {}", home.display());
            }
        });
    }
}

/// Returns the preview of a sandbox plan, with the files that the command requires and can't access in the sandbox.
async fn sandbox_preview(
    command: ServerCommand,
    program: PathBuf,
    path: SearchPath,
    plan: ResolvedSandbox,
) -> SandboxPreview {
    let for_reading = plan.clone();
    let looking = tokio::task::spawn_blocking(move || missing_dependencies(&command, &program, &path, &for_reading));
    // If the task panics, only the list of missing files is empty.
    SandboxPreview { plan, missing: looking.await.unwrap_or_default() }
}
