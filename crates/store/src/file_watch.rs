//! Reports changes of a file: `mcp.json`, and the rules.
//!
//! The folder is watched and not the file, because editors write a new file and rename it, and a watch would refer to
//! the old one. In addition the file is polled every two seconds, for file systems without notifications, files behind
//! links, and a folder that was removed and created again.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant, SystemTime};

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::mpsc;

/// Idle time after the last event before a change is reported, because files are written in steps.
const QUIET: Duration = Duration::from_millis(200);

/// Maximum time to wait for an idle period.
const LONGEST: Duration = Duration::from_secs(2);

/// Polling interval of the file.
const LOOK: Duration = Duration::from_secs(2);

/// Starts a thread of this name that sends a message for each change, until the receiver is dropped.
pub(crate) fn start(name: &str, path: PathBuf, changed: mpsc::Sender<()>) {
    let (told, tells) = sync_channel(1);
    // Created before the thread starts, so that every change from now on is reported.
    let mut watch = FileWatch { seen: FileState::read(&path), path, told, watcher: None };
    watch.renew();
    let run = move || watch.run(&tells, &changed);
    if let Err(error) = std::thread::Builder::new().name(name.to_owned()).spawn(run) {
        tracing::warn!(%error, thread = name, "the file is not watched");
    }
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

struct FileWatch {
    path: PathBuf,
    seen: FileState,
    told: SyncSender<()>,
    /// Watcher, with the identity of the watched folder.
    watcher: Option<(RecommendedWatcher, u128)>,
}

impl FileWatch {
    fn run(mut self, tells: &Receiver<()>, changed: &mpsc::Sender<()>) {
        while !changed.is_closed() {
            let told = match tells.recv_timeout(LOOK) {
                Ok(()) => {
                    wait_for_quiet(tells);
                    true
                }
                Err(RecvTimeoutError::Timeout) => false,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            self.renew();
            let state = FileState::read(&self.path);
            if told || state != self.seen {
                self.seen = state;
                // A full channel already contains a message, after which the receiver reads the file.
                let _ = changed.try_send(());
            }
        }
    }

    /// Watches the current folder, which may have been replaced.
    fn renew(&mut self) {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let identity = folder.metadata().ok().map(|metadata| crate::private_files::identity(&metadata));
        if identity.is_some() && identity == self.watcher.as_ref().map(|(_, identity)| *identity) {
            return;
        }
        self.watcher = None;
        let Some(identity) = identity else { return };
        let (told, name, parent) =
            (self.told.clone(), self.path.file_name().map(ToOwned::to_owned), folder.to_path_buf());
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            let concerns = match &event {
                Ok(event) => {
                    let ours = |path: &PathBuf| path.file_name() == name.as_deref() || *path == parent;
                    !matches!(event.kind, EventKind::Access(_))
                        && (event.paths.is_empty() || event.paths.iter().any(ours))
                }
                Err(_) => true,
            };
            if concerns {
                let _ = told.try_send(());
            }
        });
        let watched =
            watcher.and_then(|mut watcher| watcher.watch(folder, RecursiveMode::NonRecursive).map(|()| watcher));
        match watched {
            Ok(watcher) => self.watcher = Some((watcher, identity)),
            Err(error) => {
                tracing::debug!(%error, "the folder of a file can't be watched; the file is polled instead")
            }
        }
    }
}

fn wait_for_quiet(tells: &Receiver<()>) {
    let start = Instant::now();
    while start.elapsed() < LONGEST && tells.recv_timeout(QUIET).is_ok() {}
}
