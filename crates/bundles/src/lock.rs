//! Ensures that one program at a time changes the folder of unpacked bundles. Otherwise the app and the command line
//! could remove each other's files.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::BundleError;

/// The locked file. It is never removed, since a removed file could be locked twice.
const LOCK_FILE: &str = ".lock";
/// Timeout for the lock: unpacking a large bundle takes a minute on a slow disk.
const LOCK_TIMEOUT: Duration = Duration::from_secs(120);
/// Pause between two attempts to lock.
const RETRY_INTERVAL: Duration = Duration::from_millis(50);

/// A lock held while bundles are unpacked, removed, and added to or removed from the settings. The system releases it
/// when the process ends.
#[derive(Debug)]
pub struct BundlesLock {
    _file: File,
}

impl BundlesLock {
    /// Waits for the lock. Blocks.
    ///
    /// # Errors
    ///
    /// Returns [`BundleError::Io`] if the folder can't be created or locked, and [`BundleError::Busy`] if another
    /// program holds the lock for two minutes.
    pub fn acquire(root: &Path) -> Result<Self, BundleError> {
        Self::acquire_within(root, LOCK_TIMEOUT)
    }

    fn acquire_within(root: &Path, patience: Duration) -> Result<Self, BundleError> {
        let end = Instant::now() + patience;
        loop {
            match Self::try_acquire(root)? {
                Some(held) => return Ok(held),
                None if Instant::now() >= end => return Err(BundleError::Busy),
                None => thread::sleep(RETRY_INTERVAL),
            }
        }
    }

    /// Takes the lock, or returns `None` if another program holds it. Blocks.
    ///
    /// # Errors
    ///
    /// Returns [`BundleError::Io`] if the folder can't be created or locked.
    pub fn try_acquire(root: &Path) -> Result<Option<Self>, BundleError> {
        let cant_lock = |cause| BundleError::io("the folder for bundles can't be locked", cause);
        fs::create_dir_all(root).map_err(cant_lock)?;
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(root.join(LOCK_FILE));
        let file = file.map_err(cant_lock)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(cause)) => Err(cant_lock(cause)),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn lock_is_exclusive() {
        let root = tempfile::tempdir().unwrap();
        let held = BundlesLock::acquire(root.path()).unwrap();
        let refused = BundlesLock::acquire_within(root.path(), Duration::ZERO).unwrap_err();
        assert!(matches!(refused, BundleError::Busy), "{refused}");
        drop(held);
        BundlesLock::acquire_within(root.path(), Duration::ZERO).unwrap();
    }
}
