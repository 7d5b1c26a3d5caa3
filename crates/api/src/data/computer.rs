//! Result of checking this computer for problems that prevent servers from working.

use serde::Serialize;
use ts_rs::TS;

pub use checkup::{CheckId, Finding, FindingState};

/// Result of checking this computer, with a report that contains no private data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct CheckedComputer {
    /// Results of the checks in a fixed order, as English text.
    pub findings: Vec<Finding>,
    /// Report of the findings as Markdown without private data, which the user can paste into a bug report.
    pub report: String,
}
