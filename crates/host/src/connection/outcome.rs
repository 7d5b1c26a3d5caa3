//! Why a server is not running, in words, with what helps to find out.

use std::time::Duration;

use mcp_proto::session::{CloseReason, OpeningFault};
use process::{CommandNotFound, Missing, SpawnError, blocked, missing};

use super::Target;
use crate::view::{Blocked, Failure, FailureReason, FolderOffer, NamedBy, NotOffered};

/// The most lines of standard error that explain a failure.
pub(super) const STDERR_LINES: usize = 20;
/// The longest look at the disk for what a server may have missed in its sandbox.
const LOOKING: Duration = Duration::from_secs(2);

/// The command is nowhere to be found.
pub(crate) fn not_found(error: CommandNotFound) -> Failure {
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

/// The system refused to start it.
pub(crate) fn could_not_start(error: &SpawnError) -> Failure {
    let sandbox = match error {
        SpawnError::Sandbox(error) => Some(error.problem()),
        _ => None,
    };
    Failure { sandbox, ..Failure::new(FailureReason::CouldNotStart, error.to_string()) }
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

/// A server that did not come up in a sandbox may have missed something there: adds what that was, and what to do, as far as it can be told.
pub(super) async fn in_sandbox(failure: Failure, target: &Target) -> Failure {
    let Target::Process { command, program, path } = target else { return failure };
    let is_early = failure.reason == FailureReason::ExitedEarly;
    let may_be =
        is_early || matches!(failure.reason, FailureReason::Exited | FailureReason::NoAnswer | FailureReason::Protocol);
    let Some(plan) = command.approved.clone().filter(|_| may_be) else { return failure };
    let (command, program, path, said) = (command.clone(), program.clone(), path.clone(), failure.stderr.clone());
    let looking = tokio::task::spawn_blocking(move || {
        let relative = missing(&command, &program, &path, &plan);
        let relative = relative.into_iter().find(|missing| matches!(missing, Missing::Relative { .. }));
        (blocked(&said, &command, &program, &path, &plan), relative)
    });
    // A path that a server names may lie on a disk that does not answer. An interruption leaves hints out, and nothing else.
    let looked = tokio::time::timeout(LOOKING, looking).await;
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
        hint.push_str(&in_words(one));
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

/// What the sandbox hides, and what to do about it.
fn in_words(blocked: &Blocked) -> String {
    let Blocked { path, named_by, offer } = blocked;
    let by = match named_by {
        NamedBy::Command => "Its command names",
        NamedBy::Server => "It says that it needs",
    };
    let next = match offer {
        FolderOffer::Folder { folder, .. } => {
            format!("If it may read that, add the folder {folder} to its sandbox.")
        }
        FolderOffer::None { because } => {
            let why = match because {
                NotOffered::Secrets => "keys, passwords or sessions lie there",
                NotOffered::TooBroad => "that folder holds far more than a program",
                NotOffered::System => "that is the system's",
                NotOffered::Own => "that is Drawbridge's own",
                NotOffered::Name => "its name has characters that nobody sees",
            };
            format!("No folder is proposed, as {why}.")
        }
    };
    format!("{by} {path}, which the sandbox hides. {next}")
}
