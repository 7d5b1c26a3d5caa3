//! Starts whose page did not come in the sandbox, counted in a file, so that the window does not stay blank at every start. One such
//! start may have another reason (the power went, somebody killed the app), so only the second in a row turns the sandbox off.
//! Another version of Drawbridge or WebKitGTK tries it anew, and so does the user's word in Settings.

use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::{Deserialize, Serialize};

/// The file in the data folder.
const FILE: &str = "page-sandbox.json";
/// So many failed starts in a row turn the sandbox off.
const ENOUGH: u32 = 2;

/// The count of failed starts on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Attempts {
    file: PathBuf,
    software: String,
}

#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Failed {
    starts: u32,
    software: String,
}

impl Attempts {
    /// Those in this data folder, as far as they were made with this software.
    pub(super) fn new(data_dir: &Path, software: String) -> Self {
        Self { file: data_dir.join(FILE), software }
    }

    /// Whether enough starts in a row have failed.
    pub(super) fn are_enough(&self) -> bool {
        self.count() >= ENOUGH
    }

    /// Counts a start as failed, until [`clear`](Self::clear) says otherwise.
    ///
    /// # Errors
    /// If the file can't be written.
    pub(super) fn add(&self) -> io::Result<()> {
        self.write(self.count().saturating_add(1))
    }

    /// Takes back what [`add`](Self::add) counted.
    ///
    /// # Errors
    /// If the file can't be written.
    pub(super) fn take_back(&self) -> io::Result<()> {
        match self.count().saturating_sub(1) {
            0 => self.clear(),
            starts => self.write(starts),
        }
    }

    /// The sandbox does not work: the next start does without.
    ///
    /// # Errors
    /// If the file can't be written.
    pub(super) fn give_up(&self) -> io::Result<()> {
        self.write(ENOUGH)
    }

    /// Nothing has failed.
    ///
    /// # Errors
    /// If the file can't be removed.
    pub(super) fn clear(&self) -> io::Result<()> {
        match fs::remove_file(&self.file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn count(&self) -> u32 {
        let text = fs::read(&self.file).unwrap_or_default();
        // A file that was cut off says nothing.
        let failed: Failed = serde_json::from_slice(&text).unwrap_or_default();
        if failed.software == self.software { failed.starts } else { 0 }
    }

    fn write(&self, starts: u32) -> io::Result<()> {
        let failed = Failed { starts, software: self.software.clone() };
        fs::write(&self.file, serde_json::to_vec(&failed)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_failed_start_in_a_row_is_enough() {
        let folder = tempfile::tempdir().expect("a folder");
        let attempts = Attempts::new(folder.path(), "1".into());
        assert!(!attempts.are_enough(), "nothing has failed yet");
        attempts.add().expect("written");
        assert!(!attempts.are_enough(), "one may have another reason");
        attempts.clear().expect("removed");
        attempts.add().expect("written");
        assert!(!attempts.are_enough(), "a page that came in between starts the count anew");
        attempts.add().expect("written");
        assert!(attempts.are_enough(), "two in a row");
        attempts.clear().expect("removed");
        attempts.clear().expect("there is nothing to remove");
        assert!(!attempts.are_enough(), "the user wants to try again");
        attempts.give_up().expect("written");
        assert!(attempts.are_enough(), "what is known for sure needs no second start");
    }

    #[test]
    fn another_version_tries_again() {
        let folder = tempfile::tempdir().expect("a folder");
        Attempts::new(folder.path(), "WebKitGTK 2.50.6".into()).give_up().expect("written");
        assert!(!Attempts::new(folder.path(), "WebKitGTK 2.50.7".into()).are_enough(), "it may work there");
        assert!(Attempts::new(folder.path(), "WebKitGTK 2.50.6".into()).are_enough(), "it still does not here");
    }

    #[test]
    fn a_broken_file_says_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join(FILE), "{\"starts\":9").expect("written");
        let attempts = Attempts::new(folder.path(), "1".into());
        assert!(!attempts.are_enough(), "nothing can be read from it");
        attempts.give_up().expect("and it is replaced");
        assert!(attempts.are_enough(), "by one that can be read");
    }
}
