//! The files that decide what a command runs: the program, the interpreter that the program names, the settings of a
//! Python environment, and the scripts and programs that arguments and variables name.
//!
//! A file of at most [`MAX_HASHED_FILE_BYTES`] is identified by its content. If a version manager rewrites it with the
//! same content, or a backup program adds a hard link to it, it counts as unchanged. A larger file is identified by its
//! length, its modification time and its status change time, which a write through a shared mapping may leave
//! unchanged. The same applies to files beyond [`MAX_HASHED_TOTAL_BYTES`] bytes in total for one command.
//!
//! Data files (`--db notes.sqlite`) are omitted because they change with every use. The modules that a script loads are
//! omitted, too.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::content_hash::content_hash;
use super::interpreter_files::{FoundLaunchFile, LaunchFileRole, collect_interpreters, python_environment};
use super::script_files::{CommandLine, script_files};
use crate::programs::SearchPath;

/// Maximum size, in bytes, of a file that is identified by its content.
const MAX_HASHED_FILE_BYTES: u64 = 512 * 1024 * 1024;
/// Maximum total size, in bytes, of the files of one command that are identified by their content.
const MAX_HASHED_TOTAL_BYTES: u64 = 1024 * 1024 * 1024;
/// Maximum number of bytes of one file that are read while the caller waits for the result.
const MAX_FILE_BYTES_READ_WHILE_CALLER_WAITS: u64 = 4 * 1024 * 1024;
/// Maximum number of launch files for one command. Further ones are ignored.
const MAX_LAUNCH_FILES: usize = 256;

/// The files that decide what a command runs, in the state in which they were read. The first one is the program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LaunchFiles {
    files: Vec<LaunchFile>,
    folders: Vec<PathBuf>,
}

/// A file that decides what a command runs, in the state in which it was read.
#[derive(Debug, Clone)]
pub struct LaunchFile {
    /// Path as the command names it, with links unresolved.
    pub path: PathBuf,
    /// Canonical path of the file, with links resolved.
    pub real: PathBuf,
    /// State of the file when it was read.
    pub state: LaunchFileState,
    /// Reason why the file decides what the command runs.
    pub role: LaunchFileRole,
    size_and_times: FileSizeAndTimes,
}

/// The state of a file's content. If it differs from the approved state, the file counts as changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LaunchFileState {
    /// SHA-256 of the file's content, in hexadecimal digits.
    Content(String),
    /// Metadata that replace the hash of a file that is too large to hash or can't be read.
    SizeAndTimes(FileSizeAndTimes),
}

/// Metadata that identify the state of a file without reading its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSizeAndTimes {
    /// Length of the launch file, in bytes.
    pub bytes: u64,
    /// Modification time of the launch file, in nanoseconds from 1970.
    pub modified: u128,
    /// Status change time in seconds and nanoseconds, or `None` if the platform has none.
    pub status_changed: Option<(i64, i64)>,
}

/// Launch files are equal if path, canonical path and state are equal. The role is ignored.
impl PartialEq for LaunchFile {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path && self.real == other.real && self.state == other.state
    }
}

impl Eq for LaunchFile {}

impl LaunchFiles {
    /// Finds and reads the files that decide what a command line runs. `program` is the resolved path of its program.
    /// Other programs that the command line names are looked up on `path`.
    pub(crate) fn read(line: &CommandLine<'_>, program: &Path, path: &SearchPath) -> LaunchFiles {
        let mut found: Vec<FoundLaunchFile> = vec![(program.to_owned(), LaunchFileRole::Program)];
        collect_interpreters(program, path, &mut found);
        found.extend(python_environment(program));
        let scripts = script_files(line, program, path);
        found.extend(scripts.found);
        let (mut files, mut left): (Vec<LaunchFile>, u64) = (Vec::new(), MAX_HASHED_TOTAL_BYTES);
        for (path, role) in found {
            if files.len() < MAX_LAUNCH_FILES && !files.iter().any(|file| file.path == path) {
                let file = LaunchFile::read(path, role, left.min(MAX_HASHED_FILE_BYTES));
                // The limit counts the file's size instead of the bytes read, so that the same files are always
                // identified in the same way.
                left = left.saturating_sub(file.as_ref().map_or(0, |file| file.size_and_times.bytes));
                files.extend(file);
            }
        }
        LaunchFiles { files, folders: scripts.folders }
    }

    /// Reads the same files again. The result equals that of [`LaunchFiles::for_command`], except that a large file
    /// with changed metadata is not hashed and counts as changed.
    #[must_use]
    pub fn reread(&self) -> LaunchFiles {
        let again = |file: &LaunchFile| {
            let is_untouched = file.is_unchanged();
            if is_untouched && matches!(file.state, LaunchFileState::SizeAndTimes(_)) {
                return Some(file.clone());
            }
            // Changed times prove a change, but unchanged times do not prove that the file is unchanged.
            let most = if is_untouched { MAX_HASHED_FILE_BYTES } else { MAX_FILE_BYTES_READ_WHILE_CALLER_WAITS };
            LaunchFile::read(file.path.clone(), file.role, most)
        };
        let folders = self.folders.iter().filter(|folder| folder.exists()).cloned().collect();
        LaunchFiles { files: self.files.iter().filter_map(again).collect(), folders }
    }

