//! Checks that folders are writable and have enough free space. Nothing is written.

use std::path::{Path, PathBuf};

use crate::finding::CheckOutcome;
use crate::text::FindingText;

const MIB: u64 = 1024 * 1024;
/// Free space, in bytes, below which the check reports a problem, since Drawbridge may be unable to write new data.
const MIN_FREE_BYTES: u64 = 100 * MIB;
/// Free space, in bytes, below which the check reports a warning, since the packages of a few servers could fill the
/// disk.
const RECOMMENDED_FREE_BYTES: u64 = 1024 * MIB;

/// Properties of a folder on which the outcome of its check depends.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FolderFacts {
    /// The folder to check or, if it does not exist, its nearest existing ancestor.
    nearest: PathBuf,
    is_folder: bool,
    is_writable: bool,
    free_bytes: Option<u64>,
}

pub(crate) fn check_folder(folder: &Path) -> CheckOutcome {
    folder_outcome(folder, &read_folder_facts(folder))
}

fn folder_outcome(folder: &Path, facts: &FolderFacts) -> CheckOutcome {
    let is_there = facts.nearest == folder;
    let observation = FindingText::new("").path(folder);
    if !facts.is_folder {
        return CheckOutcome::problem(
            observation.and(": there is a file in place of a folder, at ").path(&facts.nearest).and("."),
            FindingText::new("Move or rename that file, and check again."),
        );
    }
    if !facts.is_writable {
        return CheckOutcome::problem(
            observation.and(if is_there { " can't be written to." } else { " is not there, and can't be made." }),
            FindingText::new(
                "Make yourself the owner of the folder, and let its owner write to it. If that fails, the disk is read-only: check it for errors.",
            ),
        );
    }
    let observation =
        observation.and(if is_there { " can be written to" } else { " is not there yet, and can be made" });
    let Some(free) = facts.free_bytes else {
        return CheckOutcome::ok(observation.and("; its free space is unknown."));
    };
    let observation = observation.and("; ").number(free / MIB).and(" MiB are free.");
    if free < MIN_FREE_BYTES {
        return CheckOutcome::problem(
            observation,
            FindingText::new("Free space on this disk. Data may no longer be saved."),
        );
    }
    if free < RECOMMENDED_FREE_BYTES {
        return CheckOutcome::warning(
            observation,
            FindingText::new("Make room on this disk: packages of servers need some hundred MiB each."),
        );
    }
    CheckOutcome::ok(observation)
}

fn read_folder_facts(folder: &Path) -> FolderFacts {
    let nearest = folder.ancestors().find(|ancestor| ancestor.symlink_metadata().is_ok()).unwrap_or(folder);
    FolderFacts {
        nearest: nearest.to_owned(),
        is_folder: nearest.is_dir(),
        is_writable: is_writable(nearest),
        free_bytes: free_bytes(nearest),
    }
}

#[cfg(unix)]
fn is_writable(folder: &Path) -> bool {
    use nix::unistd::{AccessFlags, access};
    access(folder, AccessFlags::W_OK | AccessFlags::X_OK).is_ok()
}

#[cfg(not(unix))]
fn is_writable(folder: &Path) -> bool {
    folder.metadata().is_ok_and(|facts| !facts.permissions().readonly())
}

/// Returns the free space, in bytes, that the user may use on the disk of a folder.
#[cfg(unix)]
fn free_bytes(folder: &Path) -> Option<u64> {
    let disk = nix::sys::statvfs::statvfs(folder).ok()?;
    #[allow(clippy::useless_conversion, reason = "the type differs between systems")]
    let (blocks, size) = (u64::from(disk.blocks_available()), u64::from(disk.fragment_size()));
    Some(blocks.saturating_mul(size))
}

#[cfg(not(unix))]
fn free_bytes(_folder: &Path) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::finding::FindingState;

    #[test]
    fn folder_check_reports_usability() {
        let facts = |is_there: bool, is_writable, free_bytes| FolderFacts {
            nearest: if is_there { "/data/app".into() } else { "/data".into() },
            is_folder: true,
            is_writable,
            free_bytes,
        };
        let (ok, warning, problem) = (FindingState::Ok, FindingState::Warning, FindingState::Problem);
        let cases = [
            (facts(true, true, Some(2 * RECOMMENDED_FREE_BYTES)), ok, "can be written to; 2048 MiB"),
            (facts(false, true, Some(2 * RECOMMENDED_FREE_BYTES)), ok, "is not there yet, and can be made"),
            (facts(true, true, None), ok, "is unknown"),
            (facts(true, true, Some(RECOMMENDED_FREE_BYTES - 1)), warning, "1023 MiB"),
            (facts(true, true, Some(MIN_FREE_BYTES - 1)), problem, "99 MiB"),
            (facts(true, false, Some(2 * RECOMMENDED_FREE_BYTES)), problem, "can't be written to"),
            (facts(false, false, Some(2 * RECOMMENDED_FREE_BYTES)), problem, "can't be made"),
        ];
        for (facts, state, words) in cases {
            let outcome = folder_outcome(Path::new("/data/app"), &facts);
            assert_eq!(outcome.state, state, "{facts:?}: {}", outcome.observation);
            assert!(outcome.observation.to_string().contains(words), "{facts:?}: {}", outcome.observation);
            assert_eq!(outcome.remedy.is_some(), state != ok, "a remedy is suggested for each problem: {facts:?}");
        }
    }

    #[test]
    fn folder_check_creates_no_files() {
        let folder = tempfile::tempdir().unwrap();
        let new = folder.path().join("a/b");
        assert_eq!(
            check_folder(&new).state,
            FindingState::Ok,
            "a folder that can be created is no problem: {}",
            check_folder(&new).observation
        );
        assert!(!folder.path().join("a").exists(), "the check does not create the folder");
        assert!(free_bytes(folder.path()).is_none_or(|free| free > 0), "the free space can be determined");
        std::fs::write(folder.path().join("a"), "").unwrap();
        let outcome = check_folder(&new);
        assert_eq!(
            outcome.state,
            FindingState::Problem,
            "a file in place of a parent folder is a problem: {}",
            outcome.observation
        );
    }

    #[cfg(unix)]
    #[test]
    fn folder_permissions_are_checked() {
        let folder = tempfile::tempdir().unwrap();
        assert!(is_writable(folder.path()), "the user's own folder is writable");
        // A folder below a file can't be created, not even by root, whereas root ignores the permissions of a folder.
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert!(!is_writable(&file), "a file is not a writable folder");
    }
}
