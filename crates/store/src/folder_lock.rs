//! A lock between all processes that use the same data folder, held only briefly.

use std::fs::{File, TryLockError};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use domain::StoreError;

/// Maximum time to wait for other processes, which hold the lock for milliseconds.
const LOCK_TIMEOUT: Duration = Duration::from_secs(3);
/// Interval at which a lock of another process is tried again.
const RETRY_INTERVAL: Duration = Duration::from_millis(5);

/// A lock, identified by its file.
#[derive(Debug, Clone)]
pub(crate) struct FolderLock {
    path: PathBuf,
}

/// Guard of the lock. Dropping it releases the lock.
#[derive(Debug)]
#[must_use]
pub(crate) struct FolderLockGuard {
    _file: File,
}

impl FolderLock {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Waits for the lock. On a file system without locks, it counts as held.
    pub(crate) fn acquire(&self) -> Result<FolderLockGuard, StoreError> {
        self.acquire_within(LOCK_TIMEOUT, sleep_before_retry)
    }

    /// Waits for a lock that others may hold longer. Calls `pause` each time another process holds it: [`sleep_before_retry`], or a
    /// test's function.
    pub(crate) fn acquire_within(
        &self,
        patience: Duration,
        mut pause: impl FnMut(),
    ) -> Result<FolderLockGuard, StoreError> {
        if let Some(folder) = self.path.parent() {
            crate::files::make_folder(folder)?;
        }
        let file = crate::private_files::file_options()
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
                        String::from("another program holds it; close other windows of Drawbridge and try again");
                    return Err(StoreError { path: self.path.display().to_string(), cause });
                }
            }
        }
    }
}

/// Waits until the lock is tried again.
pub(crate) fn sleep_before_retry() {
    std::thread::sleep(RETRY_INTERVAL);
}
