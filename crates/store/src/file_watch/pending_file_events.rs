//! Events that the operating system sent for watched files and that are not reported to receivers yet. Used by the
//! parent module and by the callback of the watcher.
//!
//! The callback must take no other lock: the watcher processes requests to watch a folder on the callback's thread.

use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use notify::event::ModifyKind;
use notify::{Event, EventKind};

/// Time without further events before a change is reported, because programs write a file in several steps.
const QUIET_PERIOD: Duration = Duration::from_millis(200);

/// Maximum time from the first event until a change is reported, if further events keep arriving.
const MAX_REPORT_DELAY: Duration = Duration::from_secs(2);

/// The unreported events of each watched file.
#[derive(Default)]
pub(super) struct PendingFileEvents {
    files: Mutex<WatchedFileEvents>,
    changed: Condvar,
}

#[derive(Default)]
struct WatchedFileEvents {
    files: Vec<(PathBuf, Option<PendingEventTimes>)>,
    is_woken: bool,
    is_folder_lost: bool,
}

/// Times of the first and the last event of a file that were not reported yet.
#[derive(Clone, Copy)]
struct PendingEventTimes {
    first: Instant,
    last: Instant,
}

impl PendingEventTimes {
    fn due_time(self) -> Instant {
        (self.last + QUIET_PERIOD).min(self.first + MAX_REPORT_DELAY)
    }
}

impl PendingFileEvents {
    /// Adds a file, whose events are recorded from then on.
    pub(super) fn add_file(&self, path: &Path) {
        let mut noticed = self.lock();
        if !noticed.files.iter().any(|(known, _)| known == path) {
            noticed.files.push((path.to_path_buf(), None));
        }
    }

    /// Removes the files that are not watched any more, with their events.
    pub(super) fn retain(&self, is_watched: impl Fn(&PathBuf) -> bool) {
        self.lock().files.retain(|(path, _)| is_watched(path));
    }

    /// Makes the current or next [`wait_until`](Self::wait_until) return immediately.
    pub(super) fn wake(&self) {
        self.lock().is_woken = true;
        self.changed.notify_all();
    }

    /// Records an event of the operating system's watcher. `None` stands for an error, after which events of any file
    /// may be lost.
    pub(super) fn on_event(&self, event: Option<&Event>) {
        if event.is_some_and(|event| matches!(event.kind, EventKind::Access(_))) {
            return;
        }
        let now = Instant::now();
        let mut noticed = self.lock();
        let is_folder = |path: &PathBuf| noticed.files.iter().any(|(file, _)| file.parent() == Some(path));
        if event.is_some_and(|event| is_removal(event.kind) && event.paths.iter().any(is_folder)) {
            noticed.is_folder_lost = true;
        }
        let mut is_any = false;
        for (path, times) in &mut noticed.files {
            if !event.is_none_or(|event| is_relevant(event, path)) {
                continue;
            }
            *times = Some(PendingEventTimes { first: times.map_or(now, |times| times.first), last: now });
            is_any = true;
        }
        drop(noticed);
        if is_any {
            self.changed.notify_all();
        }
    }

    /// Returns `true` if a watched folder was removed or moved since the last call. The operating system then reports
    /// no further events, although a new folder at the same path may have the same identity (inode).
    pub(super) fn take_folder_lost_flag(&self) -> bool {
        std::mem::take(&mut self.lock().is_folder_lost)
    }

