//! Sandboxes of Linux: bubblewrap where it works, else Landlock.
//!
//! In both the server can't open sockets to other programs of this computer (the message bus, Docker, the desktop), since what is
//! asked of those happens outside; nor io_uring, which seccomp does not see into.

mod bubblewrap;
mod landlock;
mod local_sockets;

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use ::landlock::RulesetCreated;
use seccompiler::BpfProgram;
use tokio::process::Command;

use super::{Inside, Mechanism, Plan, SandboxError};
use crate::stdio::SearchPath;

/// What to do where neither works.
const NEXT: &str =
    "Install bubblewrap (the package is called bubblewrap), or turn the sandbox off in the server's settings";

/// What a process gives up before its program runs, and can never have again.
pub(crate) struct Restriction {
    rules: Option<RulesetCreated>,
    filter: BpfProgram,
}

impl Restriction {
    /// Has the process that the command starts give it up.
    pub(crate) fn install(self, command: &mut Command) {
        let Restriction { mut rules, filter } = self;
        crate::platform::in_child(command, move || {
            if let Some(rules) = rules.take() {
                crate::platform::give_up_capabilities().map_err(refused)?;
                landlock::enforce(rules)?;
            }
            local_sockets::enforce(&filter)
        });
    }
}

/// What can hold a server here. bubblewrap is looked for on the search path.
pub(super) async fn mechanism(path: &SearchPath) -> Result<Mechanism, SandboxError> {
    let bubblewrap = match bubblewrap::find(path).await {
        Ok(program) => return Ok(Mechanism::Bubblewrap(program)),
        Err(cause) => cause,
    };
    match landlock::check() {
        Ok(()) => Ok(Mechanism::Landlock),
        Err(landlock) => Err(SandboxError::NotHere { cause: format!("{bubblewrap}, and {landlock}"), next: NEXT }),
    }
}

pub(super) fn inside(plan: &Plan, server: Inside, directory: &Path) -> Result<Inside, SandboxError> {
    let not_here = |cause: String| SandboxError::NotHere { cause, next: NEXT };
    match &plan.mechanism {
        Mechanism::Bubblewrap(wrap) => {
            let filter = local_sockets::filter(true).map_err(not_here)?;
            let restriction = Some(Restriction { rules: None, filter });
            // bubblewrap itself is not held yet: what would have it load a file of the server's is for the server alone.
            let (loads, environment): (Vec<_>, Vec<_>) =
                server.environment.into_iter().partition(|(name, _)| name.as_bytes().starts_with(b"LD_"));
            let mut arguments = bubblewrap::arguments(plan, directory, loads);
            arguments.push(server.program.into());
            arguments.extend(server.arguments);
            Ok(Inside { program: wrap.clone(), arguments, environment, restriction })
        }
        Mechanism::Landlock => {
            let rules = landlock::rules(&plan.reach).map_err(not_here)?;
            let filter = local_sockets::filter(plan.network).map_err(not_here)?;
            Ok(Inside { restriction: Some(Restriction { rules: Some(rules), filter }), ..server })
        }
        Mechanism::Seatbelt => Err(not_here("sandbox-exec is a program of macOS".to_owned())),
    }
}

/// Only a number comes back from a child, so this one stands for all that goes wrong there with a sandbox.
pub(crate) const REFUSED: i32 = nix::libc::ENOTRECOVERABLE;

/// What is told where it does.
pub(crate) fn refused_at_start() -> SandboxError {
    let cause = "the kernel took the sandbox's rules and then refused to enforce them".to_owned();
    SandboxError::NotHere { cause, next: NEXT }
}

fn refused(_cause: impl std::fmt::Display) -> io::Error {
    io::Error::from_raw_os_error(REFUSED)
}
