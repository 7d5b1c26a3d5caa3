//! Shuts down a server: closes its input, then sends SIGTERM, then SIGKILL.
//!
//! A program that reads its input to the end exits when the input is closed. The signals are sent to the whole process
//! group. Once the server's first process has ended, the other processes of the group are killed immediately.

use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::timeout;

use super::server_group::{ProcessExit, ServerGroup, ServerPipes, ServerProcess};

/// Maximum time to wait for a killed process to end. A process that takes longer is blocked in the kernel, where
/// signals have no effect.
const KILL_TIMEOUT: Duration = Duration::from_secs(2);

/// Time for which a server may continue to run after each step of its shutdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GracePeriods {
    /// Time between closing the server's input and SIGTERM. Default: 2 s.
    pub after_close: Duration,
    /// Time between SIGTERM and SIGKILL. Default: 2 s. Windows has no SIGTERM, but the time passes before the kill.
    pub after_terminate: Duration,
}

impl Default for GracePeriods {
    fn default() -> GracePeriods {
        GracePeriods { after_close: Duration::from_secs(2), after_terminate: Duration::from_secs(2) }
    }
}

/// Shuts down a server, and meanwhile reads and discards its output. The caller must have stopped reading the output.
/// Returns the exit status.
pub async fn shut_down(server: ServerProcess, grace: GracePeriods) -> ProcessExit {
    let ServerProcess { pipes, mut group } = server;
    let ServerPipes { stdin, mut stdout, mut stderr } = pipes;
    drop(stdin);
    let (mut no_stdout, mut no_stderr) = (tokio::io::sink(), tokio::io::sink());
    // A server that writes before it exits must not block on a full pipe.
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
    /// Shuts down a server whose input the caller has closed. The caller must read its output meanwhile. A notification
    /// of `kill` ends the present grace period and all later ones immediately.
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
            // Notified again, so that the next wait returns immediately, too.
            kill.notify_one();
            None
        }
    }
}
