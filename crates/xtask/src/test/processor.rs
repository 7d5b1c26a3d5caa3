//! The processor time of the programs that a part ran. Caller: `mod.rs`, beside the wall time: a part that waits more than it computes can
//! run beside another.

use std::time::Duration;

/// The time that all programs took which ended so far and were waited for. None where the system does not say.
#[cfg(unix)]
pub(super) fn of_children() -> Option<Duration> {
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
pub(super) fn of_children() -> Option<Duration> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn what_a_program_computed_is_counted_once_it_has_ended() {
        let before = of_children().unwrap();
        let loops = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
        assert!(Command::new("sh").args(["-c", loops]).status().unwrap().success(), "it ran");
        assert!(of_children().unwrap() > before + Duration::from_millis(20), "it computed for a while");
    }
}
