//! Looks at what a running server uses, and kills it with all that it started once that is too much.
//!
//! It looks at intervals, so for so long a server can use more than it may. Between two looks only the kernel's own limits hold it
//! (`rlimits`).

use std::collections::{HashSet, VecDeque};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use tokio::task::{JoinSet, spawn_blocking};

use crate::platform::{self, StartTime, TreeUse, tree_memory, tree_use};
use crate::sandbox::limits::{Bounds, Meter};

/// How often processes, memory and processor time are looked at.
const LOOK: Duration = Duration::from_millis(500);
/// The pause between two looks at the home, at least and at most.
const HOME_LOOK: Duration = Duration::from_secs(2);
const HOME_LONGEST: Duration = Duration::from_secs(10);
/// A look at a large home takes time: within these bounds the pause is this many times as long.
const HOME_REST: u32 = 20;
/// What each file and folder counts for at least, in bytes, so that empty ones are bounded as well.
const LEAST_ENTRY: u64 = 1024;
/// The same for looks at every page of the memory.
const PAGES_LONGEST: Duration = Duration::from_secs(10);
/// Processor time is summed up by minutes, and counts for an hour.
const MINUTE: Duration = Duration::from_secs(60);
const MINUTES: usize = 60;

/// The looks at one server. Dropping it ends them.
#[derive(Debug)]
pub(crate) struct Watch {
    meter: Meter,
    _looks: JoinSet<()>,
}

impl Watch {
    /// Watches the server with this process, which was started at this time.
    pub(crate) fn of(pid: u32, started: StartTime, bounds: Bounds) -> Watch {
        let meter = Meter::new(bounds.limits);
        let mut looks = JoinSet::new();
        let server = Server { pid, started };
        looks.spawn(watch_processes(server.clone(), meter.clone()));
        looks.spawn(watch_home(server, bounds, meter.clone()));
        Watch { meter, _looks: looks }
    }

    pub(crate) fn meter(&self) -> &Meter {
        &self.meter
    }
}

#[derive(Clone)]
struct Server {
    pid: u32,
    started: StartTime,
}

impl Server {
    /// Kills it with all that it started.
    fn kill(&self) {
        if StartTime::of(self.pid).as_ref() != Some(&self.started) {
            return;
        }
        let started = platform::started_by(self.pid);
        // Fails only when it is gone.
        let _ = platform::kill_group(self.pid);
        platform::end(&started);
    }
}

async fn watch_processes(server: Server, meter: Meter) {
    let (mut spent, mut pages) = (Spent::default(), Pages::default());
    let most = u64::from(meter.limits().processes);
    let began = Instant::now();
    loop {
        tokio::time::sleep(LOOK).await;
        let pid = server.pid;
        let Ok(mut tree) = spawn_blocking(move || tree_use(pid, most)).await else { return };
        spent.add(&tree, began.elapsed());
        if tree.memory_bytes > meter.limits().memory_bytes {
            let Some(bytes) = pages.look(pid, most).await else { return };
            tree.memory_bytes = tree.memory_bytes.min(bytes);
        }
        let exceeded = meter.change(|used| {
            used.processes = tree.threads;
            used.memory_bytes = tree.memory_bytes;
            used.processor_seconds = spent.within_hour().as_secs();
        });
        if exceeded.is_some() {
            let server = server.clone();
            // What is being started meanwhile is found by the next look.
            let _ = spawn_blocking(move || server.kill()).await;
        }
    }
}

/// Memory with what processes share counted once. It is only looked at where more than the limit seems to be used, and rests after each
/// look for as long as that keeps the cost low.
#[derive(Default)]
struct Pages {
    seen: Option<(Instant, Duration, u64)>,
}

impl Pages {
    /// None if the look was interrupted.
    async fn look(&mut self, pid: u32, most: u64) -> Option<u64> {
        if let Some((at, took, bytes)) = self.seen
            && at.elapsed() < (took * HOME_REST).min(PAGES_LONGEST)
        {
            return Some(bytes);
        }
        let began = Instant::now();
        let bytes = spawn_blocking(move || tree_memory(pid, most)).await.ok()?;
        self.seen = Some((Instant::now(), began.elapsed(), bytes));
        Some(bytes)
    }
}

