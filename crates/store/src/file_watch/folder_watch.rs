//! The watcher of the system over the folders of all watched files. Used by the parent module.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};

use super::pending_notices::PendingNotices;

/// A watcher, with the watched folders and their identities.
#[derive(Default)]
pub(super) struct FolderWatch {
    watcher: Option<RecommendedWatcher>,
    folders: BTreeMap<PathBuf, u128>,
}

impl FolderWatch {
    /// Watches these folders as they are now. Creates a new watcher if a folder was removed or replaced, and returns
    /// `true` then, because events between the two watchers are lost.
    pub(super) fn renew<'a>(&mut self, folders: impl Iterator<Item = &'a Path>, notices: &Arc<PendingNotices>) -> bool {
        let wanted: BTreeMap<PathBuf, u128> = folders
            .filter_map(|folder| Some((folder, folder.metadata().ok()?)))
            .map(|(folder, metadata)| (folder.to_path_buf(), crate::private_files::identity(&metadata)))
            .collect();
        let is_kept = |(folder, identity): (&PathBuf, &u128)| wanted.get(folder) == Some(identity);
        let is_replaced = !self.folders.iter().all(is_kept);
        if is_replaced {
            self.watcher = None;
            self.folders.clear();
        }
        if self.watcher.is_none() && !wanted.is_empty() {
            self.watcher = new_watcher(notices);
        }
        let Some(watcher) = &mut self.watcher else { return is_replaced };
        for (folder, identity) in wanted {
            if self.folders.contains_key(&folder) {
                continue;
            }
            match watcher.watch(&folder, RecursiveMode::NonRecursive) {
                Ok(()) => drop(self.folders.insert(folder, identity)),
                Err(error) => {
                    tracing::debug!(%error, "a folder can't be watched, so its files are polled");
                }
            }
        }
        is_replaced
    }

    /// Returns `true` if this folder is watched.
    pub(super) fn contains(&self, folder: &Path) -> bool {
        self.folders.contains_key(folder)
    }
}

fn new_watcher(notices: &Arc<PendingNotices>) -> Option<RecommendedWatcher> {
    let notices = Arc::clone(notices);
    notify::recommended_watcher(move |event: notify::Result<notify::Event>| notices.on_event(event.as_ref().ok()))
        .inspect_err(|error| tracing::debug!(%error, "folders can't be watched, so files are polled"))
        .ok()
}
