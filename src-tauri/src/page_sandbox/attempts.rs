//! Counter of consecutive starts in which the page did not appear in its sandbox. The counter is stored in a file, so
//! that the window does not stay blank at every start.
//!
//! A single failed start may have another cause, such as a power failure or a killed process, so only the second one in
//! a row disables the sandbox. The sandbox is tried again by another version of Drawbridge or WebKitGTK, and at the
//! user's request on the settings page.
//!
//! If the data folder is not writable, the count is stored in the folder of the user's session. An unreadable file
//! counts as zero, so damaging it does not disable the sandbox. A program that makes both folders unwritable or writes
//! a count does disable it (`crates/threat-model.md`). The settings page shows this, and the problem of the file while
//! it persists.

use std::fs::File;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::{fs, io};

use serde::{Deserialize, Serialize};

/// Name of the counter's file in the data folder.
const FAILED_STARTS_FILE_NAME: &str = "page-sandbox.json";
/// Number of consecutive failed starts after which the sandbox is disabled.
const MAX_FAILED_STARTS: u32 = 2;
/// Maximum number of bytes that are read from a file with the counter.
const MAX_COUNTER_FILE_BYTES: u64 = 4_096;

/// Counter of consecutive starts in which the page did not appear, stored in a file.
#[derive(Debug)]
pub(super) struct FailedStartCounter {
    /// Files that may contain the count, in order of preference. The count is written to the first one that is
    /// writable.
    files: Vec<PathBuf>,
    software: String,
    /// First error that occurred since the preferred file was last written.
    problem: Mutex<Option<String>>,
}

#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct StoredFailedStarts {
    starts: u32,
    software: String,
}

impl FailedStartCounter {
    /// Opens the counter in this data folder for this version of Drawbridge and WebKitGTK.
    ///
    /// `session` is the folder for files that last until the user logs out. It is not used if other users can access
    /// it.
    pub(super) fn new(data_dir: &Path, session: Option<&Path>, software: String) -> Self {
        let session = session
            .filter(|folder| is_private_folder(folder))
            .map(|folder| folder.join(session_counter_file_name(data_dir)));
        let files = [data_dir.join(FAILED_STARTS_FILE_NAME)].into_iter().chain(session).collect();
        Self { files, software, problem: Mutex::default() }
    }

    /// Returns `true` if the count has reached [`MAX_FAILED_STARTS`], so that the sandbox is disabled.
    pub(super) fn has_reached_failed_start_limit(&self) -> bool {
        self.failed_start_count() >= MAX_FAILED_STARTS
    }

    /// Checks that a count can be written, without changing the count.
    ///
    /// # Errors
    /// Returns a message for the user if no file can be written.
    pub(super) fn check_writable(&self) -> Result<(), String> {
        let probe = serde_json::to_vec(&self.with_start_count(MAX_FAILED_STARTS)).unwrap_or_default();
        let mut first = None;
        for file in &self.files {
            match check_file_replaceable(file, &probe) {
                Ok(()) => return Ok(()),
                Err(error) => {
                    first.get_or_insert(self.record_problem(file, "written", &error));
                }
            }
        }
        Err(first.unwrap_or_default())
    }

    /// Increments the counter. This start counts as failed until [`clear`](Self::clear) is called.
    ///
    /// # Errors
    /// Returns an error if no file can be written.
    pub(super) fn record_failed_start(&self) -> io::Result<()> {
        self.write_count(self.failed_start_count().saturating_add(1))
    }

    /// Decrements the counter, which reverts the last call of [`record_failed_start`](Self::record_failed_start).
    ///
    /// # Errors
    /// Returns an error if no file can be written.
    pub(super) fn revert_failed_start(&self) -> io::Result<()> {
        match self.failed_start_count().saturating_sub(1) {
            0 => self.clear(),
            starts => self.write_count(starts),
        }
    }

    /// Sets the counter to its maximum, so that the next start does not use the sandbox.
    ///
    /// # Errors
    /// Returns an error if no file can be written.
    pub(super) fn turn_sandbox_off(&self) -> io::Result<()> {
        self.write_count(MAX_FAILED_STARTS)
    }

    /// Resets the counter by removing its files.
    ///
    /// # Errors
    /// Returns an error if a file can't be removed.
    pub(super) fn clear(&self) -> io::Result<()> {
        let mut cleared = Ok(());
        for file in &self.files {
            if let Err(error) = fs::remove_file(file)
                && error.kind() != io::ErrorKind::NotFound
            {
                self.record_problem(file, "removed", &error);
                cleared = cleared.and(Err(error));
            }
        }
        cleared
    }

