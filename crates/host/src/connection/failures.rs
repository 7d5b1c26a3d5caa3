//! Descriptions of why a server is not running, with details for finding the cause.

use std::time::Duration;

use mcp_proto::session::{CloseReason, HandshakeFault};
use process::{CommandNotFound, MissingDependency, SpawnError, blocked_paths, missing_dependencies};

use super::ConnectionTarget;
use crate::view::{BlockedPath, Failure, FailureReason, FolderProposal, PathMention, ProposalRefusal};

/// Maximum number of lines of standard error that are included in a failure.
pub(super) const STDERR_LINES: usize = 20;
/// Timeout for searching the disk for files that the sandbox hid from a server.
const BLOCKED_PATHS_TIMEOUT: Duration = Duration::from_secs(2);

/// Describes a command that was not found.
pub(crate) fn command_not_found_failure(error: CommandNotFound) -> Failure {
    Failure {
        reason: FailureReason::CommandNotFound,
        message: error.to_string(),
        stderr: Vec::new(),
        hint: error.hint.map(str::to_owned),
        looked_in: error.looked_in,
        blocked: Box::default(),
        sandbox: None,
    }
}

/// Describes a process that the system refused to start.
pub(crate) fn spawn_failure(error: &SpawnError) -> Failure {
    let sandbox = match error {
        SpawnError::Sandbox(error) => Some(error.problem()),
        _ => None,
    };
    Failure { sandbox, ..Failure::new(FailureReason::CouldNotStart, error.to_string()) }
}

/// Describes a secret or variable in the settings that is not available.
pub(crate) fn unresolved_secret_failure(cause: &impl std::fmt::Display) -> Failure {
    Failure::new(FailureReason::NoSecret, cause.to_string())
}

/// Describes the end of a session, including sessions that were ended because the server violated the protocol. Returns
/// `None` if the user stopped the server.
pub(crate) fn session_end_failure(
    reason: &CloseReason,
    fault: Option<HandshakeFault>,
    was_ready: bool,
    remote: bool,
    stderr: Vec<String>,
) -> Option<Failure> {
    let reason_kind = match reason {
        CloseReason::StoppedByUser => return None,
        CloseReason::LimitReached(_) => FailureReason::LimitReached,
        _ if fault == Some(HandshakeFault::NoAnswer) => FailureReason::NoAnswer,
        _ if matches!(fault, Some(HandshakeFault::Refused | HandshakeFault::NotStreamable)) => FailureReason::Protocol,
        _ if fault == Some(HandshakeFault::Unauthorized) => FailureReason::Unauthorized,
        _ if matches!(fault, Some(HandshakeFault::Unreachable | HandshakeFault::ServerError)) => {
            FailureReason::Unreachable
        }
        CloseReason::Unresponsive(_) => FailureReason::NoAnswer,
        _ if was_ready => FailureReason::Exited,
        _ if remote => FailureReason::Unreachable,
        _ => FailureReason::ExitedEarly,
    };
    let hint = match reason_kind {
        FailureReason::ExitedEarly => {
            Some("Its own words below usually say why. Try the same command in a terminal.".to_owned())
        }
        FailureReason::Unauthorized => {
            Some("If its provider gave you a key, put it into a header such as Authorization.".to_owned())
        }
        FailureReason::LimitReached => {
            Some("If that is what it needs, raise the limit in Drawbridge's settings and start it again.".to_owned())
        }
        _ => None,
    };
    Some(Failure { stderr, hint, ..Failure::new(reason_kind, reason.to_string()) })
}

/// Adds the files that the sandbox may have hidden from a server that failed to start, and the next step for the user,
/// if any can be determined.
pub(super) async fn with_blocked_paths(failure: Failure, target: &ConnectionTarget) -> Failure {
    let ConnectionTarget::Process { command, program, path } = target else { return failure };
    let is_early = failure.reason == FailureReason::ExitedEarly;
    let may_be =
        is_early || matches!(failure.reason, FailureReason::Exited | FailureReason::NoAnswer | FailureReason::Protocol);
    let Some(plan) = command.approved.clone().filter(|_| may_be) else { return failure };
    let (command, program, path, said) = (command.clone(), program.clone(), path.clone(), failure.stderr.clone());
    let looking = tokio::task::spawn_blocking(move || {
        let relative = missing_dependencies(&command, &program, &path, &plan);
        let relative = relative.into_iter().find(|missing| matches!(missing, MissingDependency::Relative { .. }));
        (blocked_paths(&said, &command, &program, &path, &plan), relative)
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
    Failure { hint: Some(hint), blocked: blocked.into(), ..failure }
}

/// Describes a path that the sandbox hides from the server, and the next step for the user.
fn blocked_path_text(blocked: &BlockedPath) -> String {
    let BlockedPath { path, named_by, offer } = blocked;
    let by = match named_by {
        PathMention::Command => "Its command names",
        PathMention::Server => "It says that it needs",
    };
    let next = match offer {
        FolderProposal::Folder { folder, .. } => {
            format!("If it may read that, add the folder {folder} to its sandbox.")
        }
        FolderProposal::None { because } => {
            let why = match because {
                ProposalRefusal::Secrets => "it contains keys, passwords or sessions",
                ProposalRefusal::TooBroad => "that folder holds far more than a program",
                ProposalRefusal::System => "that is the system's",
                ProposalRefusal::Own => "that is Drawbridge's own",
                ProposalRefusal::Name => "its name has invisible characters",
            };
            format!("No folder is proposed, as {why}.")
        }
    };
    format!("{by} {path}, which the sandbox hides. {next}")
}
