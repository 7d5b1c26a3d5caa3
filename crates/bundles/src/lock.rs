//! One program at a time changes the folder with unpacked bundles: the app and the command line would remove each other's work otherwise.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::BundleError;

/// The file that is locked. It stays, since a removed one could be locked twice.
const LOCK: &str = ".lock";
/// How long another program is waited for: a large bundle takes a minute on a slow disk.
const PATIENCE: Duration = Duration::from_secs(120);
/// How long it is waited between two attempts.
const PAUSE: Duration = Duration::from_millis(50);

/// Held while bundles are unpacked, removed, and added to or taken from the settings. The system gives it up when the program ends.
#[derive(Debug)]
pub struct BundlesLock {
    _file: File,
}

impl BundlesLock {
    /// Waits until no other program has it. Blocks.
    ///
    /// # Errors
    /// If the folder can't be made or locked, or another program keeps it for two minutes.
    pub fn take(root: &Path) -> Result<Self, BundleError> {
        Self::take_within(root, PATIENCE)
    }

    fn take_within(root: &Path, patience: Duration) -> Result<Self, BundleError> {
        let end = Instant::now() + patience;
        loop {
            match Self::try_take(root)? {
                Some(held) => return Ok(held),
                None if Instant::now() >= end => return Err(BundleError::Busy),
                None => thread::sleep(PAUSE),
            }
        }
    }

    /// Takes it if no other program has it. Blocks.
    ///
    /// # Errors
    /// If the folder can't be made or locked.
    pub fn try_take(root: &Path) -> Result<Option<Self>, BundleError> {
        let cant_lock = |cause| BundleError::io("the folder for bundles can't be locked", cause);
        fs::create_dir_all(root).map_err(cant_lock)?;
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(root.join(LOCK));
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
    fn one_at_a_time() {
        let root = tempfile::tempdir().unwrap();
        let held = BundlesLock::take(root.path()).unwrap();
        let refused = BundlesLock::take_within(root.path(), Duration::ZERO).unwrap_err();
        assert!(matches!(refused, BundleError::Busy), "{refused}");
        drop(held);
        BundlesLock::take_within(root.path(), Duration::ZERO).unwrap();
    }
}
