//! One lock between all programs that use the same data folder, held for a moment only.

use std::fs::{File, TryLockError};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use domain::StoreError;

/// How long to wait for others; they hold the lock for milliseconds.
const PATIENCE: Duration = Duration::from_secs(3);
/// How often a lock that another program holds is tried again.
const TRY_AGAIN: Duration = Duration::from_millis(5);

/// The lock's file.
#[derive(Debug, Clone)]
pub(crate) struct Lock {
    path: PathBuf,
}

/// The lock is held until this is dropped.
#[derive(Debug)]
#[must_use]
pub(crate) struct Held {
    _file: File,
}

impl Lock {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Waits for the lock. Where the file system has no locks, it is as good as held.
    pub(crate) fn hold(&self) -> Result<Held, StoreError> {
        self.hold_within(PATIENCE, pause)
    }

    /// The same for a lock that others may hold for longer. Calls `pause` each time another program has it: [`pause`], or what a
    /// test does meanwhile.
    pub(crate) fn hold_within(&self, patience: Duration, mut pause: impl FnMut()) -> Result<Held, StoreError> {
        if let Some(folder) = self.path.parent() {
            crate::files::make_folder(folder)?;
        }
        let file = crate::private::file_options()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&self.path)
            .map_err(|error| crate::files::failed(&self.path, "open it", &error))?;
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Held { _file: file }),
                Err(TryLockError::Error(error)) => {
                    tracing::warn!(path = %self.path.display(), %error, "this file system has no locks");
                    return Ok(Held { _file: file });
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

/// Waits until a lock is tried again.
pub(crate) fn pause() {
    std::thread::sleep(TRY_AGAIN);
}
