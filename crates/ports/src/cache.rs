//! Files that can be downloaded again: responses of registries. The crate `store` implements the port.

use domain::StoreError;

/// A folder of files that can be downloaded again. A name consists of at most 100 ASCII letters, digits, `-` and `.`,
/// and doesn't begin with `.`.
pub trait CacheFiles: Send + Sync {
    /// Reads a file of at most `limit` bytes, or returns `None` if it doesn't exist.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] if the file can't be read, or is larger.
    fn read(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, StoreError>;
    /// Writes a file atomically, readable only by the current user.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] if the file can't be written. A former file is then unchanged.
    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError>;
    /// Removes a file if it exists.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] if the file can't be removed.
    fn remove(&self, name: &str) -> Result<(), StoreError>;
    /// Returns the names of all files in the folder.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] if the folder can't be read.
    fn file_names(&self) -> Result<Vec<String>, StoreError>;
    /// Acquires the folder's lock, which all processes share, with a timeout. The lock is released when the returned
    /// value is dropped. Callers that read, modify and write a file must hold it.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] if another process doesn't release the lock in time.
    fn lock(&self) -> Result<Box<dyn Send>, StoreError>;
}
