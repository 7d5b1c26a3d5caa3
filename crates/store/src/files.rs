//! Reading with a bound and writing whole: a file is either as it was or as it should be, whatever happens in between.

use std::fs::File;
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use domain::StoreError;

/// An error that says what was tried, why it failed and, where there is one, the next step.
pub(crate) fn failed(path: &Path, tried: &str, error: &std::io::Error) -> StoreError {
    let next = match error.kind() {
        ErrorKind::PermissionDenied => "; check whose it is and who may write it",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "; make room on the disk",
        ErrorKind::ReadOnlyFilesystem => "; the disk is read-only",
        ErrorKind::NotADirectory => "; a file lies where a folder should",
        _ => "",
    };
    StoreError { path: path.display().to_string(), cause: format!("could not {tried}: {error}{next}") }
}

/// Makes a folder, and those above it, for its owner alone. One that is there stays as it is.
pub(crate) fn make_folder(path: &Path) -> Result<(), StoreError> {
    crate::private::folder_builder().create(path).map_err(|error| failed(path, "make the folder", &error))
}

/// Reads a file of at most `limit` bytes; none if there is no such file.
pub(crate) fn read(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, StoreError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(path, "open it", &error)),
    };
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).map_err(|error| failed(path, "read it", &error))?;
    if bytes.len() as u64 > limit {
        let cause = format!("it is larger than {} MiB, which is more than is read", limit >> 20);
        return Err(StoreError { path: path.display().to_string(), cause });
    }
    Ok(Some(bytes))
}

/// Whether an existing file may be replaced.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Existing {
    /// It is replaced.
    Replace,
    /// It is left alone.
    Keep,
}

/// Moves a file onto `path` in one step, so that no second write can fail. A link at `path` is followed and an existing file's
/// permissions stay, as with [`write`]; where the link leads to another file system, the content is written there instead.
pub(crate) fn replace_with(path: &Path, from: &Path, bytes: &[u8]) -> Result<(), StoreError> {
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
            write(path, bytes, Existing::Replace)?;
            if let Err(error) = std::fs::remove_file(from) {
                tracing::warn!(%error, path = %from.display(), "a file stays that is of no use any more");
            }
            Ok(())
        }
        replaced => replaced.map_err(|error| failed(path, "write it", &error)),
    }
}

/// Has a new name in this file's folder outlast a crash of the system. Systems that can't sync a folder do it on their own.
fn sync_folder_of(path: &Path) {
    if let Some(Ok(folder)) = path.parent().map(File::open) {
        let _ = folder.sync_all();
    }
}

/// Writes a file whole: beside it under a hidden name, then renamed. A link is followed, so that the file it leads to is the
/// one replaced. An existing file's permissions stay. Returns whether it was written.
pub(crate) fn write(path: &Path, bytes: &[u8], existing: Existing) -> Result<bool, StoreError> {
    let target = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let folder = target.parent().map_or_else(|| PathBuf::from("."), Path::to_path_buf);
    make_folder(&folder)?;
    let name = target.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let write = || -> std::io::Result<bool> {
        let mut file = tempfile::Builder::new().prefix(&format!(".{name}.")).suffix(".tmp").tempfile_in(&folder)?;
        if let Ok(metadata) = target.metadata() {
            file.as_file().set_permissions(metadata.permissions())?;
        }
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        match existing {
            Existing::Replace => {
                file.persist(&target).map_err(|error| error.error)?;
            }
            Existing::Keep => match file.persist_noclobber(&target) {
                Ok(_) => {}
                Err(error) if error.error.kind() == ErrorKind::AlreadyExists => return Ok(false),
                Err(error) => return Err(error.error),
            },
        }
        sync_folder_of(&target);
        Ok(true)
    };
    write().map_err(|error| failed(path, "write it", &error))
}
