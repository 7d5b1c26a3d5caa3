//! Sandboxes with bubblewrap: a file system that contains only the accessible paths, and separate namespaces for
//! processes, IPC and, unless it is allowed, the network. When the first process of the sandbox ends, the kernel ends
//! all others.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use foreign::escape_invisible;
use process_wrap::tokio::ChildWrapper;
use tokio::io::AsyncReadExt;
use tokio::time::timeout;

use super::opened_paths::{OpenedPath, open_reachable_paths};
use super::root_owned::canonical_if_root_owned;
use super::start_barrier::StartBarrierDescriptors;
use super::{ProcessRestriction, local_sockets, system_calls};
use crate::launch::ProcessLaunch;
use crate::programs::SearchPath;
use crate::sandbox::{NetworkAccess, ResolvedSandbox, SandboxError};

/// File name of the bubblewrap program.
const BWRAP_PROGRAM: &str = "bwrap";
/// Maximum duration of a trial run, which tests whether bubblewrap works on this computer.
const BUBBLEWRAP_TRIAL_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum number of bytes of bubblewrap's standard error that are read.
const MAX_ERROR_OUTPUT_BYTES: u64 = 1024;

/// Maximum size of a server's `/tmp` and of its `/dev/shm`, in bytes. Both are in memory.
const MAX_MEMORY_FOLDER_BYTES: u64 = 512 * 1024 * 1024;
/// Options that prevent a server from creating more namespaces (from bubblewrap 0.8).
const NO_NESTED_NAMESPACE_OPTIONS: [&str; 2] = ["--unshare-user", "--disable-userns"];

/// Time after which a trial run that found only some features of bubblewrap is repeated. The computer may have been too
/// busy for the missing features.
const BUBBLEWRAP_TRIAL_RETRY_INTERVAL: Duration = Duration::from_secs(60);

/// Results of successful trial runs by canonical path of the bubblewrap program. Failures are not cached, because
/// bubblewrap may be installed meanwhile.
static BUBBLEWRAP_TRIAL_RESULTS: Mutex<BTreeMap<PathBuf, BubblewrapTrialResult>> = Mutex::new(BTreeMap::new());

/// Features of bubblewrap that a trial run has found, and the time of the run.
#[derive(Debug, Clone, Copy)]
struct BubblewrapTrialResult {
    features: BubblewrapFeatures,
    since: Instant,
}

impl BubblewrapTrialResult {
    /// Returns `true` if the trial run need not be repeated: it found all features, or it was less than
    /// [`BUBBLEWRAP_TRIAL_RETRY_INTERVAL`] ago.
    fn is_current(&self, now: Instant) -> bool {
        self.features == BubblewrapFeatures::ALL[0]
            || now.saturating_duration_since(self.since) < BUBBLEWRAP_TRIAL_RETRY_INTERVAL
    }
}

/// Optional features of bubblewrap, which only some of its versions have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct BubblewrapFeatures {
    /// Set if bubblewrap can prevent the server from creating more namespaces, and can limit the size of folders in
    /// memory. Without this feature, only seccomp prevents more namespaces.
    namespace_and_memory_limits: bool,
    /// Set if bubblewrap accepts folders as file descriptors (0.10, and Debian's 0.8). Otherwise it receives their
    /// paths.
    folder_descriptors: bool,
}

impl BubblewrapFeatures {
    const NONE: BubblewrapFeatures =
        BubblewrapFeatures { namespace_and_memory_limits: false, folder_descriptors: false };
    /// Combinations of features in the order in which trial runs test them, from all features to none.
    const ALL: [BubblewrapFeatures; 4] = [
        BubblewrapFeatures { namespace_and_memory_limits: true, folder_descriptors: true },
        BubblewrapFeatures { namespace_and_memory_limits: true, folder_descriptors: false },
        BubblewrapFeatures { namespace_and_memory_limits: false, folder_descriptors: true },
        BubblewrapFeatures::NONE,
    ];

    /// Returns the result of a successful trial run of the bubblewrap program at this path.
    fn cached_trial(program: &Path) -> Option<BubblewrapTrialResult> {
        BUBBLEWRAP_TRIAL_RESULTS.lock().unwrap_or_else(PoisonError::into_inner).get(program).copied()
    }

    /// Stores the features that a trial run of the bubblewrap program at this path has found.
    fn cache_trial(self, program: &Path) {
        let known = BubblewrapTrialResult { features: self, since: Instant::now() };
        BUBBLEWRAP_TRIAL_RESULTS.lock().unwrap_or_else(PoisonError::into_inner).insert(program.to_owned(), known);
    }
}