async fn watch_home(server: Server, bounds: Bounds, meter: Meter) {
    loop {
        let (home, most) = (bounds.home.clone(), bounds.limits.home_bytes);
        let began = Instant::now();
        let Ok(bytes) = spawn_blocking(move || folder_bytes(&home, most)).await else { return };
        let took = began.elapsed();
        if meter.change(|used| used.home_bytes = bytes).is_some() {
            let server = server.clone();
            let _ = spawn_blocking(move || server.kill()).await;
        }
        tokio::time::sleep((took * HOME_REST).clamp(HOME_LOOK, HOME_LONGEST)).await;
    }
}

/// Processor time by minutes.
#[derive(Default)]
struct Spent {
    /// What the tree had used when it was looked at last.
    seen_ms: u64,
    /// Each minute that something was used in, and how much.
    minutes: VecDeque<(u64, u64)>,
    /// The minute of the last look.
    now: u64,
}

impl Spent {
    fn add(&mut self, tree: &TreeUse, at: Duration) {
        // The sum falls when a process ends and nobody takes over its time.
        let more = tree.processor_ms.saturating_sub(self.seen_ms);
        self.seen_ms = tree.processor_ms;
        self.now = at.as_secs() / MINUTE.as_secs();
        match self.minutes.back_mut() {
            Some((minute, sum)) if *minute == self.now => *sum += more,
            _ if more > 0 => self.minutes.push_back((self.now, more)),
            _ => {}
        }
        while self.minutes.front().is_some_and(|(minute, _)| self.now - minute >= MINUTES as u64) {
            self.minutes.pop_front();
        }
    }

    fn within_hour(&self) -> Duration {
        Duration::from_millis(self.minutes.iter().map(|(_, sum)| sum).sum())
    }
}

/// What lies in a folder, in bytes on the disk. Stops counting beyond `most`. Follows no links.
fn folder_bytes(folder: &Path, most: u64) -> u64 {
    let mut bytes = 0_u64;
    let mut linked = HashSet::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            // What can't be looked into may hold anything.
            Err(_) => return most.saturating_add(1),
        };
        for entry in entries.flatten() {
            let Ok(facts) = entry.metadata() else { continue };
            // A file with several names takes its place once.
            if facts.is_file() && facts.nlink() > 1 && !linked.insert((facts.dev(), facts.ino())) {
                continue;
            }
            bytes = bytes.saturating_add((facts.blocks() * 512).max(LEAST_ENTRY));
            if bytes > most {
                return bytes;
            }
            if facts.is_dir() {
                waiting.push(entry.path());
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn s37_processor_time_counts_for_an_hour() {
        let mut spent = Spent::default();
        let mut look = |minute: u64, seconds: u64| {
            let tree = TreeUse { processor_ms: seconds * 1000, ..TreeUse::default() };
            spent.add(&tree, MINUTE * u32::try_from(minute).unwrap());
            spent.within_hour().as_secs()
        };
        assert_eq!(look(0, 40), 40, "what was used is counted");
        assert_eq!(look(30, 100), 100, "with what was used before");
        assert_eq!(look(31, 20), 100, "a process that is gone takes nothing of it away");
        assert_eq!(look(59, 30), 110, "and what comes after counts");
        assert_eq!(look(60, 30), 70, "the first minute is over");
        assert_eq!(look(200, 30), 0, "and then all of them");
    }

    #[test]
    fn s37_a_home_is_measured_by_what_it_takes_on_the_disk() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("cache")).unwrap();
        let large = home.path().join("cache/large");
        fs::write(&large, vec![1_u8; 1 << 20]).unwrap();
        fs::hard_link(&large, home.path().join("again")).unwrap();
        std::os::unix::fs::symlink("/usr", home.path().join("elsewhere")).unwrap();
        let bytes = folder_bytes(home.path(), u64::MAX);
        assert!((1 << 20..2 << 20).contains(&bytes), "once, and nothing behind links: {bytes}");
        for number in 0..100 {
            fs::write(home.path().join(number.to_string()), "").unwrap();
        }
        assert!(folder_bytes(home.path(), u64::MAX) >= bytes + 100 * LEAST_ENTRY, "empty files count as well");
        assert!(folder_bytes(home.path(), 10) < 1 << 20 | 1 << 21, "no longer than it has to");
    }
}
