//! Aggregates the connections of a server's proxy into few lines for the server's activity log.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use super::byte_counting_stream::TrafficCounter;
use super::hosts::{Destination, HostPattern};

/// Minimum interval between two batches of lines for the activity log.
const MIN_LOG_BATCH_INTERVAL: Duration = Duration::from_secs(2);
/// Interval at which the ledger reports the byte counts of open connections if there are no other events.
const OPEN_CONNECTION_REPORT_INTERVAL: Duration = Duration::from_secs(60);
/// Maximum number of destinations that one batch of lines names. Events for other destinations are only counted.
const MAX_DESTINATIONS_PER_LOG_BATCH: usize = 16;

/// Collects the connections that a server's egress proxy opened or refused, until [`EgressLedger::take_activity_lines`]
/// returns them as text.
#[derive(Debug, Default)]
pub(super) struct EgressLedger {
    state: Mutex<LedgerState>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct LedgerState {
    entries: Vec<LedgerEntry>,
    /// Number of events that are counted without their destination, because [`MAX_DESTINATIONS_PER_LOG_BATCH`]
    /// destinations are named already.
    unnamed: u64,
    /// Open connections of the proxy, whose number the proxy limits.
    open: Vec<TrackedConnection>,
}

#[derive(Debug)]
struct LedgerEntry {
    destination: Destination,
    outcome: ConnectionOutcome,
}

#[derive(Debug)]
enum ConnectionOutcome {
    Allowed(ConnectionCounts),
    Refused { times: u64, cause: String, missing_pattern: HostPattern },
    Unreachable { times: u64, cause: String },
}

#[derive(Debug, Default)]
struct ConnectionCounts {
    opened: u64,
    closed: u64,
    up: u64,
    down: u64,
}

#[derive(Debug)]
struct TrackedConnection {
    destination: Destination,
    traffic: Arc<TrafficCounter>,
    reported_up: u64,
    reported_down: u64,
}

/// An open connection of the proxy. Dropping this value records in the ledger that the connection was closed.
#[derive(Debug)]
pub(super) struct OpenConnection {
    ledger: Arc<EgressLedger>,
    traffic: Arc<TrafficCounter>,
}

impl OpenConnection {
    /// Returns the byte counters of the connection.
    pub(super) fn traffic_counter(&self) -> Arc<TrafficCounter> {
        Arc::clone(&self.traffic)
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.ledger.record_closed(&self.traffic);
    }
}

impl EgressLedger {
    /// Records that the proxy opened a connection, which counts as open until the returned value is dropped.
    pub(super) fn record_opened(self: &Arc<Self>, destination: &Destination) -> OpenConnection {
        let traffic = Arc::new(TrafficCounter::default());
        let mut state = self.lock();
        state.update_counts(destination, |counts| counts.opened += 1);
        let (destination, open) = (destination.clone(), Arc::clone(&traffic));
        state.open.push(TrackedConnection { destination, traffic: open, reported_up: 0, reported_down: 0 });
        drop(state);
        self.changed.notify_one();
        OpenConnection { ledger: Arc::clone(self), traffic }
    }

    /// Records a connection that the proxy refused. `missing_pattern` is the host pattern that would permit it.
    pub(super) fn record_refused(&self, destination: &Destination, cause: &str, missing_pattern: &HostPattern) {
        let mut state = self.lock();
        let known = state.entries.iter_mut().find_map(|entry| match &mut entry.outcome {
            ConnectionOutcome::Refused { times, .. } if entry.destination == *destination => Some(times),
            _ => None,
        });
        match known {
            Some(times) => *times += 1,
            None => state.add_entry(
                destination,
                ConnectionOutcome::Refused {
                    times: 1,
                    cause: cause.to_owned(),
                    missing_pattern: missing_pattern.clone(),
                },
            ),
        }
        drop(state);
        self.changed.notify_one();
    }

    /// Records a permitted connection that the proxy could not establish.
    pub(super) fn record_unreachable(&self, destination: &Destination, cause: &str) {
        let mut state = self.lock();
        let known = state.entries.iter_mut().find_map(|entry| match &mut entry.outcome {
            ConnectionOutcome::Unreachable { times, .. } if entry.destination == *destination => Some(times),
            _ => None,
        });
        match known {
            Some(times) => *times += 1,
            None => state.add_entry(destination, ConnectionOutcome::Unreachable { times: 1, cause: cause.to_owned() }),
        }
        drop(state);
        self.changed.notify_one();
    }

    /// Waits for an event, at most for [`OPEN_CONNECTION_REPORT_INTERVAL`], and then for [`MIN_LOG_BATCH_INTERVAL`] to
    /// include the events that follow. Returns the log lines about these events.
    pub(super) async fn next_activity_lines(&self) -> Vec<String> {
        // Waits a while after the first event, so that one batch includes the events that follow it.
        let _ = timeout(OPEN_CONNECTION_REPORT_INTERVAL, self.changed.notified()).await;
        sleep(MIN_LOG_BATCH_INTERVAL).await;
        self.take_activity_lines()
    }

