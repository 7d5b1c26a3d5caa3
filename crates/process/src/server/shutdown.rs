//! Ending a server: its input is closed, then it is asked, then it is killed.
//!
//! A program that reads its input to the end ends by itself then. The signals go to the whole process group, and once the server's own process has ended, what is left of the group
//! is killed at once.

use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::timeout;

use super::group::{Exit, Pipes, ServerGroup, ServerProcess};

/// How long a killed process may take to be gone. Longer means that it hangs inside the system, where
/// nothing reaches it.
const KILLED_LIMIT: Duration = Duration::from_secs(2);

/// How long a server is given to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grace {
    /// After its input was closed. 2 s.
    pub after_close: Duration,
    /// After SIGTERM. 2 s. Windows has no such signal and goes on to the kill.
    pub after_terminate: Duration,
}

impl Default for Grace {
    fn default() -> Grace {
        Grace { after_close: Duration::from_secs(2), after_terminate: Duration::from_secs(2) }
    }
}

/// Ends a server whose pipes nobody else reads, within its grace, and returns how it ended.
pub async fn shut_down(server: ServerProcess, grace: Grace) -> Exit {
    let ServerProcess { pipes, mut group } = server;
    let Pipes { stdin, mut stdout, mut stderr } = pipes;
    drop(stdin);
    let (mut no_stdout, mut no_stderr) = (tokio::io::sink(), tokio::io::sink());
    // A server that writes before it ends must not hang on a full pipe.
    let read = async {
        let _ =
            tokio::join!(tokio::io::copy(&mut stdout, &mut no_stdout), tokio::io::copy(&mut stderr, &mut no_stderr),);
        std::future::pending::<()>().await
    };
    let never = Notify::new();
    tokio::select! {
        exit = group.shut_down(grace, &never) => exit,
        () = read => Exit { status: None, signal: None, exceeded: None },
    }
}

impl ServerGroup {
    /// Ends a server whose input has been closed. Somebody must go on reading its output. When notified, it
    /// kills at once.
    pub async fn shut_down(&mut self, grace: Grace, kill: &Notify) -> Exit {
        if let Some(exit) = ended(self, grace.after_close, kill).await {
            return exit;
        }
        self.terminate();
        if let Some(exit) = ended(self, grace.after_terminate, kill).await {
            return exit;
        }
        self.kill();
        timeout(KILLED_LIMIT, self.wait()).await.unwrap_or(Exit { status: None, signal: None, exceeded: None })
    }
}

async fn ended(group: &mut ServerGroup, limit: Duration, kill: &Notify) -> Option<Exit> {
    tokio::select! {
        exit = timeout(limit, group.wait()) => exit.ok(),
        () = kill.notified() => {
            // Whoever waits next must not wait its whole time.
            kill.notify_one();
            None
        }
    }
}
