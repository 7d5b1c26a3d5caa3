//! Results of checking this computer for problems that prevent servers from working.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

pub use checkup::{CheckId, Finding, FindingState, ServerCommandCheck};

/// Result of checking this computer, with a report that contains no private data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct CheckedComputer {
    /// Results of the checks in a fixed order, as English text.
    pub findings: Vec<Finding>,
    /// Report of the findings as Markdown without private data, which the user can paste into a bug report.
    pub report: String,
}

/// Request to check what a local server's command needs, before it is saved.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct CheckServerCommand {
    /// Name of the program, or its path. `None` to check only the working folder.
    pub command: Option<String>,
    /// `PATH` that is configured for the command, or `None` if there is none.
    pub path: Option<String>,
    /// Working folder of the command, or `None` for the default one.
    pub cwd: Option<String>,
}
