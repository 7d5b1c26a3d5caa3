//! Finding what a server started and that left its process group, on Linux: by whose child it is, and by a mark in its environment.
//!
//! Who takes care to lose both, by leaving its parent and starting with an empty environment, is not found. Only a sandbox of
//! namespaces (bubblewrap) holds that.

use std::ffi::OsString;
use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::StartTime;
use super::linux::Stat;

/// The variable that each server has, and what it starts inherits.
const VARIABLE: &str = "DRAWBRIDGE_SERVER";
/// How often is looked again, since what is being ended may start something meanwhile.
const ROUNDS: usize = 5;

/// A process that is not to outlive its server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Started {
    pid: u32,
    /// With it the pid means this process and no later one.
    start_ticks: u64,
}

/// A mark in the environment of a server, unlike that of any other.
#[derive(Debug, Clone)]
pub(crate) struct Mark(String);

/// A mark for a new server.
pub(crate) fn mark() -> Mark {
    static SERVERS: AtomicU64 = AtomicU64::new(0);
    let owner = std::process::id();
    let started = StartTime::of(owner).unwrap_or_else(StartTime::unknown);
    let of_owner = of_owner(owner, &started);
    Mark(format!("{of_owner}{};", SERVERS.fetch_add(1, Ordering::Relaxed)))
}

/// What the marks of all servers of one run of Drawbridge begin with.
fn of_owner(owner: u32, started: &StartTime) -> String {
    format!("{owner}:{started}:")
}

impl Mark {
    /// The variable with it.
    pub(crate) fn variable(&self) -> Option<(OsString, OsString)> {
        Some((VARIABLE.into(), self.0.clone().into()))
    }

    /// Ends all that carries it.
    pub(crate) fn end(&self) {
        end_marked(&self.0);
    }
}

/// Ends all that servers of a run of Drawbridge started which is over; whether there was something.
pub(crate) fn end_marked_by(owner: u32, started: &StartTime) -> bool {
    end_marked(&of_owner(owner, started))
}

fn end_marked(mark: &str) -> bool {
    let mut were_some = false;
    for _ in 0..ROUNDS {
        let found: Vec<Started> =
            marked_processes().iter().filter(|(_, own)| own.starts_with(mark.as_bytes())).map(|(of, _)| *of).collect();
        if found.is_empty() {
            break;
        }
        were_some = true;
        end(&found);
    }
    were_some
}

/// All that a process has started, and that still is a child of it or of one of those.
pub(crate) fn started_by(pid: u32) -> Vec<Started> {
    let all: Vec<(u32, Process)> = processes().collect();
    let mut parents = vec![pid];
    let mut found = Vec::new();
    while let Some(parent) = parents.pop() {
        for (child, process) in all.iter().filter(|(_, process)| process.parent == parent) {
            // Two processes can't be each other's parents, but what was read moment by moment may say so.
            if !found.contains(&process.of) {
                found.push(process.of);
                parents.push(*child);
            }
        }
    }
    found
}

/// Kills these processes.
pub(crate) fn end(started: &[Started]) {
    for one in started {
        let is_same = Stat::read(one.pid).is_some_and(|stat| stat.start_ticks == one.start_ticks);
        if let Some(pid) = i32::try_from(one.pid).ok().filter(|_| is_same) {
            // Fails only when it is gone.
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
    }
}

struct Process {
    of: Started,
    parent: u32,
}

/// All processes there are, but this one and those that have ended.
fn processes() -> impl Iterator<Item = (u32, Process)> {
    let own = std::process::id();
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok()).filter(move |pid| *pid != own).filter_map(
        |pid| {
            let stat = Stat::read(pid).filter(|stat| !stat.has_ended)?;
            Some((pid, Process { of: Started { pid, start_ticks: stat.start_ticks }, parent: stat.parent }))
        },
    )
}

/// Processes with any mark, and their marks.
type Marked = Arc<[(Started, Vec<u8>)]>;

/// All processes that carry a mark now. Reading the environment of each process of the machine takes milliseconds, and all servers
/// end at once when the app quits: callers that come while a scan runs share the next one.
fn marked_processes() -> Marked {
    static LATEST: Mutex<Option<(Instant, Marked)>> = Mutex::new(None);
    let asked = Instant::now();
    let mut latest = LATEST.lock().unwrap_or_else(PoisonError::into_inner);
    // A scan that began earlier may have passed a process before it was started.
    if let Some((_, found)) = latest.as_ref().filter(|(began, _)| *began >= asked) {
        return Arc::clone(found);
    }
    let began = Instant::now();
    let found: Marked =
        processes().flat_map(|(pid, process)| marks_of(pid).into_iter().map(move |mark| (process.of, mark))).collect();
    *latest = Some((began, Arc::clone(&found)));
    found
}

/// The marks that a process has, or had when it began.
fn marks_of(pid: u32) -> Vec<Vec<u8>> {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment
        .split(|byte| *byte == 0)
        .filter_map(|variable| variable.strip_prefix(VARIABLE.as_bytes())?.strip_prefix(b"="))
        .map(<[u8]>::to_vec)
        .collect()
}
