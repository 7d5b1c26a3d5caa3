//! Why a server is not running, in words, with what helps to find out.

use mcp_proto::session::{CloseReason, OpeningFault};
use mcp_transport::stdio::{CommandNotFound, SpawnError, StderrRing};

use crate::view::{Failure, FailureReason};

const STDERR_LINES: usize = 20;

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
    Failure {
        reason: FailureReason::CouldNotStart,
        message: error.to_string(),
        stderr: Vec::new(),
        looked_in: Vec::new(),
        hint: None,
    }
}

/// It ended, or was ended because it does not speak the protocol. Nothing if the user stopped it.
pub(crate) fn closed(
    reason: &CloseReason,
    fault: Option<OpeningFault>,
    was_ready: bool,
    stderr: &StderrRing,
) -> Option<Failure> {
    let reason_kind = match reason {
        CloseReason::StoppedByUser => return None,
        _ if fault == Some(OpeningFault::NoAnswer) => FailureReason::NoAnswer,
        _ if fault == Some(OpeningFault::Refused) => FailureReason::Protocol,
        CloseReason::Unresponsive(_) => FailureReason::NoAnswer,
        _ if was_ready => FailureReason::Exited,
        _ => FailureReason::ExitedEarly,
    };
    let hint = (reason_kind == FailureReason::ExitedEarly)
        .then(|| "Its own words below usually say why. Try the same command in a terminal.".to_owned());
    Some(Failure {
        reason: reason_kind,
        message: reason.to_string(),
        stderr: stderr.last_lines(STDERR_LINES),
        looked_in: Vec::new(),
        hint,
    })
}
