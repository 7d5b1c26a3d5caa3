//! Information about processes, complete only on Linux. On other systems, unavailable values are empty or `None`.

use std::fs;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Returns the process ids in a process group, without zombies.
pub fn living_processes_in_group(group: u32) -> Vec<u32> {
    let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
    processes
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| read_stat(*pid).is_some_and(|stat| stat.group == group && stat.is_alive()))
        .collect()
}

/// Returns `true` if a process exists and is not a zombie.
pub fn is_alive(pid: u32) -> bool {
    read_stat(pid).is_some_and(|stat| stat.is_alive())
}

/// Returns the processor time that this thread has used, which does not depend on the load of the computer. On systems
/// that do not report it, returns the elapsed time.
pub fn thread_processor_time() -> Duration {
    #[cfg(target_os = "linux")]
    if let Ok(time) = nix::time::clock_gettime(nix::time::ClockId::CLOCK_THREAD_CPUTIME_ID) {
        return time.into();
    }
    static STARTED_AT: LazyLock<Instant> = LazyLock::new(Instant::now);
    STARTED_AT.elapsed()
}

/// Returns the resident memory of a process in bytes, or `None` if it is unknown.
pub fn resident_bytes(pid: u32) -> Option<u64> {
    proc_status_bytes(pid, "VmRSS:")
}

/// Returns the peak resident memory of a process in bytes, since its start or since [`reset_peak_memory`], or `None` if
/// it is unknown.
pub fn peak_resident_bytes(pid: u32) -> Option<u64> {
    proc_status_bytes(pid, "VmHWM:")
}

/// Resets the peak resident memory of this process, which [`peak_resident_bytes`] returns.
///
/// # Errors
/// Returns an error if the system does not support it.
pub fn reset_peak_memory() -> std::io::Result<()> {
    // See `clear_refs` in proc(5).
    fs::write("/proc/self/clear_refs", "5")
}

fn proc_status_bytes(pid: u32, line: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|found| found.strip_prefix(line))?;
    let kibibytes: u64 = line.trim().trim_end_matches(" kB").parse().ok()?;
    Some(kibibytes * 1024)
}

/// Returns the number of bytes that a process has written so far, or `None` if it has ended.
pub fn written_bytes(pid: u32) -> Option<u64> {
    let io = fs::read_to_string(format!("/proc/{pid}/io")).ok()?;
    io.lines().find_map(|line| line.strip_prefix("wchar:"))?.trim().parse().ok()
}

/// Returns properties of this process as JSON: `{"environment": {...}, "directory": "...", "descriptors": [...], "pid":
/// 1, "group": 1, "session": 1}`.
pub fn process_environment() -> Value {
    let environment: serde_json::Map<String, Value> = std::env::vars_os()
        .map(|(name, value)| (name.to_string_lossy().into_owned(), json!(value.to_string_lossy())))
        .collect();
    let pid = std::process::id();
    let stat = read_stat(pid);
    json!({
        "environment": environment,
        "directory": std::env::current_dir().ok(),
        "descriptors": open_descriptors(),
        "pid": pid,
        "group": stat.as_ref().map(|stat| stat.group),
        "session": stat.as_ref().map(|stat| stat.session),
    })
}

/// Returns the open file descriptors of this process, except the one that is used to list them.
fn open_descriptors() -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc/self/fd") else { return Vec::new() };
    let listed: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    // The descriptor used for the list is closed now, so it can't be examined any more.
    let mut open: Vec<u32> = listed
        .iter()
        .filter(|path| fs::read_link(path).is_ok())
        .filter_map(|path| path.file_name()?.to_str()?.parse().ok())
        .collect();
    open.sort_unstable();
    open
}

struct ProcessStat {
    state: char,
    group: u32,
    session: u32,
}

impl ProcessStat {
    fn is_alive(&self) -> bool {
        !matches!(self.state, 'Z' | 'X')
    }
}

/// Parses `/proc/PID/stat`, see proc(5). The second field is the program's name in parentheses and may contain any
/// character.
fn read_stat(pid: u32) -> Option<ProcessStat> {
    let line = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let line = String::from_utf8_lossy(&line);
    let (_, fields) = line.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
    Some(ProcessStat {
        state: fields.first()?.chars().next()?,
        group: fields.get(2)?.parse().ok()?,
        session: fields.get(3)?.parse().ok()?,
    })
}
