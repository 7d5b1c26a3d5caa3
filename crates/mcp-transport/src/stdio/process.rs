//! A running local server: its pipes, its process group, and its end.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use process_wrap::tokio::ChildWrapper;
use tokio::process::{ChildStderr, ChildStdout};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::command::ServerCommand;
use super::environment;
use super::launch::Launch;
use super::launch_files::LaunchFiles;
use super::search_path::SearchPath;
#[cfg(unix)]
use super::watcher::Watcher;
use crate::orphans::{RunningRecord, StartTime};
use crate::platform::{self, InputPipe, Mark};
#[cfg(target_os = "linux")]
use crate::sandbox::egress::Egress;
#[cfg(target_os = "linux")]
use crate::sandbox::{Bounds, Watch};
use crate::sandbox::{Exceeded, Inside, Meter, Plan, SandboxError};

/// How long the files that run may take to be read (they may lie on a folder of the network).
const CHECK_LIMIT: Duration = Duration::from_secs(10);

/// Facts of a started process that stay true after its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spawned {
    /// The server's own process, which leads the group.
    pub pid: u32,
    /// The process group of the server and of what it starts.
    pub group: u32,
    /// When it was started, in the system's terms.
    pub start_time: StartTime,
    /// The file that was started.
    pub program: PathBuf,
    pipes: Vec<u64>,
}

impl Spawned {
    /// What to keep on disk while the server runs, for [`crate::orphans::sweep`] at the next start.
    pub fn record(&self) -> RunningRecord {
        let owner = std::process::id();
        RunningRecord {
            pid: self.pid,
            group: self.group,
            start_time: self.start_time.clone(),
            owner,
            owner_start_time: StartTime::of(owner).unwrap_or_else(StartTime::unknown),
            pipes: self.pipes.clone(),
            program: self.program.display().to_string(),
        }
    }
}

/// How a process has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exit {
    /// Its exit code, if it ended by itself.
    pub status: Option<i32>,
    /// The signal that ended it, if one did.
    pub signal: Option<i32>,
    /// The bound for which it was ended, if it was over one.
    pub exceeded: Option<Exceeded>,
}

/// Why a server could not be started.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// The configured working folder is missing.
    #[error("the working folder {0} does not exist or is no folder; choose another one")]
    NoWorkingDirectory(PathBuf),
    /// The file has gone since it was looked up, or the interpreter its first line names is missing.
    #[error("{0} is not there any more, or the interpreter that its first line names is missing")]
    NotFound(PathBuf),
    /// The file may not be executed.
    #[error("{0} may not be executed; check its permissions")]
    NotExecutable(PathBuf),
    /// The system took too long.
    #[error("starting {0} took too long; it may lie on a folder of the network that does not answer")]
    TimedOut(PathBuf),
    /// A file that it runs is not as it was approved.
    #[error(
        "{0} changed after its start was approved, so nothing was started; start it again to approve it as it is now"
    )]
    Changed(PathBuf),
    /// It is to run in a sandbox that can't be set up.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// Anything else the system said.
    #[error("{program} could not be started: {cause}")]
    System {
        /// The file.
        program: PathBuf,
        /// The system's words.
        cause: io::Error,
    },
}

/// A running server. When it is dropped, its whole group is killed at once.
#[derive(Debug)]
pub struct ServerProcess {
    pub(crate) pipes: Pipes,
    pub(crate) group: ServerGroup,
}

/// The app's ends of a server's three pipes.
#[derive(Debug)]
pub(crate) struct Pipes {
    pub(crate) stdin: InputPipe,
    pub(crate) stdout: ChildStdout,
    pub(crate) stderr: ChildStderr,
}

/// The server's process and all that it started, without the pipes. Dropping it kills them.
#[derive(Debug)]
pub(crate) struct ServerGroup {
    spawned: Spawned,
    child: Box<dyn ChildWrapper>,
    /// What is found of it outside its group.
    mark: Mark,
    /// While that is being ended.
    ending: Option<tokio::task::JoinHandle<()>>,
    exit: Option<Exit>,
    /// Ends the group if Drawbridge is killed, where the system does not.
    #[cfg(unix)]
    watcher: Option<Watcher>,
    /// Sees to it that one in a sandbox uses no more than it may.
    #[cfg(target_os = "linux")]
    watch: Option<Watch>,
    /// The only way out of a sandbox with named hosts.
    #[cfg(target_os = "linux")]
    egress: Option<Egress>,
}