    /// Iterates over the files, the program first.
    pub fn iter(&self) -> impl Iterator<Item = &LaunchFile> {
        self.files.iter()
    }

    /// Returns the package folders of projects (`node_modules`) from which the command may load code. A change of their
    /// content is not detected when launch files are compared.
    pub fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// Returns the path of the first file or folder that was changed, added or removed since the state `before`, or
    /// `None` if there is no difference.
    #[must_use]
    pub fn first_difference<'f>(&'f self, before: &'f LaunchFiles) -> Option<&'f Path> {
        let changed = self.files.iter().find(|file| !before.files.contains(file));
        let removed = || before.files.iter().find(|file| !self.files.contains(file));
        let new_folder = || self.folders.iter().find(|folder| !before.folders.contains(folder));
        let folder = || new_folder().or_else(|| before.folders.iter().find(|folder| !self.folders.contains(folder)));
        changed.or_else(removed).map(|file| file.path.as_path()).or_else(|| folder().map(PathBuf::as_path))
    }
}

impl LaunchFile {
    /// Reads one file, or returns `None` if it does not exist. A file of more than `most` bytes is not hashed, and its
    /// state is recorded as [`LaunchFileState::SizeAndTimes`].
    fn read(path: PathBuf, role: LaunchFileRole, most: u64) -> Option<LaunchFile> {
        let real = path.canonicalize().ok()?;
        let facts = real.metadata().ok().filter(Metadata::is_file)?;
        let size_and_times = FileSizeAndTimes::from_metadata(&facts)?;
        // Files that are executable but not readable are identified by their size and times, too.
        let content = content_hash(&real, most).filter(|_| size_and_times.bytes <= most);
        let state =
            content.map_or_else(|| LaunchFileState::SizeAndTimes(size_and_times.clone()), LaunchFileState::Content);
        Some(LaunchFile { path, real, state, role, size_and_times })
    }

    /// Returns the length that the file had when it was read, in bytes.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.size_and_times.bytes
    }

    fn is_unchanged(&self) -> bool {
        let facts = self.real.metadata().ok();
        // Without a status change time, a program can hide a write to the file.
        self.size_and_times.status_changed.is_some()
            && facts.as_ref().and_then(FileSizeAndTimes::from_metadata).as_ref() == Some(&self.size_and_times)
            && self.path.canonicalize().is_ok_and(|real| real == self.real)
    }
}

impl FileSizeAndTimes {
    fn from_metadata(facts: &Metadata) -> Option<FileSizeAndTimes> {
        let since = facts.modified().ok()?.duration_since(UNIX_EPOCH);
        let modified = since.map_or_else(|before| before.duration().as_nanos(), |since| since.as_nanos());
        Some(FileSizeAndTimes { bytes: facts.len(), modified, status_changed: status_change_time(facts) })
    }
}

#[cfg(unix)]
fn status_change_time(facts: &Metadata) -> Option<(i64, i64)> {
    use std::os::unix::fs::MetadataExt as _;
    Some((facts.ctime(), facts.ctime_nsec()))
}

