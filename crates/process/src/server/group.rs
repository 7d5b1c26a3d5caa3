//! A running local server: its pipes, its process group, and its end.

use process_wrap::tokio::ChildWrapper;
use tokio::process::{ChildStderr, ChildStdout};
use tokio::sync::mpsc;

use super::spawned::Spawned;
#[cfg(unix)]
use super::watcher::Watcher;
use crate::platform::{self, InputPipe, Mark};
#[cfg(target_os = "linux")]
use crate::sandbox::Watch;
#[cfg(target_os = "linux")]
use crate::sandbox::egress::Egress;
use crate::sandbox::{Exceeded, Meter};

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

/// A running server. When it is dropped, its whole group is killed at once.
#[derive(Debug)]
pub struct ServerProcess {
    /// The app's ends of its pipes.
    pub pipes: Pipes,
    /// The process with all that it started.
    pub group: ServerGroup,
}

/// The app's ends of a server's three pipes.
#[derive(Debug)]
pub struct Pipes {
    /// Its standard input.
    pub stdin: InputPipe,
    /// Its standard output.
    pub stdout: ChildStdout,
    /// Its standard error. A server blocks as soon as the pipe is full, so somebody must read it.
    pub stderr: ChildStderr,
}

/// The server's process and all that it started, without the pipes. Dropping it kills them.
#[derive(Debug)]
pub struct ServerGroup {
    pub(super) spawned: Spawned,
    pub(super) child: Box<dyn ChildWrapper>,
    /// What is found of it outside its group.
    pub(super) mark: Mark,
    /// While that is being ended.
    pub(super) ending: Option<tokio::task::JoinHandle<()>>,
    pub(super) exit: Option<Exit>,
    /// Ends the group if Drawbridge is killed, where the system does not.
    #[cfg(unix)]
    pub(super) watcher: Option<Watcher>,
    /// Sees to it that one in a sandbox uses no more than it may.
    #[cfg(target_os = "linux")]
    pub(super) watch: Option<Watch>,
    /// The only way out of a sandbox with named hosts.
    #[cfg(target_os = "linux")]
    pub(super) egress: Option<Egress>,
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
    pub async fn wait(&mut self) -> Exit {
        if let Some(exit) = self.exit {
            return exit;
        }
        let (status, signal) = match self.child.inner_mut().wait().await {
            Ok(status) => platform::exit_of(status),
            Err(error) => {
                self.kill();
                tracing::warn!(pid = self.spawned.pid, %error, "cannot learn how a server ended");
                (None, None)
            }
        };
        // What it started has other parents now, and is found by its mark. Fails only when there is nobody left to kill.
        let _ = self.child.start_kill();
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

    /// Waits until all that the server started has been ended too, if its own end was waited for. A group that is dropped
    /// before that blocks the thread instead.
    pub async fn finish(mut self) {
        if let Some(ending) = &mut self.ending {
            // It fails only when the runtime is shut down.
            let _ = ending.await;
        }
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
    pub fn egress_lines(&mut self) -> Option<mpsc::Receiver<String>> {
        #[cfg(target_os = "linux")]
        return self.egress.as_mut()?.lines();
        #[cfg(not(target_os = "linux"))]
        None
    }

    /// Ends its way out. Lines about what it reached since the last ones.
    pub fn end_egress(&mut self) -> Vec<String> {
        #[cfg(target_os = "linux")]
        return self.egress.take().map(|egress| egress.rest()).unwrap_or_default();
        #[cfg(not(target_os = "linux"))]
        Vec::new()
    }

    /// Asks every process of the group to end (SIGTERM; nothing on Windows).
    pub fn terminate(&mut self) {
        if self.exit.is_none() {
            // Fails only when there is nobody left to ask.
            let _ = platform::terminate(self.child.as_ref());
        }
    }

    /// Kills every process of the group at once.
    pub fn kill(&mut self) {
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
