//! Records the processes of running servers on disk, so that the next start of the app can end processes that this
//! instance left behind.

use process::orphans::{RunningServerRecord, SweepOutcome, sweep};

use ports::{Document, Documents};
use serde_json::Value;

use super::Owner;

impl Owner {
    /// Writes the list of running servers. Entries of other instances that use the same data folder are retained, for
    /// example of the command line while the app is running.
    pub(super) fn write_running_server_records(&mut self) {
        let own: Vec<String> = self.servers.running.values().map(ToString::to_string).collect();
        self.write_later(Document::Running, "the list of running servers could not be written", move |stored| {
            let others = parse_running_servers(stored).into_iter().filter(|record| record.owner != std::process::id());
            others.map(|record| record.to_string()).chain(own.iter().cloned()).collect()
        });
    }
}

fn parse_running_servers(stored: Option<Value>) -> Vec<RunningServerRecord> {
    let lines: Vec<String> = stored.and_then(|v| serde_json::from_value(v).ok()).unwrap_or_default();
    lines.iter().filter_map(|line| line.parse().ok()).collect()
}

/// Ends server processes whose host has exited, and returns their number. Blocks briefly.
pub(crate) fn end_orphaned_servers(documents: &dyn Documents) -> usize {
    let records = parse_running_servers(documents.read(Document::Running).ok().flatten());
    if records.is_empty() {
        return 0;
    }
    let swept = sweep(&records);
    let ended = swept.iter().filter(|s| matches!(s.outcome, SweepOutcome::Killed)).count();
    let removed: Vec<String> = swept
        .iter()
        .filter(|s| matches!(s.outcome, SweepOutcome::Killed | SweepOutcome::NotRunning))
        .map(|s| s.record.to_string())
        .collect();
    // Entries that another instance has written meanwhile are retained.
    let written = documents.update(Document::Running, &mut |stored| {
        let left = self::parse_running_servers(stored).into_iter().map(|record| record.to_string());
        left.filter(|line| !removed.contains(line)).collect()
    });
    if let Err(error) = written {
        tracing::warn!(%error, "the list of running servers could not be written");
    }
    ended
}
