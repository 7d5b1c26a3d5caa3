//! Process identity on macOS and the BSDs, read with `ps`.

use std::process::{Command, Stdio};

use super::StartTime;

/// Returns the start time of a process, or `None` if there is no such process.
#[allow(clippy::disallowed_methods, reason = "no server is started here")]
pub(crate) fn start_time_of(pid: u32) -> Option<StartTime> {
    let output = Command::new("/bin/ps")
        .args(["-o", "lstart=", "-p", &pid.to_string()])
        .env_clear()
        .env("LC_ALL", "C")
        // In local time, the start of a process would change with the time zone of the computer.
        .env("TZ", "UTC0")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let words: Vec<&str> = text.split_whitespace().collect();
    (!words.is_empty()).then(|| StartTime::new(words.join("_")))
}

/// Always returns `false`: an ended process counts as running until its parent has reaped it.
pub(crate) fn has_ended(_pid: u32) -> bool {
    false
}

/// Always returns `false`, so a group whose first process has ended is not killed: the operating system offers no cheap
/// proof that such a group still belongs to the recorded server.
pub(crate) fn group_has_open_pipe(_group: u32, _pipes: &[u64]) -> bool {
    false
}
