//! Builds without the feature `updater`, as for distribution packages: they neither check for updates nor install them.

use tauri::{AppHandle, Runtime};
use updates::{Channel, Install, Refusal, Release};

pub(super) fn channel() -> Result<Option<Channel>, Refusal> {
    Ok(None)
}

/// Installer that always returns an error.
pub(super) struct UpdateInstall;

impl UpdateInstall {
    pub(super) fn of<R: Runtime>(_: &AppHandle<R>) -> Self {
        Self
    }
}

impl Install for UpdateInstall {
    async fn install(&self, _: &Release, _: Vec<u8>) -> Result<(), Refusal> {
        Err(Refusal::NotHere)
    }
}
