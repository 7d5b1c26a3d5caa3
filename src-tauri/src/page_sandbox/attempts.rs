//! Starts whose page did not come in the sandbox, counted in a file, so that the window does not stay blank at every start. One such
//! start may have another reason (the power went, somebody killed the app), so only the second in a row turns the sandbox off.
//! Another version of Drawbridge or WebKitGTK tries it anew, and so does the user's word in Settings.
//!
//! Where the data folder takes no file, they are counted in the folder of the user's session. A file that can't be read counts
//! nothing, so breaking it does not turn the sandbox off. A program that makes both places unwritable does, as one that writes a
//! count (`crates/threat-model.md`). Settings shows that, and what is wrong with the file as long as it lasts.

use std::fs::File;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::{fs, io};

use serde::{Deserialize, Serialize};

/// The file in the data folder.
const FILE: &str = "page-sandbox.json";
/// So many failed starts in a row turn the sandbox off.
const ENOUGH: u32 = 2;
/// The most that is read of a file, in bytes.
const LIMIT: u64 = 4_096;

/// The count of failed starts on disk.
#[derive(Debug)]
pub(super) struct Attempts {
    /// The first of these that can be written has the count.
    files: Vec<PathBuf>,
    software: String,
    /// The first error of one of the files since the one in the data folder was last written.
    problem: Mutex<Option<String>>,
}

#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Failed {
    starts: u32,
    software: String,
}

impl Attempts {
    /// Those in this data folder, as far as they were made with this software. `session` is the folder for files that last until the
    /// user signs out; one that other users can open is not used.
    pub(super) fn new(data_dir: &Path, session: Option<&Path>, software: String) -> Self {
        let session = session.filter(|folder| is_private(folder)).map(|folder| folder.join(session_file(data_dir)));
        let files = [data_dir.join(FILE)].into_iter().chain(session).collect();
        Self { files, software, problem: Mutex::default() }
    }

    /// Whether enough starts in a row have failed.
    pub(super) fn are_enough(&self) -> bool {
        self.count() >= ENOUGH
    }

    /// Checks that a failed start can be remembered.
    ///
    /// # Errors
    /// In words, if no file can be written.
    pub(super) fn check_writable(&self) -> Result<(), String> {
        let probe = serde_json::to_vec(&self.failed(ENOUGH)).unwrap_or_default();
        let mut first = None;
        for file in &self.files {
            match check_replaceable(file, &probe) {
                Ok(()) => return Ok(()),
                Err(error) => {
                    first.get_or_insert(self.report(file, "written", &error));
                }
            }
        }
        Err(first.unwrap_or_default())
    }

    /// Counts a start as failed, until [`clear`](Self::clear) says otherwise.
    ///
    /// # Errors
    /// If no file can be written.
    pub(super) fn add(&self) -> io::Result<()> {
        self.write(self.count().saturating_add(1))
    }

    /// Takes back what [`add`](Self::add) counted.
    ///
    /// # Errors
    /// If no file can be written.
    pub(super) fn take_back(&self) -> io::Result<()> {
        match self.count().saturating_sub(1) {
            0 => self.clear(),
            starts => self.write(starts),
        }
    }

    /// The sandbox does not work: the next start does without.
    ///
    /// # Errors
    /// If no file can be written.
    pub(super) fn give_up(&self) -> io::Result<()> {
        self.write(ENOUGH)
    }

    /// Nothing has failed.
    ///
    /// # Errors
    /// If a file can't be removed.
    pub(super) fn clear(&self) -> io::Result<()> {
        let mut cleared = Ok(());
        for file in &self.files {
            if let Err(error) = fs::remove_file(file)
                && error.kind() != io::ErrorKind::NotFound
            {
                self.report(file, "removed", &error);
                cleared = cleared.and(Err(error));
            }
        }
        cleared
    }

    /// The error that keeps failed starts from being remembered in the data folder, in words.
    pub(super) fn problem(&self) -> Option<String> {
        self.problem.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn report(&self, file: &Path, tried: &str, error: &io::Error) -> String {
        let problem = format!("{} can't be {tried}: {error}", file.display());
        self.problem.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(problem.clone());
        problem
    }

    fn count(&self) -> u32 {
        let count = |file: &PathBuf| match read(file) {
            Ok(Some(failed)) if failed.software == self.software => failed.starts,
            Ok(_) => 0,
            Err(error) => {
                self.report(file, "read", &error);
                0
            }
        };
        self.files.iter().map(count).max().unwrap_or_default()
    }

    fn failed(&self, starts: u32) -> Failed {
        Failed { starts, software: self.software.clone() }
    }

    fn write(&self, starts: u32) -> io::Result<()> {
        let text = serde_json::to_vec(&self.failed(starts))?;
        let mut written = Err(io::Error::from(io::ErrorKind::NotFound));
        for (at, file) in self.files.iter().enumerate() {
            written = replace(file, &text);
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
                    self.report(file, "written", error);
                }
            }
        }
        written
    }
}

/// The name of the file in the folder of the session, where other programs and other data folders have theirs. A hash that differs in
/// another version is as good, as that starts the count anew.
fn session_file(data_dir: &Path) -> String {
    let mut hash = DefaultHasher::new();
    data_dir.canonicalize().unwrap_or_else(|_| data_dir.to_path_buf()).hash(&mut hash);
    format!("drawbridge-page-sandbox-{:016x}.json", hash.finish())
}

