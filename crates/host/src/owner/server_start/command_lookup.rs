//! Resolves the command of a local server, and the files that determine what it runs. Used by `server_start.rs`,
//! `packages.rs` and `sandboxes.rs`.

use std::path::PathBuf;

use launches::packages::LauncherPackage;
use launches::sandbox::{DrawbridgeFiles, SandboxPlanError, plan_sandbox};
use ports::server_config::{BundleFiles, StdioConfig};
use process::sandbox::ResolvedSandbox;
use process::{LaunchFiles, SearchPath, ServerCommand, SharedSearchPath};

/// Resolves the program of a server's command, the sandbox plan if the server has a sandbox, and the package that the
/// command loads. The files of a bundle are verified first.
pub(super) async fn resolve_and_plan_command(
    name: String,
    command: ServerCommand,
    known: SharedSearchPath,
    config: StdioConfig,
    own: DrawbridgeFiles,
    bundle: Option<BundleFiles>,
) -> (SearchPath, Result<ResolvedLaunch, SandboxPlanError>) {
    let verified = verify_bundle(&own, bundle).await;
    let command = own.add_home_and_hidden_folders_to_sandbox(&name, &config, command).await;
    let (path, found) = known.find(&command).await;
    let planned = match verified.and(found.map_err(SandboxPlanError::from)) {
        Ok(program) => match plan_sandbox(&command, &program, &path, &config, &own).await {
            Ok(plan) => {
                let working_directory = command.directory();
                let launched = crate::owner::packages::launched_package(&config, &working_directory);
                let files = read_launch_files(command, program.clone(), path.clone()).await;
                let real = tokio::fs::canonicalize(&program).await.ok();
                Ok((ResolvedCommand { program, real, working_directory, plan, files }, launched))
            }
            Err(error) => Err(error),
        },
        Err(error) => Err(error),
    };
    (path, planned)
}

/// Verifies all files of an unpacked bundle, on a blocking thread.
pub(super) async fn verify_bundle(own: &DrawbridgeFiles, bundle: Option<BundleFiles>) -> Result<(), SandboxPlanError> {
    let Some(BundleFiles { tree, folder, .. }) = bundle else { return Ok(()) };
    let root = own.bundles_folder();
    let verified = tokio::task::spawn_blocking(move || {
        let Some(place) = bundles::direct_subfolder(&root, &folder) else {
            return Err("the record of its installation names no folder of a bundle".to_owned());
        };
        bundles::verify_folder(&place, &tree).map_err(|change| change.to_string())
    });
    // The task is only cancelled if the host shuts down.
    verified.await.unwrap_or_else(|_| Err("it could not be read".to_owned())).map_err(SandboxPlanError::Bundle)
}

/// A resolved command, and the data that determines what it runs.
#[derive(Debug, Clone)]
pub(in crate::owner) struct ResolvedCommand {
    pub(in crate::owner) program: PathBuf,
    /// Path of the program after resolving symbolic links, or `None` if they can't be resolved.
    pub(in crate::owner) real: Option<PathBuf>,
    /// Folder in which the server starts: the configured one, or the default one.
    pub(in crate::owner) working_directory: PathBuf,
    /// Sandbox plan, or `None` if the server has no sandbox.
    pub(in crate::owner) plan: Option<ResolvedSandbox>,
    /// Files that determine what the command runs.
    pub(in crate::owner) files: LaunchFiles,
}

/// A resolved command, and the package that it loads if it is a package launcher, such as npx.
pub(super) type ResolvedLaunch = (ResolvedCommand, Option<LauncherPackage>);

/// Reads the files that determine what a command runs, on a blocking thread. If that thread's task is cancelled, the
/// result is empty, so that the start fails when the files are checked again.
pub(in crate::owner) async fn read_launch_files(
    command: ServerCommand,
    program: PathBuf,
    path: SearchPath,
) -> LaunchFiles {
    let reading = tokio::task::spawn_blocking(move || LaunchFiles::for_command(&command, &program, &path));
    reading.await.unwrap_or_default()
}