/// Returns the canonical path of bubblewrap if it is on the search path and works on this computer. It does not work on
/// systems that do not permit its namespaces. The ownership of its file is checked each time.
///
/// # Errors
/// Returns a message that explains why bubblewrap can't be used.
pub(super) async fn find(path: &SearchPath) -> Result<PathBuf, String> {
    let found: Vec<PathBuf> =
        path.directories.iter().map(|folder| folder.join(BWRAP_PROGRAM)).filter(|program| program.is_file()).collect();
    let first = found.first().ok_or_else(|| "bubblewrap is not installed".to_owned())?;
    // A copy that is not owned by root is skipped, so it does not prevent the use of a later copy that is.
    let Some(program) = found.iter().find_map(|program| canonical_if_root_owned(program)) else {
        return Err(format!("{} may be changed by others than the system", first.display()));
    };
    if BubblewrapFeatures::cached_trial(&program).is_some_and(|known| known.is_current(Instant::now())) {
        return Ok(program);
    }
    let mut failure = String::new();
    for features in BubblewrapFeatures::ALL {
        match run_trial(&program, features).await {
            Ok(()) => {
                features.cache_trial(&program);
                return Ok(program);
            }
            Err(cause) => failure = cause,
        }
    }
    Err(format!("bubblewrap does not work here ({failure})"))
}

/// Tests whether bubblewrap works with these features: runs a shell that does nothing in a sandbox without a network.
async fn run_trial(program: &Path, features: BubblewrapFeatures) -> Result<(), String> {
    let system_calls = system_calls::seccomp_filter_file()?;
    let mut arguments = namespace_arguments(&NetworkAccess::None, features);
    let mut passed_on = Vec::new();
    if features.folder_descriptors {
        let root: OwnedFd = File::open("/usr").map_err(|error| error.to_string())?.into();
        arguments.extend(["--ro-bind-fd".into(), root.as_raw_fd().to_string().into(), "/usr".into()]);
        passed_on.push(root);
    }
    for folder in ["/usr", "/bin", "/lib", "/lib64", "/nix/store", "/gnu/store"] {
        append_mount_option(&mut arguments, "--ro-bind-try", Path::new(folder));
    }
    append_read_only_root_and_seccomp_arguments(&mut arguments, &system_calls);
    passed_on.push(system_calls);
    arguments.extend(["--", "/bin/sh", "-c", ":"].map(OsString::from));
    let filters = vec![local_sockets::seccomp_filter(true)?];
    let restriction = ProcessRestriction { rules: None, filters, limits: None, passed_on };
    let launch = ProcessLaunch {
        program: program.to_owned(),
        arguments,
        environment: Vec::new(),
        directory: PathBuf::from("/"),
        pipes_input_and_errors: true,
        setup: Some(restriction.setup()),
    };
    let mut child = launch.start().await.map_err(|error| error.to_string())?;
    let ended = timeout(BUBBLEWRAP_TRIAL_TIMEOUT, wait_for_end(child.as_mut())).await;
    // Fails only if the process has ended.
    let _ = child.start_kill();
    match ended {
        Ok(Ok((status, _))) if status.success() => Ok(()),
        Ok(Ok((status, words))) if words.is_empty() => Err(status.to_string()),
        Ok(Ok((_, words))) => Err(words),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err("the trial run did not end in time".to_owned()),
    }
}

/// Waits until a bubblewrap process has ended. Returns its exit status and what it wrote to standard error.
pub(super) async fn wait_for_end(child: &mut dyn ChildWrapper) -> io::Result<(ExitStatus, String)> {
    let mut words = Vec::new();
    if let Some(stderr) = child.stderr().take() {
        stderr.take(MAX_ERROR_OUTPUT_BYTES).read_to_end(&mut words).await?;
    }
    let status = child.inner_mut().wait().await?;
    Ok((status, escape_invisible(String::from_utf8_lossy(&words).trim()).into_owned()))
}

