//! The facts of a started server, and the record of it for the next start of the app.

use std::path::PathBuf;

use crate::orphans::RunningRecord;
use crate::platform::StartTime;

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
    pub(super) pipes: Vec<u64>,
}

impl Spawned {
    /// What to keep on disk while the server runs, for [`sweep`](crate::orphans::sweep) at the next start.
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
