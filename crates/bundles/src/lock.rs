//! Lock of the folder of unpacked bundles, so that the app and the command line do not change it at the same time.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::BundleError;

/// Name of the lock file. The file is never removed, since otherwise two processes could lock two different files with
/// this name.
const LOCK_FILE_NAME: &str = ".lock";
/// Maximum time to wait for the lock. Unpacking a large bundle takes about a minute on a slow disk.
const LOCK_TIMEOUT: Duration = Duration::from_secs(120);
/// Time between two attempts to acquire the lock.
const LOCK_RETRY_INTERVAL: Duration = Duration::from_millis(50);

/// Exclusive lock of the folder of unpacked bundles. A process must hold it while it unpacks or removes bundles, and
/// while it changes the servers of bundles in the settings. The system releases it when the process ends.
#[derive(Debug)]
pub struct BundlesLock {
    _file: File,
}

impl BundlesLock {
    /// Acquires the lock of the folder `root`, and waits up to two minutes for it. Blocks.
    ///
    /// # Errors
    /// Returns [`BundleError::Io`] if the folder can't be created or locked, and [`BundleError::Busy`] if another
    /// process has the lock for two minutes.
    pub fn acquire(root: &Path) -> Result<Self, BundleError> {
        Self::acquire_within(root, LOCK_TIMEOUT)
    }

    fn acquire_within(root: &Path, patience: Duration) -> Result<Self, BundleError> {
        let end = Instant::now() + patience;
        loop {
            match Self::try_acquire(root)? {
                Some(held) => return Ok(held),
                None if Instant::now() >= end => return Err(BundleError::Busy),
                None => thread::sleep(LOCK_RETRY_INTERVAL),
            }
        }
    }

    /// Acquires the lock of the folder `root`, or returns `None` if another process has it. Blocks.
    ///
    /// # Errors
    /// Returns [`BundleError::Io`] if the folder can't be created or locked.
    pub fn try_acquire(root: &Path) -> Result<Option<Self>, BundleError> {
        let cant_lock = |cause| BundleError::io("the folder for bundles can't be locked", cause);
        fs::create_dir_all(root).map_err(cant_lock)?;
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(root.join(LOCK_FILE_NAME));
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
