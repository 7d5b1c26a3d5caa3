//! Processor time of the programs that a test part runs: the measured time, which is printed together with the wall
//! time, and the priority of a lane's programs. Used by `mod.rs`.

use std::time::Duration;

#[cfg(target_os = "linux")]
use crate::process::Program;

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

/// Sets the niceness of this thread, which the programs that it starts inherit. Only Linux has a niceness per thread.
/// On other systems, and if `renice` is not installed, all lanes have the same priority.
#[cfg(target_os = "linux")]
pub(super) fn lower_priority_of_thread_and_its_programs(niceness: u8) {
    if niceness > 0 {
        let thread = nix::unistd::gettid().to_string();
        let _ = Program::new("renice").args(["-n", &niceness.to_string(), "-p", &thread]).output();
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn lower_priority_of_thread_and_its_programs(_niceness: u8) {}

#[cfg(all(test, unix))]
mod tests {
    use std::process::Command;

    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn programs_inherit_the_priority_of_the_thread_that_starts_them() {
        let niceness =
            || Command::new("nice").output().map(|output| String::from_utf8(output.stdout).unwrap()).unwrap();
        let before: u8 = niceness().trim().parse().unwrap();
        let lowered = std::thread::spawn(move || {
            lower_priority_of_thread_and_its_programs(before + 3);
            niceness()
        });
        assert_eq!(lowered.join().unwrap().trim(), (before + 3).to_string());
        assert_eq!(niceness().trim(), before.to_string(), "other threads should keep their priority");
    }

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