#[cfg(not(unix))]
const fn status_change_time(_facts: &Metadata) -> Option<(i64, i64)> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs::File;

    use super::*;
    use crate::code::code_files::has_code_magic_number;
    use crate::command::ServerCommand;
    use crate::open_file::open_without_blocking;
    use crate::programs::SearchPathSource;

    #[test]
    fn s06_code_file_in_arguments_is_found_and_data_file_is_not() {
        let ground = tempfile::tempdir().unwrap();
        let base = ground.path().canonicalize().unwrap();
        for (name, text) in [
            ("venv/pyvenv.cfg", "home = /usr/bin"),
            ("venv/bin/python", "#!/bin/sh\n"),
            ("server.py", "print(1)"),
            ("plain", "print(1)"),
            ("hook.js", "hook()"),
            ("program", "\x7fELF"),
            ("notes.sqlite", "SQLite format 3"),
            ("config.json", "{}"),
            ("pkg/inner/__main__.py", "print(1)"),
        ] {
            std::fs::create_dir_all(base.join(name).parent().unwrap()).unwrap();
            std::fs::write(base.join(name), text).unwrap();
        }
        let path = SearchPath { directories: Vec::new(), source: SearchPathSource::LoginShell };
        let named = |program: &Path, arguments: &[&str], variables: &[(&str, String)]| {
            let command = ServerCommand {
                arguments: arguments.iter().map(|&argument| argument.to_owned()).collect(),
                environment: variables.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect(),
                working_directory: Some(base.clone()),
                ..ServerCommand::default()
            };
            let files = LaunchFiles::for_command(&command, program, &path);
            files
                .iter()
                .skip(1)
                .map(|file| file.path.strip_prefix(&base).unwrap().display().to_string())
                .collect::<Vec<_>>()
        };
        let python = base.join("venv/bin/python");
        assert_eq!(
            named(&python, &["server.py"], &[]),
            ["venv/pyvenv.cfg", "server.py"],
            "a script and its environment"
        );
        assert_eq!(named(&python, &["-m", "pkg.inner"], &[])[1..], ["pkg/inner/__main__.py"], "a module");
        assert_eq!(named(&python, &["-m", "other", "plain"], &[]).len(), 1, "arguments after a module are data");
        assert_eq!(
            named(Path::new("/bin/sh"), &["plain", "plain"], &[]),
            ["plain"],
            "the script of an interpreter, once"
        );
        let whole = base.join("notes.sqlite").display().to_string();
        let data = ["--db", &whole, "config.json", "--require=hook.js", "program"];
        assert_eq!(named(Path::new("/bin/true"), &data, &[]), ["hook.js", "program"], "code counts and data does not");
        let options = [("NODE_OPTIONS", format!("--require {}", base.join("hook.js").display()))];
        assert_eq!(named(Path::new("/bin/true"), &[], &options), ["hook.js"], "a script in a variable");
    }

    #[test]
    fn s06_hash_of_a_large_file_is_independent_of_times_and_mode() {
        use std::os::unix::fs::PermissionsExt as _;

        let ground = tempfile::tempdir().unwrap();
        let program = ground.path().join("program");
        std::fs::write(&program, vec![b'a'; 4 * 1024 * 1024 + 1]).unwrap();
        let (command, path) =
            (ServerCommand::default(), SearchPath { directories: Vec::new(), source: SearchPathSource::LoginShell });
        let now = || LaunchFiles::for_command(&command, &program, &path);
        let before = now();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
        std::fs::hard_link(&program, ground.path().join("backup")).unwrap();
        let file = File::options().write(true).open(&program).unwrap();
        file.set_times(std::fs::FileTimes::new().set_modified(UNIX_EPOCH)).unwrap();
        assert_eq!(now(), before, "the content is the same");
    }

    #[test]
    fn s06_pipe_in_place_of_a_launch_file_does_not_block() {
        let ground = tempfile::tempdir().unwrap();
        let pipe = ground.path().join("server.py");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let (send, done) = std::sync::mpsc::sync_channel(1);
        let command = ServerCommand { arguments: vec!["server.py".to_owned()], ..ServerCommand::default() };
        let command = ServerCommand { working_directory: Some(ground.path().to_owned()), ..command };
        let path = SearchPath { directories: Vec::new(), source: SearchPathSource::LoginShell };
        std::thread::spawn(move || {
            let looked = LaunchFiles::for_command(&command, Path::new("/bin/sh"), &path);
            // A pipe may replace the file between the check and the opening.
            let opens =
                open_without_blocking(&pipe).is_ok_and(|file| file.metadata().is_ok_and(|facts| !facts.is_file()));
            let _ = send.send((looked.iter().count(), opens, has_code_magic_number(&pipe)));
        });
        let patience = std::time::Duration::from_secs(20);
        let (files, opens, is_code) = done.recv_timeout(patience).expect("reading must not block on the pipe");
        assert_eq!(files, 1, "a pipe must not count as a launch file");
        assert!(opens && !is_code, "opening must not block, and the pipe must not be taken for a file");
    }

    #[test]
    fn s06_changed_content_of_a_large_file_is_detected_with_equal_times() {
        let ground = tempfile::tempdir().unwrap();
        let program = ground.path().join("program");
        let write = |byte: u8| std::fs::write(&program, vec![byte; 4 * 1024 * 1024 + 1]).unwrap();
        let (command, path) =
            (ServerCommand::default(), SearchPath { directories: Vec::new(), source: SearchPathSource::LoginShell });
        let now = || LaunchFiles::for_command(&command, &program, &path);
        write(b'a');
        let (before, modified) = (now(), program.metadata().unwrap().modified().unwrap());
        assert_eq!(now(), before, "reading must not change the state");
        // sleep: file timestamps have a coarse resolution.
        std::thread::sleep(std::time::Duration::from_millis(20));
        write(b'b');
        let file = File::options().write(true).open(&program).unwrap();
        file.set_times(std::fs::FileTimes::new().set_modified(modified)).unwrap();
        let after = now();
        assert_eq!(
            after.first_difference(&before),
            Some(program.as_path()),
            "the change must be found although length and modification time are unchanged"
        );
        assert!(before.reread().first_difference(&before).is_some(), "reading the files again must find the change");
    }
}
