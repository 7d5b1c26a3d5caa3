//! The operating system's watcher of one folder. Used by the parent module.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};

use super::pending_file_events::PendingFileEvents;

/// Watches one folder for changes by means of the operating system.
pub(super) struct FolderWatch {
    folder: PathBuf,
    /// The active watcher, and the identity (inode) that the folder had when the watcher was created.
    watcher: Option<(RecommendedWatcher, u128)>,
}

impl FolderWatch {
    /// Creates an inactive watch. [`renew`](Self::renew) activates it.
    pub(super) const fn new(folder: PathBuf) -> Self {
        Self { folder, watcher: None }
    }

    /// Makes sure that the folder that is now at the path is watched, because the one that was watched before may have
    /// been removed or replaced. Returns `true` if a watcher was created or ended, in which case earlier events may be
    /// lost.
    pub(super) fn renew(&mut self, events: &Arc<PendingFileEvents>) -> bool {
        let is_lost = events.take_folder_lost_flag();
        let identity = self.folder.metadata().ok().map(|metadata| crate::private_files::file_identity(&metadata));
        let watched = self.watcher.as_ref().map(|(_, identity)| *identity);
        if identity == watched && !is_lost {
            return false;
        }
        self.watcher = None;
        if let Some(identity) = identity {
            match new_watcher(&self.folder, events) {
                Ok(watcher) => self.watcher = Some((watcher, identity)),
                Err(error) => tracing::debug!(%error, "a folder can't be watched, so its files are polled"),
            }
        }
        self.watcher.is_some() || watched.is_some()
    }

    /// Returns `true` if the operating system reports changes in the folder.
    pub(super) const fn is_watching(&self) -> bool {
        self.watcher.is_some()
    }
}

fn new_watcher(folder: &Path, events: &Arc<PendingFileEvents>) -> notify::Result<RecommendedWatcher> {
    let events = Arc::clone(events);
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        events.on_event(event.as_ref().ok());
    })?;
    watcher.watch(folder, RecursiveMode::NonRecursive)?;
    Ok(watcher)
}
