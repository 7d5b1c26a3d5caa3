//! What runs is written down, so that the next start can end what could not be ended by this one.

use mcp_transport::orphans::{RunningRecord, SweepOutcome, sweep};

use super::Owner;
use crate::ports::{Document, Documents};

impl Owner {
    pub(super) fn keep_running(&mut self) {
        let mut lines: Vec<String> = others(self.ports.documents.as_ref()).iter().map(ToString::to_string).collect();
        lines.extend(self.running.values().map(ToString::to_string));
        if let Err(error) = self.keep(Document::Running, &lines) {
            tracing::warn!(%error, "what runs could not be written down");
        }
    }
}

/// The records of other hosts that run over the same folder (the app beside a terminal).
fn others(documents: &dyn Documents) -> Vec<RunningRecord> {
    let mut records = read(documents);
    records.retain(|record| record.owner != std::process::id());
    records
}

fn read(documents: &dyn Documents) -> Vec<RunningRecord> {
    let lines: Vec<String> = documents
        .read(Document::Running)
        .ok()
        .flatten()
        .and_then(|v| serde_json::from_value(v).ok())
        .unwrap_or_default();
    lines.iter().filter_map(|line| line.parse().ok()).collect()
}

/// Ends servers whose host is gone. Returns how many there were. Blocks for a moment.
pub(crate) fn sweep_orphans(documents: &dyn Documents) -> usize {
    let records = read(documents);
    if records.is_empty() {
        return 0;
    }
    let swept = sweep(&records);
    let ended = swept.iter().filter(|s| matches!(s.outcome, SweepOutcome::Killed)).count();
    let left: Vec<String> = swept
        .iter()
        .filter(|s| !matches!(s.outcome, SweepOutcome::Killed | SweepOutcome::NotRunning))
        .map(|s| s.record.to_string())
        .collect();
    if let Err(error) = documents.write(Document::Running, &left.into()) {
        tracing::warn!(%error, "what runs could not be written down");
    }
    ended
}