    /// Returns the error because of which the count is not stored in the data folder, as a message for the user, or
    /// `None` if there was no error.
    pub(super) fn storage_problem(&self) -> Option<String> {
        self.problem.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn record_problem(&self, file: &Path, tried: &str, error: &io::Error) -> String {
        let problem = format!("{} can't be {tried}: {error}", file.display());
        self.problem.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(problem.clone());
        problem
    }

    fn failed_start_count(&self) -> u32 {
        let count = |file: &PathBuf| match read_counter_file(file) {
            Ok(Some(failed)) if failed.software == self.software => failed.starts,
            Ok(_) => 0,
            Err(error) => {
                self.record_problem(file, "read", &error);
                0
            }
        };
        self.files.iter().map(count).max().unwrap_or_default()
    }

    fn with_start_count(&self, starts: u32) -> StoredFailedStarts {
        StoredFailedStarts { starts, software: self.software.clone() }
    }

    fn write_count(&self, starts: u32) -> io::Result<()> {
        let text = serde_json::to_vec(&self.with_start_count(starts))?;
        let mut written = Err(io::Error::from(io::ErrorKind::NotFound));
        for (at, file) in self.files.iter().enumerate() {
            written = replace_file_atomically(file, &text);
            match &written {
                Ok(()) => {
                    if at == 0 {
                        *self.problem.lock().unwrap_or_else(PoisonError::into_inner) = None;
                    }
                    for older in &self.files[at + 1..] {
                        let _ = fs::remove_file(older);
                    }
                    break;
                }
                Err(error) => {
                    self.record_problem(file, "written", error);
                }
            }
        }
        written
    }
}

/// Returns the name of the counter's file in the session's folder, which other programs and other data folders use too,
/// so that it contains a hash of the data folder's path. The hash may differ between versions, but each version has a
/// count of its own anyway.
fn session_counter_file_name(data_dir: &Path) -> String {
    let mut hash = DefaultHasher::new();
    data_dir.canonicalize().unwrap_or_else(|_| data_dir.to_path_buf()).hash(&mut hash);
    format!("drawbridge-page-sandbox-{:016x}.json", hash.finish())
}

/// Returns `true` if `folder` is a folder that users other than its owner can't access.
fn is_private_folder(folder: &Path) -> bool {
    folder.metadata().is_ok_and(|metadata| metadata.is_dir() && metadata.permissions().mode() & 0o077 == 0)
}

fn read_counter_file(file: &Path) -> io::Result<Option<StoredFailedStarts>> {
    match file.metadata() {
        // Opening a named pipe would block until another process opens its other end.
        Ok(metadata) if !metadata.is_file() => return Err(io::Error::other("a file was expected")),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    }
    let mut text = Vec::new();
    File::open(file)?.take(MAX_COUNTER_FILE_BYTES).read_to_end(&mut text)?;
    Ok(Some(serde_json::from_slice(&text)?))
}

/// Replaces a file atomically, even if the existing file is not writable.
fn replace_file_atomically(file: &Path, text: &[u8]) -> io::Result<()> {
    let beside = temporary_path(file);
    fs::write(&beside, text)?;
    fs::rename(&beside, file)
}

/// Checks that [`replace_file_atomically`] would succeed, by performing all of its steps except the last. A missing
/// folder is not an error, because it is created before the window opens.
fn check_file_replaceable(file: &Path, text: &[u8]) -> io::Result<()> {
    if file.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory));
    }
    if file.parent().is_some_and(|folder| !folder.exists()) {
        return Ok(());
    }
    let beside = temporary_path(file);
    fs::write(&beside, text)?;
    fs::remove_file(&beside)
}

