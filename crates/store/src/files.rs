//! Bounded reads and atomic writes of files.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use domain::StoreError;

/// End of the hidden name of a file that is being written and renamed afterwards.
const UNFINISHED_FILE_SUFFIX: &str = ".tmp";

/// Returns an error whose message names the attempted action (`tried`) and its cause, with advice for some causes.
pub(crate) fn file_error(path: &Path, tried: &str, error: &std::io::Error) -> StoreError {
    let next = match error.kind() {
        ErrorKind::PermissionDenied => "; check its owner and its permissions",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "; make room on the disk",
        ErrorKind::ReadOnlyFilesystem => "; the disk is read-only",
        ErrorKind::NotADirectory => "; there is a file in place of a folder",
        _ => "",
    };
    StoreError { path: path.display().to_string(), cause: format!("could not {tried}: {error}{next}") }
}

/// Creates a folder, and its missing parent folders, with access only for their owner. An existing folder is left
/// unchanged.
pub(crate) fn make_folder(path: &Path) -> Result<(), StoreError> {
    crate::private_files::private_folder_builder()
        .create(path)
        .map_err(|error| file_error(path, "make the folder", &error))
}

/// Reads a whole file. Returns `None` if the file does not exist, and an error if it is larger than `limit` bytes.
pub(crate) fn read(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, StoreError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(file_error(path, "open it", &error)),
    };
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).map_err(|error| file_error(path, "read it", &error))?;
    if bytes.len() as u64 > limit {
        let cause = format!("it is larger than {} MiB, which is more than is read", limit >> 20);
        return Err(StoreError { path: path.display().to_string(), cause });
    }
    Ok(Some(bytes))
}

/// Tells [`write`] how to treat a file that already exists at the path.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExistingFileAction {
    /// Replace the existing file.
    Replace,
    /// Leave the existing file unchanged.
    Keep,
}

/// Moves the file `from`, which contains `bytes`, onto `path` atomically. A symbolic link at `path` is followed, and an
/// existing file's permissions are preserved, as with [`write`]. If the link leads to another file system, `bytes` are
/// written there instead.
pub(crate) fn replace_with_file(path: &Path, from: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let target = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let replace = || -> std::io::Result<()> {
        if let Ok(metadata) = target.metadata() {
            std::fs::set_permissions(from, metadata.permissions())?;
        }
        std::fs::rename(from, &target)?;
        sync_folder_of(&target);
        Ok(())
    };
    match replace() {
        Err(error) if error.kind() == ErrorKind::CrossesDevices => {
            write(path, bytes, ExistingFileAction::Replace)?;
            if let Err(error) = std::fs::remove_file(from) {
                tracing::warn!(%error, path = %from.display(), "an obsolete file could not be removed");
            }
            Ok(())
        }
        replaced => replaced.map_err(|error| file_error(path, "write it", &error)),
    }
}

/// Syncs the parent folder of a file to disk, so that the name of a new file is durable. Does nothing on systems that
/// can't sync a folder, because they do so themselves.
fn sync_folder_of(path: &Path) {
    if let Some(Ok(folder)) = path.parent().map(File::open) {
        let _ = folder.sync_all();
    }
}

/// Writes a file atomically: under a hidden name first, then renamed. If the path is a symbolic link, its target is
/// replaced. An existing file's permissions are preserved. Returns `false` if the file existed and `existing` is
/// [`ExistingFileAction::Keep`].
pub(crate) fn write(path: &Path, bytes: &[u8], existing: ExistingFileAction) -> Result<bool, StoreError> {
    let target = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    make_folder(&folder_of(&target))?;
    let fill = |file: &mut File| -> std::io::Result<()> {
        if let Ok(metadata) = target.metadata() {
            file.set_permissions(metadata.permissions())?;
        }
        file.write_all(bytes)
    };
    fill_and_rename(&target, existing, fill).map_err(|error| file_error(path, "write it", &error))
}

/// Copies a file and its permissions to `path` atomically. An existing file or symbolic link there is replaced, also
/// while it runs as a program. The folder of `path` must exist. Unfinished copies of processes that were killed are
/// removed from it.
///
/// # Errors
/// Returns an error if the file can't be read or the copy can't be written. Nothing was replaced then.
pub fn copy_file(from: &Path, path: &Path) -> std::io::Result<()> {
    let mut source = File::open(from)?;
    let permissions = source.metadata()?.permissions();
    remove_unfinished_copies(path);
    let fill = |file: &mut File| -> std::io::Result<()> {
        // The lock tells other processes that this copy is being written. A file system may not support locks.
        let _ = file.try_lock();
        std::io::copy(&mut source, file)?;
        file.set_permissions(permissions)
    };
    fill_and_rename(path, ExistingFileAction::Replace, fill).map(|_| ())
}

