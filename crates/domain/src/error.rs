//! The failure that every port to the disk reports.

/// Why something on disk could not be read or written. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {cause}")]
pub struct StoreError {
    /// The file.
    pub path: String,
    /// What went wrong and, where there is one, the next step.
    pub cause: String,
}