fn temporary_path(file: &Path) -> PathBuf {
    file.with_extension("json.tmp")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_consecutive_failed_starts_disable_the_sandbox() {
        let folder = tempfile::tempdir().expect("a folder");
        let attempts = FailedStartCounter::new(folder.path(), None, "1".into());
        assert!(!attempts.has_reached_failed_start_limit(), "no start has failed yet");
        attempts.record_failed_start().expect("written");
        assert!(!attempts.has_reached_failed_start_limit(), "one failed start may have another cause");
        attempts.clear().expect("removed");
        attempts.record_failed_start().expect("written");
        assert!(!attempts.has_reached_failed_start_limit(), "a page in between should reset the count");
        attempts.record_failed_start().expect("written");
        assert!(attempts.has_reached_failed_start_limit(), "two failed starts in a row should be enough");
        attempts.clear().expect("removed");
        attempts.clear().expect("clearing twice should succeed");
        assert!(!attempts.has_reached_failed_start_limit(), "clearing should allow another trial");
        attempts.turn_sandbox_off().expect("written");
        assert!(attempts.has_reached_failed_start_limit(), "giving up should need no second start");
    }

    #[test]
    fn new_version_resets_the_count_of_failed_starts() {
        let folder = tempfile::tempdir().expect("a folder");
        FailedStartCounter::new(folder.path(), None, "WebKitGTK 2.50.6".into()).turn_sandbox_off().expect("written");
        assert!(
            !FailedStartCounter::new(folder.path(), None, "WebKitGTK 2.50.7".into()).has_reached_failed_start_limit(),
            "another version should try again"
        );
        assert!(
            FailedStartCounter::new(folder.path(), None, "WebKitGTK 2.50.6".into()).has_reached_failed_start_limit(),
            "the same version should not try again"
        );
    }

    #[test]
    fn damaged_counter_file_counts_as_no_failed_start() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join(FAILED_STARTS_FILE_NAME);
        fs::write(&file, "{\"starts\":9").expect("written");
        let attempts = FailedStartCounter::new(folder.path(), None, "1".into());
        assert!(!attempts.has_reached_failed_start_limit(), "a damaged file should count as zero");
        let problem = attempts.storage_problem().expect("the problem should be reported");
        assert!(problem.contains("page-sandbox.json can't be read"), "the problem should contain the file: {problem}");
        attempts.turn_sandbox_off().expect("the damaged file should be replaced");
        assert!(attempts.has_reached_failed_start_limit(), "the new file should be readable");
    }

    /// Creates a data folder in which no user, not even root, can write or read the file.
    fn unwritable_folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(folder.path().join(FAILED_STARTS_FILE_NAME).join("full")).expect("made");
        folder
    }

    fn folder_with_mode(mode: u32) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).expect("set");
        folder
    }

    #[test]
    fn session_folder_stores_count_if_data_folder_is_not_writable() {
        let (data, session) = (unwritable_folder(), folder_with_mode(0o700));
        let attempts = || FailedStartCounter::new(data.path(), Some(session.path()), "1".into());
        attempts().check_writable().expect("the session's folder should be writable");
        attempts().record_failed_start().expect("counted");
        assert!(!attempts().has_reached_failed_start_limit(), "one failed start may have another cause");
        let second = attempts();
        second.record_failed_start().expect("counted");
        assert!(attempts().has_reached_failed_start_limit(), "the second failed start in a row should be enough");
        let problem = second.storage_problem().expect("the problem should be reported");
        assert!(problem.contains("/page-sandbox.json can't be"), "the problem should contain the file: {problem}");
        fs::remove_dir_all(data.path().join(FAILED_STARTS_FILE_NAME)).expect("removed");
        attempts().revert_failed_start().expect("written");
        assert_eq!(
            fs::read_dir(session.path()).expect("read").count(),
            0,
            "the count should move to the data folder as soon as it is writable"
        );
        assert_eq!(attempts().failed_start_count(), 1, "the count should be kept");
    }

    #[test]
    fn data_folders_do_not_share_a_failed_start_count() {
        let (one, other, session) = (unwritable_folder(), unwritable_folder(), folder_with_mode(0o700));
        let attempts = |data: &Path| FailedStartCounter::new(data, Some(session.path()), "1".into());
        attempts(one.path()).turn_sandbox_off().expect("written");
        assert!(
            attempts(one.path()).has_reached_failed_start_limit(),
            "the count should be stored for this data folder"
        );
        assert!(
            !attempts(other.path()).has_reached_failed_start_limit(),
            "another data folder should have its own count"
        );
    }

    #[test]
    fn storage_problem_is_cleared_once_the_data_folder_is_writable() {
        let (data, session) = (unwritable_folder(), folder_with_mode(0o700));
        let attempts = FailedStartCounter::new(data.path(), Some(session.path()), "1".into());
        attempts.record_failed_start().expect("counted");
        attempts.storage_problem().expect("the problem should be reported");
        attempts.record_failed_start().expect("counted");
        attempts.storage_problem().expect("the problem should persist");
        fs::remove_dir_all(data.path().join(FAILED_STARTS_FILE_NAME)).expect("removed");
        attempts.record_failed_start().expect("counted");
        assert_eq!(attempts.storage_problem(), None, "the problem should be cleared");
    }

    #[test]
    fn unwritable_counter_file_is_detected_before_the_sandbox_is_tried() {
        // Other users can access the second folder.
        let (data, open) = (unwritable_folder(), folder_with_mode(0o755));
        for session in [None, Some(open.path())] {
            let attempts = FailedStartCounter::new(data.path(), session, "1".into());
            let cause = attempts.check_writable().expect_err("no file should be writable");
            assert!(cause.contains("page-sandbox.json can't be written"), "the cause should contain the file: {cause}");
            attempts.record_failed_start().expect_err("adding should fail too");
        }
        FailedStartCounter::new(&open.path().join("missing"), None, "1".into())
            .check_writable()
            .expect("a missing folder should be accepted");
    }
}