/// Returns all arguments of bubblewrap that precede the server's program, and the file descriptors to which they refer.
/// `variables` are set for the server's program and not for bubblewrap.
///
/// # Errors
/// Returns the error of [`open_reachable_paths`] if a folder differs from the approved one.
pub(super) fn bubblewrap_arguments(
    plan: &ResolvedSandbox,
    program: &Path,
    directory: &Path,
    variables: Vec<(OsString, OsString)>,
    system_calls: OwnedFd,
    barrier: Option<StartBarrierDescriptors>,
) -> Result<(Vec<OsString>, Vec<OwnedFd>), SandboxError> {
    let features = BubblewrapFeatures::cached_trial(program).map_or(BubblewrapFeatures::NONE, |known| known.features);
    let mut arguments = namespace_arguments(&plan.network, features);
    for (name, value) in variables {
        arguments.extend(["--setenv".into(), name, value]);
    }
    // If bubblewrap does not accept descriptors, it resolves the paths itself, immediately after this check.
    let mut passed_on = Vec::new();
    let mut hidden = plan.reach.hidden.iter().peekable();
    // Each folder is mounted before its subfolders, so that the more specific path takes effect.
    for OpenedPath { path, writable, descriptor, .. } in open_reachable_paths(&plan.reach)? {
        while let Some(hidden) = hidden.next_if(|hidden| **hidden < path) {
            mount_empty_folder(&mut arguments, hidden);
        }
        match descriptor.filter(|_| features.folder_descriptors) {
            Some(descriptor) => {
                let how = if writable { "--bind-fd" } else { "--ro-bind-fd" };
                arguments.extend([how.into(), descriptor.as_raw_fd().to_string().into(), path.into()]);
                passed_on.push(descriptor);
            }
            None => append_mount_option(&mut arguments, if writable { "--bind" } else { "--ro-bind" }, &path),
        }
    }
    for hidden in hidden {
        mount_empty_folder(&mut arguments, hidden);
    }
    // The hidden folders are made read-only last, because the server's own home may be mounted in one of them.
    for hidden in &plan.reach.hidden {
        arguments.extend(["--remount-ro".into(), hidden.into()]);
    }
    append_read_only_root_and_seccomp_arguments(&mut arguments, &system_calls);
    passed_on.push(system_calls);
    if let Some(StartBarrierDescriptors { info, block }) = barrier {
        for (option, descriptor) in [("--info-fd", info), ("--block-fd", block)] {
            arguments.extend([option.into(), descriptor.as_raw_fd().to_string().into()]);
            passed_on.push(descriptor);
        }
    }
    arguments.push("--chdir".into());
    arguments.push(directory.into());
    arguments.push("--".into());
    Ok((arguments, passed_on))
}

/// Adds the arguments that mount an empty folder over one of Drawbridge's own folders.
fn mount_empty_folder(arguments: &mut Vec<OsString>, folder: &Path) {
    arguments.extend(["--tmpfs".into(), folder.into()]);
}

fn namespace_arguments(network: &NetworkAccess, features: BubblewrapFeatures) -> Vec<OsString> {
    let mut arguments = vec!["--unshare-all"];
    if *network == NetworkAccess::Full {
        arguments.push("--share-net");
    }
    if features.namespace_and_memory_limits {
        arguments.extend(NO_NESTED_NAMESPACE_OPTIONS);
    }
    arguments.extend(["--die-with-parent", "--cap-drop", "ALL", "--proc", "/proc", "--dev", "/dev"]);
    let mut arguments: Vec<OsString> = arguments.into_iter().map(OsString::from).collect();
    for folder in ["/dev/shm", "/tmp"] {
        if features.namespace_and_memory_limits {
            arguments.extend(["--size".into(), MAX_MEMORY_FOLDER_BYTES.to_string().into()]);
        }
        arguments.extend(["--tmpfs", folder].map(OsString::from));
    }
    arguments
}

/// Adds the last arguments, which make the root folder and `/dev` read-only and install the filter of system calls.
fn append_read_only_root_and_seccomp_arguments(arguments: &mut Vec<OsString>, system_calls: &OwnedFd) {
    arguments.extend(["--remount-ro", "/dev", "--remount-ro", "/"].map(OsString::from));
    arguments.extend(["--seccomp".into(), system_calls.as_raw_fd().to_string().into()]);
}

fn append_mount_option(arguments: &mut Vec<OsString>, how: &str, path: &Path) {
    arguments.extend([how.into(), path.into(), path.into()]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incomplete_bubblewrap_trial_is_repeated() {
        let since = Instant::now();
        for features in BubblewrapFeatures::ALL {
            let known = BubblewrapTrialResult { features, since };
            assert!(known.is_current(since), "a fresh result must be used: {features:?}");
            let is_best = features.namespace_and_memory_limits && features.folder_descriptors;
            assert_eq!(
                known.is_current(since + BUBBLEWRAP_TRIAL_RETRY_INTERVAL),
                is_best,
                "only a complete result must not expire: {features:?}"
            );
        }
    }
}
