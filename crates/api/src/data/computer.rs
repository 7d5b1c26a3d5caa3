//! Result of the check of this computer for causes that keep servers from working.

use serde::Serialize;
use ts_rs::TS;

pub use checkup::{CheckId, Finding, FindingState};

/// Findings of a check of this computer, with a report that contains no private data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct CheckedComputer {
    /// Findings in a fixed order, with English texts.
    pub findings: Vec<Finding>,
    /// Findings without private data, as Markdown to paste into an issue.
    pub report: String,
}
