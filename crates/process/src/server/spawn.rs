//! Starts a server: plans its sandbox, compares its files with the approved ones, and launches its process.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::timeout;

use super::environment;
#[cfg(unix)]
use super::parent_watcher::ParentWatcher;
use super::server_group::{ServerGroup, ServerPipes, ServerProcess};
use super::spawned_process::SpawnedServerProcess;
use crate::code::LaunchFiles;
use crate::command::ServerCommand;
use crate::launch::ProcessLaunch;
use crate::platform::{self, StartTime};
use crate::programs::SearchPath;
use crate::sandbox::{LaunchCommand, ResolvedSandbox, SandboxError};
#[cfg(target_os = "linux")]
use crate::sandbox::{ResourceBounds, UsageWatch};

/// Time limit for reading the files that decide what the command runs, which may be on a network file system.
const LAUNCH_FILES_CHECK_TIMEOUT: Duration = Duration::from_secs(10);

/// The reason why a server could not be started.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// The working directory does not exist or is not a folder.
    #[error("the working folder {0} does not exist or is not a folder; choose another one")]
    NoWorkingDirectory(PathBuf),
    /// The program was removed after its lookup, or its interpreter does not exist.
    #[error("{0} is not there any more, or the interpreter that its first line names is missing")]
    NotFound(PathBuf),
    /// The program is not executable.
    #[error("{0} may not be executed; check its permissions")]
    NotExecutable(PathBuf),
    /// The operating system took too long to start the program, or to read the files that decide what the command runs.
    #[error("starting {0} took too long; it may be on a network folder that does not respond")]
    TimedOut(PathBuf),
    /// A file that decides what the command runs differs from the approved state. Contains its path.
    #[error(
        "{0} changed after its start was approved, so nothing was started; start it again to approve the new version"
    )]
    Changed(PathBuf),
    /// The sandbox of the server can't be set up as configured.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// The operating system returned any other error at the start.
    #[error("{program} could not be started: {cause}")]
    System {
        /// Path of the program that should have been started.
        program: PathBuf,
        /// Error that the operating system returned.
        cause: io::Error,
    },
}

/// Starts the server of this command. `program` is the result of [`SearchPath::resolve`] for the command. The server
/// runs in a new process group and in its sandbox, if the command has one. It gets only the environment variables and
/// file descriptors that are meant for it.
///
/// # Errors
/// Returns [`SpawnError`] if a check or the start fails. No process remains then.
pub async fn spawn(command: &ServerCommand, program: &Path, path: &SearchPath) -> Result<ServerProcess, SpawnError> {
    let directory = command.directory();
    let mut start = LaunchCommand {
        program: program.to_owned(),
        arguments: command.arguments.iter().map(Into::into).collect(),
        environment: environment::server_environment(command, path),
        setup: None,
        #[cfg(target_os = "linux")]
        barrier: None,
    };
    #[cfg(target_os = "linux")]
    let mut bounds = None;
    if let Some(plan) = ResolvedSandbox::for_command(command, program, path).await? {
        if command.approved.as_ref().is_some_and(|approved| *approved != plan) {
            return Err(SandboxError::Changed.into());
        }
        #[cfg(target_os = "linux")]
        {
            bounds = Some(ResourceBounds { limits: plan.limits, home: plan.reach.home.clone() });
        }
        start = plan.wrap_in_sandbox(start, &directory)?;
    }
    if let Some(approved) = command.files.clone() {
        check_launch_files_are_unchanged(command.clone(), program.to_owned(), path.clone(), approved).await?;
    }
    let mark = platform::new_mark();
    start.environment.extend(mark.environment_variable());
    if !directory.is_dir() {
        return Err(SpawnError::NoWorkingDirectory(directory));
    }
    let launch = ProcessLaunch {
        program: start.program,
        arguments: start.arguments,
        environment: start.environment,
        directory,
        pipes_input_and_errors: true,
        setup: start.setup,
    };
    let mut child = launch.start().await.map_err(|cause| spawn_error(program.to_owned(), cause))?;
    #[cfg(target_os = "linux")]
    let egress = match start.barrier {
        Some(barrier) => Some(barrier.open(child.as_mut()).await?),
        None => None,
    };
    let pipes = (child.stdin().take(), child.stdout().take(), child.stderr().take());
    let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
        let _ = child.start_kill();
        return Err(spawn_error(program.to_owned(), io::Error::other("it has no pipes")));
    };
    let pid = child.id().unwrap_or_default();
    let numbers = [platform::pipe_inode(&stdin), platform::pipe_inode(&stdout), platform::pipe_inode(&stderr)];
    let spawned = SpawnedServerProcess {
        pid,
        group: pid,
        start_time: StartTime::of_process(pid).unwrap_or_else(StartTime::unknown),
        program: program.to_owned(),
        pipes: numbers.into_iter().flatten().collect(),
    };
    let stdin = match platform::open_input_pipe(stdin) {
        Ok(stdin) => stdin,
        Err(cause) => {
            let _ = child.start_kill();
            return Err(spawn_error(program.to_owned(), cause));
        }
    };
    let group = ServerGroup {
        #[cfg(target_os = "linux")]
        watch: bounds.map(|bounds| UsageWatch::start(pid, spawned.start_time.clone(), bounds)),
        #[cfg(target_os = "linux")]
        egress,
        spawned,
        child,
        mark,
        ending: None,
        exit: None,
        #[cfg(unix)]
        watcher: ParentWatcher::start_for(pid).await,
    };
    Ok(ServerProcess { pipes: ServerPipes { stdin, stdout, stderr }, group })
}

/// Checks that the files which decide what the command runs are still in the state that the user approved. They may
/// have changed since the approval, for instance while secrets were read.
async fn check_launch_files_are_unchanged(
    command: ServerCommand,
    program: PathBuf,
    path: SearchPath,
    approved: LaunchFiles,
) -> Result<(), SpawnError> {
    let found = program.clone();
    let looking = tokio::task::spawn_blocking(move || {
        let now = LaunchFiles::for_command(&command, &program, &path);
        now.first_difference(&approved).map(Path::to_owned)
    });
    match timeout(LAUNCH_FILES_CHECK_TIMEOUT, looking).await {
        Ok(Ok(None)) => Ok(()),
        Ok(Ok(Some(changed))) => Err(SpawnError::Changed(changed)),
        Ok(Err(cause)) => Err(spawn_error(found, io::Error::other(cause))),
        Err(_) => Err(SpawnError::TimedOut(found)),
    }
}

fn spawn_error(program: PathBuf, cause: io::Error) -> SpawnError {
    #[cfg(target_os = "linux")]
    if cause.raw_os_error() == Some(crate::sandbox::SANDBOX_SETUP_FAILURE_ERRNO) {
        return crate::sandbox::sandbox_error_at_start().into();
    }
    match cause.kind() {
        io::ErrorKind::NotFound => SpawnError::NotFound(program),
        io::ErrorKind::PermissionDenied => SpawnError::NotExecutable(program),
        io::ErrorKind::TimedOut => SpawnError::TimedOut(program),
        _ => SpawnError::System { program, cause },
    }
}
