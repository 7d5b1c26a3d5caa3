//! A file lock between all processes that use the same data folder, held only briefly.

use std::fs::{File, TryLockError};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use domain::StoreError;

/// Maximum time to wait for the lock. Other processes hold it for milliseconds.
const FOLDER_LOCK_TIMEOUT: Duration = Duration::from_secs(3);
/// Interval between two attempts to acquire a lock that another process holds.
const LOCK_RETRY_INTERVAL: Duration = Duration::from_millis(5);

/// A lock that excludes other processes, by locking the file at this path.
#[derive(Debug, Clone)]
pub(crate) struct FolderLock {
    path: PathBuf,
}

/// A guard that holds the lock, and releases it on drop.
#[derive(Debug)]
#[must_use]
pub(crate) struct FolderLockGuard {
    _file: File,
}

impl FolderLock {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Acquires the lock, waiting for at most [`FOLDER_LOCK_TIMEOUT`]. On a file system that does not support locks,
    /// the lock counts as acquired.
    pub(crate) fn acquire(&self) -> Result<FolderLockGuard, StoreError> {
        self.acquire_within(FOLDER_LOCK_TIMEOUT, sleep_before_retry)
    }

    /// Acquires the lock, waiting for at most `patience`. Calls `pause` after each failed attempt:
    /// [`sleep_before_retry`], or a function of a test.
    pub(crate) fn acquire_within(
        &self,
        patience: Duration,
        mut pause: impl FnMut(),
    ) -> Result<FolderLockGuard, StoreError> {
        if let Some(folder) = self.path.parent() {
            crate::files::make_folder(folder)?;
        }
        let file = crate::private_files::private_file_options()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&self.path)
            .map_err(|error| crate::files::file_error(&self.path, "open it", &error))?;
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(FolderLockGuard { _file: file }),
                Err(TryLockError::Error(error)) => {
                    tracing::warn!(path = %self.path.display(), %error, "this file system has no locks");
                    return Ok(FolderLockGuard { _file: file });
                }
                Err(TryLockError::WouldBlock) if start.elapsed() < patience => pause(),
                Err(TryLockError::WouldBlock) => {
                    let cause =
                        String::from("another program is using it; close other windows of Drawbridge and try again");
                    return Err(StoreError { path: self.path.display().to_string(), cause });
                }
            }
        }
    }
}

/// Sleeps for the interval between two attempts to acquire a lock.
pub(crate) fn sleep_before_retry() {
    std::thread::sleep(LOCK_RETRY_INTERVAL);
}