    /// Waits until a change is due, [`wake`](Self::wake) is called, or `latest` is reached. Returns the files whose
    /// change is due.
    pub(super) fn wait_until(&self, latest: Instant) -> Vec<PathBuf> {
        let mut noticed = self.lock();
        loop {
            let now = Instant::now();
            let due = noticed.take_due(now);
            if !due.is_empty() || latest <= now || std::mem::take(&mut noticed.is_woken) {
                return due;
            }
            let next =
                noticed.files.iter().filter_map(|(_, times)| Some((*times)?.due_time())).fold(latest, Instant::min);
            let wait = next.saturating_duration_since(now);
            noticed = self.changed.wait_timeout(noticed, wait).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, WatchedFileEvents> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WatchedFileEvents {
    fn take_due(&mut self, now: Instant) -> Vec<PathBuf> {
        let due = |times: &mut PendingEventTimes| times.due_time() <= now;
        self.files.iter_mut().filter_map(|(path, times)| times.take_if(due).map(|_| path.clone())).collect()
    }
}

const fn is_removal(kind: EventKind) -> bool {
    matches!(kind, EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_)))
}

/// Returns `true` if the event may be about this file: it names a path with the same file name, the folder itself, or
/// no path.
///
/// Only file names are compared, because the operating system may report a folder by another path than the watched one.
/// An unrelated event costs only one comparison of metadata.
fn is_relevant(event: &Event, path: &Path) -> bool {
    let is_of_file = |changed: &PathBuf| changed.file_name() == path.file_name();
    event.paths.is_empty()
        || event.paths.iter().any(|changed| is_of_file(changed) || Some(changed.as_path()) == path.parent())
}

#[cfg(test)]
mod tests {
    use notify::event::{AccessKind, RemoveKind};

    use super::*;

    fn events_of_files(paths: &[&str]) -> PendingFileEvents {
        let events = PendingFileEvents::default();
        for path in paths {
            events.add_file(Path::new(path));
        }
        events
    }

    fn new_event(kind: EventKind, path: &str) -> Event {
        Event::new(kind).add_path(PathBuf::from(path))
    }

    fn take_due_paths(events: &PendingFileEvents) -> Vec<PathBuf> {
        events.lock().take_due(Instant::now() + MAX_REPORT_DELAY)
    }

    const MODIFIED: EventKind = EventKind::Modify(ModifyKind::Any);

    #[test]
    fn file_event_notifies_the_watcher_of_its_file_only() {
        let events = events_of_files(&["/a/one.json", "/a/two.json"]);
        events.on_event(Some(&new_event(MODIFIED, "/a/two.json")));
        events.on_event(Some(&new_event(MODIFIED, "/a/history.db")));
        events.on_event(Some(&new_event(EventKind::Access(AccessKind::Any), "/a/one.json")));
        assert_eq!(take_due_paths(&events), [PathBuf::from("/a/two.json")]);
        assert!(take_due_paths(&events).is_empty(), "each notification is reported once");
    }

    #[test]
    fn folder_event_or_error_notifies_the_watchers_of_all_files() {
        let events = events_of_files(&["/a/one.json", "/a/two.json", "/b/three.json"]);
        events.on_event(Some(&new_event(MODIFIED, "/a")));
        assert_eq!(take_due_paths(&events).len(), 2);
        events.on_event(None);
        assert_eq!(take_due_paths(&events).len(), 3);
    }

    #[test]
    fn only_the_removal_of_a_folder_loses_its_watch() {
        let events = events_of_files(&["/a/one.json"]);
        events.on_event(Some(&new_event(EventKind::Remove(RemoveKind::File), "/a/one.json")));
        events.on_event(Some(&new_event(MODIFIED, "/a")));
        assert!(!events.take_folder_lost_flag());
        events.on_event(Some(&new_event(EventKind::Remove(RemoveKind::Folder), "/a")));
        assert!(events.take_folder_lost_flag());
        assert!(!events.take_folder_lost_flag(), "each loss is reported once");
    }

    #[test]
    fn a_notification_waits_for_a_pause_but_not_forever() {
        let first = Instant::now();
        let short = PendingEventTimes { first, last: first };
        assert_eq!(short.due_time(), first + QUIET_PERIOD);
        let long = PendingEventTimes { first, last: first + MAX_REPORT_DELAY };
        assert_eq!(long.due_time(), first + MAX_REPORT_DELAY);
    }

    #[test]
    fn wake_ends_a_wait_for_file_events() {
        let events = events_of_files(&["/a/one.json"]);
        events.wake();
        assert!(events.wait_until(Instant::now() + Duration::from_secs(60)).is_empty());
    }
}
