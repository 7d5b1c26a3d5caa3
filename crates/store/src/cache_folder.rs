//! A folder for files that can be downloaded again, such as the responses of package registries
//! (`registry::RegistryCache`).

use std::path::{Path, PathBuf};

use domain::StoreError;
use ports::CacheFiles;

use crate::files::{self, ExistingFileAction};
use crate::folder_lock::FolderLock;

/// Maximum length of the name of a cached file, in bytes.
const MAX_CACHE_FILE_NAME_BYTES: usize = 100;
/// Name of the file in the cache folder that a process locks while it changes the cache. Names of cached files can't
/// start with a dot, so none of them has this name.
const CACHE_LOCK_FILE: &str = ".lock";

/// A folder on disk with files that can be downloaded again. Implements [`CacheFiles`].
#[derive(Debug)]
pub struct CacheFolder {
    path: PathBuf,
}

impl CacheFolder {
    /// Opens the cache folder, or creates it with access only for its owner.
    ///
    /// # Errors
    /// Returns [`StoreError`] if the folder can't be created.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Ok(Self { path: crate::canonical_folder(path)? })
    }

    fn file_path(&self, name: &str) -> Result<PathBuf, StoreError> {
        let is_name = !name.is_empty()
            && name.len() <= MAX_CACHE_FILE_NAME_BYTES
            && !name.starts_with('.')
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-.".contains(&b));
        let path = self.path.join(name);
        if is_name {
            return Ok(path);
        }
        let cause = "its name can't be that of a file here".to_owned();
        Err(StoreError { path: self.path.display().to_string(), cause })
    }
}

impl CacheFiles for CacheFolder {
    fn read(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, StoreError> {
        files::read(&self.file_path(name)?, limit)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        files::write(&self.file_path(name)?, bytes, ExistingFileAction::Replace).map(|_| ())
    }

    fn remove(&self, name: &str) -> Result<(), StoreError> {
        let path = self.file_path(name)?;
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(files::file_error(&path, "remove it", &error))
            }
            _ => Ok(()),
        }
    }

    fn file_names(&self) -> Result<Vec<String>, StoreError> {
        let failed = |error: &std::io::Error| files::file_error(&self.path, "read the folder", error);
        let mut names = Vec::new();
        for entry in std::fs::read_dir(&self.path).map_err(|error| failed(&error))? {
            let name = entry.map_err(|error| failed(&error))?.file_name();
            // Files with other names do not belong to the cache.
            if let Some(name) = name.to_str().filter(|name| self.file_path(name).is_ok()) {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }

    fn lock(&self) -> Result<Box<dyn Send>, StoreError> {
        Ok(Box::new(FolderLock::new(self.path.join(CACHE_LOCK_FILE)).acquire()?))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn cache_files_are_private_and_confined_to_the_folder() {
        let outside = tempfile::tempdir().unwrap();
        let folder = CacheFolder::open(&outside.path().join("cache")).unwrap();
        folder.write("a.json", b"1").unwrap();
        assert_eq!(folder.read("a.json", 8), Ok(Some(b"1".to_vec())));
        assert!(folder.read("a.json", 0).is_err(), "a file beyond the limit must not be read");
        assert_eq!(folder.file_names(), Ok(vec!["a.json".to_owned()]));
        for name in ["../a.json", "a/b", ".hidden", "", "a\\b", "ü"] {
            assert!(folder.write(name, b"1").is_err(), "{name:?} must be refused as a name");
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = |path: &str| outside.path().join(path).metadata().unwrap().permissions().mode() & 0o777;
            assert_eq!((mode("cache"), mode("cache/a.json")), (0o700, 0o600));
        }
        folder.remove("a.json").unwrap();
        folder.remove("a.json").unwrap();
        assert_eq!(folder.read("a.json", 8), Ok(None));
    }
}
