//! Result of checking this computer for problems that prevent servers from working.

use serde::Serialize;
use ts_rs::TS;

pub use checkup::{CheckId, Finding, FindingState};

/// Result of checking this computer, with a report that contains no private data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct CheckedComputer {
    /// Findings in a fixed order, as English text.
    pub findings: Vec<Finding>,
    /// Report without private data in Markdown, to be pasted into an issue.
    pub report: String,
}
