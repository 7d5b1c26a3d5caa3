//! Process groups that consist of a started program and its descendants, and are stopped together.

use std::process::{Child, Command};

/// Makes the program run as the leader of a new process group.
#[cfg(unix)]
pub(super) fn make_process_group_leader(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

/// Stops the process group of a program: requests termination, and kills the group if it still exists after two
/// seconds.
#[cfg(unix)]
pub(super) fn stop_process_group(leader: &mut Child) {
    use std::thread::sleep;
    use std::time::{Duration, Instant};

    use nix::sys::signal::{Signal, killpg};
    use nix::unistd::Pid;

    let Ok(id) = i32::try_from(leader.id()) else { return };
    let group = Pid::from_raw(id);
    if killpg(group, Signal::SIGTERM).is_ok() {
        let end = Instant::now() + Duration::from_secs(2);
        while Instant::now() < end {
            let _ = leader.try_wait();
            if killpg(group, None).is_err() {
                break;
            }
            sleep(Duration::from_millis(10));
        }
        let _ = killpg(group, Signal::SIGKILL);
    }
    let _ = leader.wait();
}

/// Kills the process with this id, which does not have to be a child of xtask.
#[cfg(unix)]
pub(super) fn kill_process(id: u32) {
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;

    if let Ok(id) = i32::try_from(id) {
        let _ = kill(Pid::from_raw(id), Signal::SIGKILL);
    }
}

#[cfg(not(unix))]
pub(super) fn make_process_group_leader(_command: &mut Command) {}

#[cfg(not(unix))]
pub(super) fn kill_process(id: u32) {
    use std::process::Stdio;

    let _ = Command::new("taskkill").args(["/F", "/PID", &id.to_string()]).stdout(Stdio::null()).status();
}

#[cfg(not(unix))]
pub(super) fn stop_process_group(leader: &mut Child) {
    use std::process::Stdio;

    if matches!(leader.try_wait(), Ok(None)) {
        let id = leader.id().to_string();
        let _ = Command::new("taskkill").args(["/T", "/F", "/PID", &id]).stdout(Stdio::null()).status();
    }
    let _ = leader.wait();
}
