//! Where the system has no request to end with a parent (macOS), a small process waits beside each server for the end of
//! Drawbridge, and ends the server's group then.
//!
//! It waits for the end of its input, which only Drawbridge has the other end of: so it needs no clock, and can't take another
//! process for Drawbridge.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use process_wrap::tokio::ChildWrapper;

use crate::launch::Launch;

/// The group's number is its first argument.
const SCRIPT: &str = r#"read -r _ || kill -s KILL -- "-$1""#;

/// The process beside one server. It ends when this is dropped.
#[derive(Debug)]
pub(super) struct Watcher {
    child: Box<dyn ChildWrapper>,
}

impl Watcher {
    /// Begins to watch, if the system needs it.
    pub(super) async fn of(group: u32) -> Option<Watcher> {
        if cfg!(target_os = "linux") {
            return None;
        }
        match Watcher::start(group).await {
            Ok(watcher) => Some(watcher),
            Err(error) => {
                tracing::warn!(group, %error, "nobody ends this server if Drawbridge is killed, until its next start");
                None
            }
        }
    }

    async fn start(group: u32) -> io::Result<Watcher> {
        let launch = Launch {
            program: PathBuf::from("/bin/sh"),
            arguments: ["-c", SCRIPT, "sh", &group.to_string()].map(OsString::from).into(),
            environment: Vec::new(),
            directory: PathBuf::from("/"),
            conversation: true,
            setup: None,
        };
        launch.start().await.map(|child| Watcher { child })
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        // Before its input ends. Fails only when it has ended already.
        let _ = self.child.start_kill();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::time::Duration;

    use testkit::deadline::holds_within;
    use testkit::processes::{alive_in_group, is_alive};

    use super::*;

    async fn victim() -> (Box<dyn ChildWrapper>, u32) {
        let launch = Launch {
            program: "/bin/sh".into(),
            arguments: ["-c", "trap '' TERM INT; sleep 60 & wait"].map(OsString::from).into(),
            environment: Vec::new(),
            directory: "/".into(),
            conversation: true,
            setup: None,
        };
        let child = launch.start().await.unwrap();
        let group = child.id().unwrap();
        (child, group)
    }

    #[tokio::test]
    async fn a_server_ends_with_drawbridge_and_not_with_its_watcher() {
        let (mut child, group) = victim().await;
        let mut watcher = Watcher::start(group).await.unwrap();
        let own = watcher.child.id().unwrap();
        drop(watcher);
        assert!(holds_within(Duration::from_secs(20), || !is_alive(own)).await, "the watcher ends");
        assert!(is_alive(group), "a watcher that is no longer needed ends without a trace");

        watcher = Watcher::start(group).await.unwrap();
        // As the system does when Drawbridge is killed.
        drop(watcher.child.stdin().take());
        let has_ended = || alive_in_group(group).is_empty();
        assert!(
            holds_within(Duration::from_secs(20), has_ended).await,
            "the whole group ends when nobody holds the other end"
        );
        let _ = child.start_kill();
    }
}
