//! Staging folder with the files of a package. Modes and modification times do not depend on the machine.

use std::fs;
use std::path::{Path, PathBuf};

use crate::problem::Problem;
use crate::process::Program;

/// Folders whose files are executable. All other staged files are not.
#[cfg(unix)]
const PROGRAM_FOLDERS: &[&str] = &["usr/bin", "usr/lib/drawbridge"];

/// Writes a file to the staging folder, and creates its parent folders.
pub(super) fn write_file(tree: &Path, path: &str, content: impl AsRef<[u8]>) -> Result<(), Problem> {
    let file = tree.join(path);
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(Problem::file_error(folder))?;
    }
    fs::write(&file, content).map_err(Problem::file_error(&file))
}

/// Copies a file to a path in the staging folder.
pub(super) fn copy_file(tree: &Path, path: &str, from: &Path) -> Result<(), Problem> {
    write_file(tree, path, fs::read(from).map_err(Problem::file_error(from))?)
}

/// Compresses a staged file in place with gzip, without file name and time in the header.
pub(super) fn gzip_file(tree: &Path, path: &str) -> Result<(), Problem> {
    Program::new("gzip").args(["-9nf"]).arg(tree.join(path)).run()
}

/// Returns all files in a folder and its subfolders as relative paths, sorted.
pub(super) fn list_staged_files(tree: &Path) -> Result<Vec<PathBuf>, Problem> {
    let mut files: Vec<_> = list_entries_recursively(tree)?.into_iter().filter(|path| path.is_file()).collect();
    files.sort();
    Ok(files.iter().filter_map(|path| path.strip_prefix(tree).ok().map(Path::to_path_buf)).collect())
}

/// Sets fixed file modes and the modification time `epoch` on all staged files and folders.
#[cfg(unix)]
pub(super) fn normalise_modes_and_times(tree: &Path, epoch: u64) -> Result<(), Problem> {
    use std::fs::{File, Permissions};
    use std::os::unix::fs::PermissionsExt as _;
    use std::time::{Duration, UNIX_EPOCH};

    let time = UNIX_EPOCH + Duration::from_secs(epoch);
    for path in list_entries_recursively(tree)? {
        let is_program = PROGRAM_FOLDERS.iter().any(|folder| path.parent() == Some(&tree.join(folder)));
        let mode = if path.is_dir() || is_program { 0o755 } else { 0o644 };
        fs::set_permissions(&path, Permissions::from_mode(mode)).map_err(Problem::file_error(&path))?;
        File::open(&path).and_then(|file| file.set_modified(time)).map_err(Problem::file_error(&path))?;
    }
    Ok(())
}

/// Returns an error, because Windows has no file modes.
#[cfg(not(unix))]
pub(super) fn normalise_modes_and_times(_tree: &Path, _epoch: u64) -> Result<(), Problem> {
    Err(Problem::Machine("packages for Linux are staged on Linux".into()))
}

/// Returns the paths of a folder and of everything in it, recursively.
fn list_entries_recursively(folder: &Path) -> Result<Vec<PathBuf>, Problem> {
    let mut found = vec![folder.to_path_buf()];
    for entry in fs::read_dir(folder).map_err(Problem::file_error(folder))? {
        let path = entry.map_err(Problem::file_error(folder))?.path();
        if path.is_dir() {
            found.extend(list_entries_recursively(&path)?);
        } else {
            found.push(path);
        }
    }
    Ok(found)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    #[test]
    fn only_programs_are_executable_and_all_files_have_one_time() {
        let folder = tempfile::tempdir().unwrap();
        write_file(folder.path(), "usr/bin/app", "").unwrap();
        write_file(folder.path(), "usr/share/doc/app/copyright", "text").unwrap();
        normalise_modes_and_times(folder.path(), 1_000_000).unwrap();
        let of = |path: &str| fs::metadata(folder.path().join(path)).unwrap();
        assert_eq!(of("usr/bin/app").mode() & 0o7777, 0o755, "programs should be executable");
        assert_eq!(of("usr/share/doc/app/copyright").mode() & 0o7777, 0o644, "text files should not be executable");
        for path in ["usr", "usr/bin", "usr/bin/app", "usr/share/doc/app/copyright"] {
            assert_eq!(of(path).mtime(), 1_000_000, "the modification time of {path} should be set");
        }
    }

    #[test]
    fn files_are_listed_sorted_and_relative() {
        let folder = tempfile::tempdir().unwrap();
        for path in ["b", "a/z", "a/b"] {
            write_file(folder.path(), path, "").unwrap();
        }
        let names: Vec<_> =
            list_staged_files(folder.path()).unwrap().iter().map(|path| path.display().to_string()).collect();
        assert_eq!(names, ["a/b", "a/z", "b"], "the list should not depend on the order of the file system");
    }
}
