//! Descriptions of why a server is not running, with details for finding the cause.

use std::time::Duration;

use host_state::blocked_path_text;
use process::{MissingDependency, blocked_paths, missing_dependencies};

use super::ConnectionTarget;
use crate::view::{FailureReason, ServerFailure};

/// Maximum number of lines of standard error that are included in a failure.
pub(super) const MAX_FAILURE_STDERR_LINES: usize = 20;
/// Timeout for searching the disk for files that the sandbox hid from a server.
const BLOCKED_PATHS_TIMEOUT: Duration = Duration::from_secs(2);

/// Adds the files that the sandbox may have hidden from a server that failed to start, and the next step for the user,
/// if any can be determined.
pub(super) async fn with_blocked_paths(failure: ServerFailure, target: &ConnectionTarget) -> ServerFailure {
    let ConnectionTarget::Process { command, program, path } = target else { return failure };
    let is_early = failure.reason == FailureReason::ExitedEarly;
    let hangs = matches!(failure.reason, FailureReason::NoAnswer | FailureReason::Unresponsive);
    let may_be = is_early || hangs || matches!(failure.reason, FailureReason::Exited | FailureReason::Protocol);
    let Some(plan) = command.approved.clone().filter(|_| may_be) else { return failure };
    let (command, program, path, stderr) = (command.clone(), program.clone(), path.clone(), failure.stderr.clone());
    let looking = tokio::task::spawn_blocking(move || {
        let relative = missing_dependencies(&command, &program, &path, &plan);
        let relative = relative.into_iter().find(|missing| matches!(missing, MissingDependency::Relative { .. }));
        (blocked_paths(&stderr, &command, &program, &path, &plan), relative)
    });
    // A path that the server names may be on a disk that does not respond. After the timeout, only the hint is missing.
    let looked = tokio::time::timeout(BLOCKED_PATHS_TIMEOUT, looking).await;
    let (blocked, relative) = looked.ok().and_then(Result::ok).unwrap_or_default();
    if !is_early && blocked.is_empty() {
        return failure;
    }
    let mut hint = String::from("It ran in a sandbox, which may be the cause");
    if blocked.is_empty() && relative.is_none() {
        hint.push_str(": it reaches only its own folders, the system's programs and what its page lists");
    }
    hint.push('.');
    for one in &blocked {
        hint.push(' ');
        hint.push_str(&blocked_path_text(one));
    }
    if let Some(relative) = relative {
        hint.push_str(&format!(" Probably {relative}."));
    }
    if let Some(before) = failure.hint.as_deref().filter(|_| blocked.is_empty()) {
        hint.push(' ');
        hint.push_str(before);
    }
    ServerFailure { hint: Some(hint), blocked: blocked.into(), ..failure }
}
