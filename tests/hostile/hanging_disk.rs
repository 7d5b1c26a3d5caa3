//! Simulated file system that does not respond. Used by `blocked_disk.rs` and `call_times.rs`.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use process::LaunchFiles;

/// `true` while the simulated file system does not respond.
static IS_DISK_HANGING: Mutex<bool> = Mutex::new(false);
static IS_DISK_HANGING_CHANGED: Condvar = Condvar::new();
/// Locked while a test uses the simulated file system.
static IN_USE: Mutex<()> = Mutex::new(());

/// Waits until the simulated file system responds, then reads the launch files again. Replaces the host's own function.
pub(crate) fn reread_launch_files_when_disk_responds(files: &LaunchFiles) -> LaunchFiles {
    let hangs = IS_DISK_HANGING.lock().unwrap_or_else(PoisonError::into_inner);
    drop(IS_DISK_HANGING_CHANGED.wait_while(hangs, |hangs| *hangs).unwrap_or_else(PoisonError::into_inner));
    files.reread()
}

/// Simulated file system that does not respond until this value is dropped. A test in the same process waits until the
/// one of another test is dropped.
pub(crate) struct HangingDisk {
    _other_tests: MutexGuard<'static, ()>,
}

impl HangingDisk {
    pub(crate) fn start() -> Self {
        let _other_tests = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
        *IS_DISK_HANGING.lock().unwrap_or_else(PoisonError::into_inner) = true;
        Self { _other_tests }
    }
}

impl Drop for HangingDisk {
    fn drop(&mut self) {
        *IS_DISK_HANGING.lock().unwrap_or_else(PoisonError::into_inner) = false;
        IS_DISK_HANGING_CHANGED.notify_all();
    }
}
