//! Limits that the kernel holds a server to between two looks of [`super::watch`]. They are wider than those it is stopped for.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;

use nix::sys::resource::{Resource, setrlimit};

use super::refused;
use crate::sandbox::limits::ResourceLimits;

/// How much wider than the bound of all processes the bound of one process's memory is.
const MEMORY_FACTOR: u64 = 2;

/// What is set in the child.
#[derive(Debug, Clone, Copy)]
pub(super) struct KernelLimits {
    /// Processes and threads of this user. The kernel counts them all together, those outside of the sandbox too.
    processes: Option<u64>,
    /// Memory that one process can write to, in bytes.
    memory_bytes: u64,
}

impl KernelLimits {
    /// As wide as this server may need them.
    pub(super) fn of(limits: &ResourceLimits) -> KernelLimits {
        // What the user has already is not the server's, and may become more meanwhile.
        let processes = tasks_of_user().map(|tasks| 2 * tasks + 2 * u64::from(limits.processes));
        KernelLimits { processes, memory_bytes: limits.memory_bytes.saturating_mul(MEMORY_FACTOR) }
    }

    /// In the child: they hold it and all that it starts.
    pub(super) fn enforce(self) -> io::Result<()> {
        setrlimit(Resource::RLIMIT_CORE, 0, 0).map_err(refused)?;
        lower(Resource::RLIMIT_DATA, self.memory_bytes)?;
        match self.processes {
            Some(processes) => lower(Resource::RLIMIT_NPROC, processes),
            None => Ok(()),
        }
    }
}

/// Sets a limit, unless a lower one holds already.
fn lower(resource: Resource, most: u64) -> io::Result<()> {
    let (_, hard) = nix::sys::resource::getrlimit(resource).map_err(refused)?;
    let most = most.min(hard);
    setrlimit(resource, most, most).map_err(refused)
}

/// How many processes and threads this user has now.
fn tasks_of_user() -> Option<u64> {
    let own = fs::metadata("/proc/self").ok()?.uid();
    let mut tasks = 0;
    for entry in fs::read_dir("/proc").ok()?.flatten() {
        let is_process = entry.file_name().to_str().is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
        if !is_process {
            continue;
        }
        let Ok(facts) = entry.metadata() else { continue };
        if facts.uid() == own {
            tasks += fs::read_dir(entry.path().join("task")).map_or(0, |tasks| tasks.count() as u64);
        }
    }
    Some(tasks)
}
