//! Start time of a process, which distinguishes it from later processes with the same pid.

use std::fmt;

/// The start time of a process, in a system-specific format. Together with the pid it identifies one process, also
/// across reboots.
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

    /// Returns a placeholder for an unknown start time. It differs from the start time of every running process.
    pub(crate) fn unknown() -> StartTime {
        StartTime("-".to_owned())
    }

    /// Returns the start time of the process with this pid, or `None` if there is none.
    pub fn of_process(pid: u32) -> Option<StartTime> {
        super::start_time_of(pid)
    }
}
