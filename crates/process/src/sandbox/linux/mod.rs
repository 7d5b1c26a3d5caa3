//! Sandboxes on Linux: bubblewrap if it works, or else Landlock.
//!
//! With both, the server can't open sockets to other programs of this computer (the message bus, Docker, the desktop),
//! because those programs act outside the sandbox. It can't use io_uring either, whose operations seccomp does not see,
//! create namespaces, or make system calls that servers don't need (`system_calls`).

mod bubblewrap;
mod landlock;
mod local_sockets;
mod opened_paths;
mod rlimits;
mod root_owned;
mod start_barrier;
mod system_calls;
mod usage_watch;

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use ::landlock::RulesetCreated;
use seccompiler::BpfProgram;
use tokio::process::Command;

use rlimits::KernelLimits;
pub(crate) use start_barrier::StartBarrier;
pub(crate) use usage_watch::UsageWatch;

use super::egress::set_proxy_variables;
use super::{LaunchCommand, NetworkAccess, ResolvedSandbox, SandboxError, SandboxMechanism};
use crate::launch::ChildSetup;
use crate::platform;
use crate::programs::SearchPath;

/// Advice for the user if neither bubblewrap nor Landlock works.
const NO_SANDBOX_MECHANISM_ADVICE: &str =
    "Install bubblewrap (the package is called bubblewrap), or turn the sandbox off in the server's settings";

/// Irrevocable restrictions of a process, which take effect before its program runs.
struct ProcessRestriction {
    rules: Option<RulesetCreated>,
    /// Seccomp filters for system calls, all of which are applied.
    filters: Vec<BpfProgram>,
    limits: Option<KernelLimits>,
    /// File descriptors that the started program inherits in addition to 0, 1 and 2. The started program is bubblewrap,
    /// which closes them before it runs the server.
    passed_on: Vec<OwnedFd>,
}

impl ProcessRestriction {
    /// Returns the function that applies the restrictions to a child process before its program runs.
    fn setup(self) -> ChildSetup {
        let ProcessRestriction { mut rules, filters, limits, passed_on } = self;
        let give_up = move || {
            limits.map_or(Ok(()), KernelLimits::enforce)?;
            if let Some(rules) = rules.take() {
                platform::drop_capabilities().map_err(sandbox_setup_error)?;
                // Orphaned descendants are reparented to the server's first process, so that they are counted and
                // ended.
                nix::sys::prctl::set_child_subreaper(true).map_err(sandbox_setup_error)?;
                landlock::enforce(rules)?;
            }
            passed_on.iter().try_for_each(|file| platform::make_inheritable(file.as_fd()))?;
            filters.iter().try_for_each(local_sockets::enforce)
        };
        Box::new(move |command: &mut Command| platform::add_pre_exec_step(command, give_up))
    }
}

/// Returns the sandbox mechanism that works on this computer, bubblewrap or else Landlock. bubblewrap is looked up on
/// the search path.
pub(super) async fn find_sandbox_mechanism(path: &SearchPath) -> Result<SandboxMechanism, SandboxError> {
    let bubblewrap = match bubblewrap::find(path).await {
        Ok(program) => return Ok(SandboxMechanism::Bubblewrap(program)),
        Err(cause) => cause,
    };
    match landlock::check_landlock_support() {
        Ok(()) => Ok(SandboxMechanism::Landlock),
        Err(landlock) => Err(SandboxError::NoMechanism {
            cause: format!("{bubblewrap}, and {landlock}"),
            next: NO_SANDBOX_MECHANISM_ADVICE,
        }),
    }
}

/// Checks each feature that the sandbox mechanisms need. Returns the name of each feature, with `Ok` if it can be used
/// or the reason why not.
pub(super) async fn check_sandbox_features(path: &SearchPath) -> Vec<(&'static str, Result<(), String>)> {
    vec![
        ("bubblewrap", bubblewrap::find(path).await.map(drop)),
        ("Landlock", landlock::check_landlock_support()),
        ("seccomp", system_calls::check_seccomp_support()),
    ]
}

pub(super) fn wrap_in_sandbox(
    plan: &ResolvedSandbox,
    server: LaunchCommand,
    directory: &Path,
) -> Result<LaunchCommand, SandboxError> {
    let no_mechanism = |cause: String| SandboxError::NoMechanism { cause, next: NO_SANDBOX_MECHANISM_ADVICE };
    let limits = Some(KernelLimits::from_limits(&plan.limits));
    match &plan.mechanism {
        SandboxMechanism::Bubblewrap(wrap) => {
            let filters = vec![local_sockets::seccomp_filter(true).map_err(no_mechanism)?];
            let system_calls = system_calls::seccomp_filter_file().map_err(no_mechanism)?;
            // bubblewrap runs outside the sandbox, so variables that make the loader load files are set only for the
            // server.
            let (loads, mut environment): (Vec<_>, Vec<_>) =
                server.environment.into_iter().partition(|(name, _)| name.as_bytes().starts_with(b"LD_"));
            let (barrier, ends) = match &plan.network {
                NetworkAccess::Hosts(hosts) => {
                    set_proxy_variables(&mut environment, hosts);
                    StartBarrier::new(hosts.clone()).map(|(barrier, ends)| (Some(barrier), Some(ends)))
                }
                NetworkAccess::None | NetworkAccess::Full => Ok((None, None)),
            }
            .map_err(|error| no_mechanism(error.to_string()))?;
            let (mut arguments, passed_on) =
                bubblewrap::bubblewrap_arguments(plan, wrap, directory, loads, system_calls, ends)?;
            arguments.push(server.program.into());
            arguments.extend(server.arguments);
            let setup = Some(ProcessRestriction { rules: None, filters, limits, passed_on }.setup());
            Ok(LaunchCommand { program: wrap.clone(), arguments, environment, setup, barrier })
        }
        SandboxMechanism::Landlock => {
            // Landlock can enforce only the whole network or none. `ResolvedSandbox::resolve` has already refused other
            // plans.
            if matches!(plan.network, NetworkAccess::Hosts(_)) {
                return Err(SandboxError::HostsUnsupported { mechanism: plan.mechanism.name() });
            }
            let rules = landlock::build_landlock_rules(opened_paths::open_reachable_paths(&plan.reach)?)
                .map_err(no_mechanism)?;
            let sockets = local_sockets::seccomp_filter(plan.network == NetworkAccess::Full).map_err(no_mechanism)?;
            let filters = vec![sockets, system_calls::seccomp_filter().map_err(no_mechanism)?];
            let restriction = ProcessRestriction { rules: Some(rules), filters, limits, passed_on: Vec::new() };
            Ok(LaunchCommand { setup: Some(restriction.setup()), ..server })
        }
        SandboxMechanism::Seatbelt => Err(no_mechanism("sandbox-exec is a program of macOS".to_owned())),
    }
}

/// Error number with which the child reports any failure to set up its sandbox, because a child can report only a
/// number to its parent.
pub(crate) const SANDBOX_SETUP_FAILURE_ERRNO: i32 = nix::libc::ENOTRECOVERABLE;

/// Returns the error to report if a child process has failed with [`SANDBOX_SETUP_FAILURE_ERRNO`].
pub(crate) fn sandbox_error_at_start() -> SandboxError {
    let cause = "the kernel took the sandbox's rules and then refused to enforce them".to_owned();
    SandboxError::NoMechanism { cause, next: NO_SANDBOX_MECHANISM_ADVICE }
}

fn sandbox_setup_error(_cause: impl std::fmt::Display) -> io::Error {
    io::Error::from_raw_os_error(SANDBOX_SETUP_FAILURE_ERRNO)
}