/// Starts a server: `program` is what [`SearchPath::resolve`] found for the command. It runs in
/// its own process group, with an environment of its own, and inherits no open file; in a sandbox if the command has one.
///
/// # Errors
/// [`SpawnError`], with the cause in words. Nothing runs then.
pub async fn spawn(command: &ServerCommand, program: &Path, path: &SearchPath) -> Result<ServerProcess, SpawnError> {
    let directory = command.directory();
    let mut start = Inside {
        program: program.to_owned(),
        arguments: command.arguments.iter().map(Into::into).collect(),
        environment: environment::of_server(command, path),
        restriction: None,
        #[cfg(target_os = "linux")]
        gate: None,
    };
    #[cfg(target_os = "linux")]
    let mut bounds = None;
    if let Some(plan) = Plan::make(command, program, path).await? {
        if command.approved.as_ref().is_some_and(|approved| *approved != plan) {
            return Err(SandboxError::Changed.into());
        }
        #[cfg(target_os = "linux")]
        {
            bounds = Some(Bounds { limits: plan.limits, home: plan.reach.home.clone() });
        }
        start = plan.inside(start, &directory)?;
    }
    if let Some(approved) = command.files.clone() {
        check(command.clone(), program.to_owned(), path.clone(), approved).await?;
    }
    let mark = platform::mark();
    start.environment.extend(mark.variable());
    if !directory.is_dir() {
        return Err(SpawnError::NoWorkingDirectory(directory));
    }
    let launch = Launch {
        program: start.program,
        arguments: start.arguments,
        environment: start.environment,
        directory,
        conversation: true,
        restriction: start.restriction,
    };
    let mut child = launch.start().await.map_err(|cause| explain(program.to_owned(), cause))?;
    #[cfg(target_os = "linux")]
    let egress = match start.gate {
        Some(gate) => Some(gate.open(child.as_mut()).await?),
        None => None,
    };
    let pipes = (child.stdin().take(), child.stdout().take(), child.stderr().take());
    let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
        let _ = child.start_kill();
        return Err(explain(program.to_owned(), io::Error::other("it has no pipes")));
    };
    let pid = child.id().unwrap_or_default();
    let numbers = [platform::pipe_number(&stdin), platform::pipe_number(&stdout), platform::pipe_number(&stderr)];
    let spawned = Spawned {
        pid,
        group: pid,
        start_time: StartTime::of(pid).unwrap_or_else(StartTime::unknown),
        program: program.to_owned(),
        pipes: numbers.into_iter().flatten().collect(),
    };
    let stdin = match platform::input(stdin) {
        Ok(stdin) => stdin,
        Err(cause) => {
            let _ = child.start_kill();
            return Err(explain(program.to_owned(), cause));
        }
    };
    let group = ServerGroup {
        #[cfg(target_os = "linux")]
        watch: bounds.map(|bounds| Watch::of(pid, spawned.start_time.clone(), bounds)),
        #[cfg(target_os = "linux")]
        egress,
        spawned,
        child,
        mark,
        ending: None,
        exit: None,
        #[cfg(unix)]
        watcher: Watcher::of(pid).await,
    };
    Ok(ServerProcess { pipes: Pipes { stdin, stdout, stderr }, group })
}

/// Refuses files that are not those that were approved. Secrets may have been waited for since.
async fn check(
    command: ServerCommand,
    program: PathBuf,
    path: SearchPath,
    approved: LaunchFiles,
) -> Result<(), SpawnError> {
    let found = program.clone();
    let looking = tokio::task::spawn_blocking(move || {
        let now = LaunchFiles::of(&command, &program, &path);
        now.difference(&approved).map(Path::to_owned)
    });
    match timeout(CHECK_LIMIT, looking).await {
        Ok(Ok(None)) => Ok(()),
        Ok(Ok(Some(changed))) => Err(SpawnError::Changed(changed)),
        Ok(Err(cause)) => Err(explain(found, io::Error::other(cause))),
        Err(_) => Err(SpawnError::TimedOut(found)),
    }
}

