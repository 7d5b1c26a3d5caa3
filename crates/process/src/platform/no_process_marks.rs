//! Replacement for process marks on systems where processes that left a server's group are not looked for: Windows jobs
//! contain all of them, and macOS does not reveal the environment of other processes.

use std::ffi::OsString;

use super::StartTime;

/// A descendant of a server to kill together with the server. Never constructed on these systems.
pub(crate) enum StartedProcess {}

/// Replacement for the environment variable that identifies the processes of a server. It has no value on these
/// systems, so no process is found by it.
#[derive(Debug, Clone)]
pub(crate) struct ProcessMark;

pub(crate) const fn new_mark() -> ProcessMark {
    ProcessMark
}

impl ProcessMark {
    pub(crate) const fn environment_variable(&self) -> Option<(OsString, OsString)> {
        None
    }

    pub(crate) const fn kill_processes_with_mark(&self) {}
}

pub(crate) const fn kill_processes_marked_by_owner(_owner: u32, _started: &StartTime) -> bool {
    false
}

pub(crate) const fn find_descendants(_pid: u32) -> Vec<StartedProcess> {
    Vec::new()
}

pub(crate) const fn kill_processes(_started: &[StartedProcess]) {}
