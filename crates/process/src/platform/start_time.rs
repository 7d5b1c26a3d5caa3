//! The time at which a process was started: with it, a pid names one process and no later one.

use std::fmt;

/// When a process was started, in the system's own terms. Together with the pid it names one process
/// and never another that gets the same pid later, also not after a reboot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartTime(String);

impl fmt::Display for StartTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl StartTime {
    pub(crate) fn new(text: String) -> StartTime {
        StartTime(text)
    }

    /// Stands where the system told nothing. Equal to no running process.
    pub(crate) fn unknown() -> StartTime {
        StartTime("-".to_owned())
    }

    /// The start time of a running process, if there is one with this pid.
    pub fn of(pid: u32) -> Option<StartTime> {
        super::start_time_of(pid)
    }
}
