//! Processor time of the programs that a test part ran. Printed together with the wall time, since a part that mostly
//! waits can run in parallel with another one.

use std::time::Duration;

/// Returns the total processor time of all exited child processes, or `None` if the system does not report it.
#[cfg(unix)]
pub(super) fn exited_children_processor_time() -> Option<Duration> {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeVal;

    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).ok()?;
    let time = |value: TimeVal| {
        let (seconds, micros) = (u64::try_from(value.tv_sec()).ok()?, u64::try_from(value.tv_usec()).ok()?);
        Some(Duration::from_secs(seconds) + Duration::from_micros(micros))
    };
    Some(time(usage.user_time())? + time(usage.system_time())?)
}

#[cfg(not(unix))]
pub(super) fn exited_children_processor_time() -> Option<Duration> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn processor_time_of_ended_programs_is_counted() {
        let before = exited_children_processor_time().unwrap();
        let loops = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
        assert!(Command::new("sh").args(["-c", loops]).status().unwrap().success(), "the program should succeed");
        assert!(
            exited_children_processor_time().unwrap() > before + Duration::from_millis(20),
            "the program should use processor time"
        );
    }
}