    /// Returns activity lines about the events since the last call, and forgets these events.
    pub(super) fn take_activity_lines(&self) -> Vec<String> {
        let mut state = self.lock();
        for index in 0..state.open.len() {
            state.count_transferred_bytes(index);
        }
        let entries = std::mem::take(&mut state.entries);
        let unnamed = std::mem::take(&mut state.unnamed);
        drop(state);
        let mut lines: Vec<String> = entries.iter().map(ledger_entry_line).collect();
        if unnamed > 0 {
            lines.push(format!("network: {unnamed} more events of other hosts are not listed"));
        }
        lines
    }

    fn record_closed(&self, traffic: &Arc<TrafficCounter>) {
        let mut state = self.lock();
        if let Some(index) = state.open.iter().position(|open| Arc::ptr_eq(&open.traffic, traffic)) {
            state.count_transferred_bytes(index);
            let open = state.open.swap_remove(index);
            state.update_counts(&open.destination, |counts| counts.closed += 1);
        }
        drop(state);
        self.changed.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, LedgerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LedgerState {
    /// Adds to the counts of the connection's destination the bytes that an open connection has transferred since the
    /// last report.
    fn count_transferred_bytes(&mut self, index: usize) {
        let Some(open) = self.open.get_mut(index) else { return };
        let (up, down) = (open.traffic.bytes_written(), open.traffic.bytes_read());
        let (more_up, more_down) = (up - open.reported_up, down - open.reported_down);
        (open.reported_up, open.reported_down) = (up, down);
        if more_up + more_down > 0 {
            let destination = open.destination.clone();
            self.update_counts(&destination, |counts| {
                counts.up += more_up;
                counts.down += more_down;
            });
        }
    }

    fn update_counts(&mut self, destination: &Destination, change: impl FnOnce(&mut ConnectionCounts)) {
        let known = self.entries.iter_mut().find_map(|entry| match &mut entry.outcome {
            ConnectionOutcome::Allowed(counts) if entry.destination == *destination => Some(counts),
            _ => None,
        });
        if let Some(counts) = known {
            return change(counts);
        }
        let mut counts = ConnectionCounts::default();
        change(&mut counts);
        self.add_entry(destination, ConnectionOutcome::Allowed(counts));
    }

    fn add_entry(&mut self, destination: &Destination, outcome: ConnectionOutcome) {
        if self.entries.len() < MAX_DESTINATIONS_PER_LOG_BATCH {
            self.entries.push(LedgerEntry { destination: destination.clone(), outcome });
        } else {
            self.unnamed += 1;
        }
    }
}

fn ledger_entry_line(LedgerEntry { destination, outcome }: &LedgerEntry) -> String {
    let times = |times: &u64| if *times == 1 { String::new() } else { format!(" {times} times") };
    match outcome {
        ConnectionOutcome::Allowed(ConnectionCounts { opened, closed, up, down }) => {
            let mut text = format!("network: {destination} allowed");
            for (number, what) in
                [(opened, "opened"), (closed, "closed")].into_iter().filter(|(number, _)| **number > 0)
            {
                // Writing to a `String` can't fail.
                let _ = write!(text, ", {number} {what}");
            }
            let _ = write!(text, ", {up} bytes up, {down} bytes down");
            text
        }
        ConnectionOutcome::Refused { times: number, cause, missing_pattern } => format!(
            "network: {destination} refused{}: {cause}. To allow it, add {missing_pattern} to the hosts of its sandbox",
            times(number)
        ),
        ConnectionOutcome::Unreachable { times: number, cause } => {
            format!("network: {destination} could not be reached{}: {cause}", times(number))
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn s24_flood_of_connection_events_is_summarized() {
        let ledger = EgressLedger::default();
        let add: HostPattern = "a.example".parse().unwrap();
        for number in 0..1_000 {
            let destination = Destination::new(&format!("{number}.example"), 443).unwrap();
            ledger.record_refused(&destination, "it is not named", &add);
            ledger.record_refused(&Destination::new("same.example", 443).unwrap(), "it is not named", &add);
        }
        let lines = ledger.take_activity_lines();
        assert_eq!(
            lines.len(),
            MAX_DESTINATIONS_PER_LOG_BATCH + 1,
            "the number of named destinations must be bounded: {lines:?}"
        );
        let same = "network: same.example:443 refused 1000 times: it is not named. To allow it, add a.example to the hosts of its sandbox";
        assert!(lines.iter().any(|line| line == same), "repeated refusals must be counted: {lines:?}");
        assert_eq!(lines.last().unwrap(), "network: 985 more events of other hosts are not listed");
        assert!(ledger.take_activity_lines().is_empty(), "no event must be reported twice");
    }
}
