//! A running local server: its pipes, its process group, and its shutdown.

use process_wrap::tokio::ChildWrapper;
use tokio::process::{ChildStderr, ChildStdout};
use tokio::sync::mpsc;

#[cfg(unix)]
use super::parent_watcher::ParentWatcher;
use super::spawned_process::SpawnedServerProcess;
use crate::platform::{self, InputPipe, ProcessMark};
#[cfg(target_os = "linux")]
use crate::sandbox::UsageWatch;
#[cfg(target_os = "linux")]
use crate::sandbox::egress::EgressProxy;
use crate::sandbox::{ExceededLimit, ResourceMeter};

/// The way in which a process has ended: its exit code, or the signal that ended it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessExit {
    /// Exit code, or `None` if a signal ended the process.
    pub status: Option<i32>,
    /// Signal that ended the process, or `None` if it exited with a code.
    pub signal: Option<i32>,
    /// Resource limit that the process exceeded and for which it was killed, or `None`.
    pub exceeded: Option<ExceededLimit>,
}

/// A running server. Dropping this value immediately kills the server's first process and its descendants.
#[derive(Debug)]
pub struct ServerProcess {
    /// The app's ends of the server's pipes.
    pub pipes: ServerPipes,
    /// The server's first process and its descendants.
    pub group: ServerGroup,
}

/// The app's ends of a server's three pipes.
#[derive(Debug)]
pub struct ServerPipes {
    /// The pipe to the server's standard input.
    pub stdin: InputPipe,
    /// The pipe from the server's standard output.
    pub stdout: ChildStdout,
    /// The pipe from the server's standard error. It must be read, because the server blocks when the pipe is full.
    pub stderr: ChildStderr,
}

/// The server's first process and its descendants, without their pipes. Dropping this value kills all of them.
#[derive(Debug)]
pub struct ServerGroup {
    pub(super) spawned: SpawnedServerProcess,
    pub(super) child: Box<dyn ChildWrapper>,
    /// Environment variable that all processes of the server inherit. It identifies those that have left the process
    /// group.
    pub(super) mark: ProcessMark,
    /// Asynchronous task that kills the other processes of the group after the server's first process has exited.
    pub(super) ending: Option<tokio::task::JoinHandle<()>>,
    pub(super) exit: Option<ProcessExit>,
    /// Process that kills the group if Drawbridge is killed, or `None` on systems that do this themselves.
    #[cfg(unix)]
    pub(super) watcher: Option<ParentWatcher>,
    /// Watch that measures the resource use of a sandboxed server and enforces its limits. `None` without a sandbox.
    #[cfg(target_os = "linux")]
    pub(super) watch: Option<UsageWatch>,
    /// Egress proxy of a server whose network access is restricted to named hosts, or `None` for other servers.
    #[cfg(target_os = "linux")]
    pub(super) egress: Option<EgressProxy>,
}

impl ServerProcess {
    /// Returns pid, group, start time and program of the started process.
    pub fn spawned(&self) -> &SpawnedServerProcess {
        &self.group.spawned
    }

    /// Returns the meter of the server's resource use. Returns `None` without a sandbox, and on systems other than
    /// Linux.
    pub fn resource_meter(&self) -> Option<ResourceMeter> {
        self.group.resource_meter()
    }
}

impl ServerGroup {
    /// Waits for the server's first process to end, and then immediately kills the other processes of its group,
    /// because the operating system may reuse the group ID later. Cancel safe: the call can be repeated.
    pub async fn wait(&mut self) -> ProcessExit {
        if let Some(exit) = self.exit {
            return exit;
        }
        let (status, signal) = match self.child.inner_mut().wait().await {
            Ok(status) => platform::exit_code_and_signal(status),
            Err(error) => {
                self.kill();
                tracing::warn!(pid = self.spawned.pid, %error, "the exit status of a server could not be read");
                (None, None)
            }
        };
        // The descendants have a new parent now, so they are found by the mark. Fails only if no process is left.
        let _ = self.child.start_kill();
        let mark = self.mark.clone();
        // The scan of all processes runs in a separate task, so that this call returns the exit status immediately.
        self.ending = Some(tokio::task::spawn_blocking(move || mark.kill_processes_with_mark()));
        #[cfg(unix)]
        drop(self.watcher.take());
        let exceeded = self.resource_meter().and_then(|meter| meter.exceeded_limit());
        #[cfg(target_os = "linux")]
        drop(self.watch.take());
        *self.exit.insert(ProcessExit { status, signal, exceeded })
    }

    /// Waits until all descendants of the server have been killed. Called after [`ServerGroup::wait`] has returned.
    /// Without this call, dropping the group blocks the current thread until the descendants are killed.
    pub async fn finish(mut self) {
        if let Some(ending) = &mut self.ending {
            // Fails only if the runtime is shut down.
            let _ = ending.await;
        }
    }

    #[cfg(target_os = "linux")]
    fn resource_meter(&self) -> Option<ResourceMeter> {
        self.watch.as_ref().map(|watch| watch.resource_meter().clone())
    }

    #[cfg(not(target_os = "linux"))]
    fn resource_meter(&self) -> Option<ResourceMeter> {
        None
    }

    /// Returns the receiver of activity lines about the server's network access, on the first call only. Returns `None`
    /// if the server is not restricted to named hosts.
    pub fn take_egress_activity_lines(&mut self) -> Option<mpsc::Receiver<String>> {
        #[cfg(target_os = "linux")]
        return self.egress.as_mut()?.take_activity_lines();
        #[cfg(not(target_os = "linux"))]
        None
    }

    /// Stops the server's egress proxy. Returns the activity lines that the receiver from
    /// [`Self::take_egress_activity_lines`] has not received.
    pub fn stop_egress_proxy(&mut self) -> Vec<String> {
        #[cfg(target_os = "linux")]
        return self.egress.take().map(|egress| egress.remaining_activity_lines()).unwrap_or_default();
        #[cfg(not(target_os = "linux"))]
        Vec::new()
    }

    /// Sends SIGTERM to all processes of the server's process group. Does nothing on Windows.
    pub fn terminate(&mut self) {
        if self.exit.is_none() {
            // Fails only if no process is left.
            let _ = platform::terminate(self.child.as_ref());
        }
    }

    /// Kills all processes of the server's process group and its other known descendants immediately.
    pub fn kill(&mut self) {
        if self.exit.is_none() {
            // Descendants are found by their parent as long as it is alive.
            let started = platform::find_descendants(self.spawned.pid);
            // Fails only if no process is left.
            let _ = self.child.start_kill();
            platform::kill_processes(&started);
        }
    }
}

impl Drop for ServerGroup {
    fn drop(&mut self) {
        self.kill();
        // The caller did not wait for the exit, or the app may end before the task does.
        if self.ending.as_ref().is_none_or(|ending| !ending.is_finished()) {
            self.mark.kill_processes_with_mark();
        }
    }
}
