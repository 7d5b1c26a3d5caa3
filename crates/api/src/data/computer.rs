//! What keeps servers from working on this computer.

use serde::Serialize;
use ts_rs::TS;

pub use checkup::{CheckId, Finding, FindingState};

/// The findings of a check of this computer, and the report without private data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct CheckedComputer {
    /// The findings, always in the same order. Their words are English.
    pub findings: Vec<Finding>,
    /// The same without anything private, as Markdown to paste into an issue.
    pub report: String,
}
