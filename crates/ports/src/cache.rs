//! Files that can be made again: answers of registries. `store` implements it.

use domain::StoreError;

/// A folder of files that can be made again. A name is at most 100 ASCII letters, digits, `-` and `.`, and does not begin with `.`.
pub trait CacheFiles: Send + Sync {
    /// Reads a file of at most `limit` bytes; none if there is none.
    ///
    /// # Errors
    /// If it can't be read, or is larger.
    fn read(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, StoreError>;
    /// Writes a file atomically, for its user alone.
    ///
    /// # Errors
    /// If it can't be written. It is then as it was.
    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError>;
    /// Removes a file, if it is there.
    ///
    /// # Errors
    /// If it can't be removed.
    fn remove(&self, name: &str) -> Result<(), StoreError>;
    /// The names of all files.
    ///
    /// # Errors
    /// If the folder can't be read.
    fn names(&self) -> Result<Vec<String>, StoreError>;
    /// Waits for the only lock of the folder, which all programs share, and holds it until what this gives is dropped. The wait has a bound.
    /// Who reads a file, changes it and writes it holds the lock meanwhile.
    ///
    /// # Errors
    /// If another program holds it for longer.
    fn lock(&self) -> Result<Box<dyn Send>, StoreError>;
}
