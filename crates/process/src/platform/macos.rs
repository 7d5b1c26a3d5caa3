//! Telling processes apart on macOS and the BSDs, by asking `ps`.

use std::process::{Command, Stdio};

use super::StartTime;

/// When a process was started. None when there is no such process.
#[allow(clippy::disallowed_methods, reason = "no server is started here")]
pub(crate) fn start_time_of(pid: u32) -> Option<StartTime> {
    let output = Command::new("/bin/ps")
        .args(["-o", "lstart=", "-p", &pid.to_string()])
        .env_clear()
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let words: Vec<&str> = text.split_whitespace().collect();
    (!words.is_empty()).then(|| StartTime::new(words.join("_")))
}

/// Not looked at here: an app that has ended counts as running until its parent has heard of it.
pub(crate) fn has_ended(_pid: u32) -> bool {
    false
}

/// There is no cheap proof here that a group without its leader is still the same, so none is
/// claimed and such a group is left alone.
pub(crate) fn group_holds_pipe(_group: u32, _pipes: &[u64]) -> bool {
    false
}