/// Returns true if other users can't open this folder.
fn is_private(folder: &Path) -> bool {
    folder.metadata().is_ok_and(|metadata| metadata.is_dir() && metadata.permissions().mode() & 0o077 == 0)
}

fn read(file: &Path) -> io::Result<Option<Failed>> {
    match file.metadata() {
        // Opening a pipe would wait for whoever writes to it.
        Ok(metadata) if !metadata.is_file() => return Err(io::Error::other("a file was expected")),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    }
    let mut text = Vec::new();
    File::open(file)?.take(LIMIT).read_to_end(&mut text)?;
    Ok(Some(serde_json::from_slice(&text)?))
}

/// Writes a file whole, also where the one that is there can't be written.
fn replace(file: &Path, text: &[u8]) -> io::Result<()> {
    let beside = beside(file);
    fs::write(&beside, text)?;
    fs::rename(&beside, file)
}

/// Tries all of [`replace`] but the last step. A folder that is still missing is made before the window opens.
fn check_replaceable(file: &Path, text: &[u8]) -> io::Result<()> {
    if file.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory));
    }
    if file.parent().is_some_and(|folder| !folder.exists()) {
        return Ok(());
    }
    let beside = beside(file);
    fs::write(&beside, text)?;
    fs::remove_file(&beside)
}

fn beside(file: &Path) -> PathBuf {
    file.with_extension("json.tmp")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_failed_start_in_a_row_is_enough() {
        let folder = tempfile::tempdir().expect("a folder");
        let attempts = Attempts::new(folder.path(), None, "1".into());
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
        Attempts::new(folder.path(), None, "WebKitGTK 2.50.6".into()).give_up().expect("written");
        assert!(!Attempts::new(folder.path(), None, "WebKitGTK 2.50.7".into()).are_enough(), "it may work there");
        assert!(Attempts::new(folder.path(), None, "WebKitGTK 2.50.6".into()).are_enough(), "it still does not here");
    }

    #[test]
    fn a_broken_file_says_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join(FILE);
        fs::write(&file, "{\"starts\":9").expect("written");
        let attempts = Attempts::new(folder.path(), None, "1".into());
        assert!(!attempts.are_enough(), "nothing can be read from it");
        let problem = attempts.problem().expect("the user is told");
        assert!(problem.contains("page-sandbox.json can't be read"), "with the file: {problem}");
        attempts.give_up().expect("and it is replaced");
        assert!(attempts.are_enough(), "by one that can be read");
    }

    /// A data folder in which nobody, root neither, can write or read the file.
    fn blocked() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(folder.path().join(FILE).join("full")).expect("made");
        folder
    }

    fn folder_with(mode: u32) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).expect("set");
        folder
    }

    #[test]
    fn the_session_remembers_what_the_data_folder_does_not_take() {
        let (data, session) = (blocked(), folder_with(0o700));
        let attempts = || Attempts::new(data.path(), Some(session.path()), "1".into());
        attempts().check_writable().expect("the session's folder takes it");
        attempts().add().expect("counted");
        assert!(!attempts().are_enough(), "one may have another reason");
        let second = attempts();
        second.add().expect("counted");
        assert!(attempts().are_enough(), "the second in a row is enough, as in the data folder");
        let problem = second.problem().expect("the user is told");
        assert!(problem.contains("/page-sandbox.json can't be"), "with the file: {problem}");
        fs::remove_dir_all(data.path().join(FILE)).expect("removed");
        attempts().take_back().expect("written");
        assert_eq!(
            fs::read_dir(session.path()).expect("read").count(),
            0,
            "the data folder has the count as soon as it takes it"
        );
        assert_eq!(attempts().count(), 1, "and none is lost");
    }

    #[test]
    fn data_folders_do_not_share_a_count() {
        let (one, other, session) = (blocked(), blocked(), folder_with(0o700));
        let attempts = |data: &Path| Attempts::new(data, Some(session.path()), "1".into());
        attempts(one.path()).give_up().expect("written");
        assert!(attempts(one.path()).are_enough(), "it is remembered for the data folder of this start");
        assert!(!attempts(other.path()).are_enough(), "and for no other");
    }

    #[test]
    fn a_problem_ends_when_the_data_folder_takes_the_count_again() {
        let (data, session) = (blocked(), folder_with(0o700));
        let attempts = Attempts::new(data.path(), Some(session.path()), "1".into());
        attempts.add().expect("counted");
        attempts.problem().expect("the user is told");
        attempts.add().expect("counted");
        attempts.problem().expect("as long as it lasts");
        fs::remove_dir_all(data.path().join(FILE)).expect("removed");
        attempts.add().expect("counted");
        assert_eq!(attempts.problem(), None, "nothing is wrong any more");
    }

    #[test]
    fn what_nobody_can_remember_is_known_before_the_sandbox_is_tried() {
        // Other users can open the second one.
        let (data, open) = (blocked(), folder_with(0o755));
        for session in [None, Some(open.path())] {
            let attempts = Attempts::new(data.path(), session, "1".into());
            let cause = attempts.check_writable().expect_err("there is no file for it");
            assert!(cause.contains("page-sandbox.json can't be written"), "it is said why: {cause}");
            attempts.add().expect_err("nor is there later");
        }
        Attempts::new(&open.path().join("missing"), None, "1".into()).check_writable().expect("it is made later");
    }
}
