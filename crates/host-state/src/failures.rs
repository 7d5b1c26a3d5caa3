//! Descriptions of why a session ended and of what a sandbox hid from a server. Used by `host/src/connection`.

use mcp_proto::session::{CloseReason, HandshakeFault};
use process::{CommandNotFound, SpawnError};

use crate::view::{BlockedPath, FailureReason, FolderProposal, PathMention, ProposalRefusal, ServerFailure};

/// Returns the failure to display after a server's session has ended, for example because the server violated the
/// protocol. Returns `None` if the host stopped the server without a failure.
#[must_use]
pub fn session_end_failure(
    reason: &CloseReason,
    fault: Option<HandshakeFault>,
    was_ready: bool,
    remote: bool,
    stderr: Vec<String>,
) -> Option<ServerFailure> {
    let reason_kind = match reason {
        CloseReason::StoppedByOwner => return None,
        CloseReason::LimitReached(_) => FailureReason::LimitReached,
        _ if fault == Some(HandshakeFault::NoAnswer) => FailureReason::NoAnswer,
        _ if matches!(fault, Some(HandshakeFault::Refused | HandshakeFault::NotStreamable)) => FailureReason::Protocol,
        _ if fault == Some(HandshakeFault::Unauthorized) => FailureReason::Unauthorized,
        _ if matches!(fault, Some(HandshakeFault::Unreachable | HandshakeFault::ServerError)) => {
            FailureReason::Unreachable
        }
        CloseReason::Unresponsive(_) => FailureReason::Unresponsive,
        _ if was_ready => FailureReason::Exited,
        _ if remote => FailureReason::Unreachable,
        _ => FailureReason::ExitedEarly,
    };
    // For the command line. The page has texts in the user's language (`ui/src/servers/failures.ts`).
    let hint = match reason_kind {
        FailureReason::ExitedEarly => {
            Some("Its output below usually states the reason. Try the same command in a terminal.".to_owned())
        }
        FailureReason::Unauthorized => {
            Some("If its provider gave you a key, put it into a header such as Authorization.".to_owned())
        }
        FailureReason::LimitReached => {
            Some("If it needs more, raise the limit in Drawbridge's settings and start it again.".to_owned())
        }
        _ => None,
    };
    Some(ServerFailure { stderr, hint, ..ServerFailure::new(reason_kind, reason.to_string()) })
}

/// Describes a path that the sandbox hides from the server, and the next step for the user.
#[must_use]
pub fn blocked_path_text(blocked: &BlockedPath) -> String {
    let BlockedPath { path, named_by, proposal } = blocked;
    let by = match named_by {
        PathMention::Command => "Its command names",
        PathMention::Server => "It says that it needs",
    };
    let next = match proposal {
        FolderProposal::Folder { folder, .. } => {
            format!("If it may read that, add the folder {folder} to its sandbox.")
        }
        FolderProposal::None { reason } => {
            let why = match reason {
                ProposalRefusal::Secrets => "it contains keys, passwords or sessions",
                ProposalRefusal::TooBroad => "that folder contains far more than a program",
                ProposalRefusal::System => "that is the system's",
                ProposalRefusal::Own => "that is Drawbridge's own",
                ProposalRefusal::Name => "its name has invisible characters",
            };
            format!("No folder is proposed, as {why}.")
        }
    };
    format!("{by} {path}, which the sandbox hides. {next}")
}

/// Describes a server's command whose program was not found.
#[must_use]
pub fn command_not_found_failure(error: CommandNotFound) -> ServerFailure {
    ServerFailure {
        reason: FailureReason::CommandNotFound,
        message: error.to_string(),
        stderr: Vec::new(),
        hint: error.hint.map(str::to_owned),
        looked_in: error.looked_in,
        blocked: Box::default(),
        sandbox: None,
        refusal: None,
    }
}

/// Describes why a server's process could not be started.
#[must_use]
pub fn spawn_failure(error: &SpawnError) -> ServerFailure {
    let sandbox = match error {
        SpawnError::Sandbox(error) => Some(error.problem()),
        _ => None,
    };
    ServerFailure { sandbox, ..ServerFailure::new(FailureReason::CouldNotStart, error.to_string()) }
}

/// Describes a secret or variable in the settings that is not available.
#[must_use]
pub fn unresolved_secret_failure(cause: &impl std::fmt::Display) -> ServerFailure {
    ServerFailure::new(FailureReason::NoSecret, cause.to_string())
}
