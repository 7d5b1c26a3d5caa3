//! Why a server is not running, in words, with what helps to find out.

use mcp_proto::session::{CloseReason, OpeningFault};
use process::{CommandNotFound, SpawnError, missing};

use super::Target;
use crate::view::{Failure, FailureReason};

/// The most lines of standard error that explain a failure.
pub(super) const STDERR_LINES: usize = 20;

/// The command is nowhere to be found.
pub(crate) fn not_found(error: CommandNotFound) -> Failure {
    Failure {
        reason: FailureReason::CommandNotFound,
        message: error.to_string(),
        stderr: Vec::new(),
        hint: error.hint.map(str::to_owned),
        looked_in: error.looked_in,
    }
}

/// The system refused to start it.
pub(crate) fn could_not_start(error: &SpawnError) -> Failure {
    Failure::new(FailureReason::CouldNotStart, error.to_string())
}

/// What its settings name can't be had.
pub(crate) fn unresolved(cause: &impl std::fmt::Display) -> Failure {
    Failure::new(FailureReason::NoSecret, cause.to_string())
}

/// It ended, or was ended because it does not speak the protocol. Nothing if the user stopped it.
pub(crate) fn closed(
    reason: &CloseReason,
    fault: Option<OpeningFault>,
    was_ready: bool,
    remote: bool,
    stderr: Vec<String>,
) -> Option<Failure> {
    let reason_kind = match reason {
        CloseReason::StoppedByUser => return None,
        CloseReason::LimitReached(_) => FailureReason::LimitReached,
        _ if fault == Some(OpeningFault::NoAnswer) => FailureReason::NoAnswer,
        _ if matches!(fault, Some(OpeningFault::Refused | OpeningFault::NotStreamable)) => FailureReason::Protocol,
        _ if fault == Some(OpeningFault::Unauthorized) => FailureReason::Unauthorized,
        _ if matches!(fault, Some(OpeningFault::Unreachable | OpeningFault::ServerError)) => FailureReason::Unreachable,
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

/// A server that ended early in a sandbox may have missed something there: says so, and what to add as far as that can be told.
pub(super) async fn in_sandbox(failure: Failure, target: &Target) -> Failure {
    let Target::Process { command, program, path } = target else { return failure };
    let Some(plan) = command.approved.clone().filter(|_| failure.reason == FailureReason::ExitedEarly) else {
        return failure;
    };
    let (command, program, path) = (command.clone(), program.clone(), path.clone());
    let looking = tokio::task::spawn_blocking(move || missing(&command, &program, &path, &plan));
    // An interruption leaves hints out, and nothing else.
    let missing = looking.await.unwrap_or_default();
    let mut hint = String::from(
        "It ran in a sandbox, which may be the cause: it reaches only its own folders, the system's programs and what its page lists.",
    );
    for one in missing {
        hint.push_str(&format!(" Probably {one}."));
    }
    if let Some(before) = &failure.hint {
        hint.push(' ');
        hint.push_str(before);
    }
    Failure { hint: Some(hint), ..failure }
}
