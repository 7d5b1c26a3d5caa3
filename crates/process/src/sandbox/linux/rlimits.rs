//! Kernel limits that apply to a server between two measurements of [`super::usage_watch`]. They are higher than the
//! limits at which a server is stopped.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;

use nix::sys::resource::{Resource, setrlimit};

use super::sandbox_setup_error;
use crate::sandbox::limits::ResourceLimits;

/// Factor by which the kernel's memory limit for a single process exceeds the limit for all processes of the server
/// together.
const PROCESS_MEMORY_LIMIT_FACTOR: u64 = 2;

/// Resource limits that the kernel enforces in a server's process.
#[derive(Debug, Clone, Copy)]
pub(super) struct KernelLimits {
    /// Maximum number of processes and threads of the user. The kernel counts all of them, including those outside the
    /// sandbox. `None` sets no limit, because their present number is unknown.
    processes: Option<u64>,
    /// Maximum writable memory of each process, in bytes.
    memory_bytes: u64,
}

impl KernelLimits {
    /// Returns the kernel limits for a server with these resource limits.
    pub(super) fn from_limits(limits: &ResourceLimits) -> KernelLimits {
        // The kernel counts the user's other processes as well, and their number may grow.
        let processes = user_task_count().map(|tasks| 2 * tasks + 2 * u64::from(limits.processes));
        KernelLimits { processes, memory_bytes: limits.memory_bytes.saturating_mul(PROCESS_MEMORY_LIMIT_FACTOR) }
    }

    /// Applies the limits to the current process and to the descendants that it starts. Runs in the child before its
    /// program.
    pub(super) fn enforce(self) -> io::Result<()> {
        setrlimit(Resource::RLIMIT_CORE, 0, 0).map_err(sandbox_setup_error)?;
        limit_resource(Resource::RLIMIT_DATA, self.memory_bytes)?;
        match self.processes {
            Some(processes) => limit_resource(Resource::RLIMIT_NPROC, processes),
            None => Ok(()),
        }
    }
}

/// Lowers a resource limit of the current process to `most`. A limit that is already lower is left unchanged.
fn limit_resource(resource: Resource, most: u64) -> io::Result<()> {
    let (_, hard) = nix::sys::resource::getrlimit(resource).map_err(sandbox_setup_error)?;
    let most = most.min(hard);
    setrlimit(resource, most, most).map_err(sandbox_setup_error)
}

/// Returns the current number of processes and threads of this user.
fn user_task_count() -> Option<u64> {
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
