//! Identity of a started server, and its record for the next start of the app.

use std::path::PathBuf;

use crate::orphans::RunningServerRecord;
use crate::platform::StartTime;

/// Properties of a started server that remain valid after it has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpawnedServerProcess {
    /// Process ID of the server's first process, which leads the group.
    pub pid: u32,
    /// Process group ID of the server and its descendants.
    pub group: u32,
    /// Start time of the process, which distinguishes it from later ones with the same pid.
    pub start_time: StartTime,
    /// Path of the program that was started.
    pub program: PathBuf,
    pub(super) pipes: Vec<u64>,
}

impl SpawnedServerProcess {
    /// Returns the record of the server to store on disk while it runs, for
    /// [`kill_orphaned_servers`](crate::orphans::kill_orphaned_servers) at the app's next start.
    pub fn record(&self) -> RunningServerRecord {
        let owner = std::process::id();
        RunningServerRecord {
            pid: self.pid,
            group: self.group,
            start_time: self.start_time.clone(),
            owner,
            owner_start_time: StartTime::of_process(owner).unwrap_or_else(StartTime::unknown),
            pipes: self.pipes.clone(),
            program: self.program.display().to_string(),
        }
    }
}
