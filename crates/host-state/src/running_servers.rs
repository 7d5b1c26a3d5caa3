//! Document with the processes of running servers, so that the next start of the app can end processes that another
//! instance left behind. Written by `host/src/owner/running_records.rs`.

use ports::{Document, Documents};
use process::orphans::{OrphanCheckOutcome, RunningServerRecord, kill_orphaned_servers};
use serde_json::Value;

/// Returns the lines of the document after it is written by this instance, whose servers are `own`. Entries of other
/// instances that use the same data folder are retained, for example of the command line while the app is running.
#[must_use]
pub fn with_running_servers(stored: Option<Value>, own: &[String]) -> Value {
    let others = parse_running_servers(stored).into_iter().filter(|record| record.owner != std::process::id());
    others.map(|record| record.to_string()).chain(own.iter().cloned()).collect()
}

fn parse_running_servers(stored: Option<Value>) -> Vec<RunningServerRecord> {
    let lines: Vec<String> = stored.and_then(|v| serde_json::from_value(v).ok()).unwrap_or_default();
    lines.iter().filter_map(|line| line.parse().ok()).collect()
}

/// Ends server processes whose host has exited, and returns their number. Blocks briefly.
pub fn end_orphaned_servers(documents: &dyn Documents) -> usize {
    let records = parse_running_servers(documents.read(Document::Running).ok().flatten());
    if records.is_empty() {
        return 0;
    }
    let swept = kill_orphaned_servers(&records);
    let ended = swept.iter().filter(|s| matches!(s.outcome, OrphanCheckOutcome::Killed)).count();
    let removed: Vec<String> = swept
        .iter()
        .filter(|s| matches!(s.outcome, OrphanCheckOutcome::Killed | OrphanCheckOutcome::NotRunning))
        .map(|s| s.record.to_string())
        .collect();
    // Entries that another instance has written meanwhile are retained.
    let written = documents.update(Document::Running, &mut |stored| {
        let left = parse_running_servers(stored).into_iter().map(|record| record.to_string());
        left.filter(|line| !removed.contains(line)).collect()
    });
    if let Err(error) = written {
        tracing::warn!(%error, "the list of running servers could not be written");
    }
    ended
}