/// Removes the files that copies to `target` left in its folder because their processes were killed. The file of a copy
/// that is being written is locked.
fn remove_unfinished_copies(target: &Path) {
    let prefix = unfinished_file_prefix(target);
    let has_unfinished_name = |name: &OsStr| {
        let random = name.to_str().and_then(|name| name.strip_prefix(&prefix)?.strip_suffix(UNFINISHED_FILE_SUFFIX));
        random.is_some_and(|random| !random.contains('.'))
    };
    let Ok(entries) = std::fs::read_dir(folder_of(target)) else { return };
    for entry in entries.flatten() {
        if has_unfinished_name(&entry.file_name())
            && entry.file_type().is_ok_and(|kind| kind.is_file())
            && File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok())
        {
            // The next copy tries again.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

fn unfinished_file_prefix(target: &Path) -> String {
    format!(".{}.", target.file_name().unwrap_or_default().to_string_lossy())
}

/// Creates a file under a hidden name in the folder of `target`, lets `fill` write it, syncs it to disk, and renames it
/// to `target`. Returns `false` if `target` existed and `existing` is [`ExistingFileAction::Keep`].
fn fill_and_rename(
    target: &Path,
    existing: ExistingFileAction,
    fill: impl FnOnce(&mut File) -> std::io::Result<()>,
) -> std::io::Result<bool> {
    let mut file = tempfile::Builder::new()
        .prefix(&unfinished_file_prefix(target))
        .suffix(UNFINISHED_FILE_SUFFIX)
        .tempfile_in(folder_of(target))?;
    fill(file.as_file_mut())?;
    file.as_file().sync_all()?;
    match existing {
        ExistingFileAction::Replace => {
            file.persist(target).map_err(|error| error.error)?;
        }
        ExistingFileAction::Keep => match file.persist_noclobber(target) {
            Ok(_) => {}
            Err(error) if error.error.kind() == ErrorKind::AlreadyExists => return Ok(false),
            Err(error) => return Err(error.error),
        },
    }
    sync_folder_of(target);
    Ok(true)
}

fn folder_of(path: &Path) -> PathBuf {
    path.parent().map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[cfg(unix)]
    #[test]
    fn copy_replaces_a_link_and_has_the_permissions_of_its_source() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};

        let folder = tempfile::tempdir().unwrap();
        let [program, copy, other] = ["program", "copy", "other"].map(|name| folder.path().join(name));
        std::fs::write(&program, "new").unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::write(&other, "other").unwrap();
        symlink(&other, &copy).unwrap();
        copy_file(&program, &copy).unwrap();
        assert!(copy.symlink_metadata().unwrap().is_file(), "the link should be replaced");
        assert_eq!(std::fs::read(&other).unwrap(), b"other", "the target of the link should be unchanged");
        assert_eq!(std::fs::read(&copy).unwrap(), b"new");
        assert_eq!(copy.metadata().unwrap().permissions().mode() & 0o777, 0o755, "the copy should be executable");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3, "no unfinished copy should remain");
    }

    #[test]
    fn failed_copy_replaces_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join("copy");
        std::fs::write(&copy, "old").unwrap();
        assert!(copy_file(&folder.path().join("missing"), &copy).is_err(), "the source is missing");
        assert!(copy_file(folder.path(), &copy).is_err(), "the source is a folder");
        assert_eq!(std::fs::read(&copy).unwrap(), b"old");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no unfinished copy should remain");
    }

    #[test]
    fn copy_removes_unfinished_copies_of_ended_processes_only() {
        let folder = tempfile::tempdir().unwrap();
        let [program, copy, ended, running, other] =
            ["program", "copy", ".copy.1.tmp", ".copy.2.tmp", ".copy.json.3.tmp"].map(|name| folder.path().join(name));
        for file in [&program, &ended, &running, &other] {
            std::fs::write(file, "text").unwrap();
        }
        let locked = File::open(&running).unwrap();
        locked.try_lock().unwrap();
        copy_file(&program, &copy).unwrap();
        assert!(copy.exists() && !ended.exists(), "the unfinished copy of an ended process should be removed");
        assert!(running.exists(), "a copy that another process writes should remain");
        assert!(other.exists(), "the unfinished copy of another file should remain");
    }
}
