//! Builds without the feature `updater`, such as those for distribution packages. They neither check for updates nor
//! install them.

use tauri::{AppHandle, Runtime};
use updates::{Release, ReleaseInstaller, UpdateChannel, UpdateRefusal};

pub(super) fn build_update_channel() -> Result<Option<UpdateChannel>, UpdateRefusal> {
    Ok(None)
}

/// Installer of a build that can't update itself. Each installation fails with [`UpdateRefusal::NotHere`].
pub(super) struct UpdateInstaller;

impl UpdateInstaller {
    pub(super) fn for_this_build<R: Runtime>(_: &AppHandle<R>) -> Self {
        Self
    }
}

impl ReleaseInstaller for UpdateInstaller {
    async fn install(&self, _: &Release, _: Vec<u8>) -> Result<(), UpdateRefusal> {
        Err(UpdateRefusal::NotHere)
    }
}
