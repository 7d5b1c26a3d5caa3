//! A watcher process for systems that can't end a child with its parent (macOS): a small process next to each server
//! waits for the end of Drawbridge and then kills the server's group.
//!
//! It waits for the end of its input. Only Drawbridge has the other end of that pipe open, so the watcher needs no
//! timer, and can't mistake another process for Drawbridge.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use process_wrap::tokio::ChildWrapper;

use crate::launch::ProcessLaunch;

/// Shell script of the watcher. Its first argument is the process group ID.
const WATCHER_SCRIPT: &str = r#"read -r _ || kill -s KILL -- "-$1""#;

/// The watcher process of one server. Dropping it ends the process.
#[derive(Debug)]
pub(super) struct ParentWatcher {
    child: Box<dyn ChildWrapper>,
}

impl ParentWatcher {
    /// Starts a watcher for a process group. Returns `None` on systems that end a child together with its parent, and
    /// if the watcher can't be started.
    pub(super) async fn start_for(group: u32) -> Option<ParentWatcher> {
        if cfg!(target_os = "linux") {
            return None;
        }
        match ParentWatcher::start(group).await {
            Ok(watcher) => Some(watcher),
            Err(error) => {
                tracing::warn!(group, %error, "the watcher could not be started: if Drawbridge is killed, this server runs until the next start");
                None
            }
        }
    }

    async fn start(group: u32) -> io::Result<ParentWatcher> {
        let launch = ProcessLaunch {
            program: PathBuf::from("/bin/sh"),
            arguments: ["-c", WATCHER_SCRIPT, "sh", &group.to_string()].map(OsString::from).into(),
            environment: Vec::new(),
            directory: PathBuf::from("/"),
            pipes_input_and_errors: true,
            setup: None,
        };
        launch.start().await.map(|child| ParentWatcher { child })
    }
}

impl Drop for ParentWatcher {
    fn drop(&mut self) {
        // Killed before its input is closed, so that it does not kill the group. Fails only if it has already ended.
        let _ = self.child.start_kill();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::time::Duration;

    use testkit::deadline::poll_until;
    use testkit::processes::{is_alive, living_processes_in_group};

    use super::*;

    async fn spawn_process_group() -> (Box<dyn ChildWrapper>, u32) {
        let launch = ProcessLaunch {
            program: "/bin/sh".into(),
            arguments: ["-c", "trap '' TERM INT; sleep 60 & wait"].map(OsString::from).into(),
            environment: Vec::new(),
            directory: "/".into(),
            pipes_input_and_errors: true,
            setup: None,
        };
        let child = launch.start().await.unwrap();
        let group = child.id().unwrap();
        (child, group)
    }

    #[tokio::test]
    async fn server_ends_with_drawbridge_and_not_with_its_watcher() {
        let (mut child, group) = spawn_process_group().await;
        let mut watcher = ParentWatcher::start(group).await.unwrap();
        let own = watcher.child.id().unwrap();
        drop(watcher);
        assert!(poll_until(Duration::from_secs(20), || !is_alive(own)).await, "the watcher must end");
        assert!(is_alive(group), "the end of the watcher must not end the server");

        watcher = ParentWatcher::start(group).await.unwrap();
        // The operating system closes the pipe like this when Drawbridge is killed.
        drop(watcher.child.stdin().take());
        let has_ended = || living_processes_in_group(group).is_empty();
        assert!(
            poll_until(Duration::from_secs(20), has_ended).await,
            "the whole group must end when the pipe is closed"
        );
        let _ = child.start_kill();
    }
}
