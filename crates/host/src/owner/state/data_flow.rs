//! Whose words are in which conversation, and the data flow that the user set for each server.

use crate::owner::flow::Flows;
use crate::owner::provenance::Labels;

/// Data flow between servers.
#[derive(Default)]
pub(in crate::owner) struct FlowTable {
    pub(in crate::owner) labels: Labels,
    pub(in crate::owner) flows: Flows,
    /// The number of changes of `flows` that are being written.
    pub(in crate::owner) pending_changes: usize,
}