impl ServerProcess {
    /// The facts about it.
    pub fn spawned(&self) -> &Spawned {
        &self.group.spawned
    }

    /// How much it uses, if that is bounded: it is in a sandbox, on Linux.
    pub fn meter(&self) -> Option<Meter> {
        self.group.meter()
    }
}

impl ServerGroup {
    /// Waits for the server's own process to end, then kills what is left of its group: a server
    /// that is gone has no more business here, and its group's number is only safe to use now.
    /// May be dropped and called again.
    pub(crate) async fn wait(&mut self) -> Exit {
        if let Some(exit) = self.exit {
            return exit;
        }
        let (status, signal) = match self.child.inner_mut().wait().await {
            Ok(status) => platform::exit_of(status),
            Err(error) => {
                tracing::warn!(pid = self.spawned.pid, %error, "cannot learn how a server ended");
                (None, None)
            }
        };
        self.kill();
        let mark = self.mark.clone();
        // It looks at all processes there are, and nobody has to wait for that to hear of the end.
        self.ending = Some(tokio::task::spawn_blocking(move || mark.end()));
        #[cfg(unix)]
        drop(self.watcher.take());
        let exceeded = self.meter().and_then(|meter| meter.exceeded());
        #[cfg(target_os = "linux")]
        drop(self.watch.take());
        *self.exit.insert(Exit { status, signal, exceeded })
    }

    #[cfg(target_os = "linux")]
    fn meter(&self) -> Option<Meter> {
        self.watch.as_ref().map(|watch| watch.meter().clone())
    }

    #[cfg(not(target_os = "linux"))]
    fn meter(&self) -> Option<Meter> {
        None
    }

    /// Lines about what it reaches of the network, if that is written down: it may reach named hosts. To be taken once.
    pub(crate) fn egress_lines(&mut self) -> Option<mpsc::Receiver<String>> {
        #[cfg(target_os = "linux")]
        return self.egress.as_mut()?.lines();
        #[cfg(not(target_os = "linux"))]
        None
    }

    /// Ends its way out. Lines about what it reached since the last ones.
    pub(crate) fn end_egress(&mut self) -> Vec<String> {
        #[cfg(target_os = "linux")]
        return self.egress.take().map(|egress| egress.rest()).unwrap_or_default();
        #[cfg(not(target_os = "linux"))]
        Vec::new()
    }

    /// Asks every process of the group to end (SIGTERM; nothing on Windows).
    pub(crate) fn terminate(&mut self) {
        if self.exit.is_none() {
            // Fails only when there is nobody left to ask.
            let _ = platform::terminate(self.child.as_ref());
        }
    }

    /// Kills every process of the group at once.
    pub(crate) fn kill(&mut self) {
        if self.exit.is_none() {
            // While it lives, what it started can be told by whose child it is.
            let started = platform::started_by(self.spawned.pid);
            // Fails only when there is nobody left to kill.
            let _ = self.child.start_kill();
            platform::end(&started);
        }
    }
}

impl Drop for ServerGroup {
    fn drop(&mut self) {
        self.kill();
        // Where nobody waited for its end, or the app may be gone before the rest is seen to.
        if self.ending.as_ref().is_none_or(|ending| !ending.is_finished()) {
            self.mark.end();
        }
    }
}

fn explain(program: PathBuf, cause: io::Error) -> SpawnError {
    #[cfg(target_os = "linux")]
    if cause.raw_os_error() == Some(crate::sandbox::REFUSED) {
        return crate::sandbox::refused_at_start().into();
    }
    match cause.kind() {
        io::ErrorKind::NotFound => SpawnError::NotFound(program),
        io::ErrorKind::PermissionDenied => SpawnError::NotExecutable(program),
        io::ErrorKind::TimedOut => SpawnError::TimedOut(program),
        _ => SpawnError::System { program, cause },
    }
}
