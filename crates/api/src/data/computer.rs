//! What keeps servers from working on this computer.

use serde::Serialize;
use ts_rs::TS;

pub use checkup::{CheckId, Finding, FindingState};

/// What was found on this computer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct CheckedComputer {
    /// The findings, always in the same order. Their words are English.
    pub findings: Vec<Finding>,
    /// The same without anything private, as Markdown to paste into an issue.
    pub report: String,
}
