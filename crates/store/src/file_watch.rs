//! Reports changes of files: `mcp.json`, documents and the system-wide rules. Used by the stores of these files.
//!
//! One thread and one watcher of the operating system serve all files of a folder, so that a folder on a file system
//! that hangs affects only itself. The folder is watched and not the files, because editors write a new file and rename
//! it, and a watch would refer to the old one. In addition the files are polled, for file systems without
//! notifications: rarely while the folder is watched, and often while it can't be, or while a file is a symbolic link.

mod folder_watch;
mod pending_file_events;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use tokio::sync::mpsc;

use folder_watch::FolderWatch;
use pending_file_events::PendingFileEvents;

/// Polling interval while the operating system reports changes of all watched files.
const WATCHED_POLL_INTERVAL: Duration = Duration::from_secs(10);

/// Polling interval while a file has no notifications, because its folder does not exist or the file is a symbolic
/// link.
const UNWATCHED_POLL_INTERVAL: Duration = Duration::from_secs(2);

/// Folders with watched files. A folder is removed when no file in it is watched any more.
static WATCHED_FOLDERS: Mutex<BTreeMap<PathBuf, Arc<WatchedFolder>>> = Mutex::new(BTreeMap::new());

/// Watches a file in a separate thread: sends a message to `changed` for each change, until the receiver is dropped.
pub(crate) fn watch_file(path: PathBuf, changed: mpsc::Sender<()>) {
    let folder = path.parent().unwrap_or(Path::new(".")).to_path_buf();
    // The state is read before the thread starts, so that a change in between is reported.
    let file = WatchedFile { last_state: WatchedFileState::read(&path), path, changed };
    let mut folders = lock(&WATCHED_FOLDERS);
    if let Some(watched) = folders.get(&folder) {
        watched.add(file);
        return;
    }
    let watched = Arc::new(WatchedFolder::default());
    watched.add(file);
    let run = {
        let (watched, folder) = (Arc::clone(&watched), folder.clone());
        move || watched.run(folder)
    };
    match std::thread::Builder::new().name("file-watch".to_owned()).spawn(run) {
        Ok(_) => drop(folders.insert(folder, watched)),
        Err(error) => tracing::warn!(%error, "a file is not watched"),
    }
}

/// Metadata that change when the file is written: identity, size and modification time. `None` if the file does not
/// exist.
#[derive(Debug, Clone, PartialEq, Eq)]
struct WatchedFileState(Option<(u128, u64, Option<SystemTime>)>);

impl WatchedFileState {
    fn read(path: &Path) -> Self {
        let metadata = path.metadata().ok();
        Self(
            metadata.map(|metadata| {
                (crate::private_files::file_identity(&metadata), metadata.len(), metadata.modified().ok())
            }),
        )
    }
}

struct WatchedFile {
    path: PathBuf,
    last_state: WatchedFileState,
    changed: mpsc::Sender<()>,
}

impl WatchedFile {
    /// Sends a message to the file's receiver if the operating system reported an event for the file, or its metadata
    /// changed.
    fn report(&mut self, is_notified: bool) {
        let state = WatchedFileState::read(&self.path);
        if is_notified || state != self.last_state {
            self.last_state = state;
            // A full channel already contains a message, and the receiver reads the file after it.
            let _ = self.changed.try_send(());
        }
    }
}

/// A folder, and the files in it that are watched.
#[derive(Default)]
struct WatchedFolder {
    /// Files that were added by other threads and that the folder's own thread does not watch yet.
    added: Mutex<Vec<WatchedFile>>,
    events: Arc<PendingFileEvents>,
}

impl WatchedFolder {
    /// Adds a file, which the folder's thread watches from then on. Does not wait for the disk.
    fn add(&self, file: WatchedFile) {
        let mut added = lock(&self.added);
        self.events.add_file(&file.path);
        added.push(file);
        drop(added);
        self.events.wake();
    }

    /// Watches the files of the folder, and reports their changes to the receivers. Returns when all receivers are
    /// dropped.
    fn run(&self, folder: PathBuf) {
        let mut files: Vec<WatchedFile> = Vec::new();
        let mut watch = FolderWatch::new(folder.clone());
        let mut next_poll = Instant::now();
        loop {
            let due = self.events.wait_until(next_poll);
            self.drop_files_without_receiver(&mut files);
            if files.is_empty() && self.remove_if_unused(&folder) {
                return;
            }
            let is_renewed = watch.renew(&self.events);
            let added = std::mem::take(&mut *lock(&self.added));
            let is_polled = is_renewed || !added.is_empty() || next_poll <= Instant::now();
            files.extend(added);
            for file in &mut files {
                let is_notified = due.contains(&file.path);
                if is_notified || is_polled {
                    file.report(is_notified);
                }
            }
            let is_each_notified = watch.is_watching() && !files.iter().any(|file| file.path.is_symlink());
            let latest =
                Instant::now() + if is_each_notified { WATCHED_POLL_INTERVAL } else { UNWATCHED_POLL_INTERVAL };
            next_poll = if is_polled { latest } else { next_poll.min(latest) };
        }
    }

    fn drop_files_without_receiver(&self, files: &mut Vec<WatchedFile>) {
        let before = files.len();
        files.retain(|file| !file.changed.is_closed());
        if files.len() < before {
            let added = lock(&self.added);
            self.events.retain(|path| files.iter().chain(added.iter()).any(|file| file.path == *path));
        }
    }

    /// Removes the folder from [`WATCHED_FOLDERS`], unless another thread has added a file to watch in the meantime.
    /// Returns `true` if the folder was removed.
    fn remove_if_unused(&self, folder: &Path) -> bool {
        let mut folders = lock(&WATCHED_FOLDERS);
        let is_unused = lock(&self.added).is_empty();
        if is_unused {
            folders.remove(folder);
        }
        is_unused
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
