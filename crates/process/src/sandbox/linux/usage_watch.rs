//! Measures the resource use of a running server, and kills it with all its descendants if it exceeds a limit.
//!
//! Resource use is measured at intervals, so a server can exceed a limit for as long as one interval. Between two
//! measurements only the kernel's own limits apply (`rlimits`).

use std::collections::{HashSet, VecDeque};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use tokio::task::{JoinSet, spawn_blocking};

use crate::platform::{self, ProcessTreeUsage, StartTime, process_tree_memory, process_tree_usage};
use crate::sandbox::limits::{ResourceBounds, ResourceMeter};

/// Interval between measurements of processes, memory and processor time.
const RESOURCE_MEASUREMENT_INTERVAL: Duration = Duration::from_millis(500);
/// Minimum pause between two measurements of the size of a server's home folder.
const MIN_HOME_MEASUREMENT_INTERVAL: Duration = Duration::from_secs(2);
/// Maximum pause between two measurements of the size of a server's home folder.
const MAX_HOME_MEASUREMENT_INTERVAL: Duration = Duration::from_secs(10);
/// Factor by which the pause after a measurement of the home folder or of shared memory is longer than that measurement
/// took. Both measurements take long if the server uses much.
const HOME_MEASUREMENT_PAUSE_RATIO: u32 = 20;
/// Minimum size, in bytes, with which each file and folder is counted, so that the number of empty ones is limited as
/// well.
const MIN_COUNTED_FILE_BYTES: u64 = 1024;
/// Maximum pause between two measurements of a server's memory that count shared pages once.
const MAX_SHARED_MEMORY_MEASUREMENT_INTERVAL: Duration = Duration::from_secs(10);
/// Length of the intervals by which processor time is recorded. The limit applies to the sum over the last hour.
const PROCESSOR_TIME_SLOT_LENGTH: Duration = Duration::from_secs(60);
/// Number of past minutes whose processor time counts towards the limit of a server.
const PROCESSOR_TIME_WINDOW_MINUTES: usize = 60;

/// Tasks that measure the resource use of one server and kill it if it exceeds a limit. Dropping the watch aborts them.
#[derive(Debug)]
pub(crate) struct UsageWatch {
    meter: ResourceMeter,
    _looks: JoinSet<()>,
}

impl UsageWatch {
    /// Starts to watch the server with this pid and start time.
    pub(crate) fn start(pid: u32, started: StartTime, bounds: ResourceBounds) -> UsageWatch {
        let meter = ResourceMeter::new(bounds.limits);
        let mut looks = JoinSet::new();
        let server = WatchedServer { pid, started };
        looks.spawn(watch_processes(server.clone(), meter.clone()));
        looks.spawn(watch_home_size(server, bounds, meter.clone()));
        UsageWatch { meter, _looks: looks }
    }

    pub(crate) fn resource_meter(&self) -> &ResourceMeter {
        &self.meter
    }
}

#[derive(Clone)]
struct WatchedServer {
    pid: u32,
    started: StartTime,
}

impl WatchedServer {
    /// Kills the server and all its descendants. Blocks the thread.
    fn kill(&self) {
        if StartTime::of_process(self.pid).as_ref() != Some(&self.started) {
            return;
        }
        let started = platform::find_descendants(self.pid);
        // Fails only if the server has ended.
        let _ = platform::kill_group(self.pid);
        platform::kill_processes(&started);
    }
}

async fn watch_processes(server: WatchedServer, meter: ResourceMeter) {
    let (mut spent, mut pages) = (HourlyProcessorTime::default(), SharedPageMemoryMeter::default());
    let most = u64::from(meter.limits().processes);
    let began = Instant::now();
    loop {
        tokio::time::sleep(RESOURCE_MEASUREMENT_INTERVAL).await;
        let pid = server.pid;
        let Ok(mut tree) = spawn_blocking(move || process_tree_usage(pid, most)).await else { return };
        spent.add_sample(&tree, began.elapsed());
        if tree.memory_bytes > meter.limits().memory_bytes {
            let Some(bytes) = pages.measure_memory(pid, most).await else { return };
            tree.memory_bytes = tree.memory_bytes.min(bytes);
        }
        let exceeded = meter.record_usage(|used| {
            used.processes = tree.threads;
            used.memory_bytes = tree.memory_bytes;
            used.processor_seconds = spent.processor_time_in_last_hour().as_secs();
        });
        if exceeded.is_some() {
            let server = server.clone();
            // Processes that start during the kill are found by the next measurement.
            let _ = spawn_blocking(move || server.kill()).await;
        }
    }
}

/// Measures the memory of a server so that each shared page counts once. This is done only if the cheaper measurement
/// exceeds the limit, and then with pauses that keep the cost low.
#[derive(Default)]
struct SharedPageMemoryMeter {
    last_count: Option<(Instant, Duration, u64)>,
}

impl SharedPageMemoryMeter {
    /// Returns the memory of a process tree in bytes, with each shared page counted once. During a pause between
    /// measurements, returns the last result. Stops counting beyond `most` processes. Returns `None` if the measurement
    /// was cancelled.
    async fn measure_memory(&mut self, pid: u32, most: u64) -> Option<u64> {
        if let Some((at, took, bytes)) = self.last_count
            && at.elapsed() < (took * HOME_MEASUREMENT_PAUSE_RATIO).min(MAX_SHARED_MEMORY_MEASUREMENT_INTERVAL)
        {
            return Some(bytes);
        }
        let began = Instant::now();
        let bytes = spawn_blocking(move || process_tree_memory(pid, most)).await.ok()?;
        self.last_count = Some((Instant::now(), began.elapsed(), bytes));
        Some(bytes)
    }
}

