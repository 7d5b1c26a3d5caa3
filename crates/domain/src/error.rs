//! The error that all ports to the disk return.

/// A failed read or write on disk. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {cause}")]
pub struct StoreError {
    /// Path of the file.
    pub path: String,
    /// Cause of the failure and, if there is one, the next step for the user.
    pub cause: String,
}
