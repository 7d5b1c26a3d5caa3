//! Finds processes that a server started and that left its process group, on Linux: by their parent, and by a mark in
//! their environment.
//!
//! A process is not found if it leaves its parent and starts with an empty environment. Only a sandbox with namespaces
//! (bubblewrap) ends such processes.

use std::ffi::OsString;
use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::StartTime;
use super::linux::ProcessStat;

/// Name of the environment variable that identifies the processes of a server. The server's descendants inherit it.
const MARK_VARIABLE: &str = "DRAWBRIDGE_SERVER";
/// Maximum number of scans of all processes for those to kill. Processes may start others during a scan.
const MAX_KILL_SCANS: usize = 5;

/// A descendant of a server to kill together with the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StartedProcess {
    pid: u32,
    /// Start time in clock ticks. Distinguishes the process from a later one with the same pid.
    start_ticks: u64,
}

/// Value of an environment variable that all processes of one server inherit, and that is unique to the server.
#[derive(Debug, Clone)]
pub(crate) struct ProcessMark(String);

/// Creates the unique value for the processes of a new server.
pub(crate) fn new_mark() -> ProcessMark {
    static SERVER_COUNTER: AtomicU64 = AtomicU64::new(0);
    let owner = std::process::id();
    let started = StartTime::of_process(owner).unwrap_or_else(StartTime::unknown);
    let of_owner = mark_prefix_of_app_process(owner, &started);
    ProcessMark(format!("{of_owner}{};", SERVER_COUNTER.fetch_add(1, Ordering::Relaxed)))
}

/// Returns the beginning that the marks (environment variable values) of all servers of one Drawbridge process have in
/// common.
fn mark_prefix_of_app_process(owner: u32, started: &StartTime) -> String {
    format!("{owner}:{started}:")
}

impl ProcessMark {
    /// Returns name and value of the environment variable to set for the server. Its descendants inherit the variable.
    pub(crate) fn environment_variable(&self) -> Option<(OsString, OsString)> {
        Some((MARK_VARIABLE.into(), self.0.clone().into()))
    }

    /// Kills all processes whose environment contains this mark: all processes of one server.
    pub(crate) fn kill_processes_with_mark(&self) {
        kill_processes_with_mark_prefix(&self.0);
    }
}

/// Kills all processes that the servers of a former Drawbridge process started. Returns `true` if there were any.
pub(crate) fn kill_processes_marked_by_owner(owner: u32, started: &StartTime) -> bool {
    kill_processes_with_mark_prefix(&mark_prefix_of_app_process(owner, started))
}

/// Kills all processes whose environment contains a mark that begins with `mark`. Returns `true` if there were any.
fn kill_processes_with_mark_prefix(mark: &str) -> bool {
    let mut were_some = false;
    for _ in 0..MAX_KILL_SCANS {
        let found: Vec<StartedProcess> =
            marked_processes().iter().filter(|(_, own)| own.starts_with(mark.as_bytes())).map(|(of, _)| *of).collect();
        if found.is_empty() {
            break;
        }
        were_some = true;
        kill_processes(&found);
    }
    were_some
}

/// Returns the descendants of a process, found by their parent links.
pub(crate) fn find_descendants(pid: u32) -> Vec<StartedProcess> {
    let all: Vec<(u32, ProcessEntry)> = iterate_other_processes().collect();
    let mut parents = vec![pid];
    let mut found = Vec::new();
    while let Some(parent) = parents.pop() {
        for (child, process) in all.iter().filter(|(_, process)| process.parent == parent) {
            // The processes are not read atomically, so the parent links may contain a cycle.
            if !found.contains(&process.of) {
                found.push(process.of);
                parents.push(*child);
            }
        }
    }
    found
}

/// Kills these descendants of a server, except those whose pid was reused.
pub(crate) fn kill_processes(started: &[StartedProcess]) {
    for one in started {
        let is_same = ProcessStat::read(one.pid).is_some_and(|stat| stat.start_ticks == one.start_ticks);
        if let Some(pid) = i32::try_from(one.pid).ok().filter(|_| is_same) {
            // Fails only if the process has ended.
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
    }
}

struct ProcessEntry {
    of: StartedProcess,
    parent: u32,
}

/// Iterates over all running processes except this one.
fn iterate_other_processes() -> impl Iterator<Item = (u32, ProcessEntry)> {
    let own = std::process::id();
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok()).filter(move |pid| *pid != own).filter_map(
        |pid| {
            let stat = ProcessStat::read(pid).filter(|stat| !stat.has_ended)?;
            Some((pid, ProcessEntry { of: StartedProcess { pid, start_ticks: stat.start_ticks }, parent: stat.parent }))
        },
    )
}

/// All processes that have the mark of a server in their environment, each with that mark.
type MarkedProcesses = Arc<[(StartedProcess, Vec<u8>)]>;

/// Returns all processes that have a server's mark in their environment. Reading the environment of every process takes
/// milliseconds, and all servers end together when the app quits, so callers that arrive during a scan share the next
/// one.
fn marked_processes() -> MarkedProcesses {
    static LATEST_MARKED_PROCESS_SCAN: Mutex<Option<(Instant, MarkedProcesses)>> = Mutex::new(None);
    let started = Instant::now();
    let mut latest = LATEST_MARKED_PROCESS_SCAN.lock().unwrap_or_else(PoisonError::into_inner);
    // A scan that began before the call may have missed a new process.
    if let Some((_, found)) = latest.as_ref().filter(|(began, _)| *began >= started) {
        return Arc::clone(found);
    }
    let began = Instant::now();
    let found: MarkedProcesses = iterate_other_processes()
        .flat_map(|(pid, process)| read_server_mark_variables(pid).into_iter().map(move |mark| (process.of, mark)))
        .collect();
    *latest = Some((began, Arc::clone(&found)));
    found
}

/// Returns the servers' marks in the initial environment of a process.
fn read_server_mark_variables(pid: u32) -> Vec<Vec<u8>> {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment
        .split(|byte| *byte == 0)
        .filter_map(|variable| variable.strip_prefix(MARK_VARIABLE.as_bytes())?.strip_prefix(b"="))
        .map(<[u8]>::to_vec)
        .collect()
}
