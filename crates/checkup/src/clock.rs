//! Checks that the computer's clock is not behind. With a wrong clock, certificates and tokens are considered invalid.
//! A clock that is ahead can't be detected without the network, which the checks don't use.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use crate::finding::CheckOutcome;
use crate::text::FindingText;

/// Time by which a file's modification time may be later than the clock's time. If it is later by more, the clock
/// counts as wrong.
const MAX_CLOCK_DEVIATION: Duration = Duration::from_secs(10 * 60);

/// Checks that no file was modified later than `now`, which would mean that the clock is behind.
pub(crate) fn check_clock(now: SystemTime, files: &[PathBuf]) -> CheckOutcome {
    let latest = files.iter().filter_map(|file| file.metadata().ok()?.modified().ok()).max();
    match latest.and_then(|latest| latest.duration_since(now).ok()).filter(|behind| *behind > MAX_CLOCK_DEVIATION) {
        Some(behind) => CheckOutcome::problem(
            FindingText::new("The clock is behind the last change of Drawbridge's files, by ")
                .number(behind.as_secs() / 60)
                .and(" minutes."),
            FindingText::new(
                "Set the clock, or have the system set it from the network. With a wrong one, servers with https are not trusted and sign-ins fail.",
            ),
        ),
        None => CheckOutcome::ok(FindingText::new("The clock is not behind the files of Drawbridge.")),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::finding::FindingState;

    #[test]
    fn clock_behind_the_files_is_reported() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let files = [file.path().to_owned(), "/nonexistent".into()];
        let written = file.path().metadata().unwrap().modified().unwrap();
        assert_eq!(
            check_clock(written + Duration::from_secs(60), &files).state,
            FindingState::Ok,
            "a clock ahead of the files is not reported"
        );
        assert_eq!(
            check_clock(written - Duration::from_secs(60), &files).state,
            FindingState::Ok,
            "a small deviation is tolerated"
        );
        let behind = check_clock(written - Duration::from_secs(86_400), &files);
        assert_eq!(behind.state, FindingState::Problem);
        assert!(behind.observation.to_string().contains("1440 minutes"), "{}", behind.observation);
        assert_eq!(check_clock(written, &[]).state, FindingState::Ok, "without files nothing is reported");
    }
}
