//! Shuts down a server: closes its input, then sends SIGTERM, then SIGKILL.
//!
//! A program that reads its input to the end exits when the input is closed. The signals are sent to the whole process
//! group. Once the server's own process has ended, the rest of the group is killed at once.

use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::timeout;

use super::server_group::{ProcessExit, ServerGroup, ServerPipes, ServerProcess};

/// Time limit for a killed process to end. If it takes longer, it is blocked in the kernel, where signals have no
/// effect.
const KILL_TIMEOUT: Duration = Duration::from_secs(2);

/// Time that a server is given to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GracePeriods {
    /// Time between closing its input and SIGTERM. Default: 2 s.
    pub after_close: Duration,
    /// Time between SIGTERM and the kill. Default: 2 s. On Windows no signal is sent, and the time passes before the
    /// kill.
    pub after_terminate: Duration,
}

impl Default for GracePeriods {
    fn default() -> GracePeriods {
        GracePeriods { after_close: Duration::from_secs(2), after_terminate: Duration::from_secs(2) }
    }
}

/// Shuts down a server whose pipes have no other reader, and returns its exit status.
pub async fn shut_down(server: ServerProcess, grace: GracePeriods) -> ProcessExit {
    let ServerProcess { pipes, mut group } = server;
    let ServerPipes { stdin, mut stdout, mut stderr } = pipes;
    drop(stdin);
    let (mut no_stdout, mut no_stderr) = (tokio::io::sink(), tokio::io::sink());
    // A server that writes before it ends must not block on a full pipe.
    let read = async {
        let _ =
            tokio::join!(tokio::io::copy(&mut stdout, &mut no_stdout), tokio::io::copy(&mut stderr, &mut no_stderr),);
        std::future::pending::<()>().await
    };
    let never = Notify::new();
    tokio::select! {
        exit = group.shut_down(grace, &never) => exit,
        () = read => ProcessExit { status: None, signal: None, exceeded: None },
    }
}

impl ServerGroup {
    /// Shuts down a server whose input has been closed. Its output must still be read meanwhile. A notification of
    /// `kill` skips the remaining grace.
    pub async fn shut_down(&mut self, grace: GracePeriods, kill: &Notify) -> ProcessExit {
        if let Some(exit) = wait_for_exit(self, grace.after_close, kill).await {
            return exit;
        }
        self.terminate();
        if let Some(exit) = wait_for_exit(self, grace.after_terminate, kill).await {
            return exit;
        }
        self.kill();
        timeout(KILL_TIMEOUT, self.wait()).await.unwrap_or(ProcessExit { status: None, signal: None, exceeded: None })
    }
}

async fn wait_for_exit(group: &mut ServerGroup, limit: Duration, kill: &Notify) -> Option<ProcessExit> {
    tokio::select! {
        exit = timeout(limit, group.wait()) => exit.ok(),
        () = kill.notified() => {
            // Re-armed so that the next wait returns at once, too.
            kill.notify_one();
            None
        }
    }
}
