//! Reports changes of files: `mcp.json`, documents and the system-wide rules. Used by the stores of these files.
//!
//! One thread and one watcher of the system serve all files of the process. Folders are watched and not the files,
//! because editors write a new file and rename it, and a watch would refer to the old one. In addition the files are
//! polled, for file systems without notifications: rarely while the folder is watched, and often while it can't be, or
//! while the file is behind a link.

mod folder_watch;
mod pending_notices;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use tokio::sync::mpsc;

use folder_watch::FolderWatch;
use pending_notices::PendingNotices;

/// Polling interval while the system reports changes of every file.
const POLL_WATCHED: Duration = Duration::from_secs(10);

/// Polling interval while a file has no notifications: its folder does not exist, or it is a link.
const POLL_UNWATCHED: Duration = Duration::from_secs(2);

/// Sends a message for each change of the file from now on, until the receiver is dropped.
pub(crate) fn start(path: PathBuf, changed: mpsc::Sender<()>) {
    static WATCHES: OnceLock<Arc<FileWatches>> = OnceLock::new();
    let watches = WATCHES.get_or_init(|| {
        let watches = Arc::new(FileWatches::default());
        let run = {
            let watches = Arc::clone(&watches);
            move || watches.run()
        };
        if let Err(error) = std::thread::Builder::new().name("file-watch".to_owned()).spawn(run) {
            tracing::warn!(%error, "files are not watched");
        }
        watches
    });
    watches.add(WatchedFile { seen: FileState::read(&path), path, changed });
}

/// Metadata that identify a state of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FileState(Option<(u128, u64, Option<SystemTime>)>);

impl FileState {
    fn read(path: &Path) -> Self {
        let metadata = path.metadata().ok();
        Self(
            metadata
                .map(|metadata| (crate::private_files::identity(&metadata), metadata.len(), metadata.modified().ok())),
        )
    }
}

struct WatchedFile {
    path: PathBuf,
    seen: FileState,
    changed: mpsc::Sender<()>,
}

impl WatchedFile {
    fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }

    /// Sends a message if a notification came for the file or its metadata changed.
    fn report(&mut self, is_notified: bool) {
        let state = FileState::read(&self.path);
        if is_notified || state != self.seen {
            self.seen = state;
            // A full channel already contains a message, after which the receiver reads the file.
            let _ = self.changed.try_send(());
        }
    }
}

/// The watched files of the process.
#[derive(Default)]
struct FileWatches {
    watched: Mutex<Watched>,
    notices: Arc<PendingNotices>,
}

#[derive(Default)]
struct Watched {
    files: Vec<WatchedFile>,
    folders: FolderWatch,
}

impl FileWatches {
    fn add(&self, file: WatchedFile) {
        let mut watched = self.lock();
        self.notices.expect(&file.path);
        watched.files.push(file);
        watched.renew(&self.notices);
        drop(watched);
        self.notices.wake();
    }

    /// Reports changes for as long as the process runs.
    fn run(&self) {
        let mut next_poll = Instant::now();
        loop {
            let due = self.notices.wait_until(next_poll);
            let mut watched = self.lock();
            watched.files.retain(|file| !file.changed.is_closed());
            let is_renewed = watched.renew(&self.notices);
            let is_polled = is_renewed || next_poll <= Instant::now();
            for file in &mut watched.files {
                let is_notified = due.contains(&file.path);
                if is_notified || is_polled {
                    file.report(is_notified);
                }
            }
            let interval = if watched.are_all_notified() { POLL_WATCHED } else { POLL_UNWATCHED };
            let latest = Instant::now() + interval;
            next_poll = if is_polled { latest } else { next_poll.min(latest) };
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Watched> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watched {
    /// Watches the current folders, which may have been replaced. Returns `true` if the watches were created again.
    fn renew(&mut self, notices: &Arc<PendingNotices>) -> bool {
        notices.retain(|path| self.files.iter().any(|file| file.path == *path));
        self.folders.renew(self.files.iter().map(WatchedFile::folder), notices)
    }

    /// Returns `true` if the system reports changes of every file.
    fn are_all_notified(&self) -> bool {
        self.files.iter().all(|file| self.folders.contains(file.folder()) && !file.path.is_symlink())
    }
}
