//! Error type of the traits in `ports` that read and write files.

/// Failed read or write of a file by the store. The file is unchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {cause}")]
pub struct StoreError {
    /// Path of the file that could not be read or written.
    pub path: String,
    /// Cause of the failure, with a suggested remedy for the user if there is one.
    pub cause: String,
}