async fn watch_home_size(server: WatchedServer, bounds: ResourceBounds, meter: ResourceMeter) {
    loop {
        let (home, most) = (bounds.home.clone(), bounds.limits.home_bytes);
        let began = Instant::now();
        let Ok(bytes) = spawn_blocking(move || folder_disk_usage(&home, most)).await else { return };
        let took = began.elapsed();
        if meter.record_usage(|used| used.home_bytes = bytes).is_some() {
            let server = server.clone();
            let _ = spawn_blocking(move || server.kill()).await;
        }
        tokio::time::sleep(
            (took * HOME_MEASUREMENT_PAUSE_RATIO).clamp(MIN_HOME_MEASUREMENT_INTERVAL, MAX_HOME_MEASUREMENT_INTERVAL),
        )
        .await;
    }
}

/// Processor time of a server within the last hour, summed by the minute.
#[derive(Default)]
struct HourlyProcessorTime {
    /// Total processor time of the process tree at the latest measurement, in milliseconds.
    last_total_ms: u64,
    /// Minutes in which the server used processor time. Each pair consists of the number of the minute, counted as in
    /// `now`, and the milliseconds used in it.
    minutes: VecDeque<(u64, u64)>,
    /// Number of the minute in which the last measurement took place, counted from the start of the watch.
    now: u64,
}

impl HourlyProcessorTime {
    fn add_sample(&mut self, tree: &ProcessTreeUsage, at: Duration) {
        // The total decreases when a process ends whose parent does not account for its time.
        let more = tree.processor_ms.saturating_sub(self.last_total_ms);
        self.last_total_ms = tree.processor_ms;
        self.now = at.as_secs() / PROCESSOR_TIME_SLOT_LENGTH.as_secs();
        match self.minutes.back_mut() {
            Some((minute, sum)) if *minute == self.now => *sum += more,
            _ if more > 0 => self.minutes.push_back((self.now, more)),
            _ => {}
        }
        while self.minutes.front().is_some_and(|(minute, _)| self.now - minute >= PROCESSOR_TIME_WINDOW_MINUTES as u64)
        {
            self.minutes.pop_front();
        }
    }

    fn processor_time_in_last_hour(&self) -> Duration {
        Duration::from_millis(self.minutes.iter().map(|(_, sum)| sum).sum())
    }
}

/// Returns the size, in bytes, that a folder's content occupies on disk. Stops counting beyond `most` bytes. Symbolic
/// links are not followed.
fn folder_disk_usage(folder: &Path, most: u64) -> u64 {
    let mut bytes = 0_u64;
    let mut linked = HashSet::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            // An unreadable folder may contain any amount.
            Err(_) => return most.saturating_add(1),
        };
        for entry in entries.flatten() {
            let Ok(facts) = entry.metadata() else { continue };
            // A file with several hard links is counted once.
            if facts.is_file() && facts.nlink() > 1 && !linked.insert((facts.dev(), facts.ino())) {
                continue;
            }
            bytes = bytes.saturating_add((facts.blocks() * 512).max(MIN_COUNTED_FILE_BYTES));
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
        let mut spent = HourlyProcessorTime::default();
        let mut look = |minute: u64, seconds: u64| {
            let tree = ProcessTreeUsage { processor_ms: seconds * 1000, ..ProcessTreeUsage::default() };
            spent.add_sample(&tree, PROCESSOR_TIME_SLOT_LENGTH * u32::try_from(minute).unwrap());
            spent.processor_time_in_last_hour().as_secs()
        };
        assert_eq!(look(0, 40), 40, "used time must be counted");
        assert_eq!(look(30, 100), 100, "time used before must be included");
        assert_eq!(look(31, 20), 100, "the end of a process must not reduce the sum");
        assert_eq!(look(59, 30), 110, "time used afterwards must be counted");
        assert_eq!(look(60, 30), 70, "the first minute must expire");
        assert_eq!(look(200, 30), 0, "all minutes must expire");
    }

    #[test]
    fn s37_home_is_measured_by_its_disk_usage() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("cache")).unwrap();
        let large = home.path().join("cache/large");
        fs::write(&large, vec![1_u8; 1 << 20]).unwrap();
        fs::hard_link(&large, home.path().join("again")).unwrap();
        std::os::unix::fs::symlink("/usr", home.path().join("elsewhere")).unwrap();
        let bytes = folder_disk_usage(home.path(), u64::MAX);
        assert!((1 << 20..2 << 20).contains(&bytes), "files must be counted once and links not followed: {bytes}");
        for number in 0..100 {
            fs::write(home.path().join(number.to_string()), "").unwrap();
        }
        assert!(
            folder_disk_usage(home.path(), u64::MAX) >= bytes + 100 * MIN_COUNTED_FILE_BYTES,
            "empty files count as well"
        );
        assert!(folder_disk_usage(home.path(), 10) < 1 << 20 | 1 << 21, "counting must stop beyond the limit");
    }
}
