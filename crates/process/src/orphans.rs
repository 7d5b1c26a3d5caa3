//! Ends server processes that were left running when the app was killed.
//!
//! The app stores one [`RunningServerRecord`] per running server on disk and removes it when the server has ended. At
//! the next start, [`kill_orphaned_servers`] kills the servers of the remaining records, but only if it is certain that
//! a process group belongs to the recorded server.

use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;

use foreign::escape_invisible;

use crate::platform::{self, StartTime};

/// Record of one running server, stored on disk so that the next start of the app can end the server. `Display` writes
/// it as one line, and `FromStr` parses that line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningServerRecord {
    /// Process ID of the server's first process.
    pub pid: u32,
    /// Process group ID of the server and its descendants.
    pub group: u32,
    /// Start time of the server's first process, which proves that the pid was not reused.
    pub start_time: StartTime,
    /// Process ID of the app that started the server. The server must not be killed while that process runs.
    pub owner: u32,
    /// Start time of the app that started the server.
    pub owner_start_time: StartTime,
    /// Inode numbers of the server's pipes (Linux only, else empty).
    pub pipes: Vec<u64>,
    /// Path of the server's program, for messages.
    pub program: String,
}

/// One [`RunningServerRecord`] that [`kill_orphaned_servers`] has processed, with the outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrphanCheck {
    /// The record of the server, as it was passed to [`kill_orphaned_servers`].
    pub record: RunningServerRecord,
    /// Outcome for this record, such as killing the server because it is an orphan.
    pub outcome: OrphanCheckOutcome,
}

/// Result of looking for the server of one [`RunningServerRecord`] and killing it if it is an orphan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OrphanCheckOutcome {
    /// The server was still running. It was killed together with its whole process group.
    Killed,
    /// No process of the server remains. The record can be deleted.
    NotRunning,
    /// The app that started the server is still running, so it is not an orphan. The record must be retained.
    OwnerRunning,
    /// The server is still running but could not be killed. The record should be retained. Contains the system's error
    /// message.
    Failed(String),
}

/// Kills the servers of these records that are still running although the app that started them has ended. A process
/// group is killed only if the recorded pid has the recorded start time, or a process of the group has a recorded pipe
/// open.
pub fn kill_orphaned_servers(records: &[RunningServerRecord]) -> Vec<OrphanCheck> {
    records.iter().map(|record| OrphanCheck { record: record.clone(), outcome: kill_if_orphaned(record) }).collect()
}

fn kill_if_orphaned(record: &RunningServerRecord) -> OrphanCheckOutcome {
    let is_owner = StartTime::of_process(record.owner).is_some_and(|start| start == record.owner_start_time);
    if is_owner && !platform::has_ended(record.owner) {
        return OrphanCheckOutcome::OwnerRunning;
    }
    // Processes that left the group are found by their mark.
    let were_some = platform::kill_processes_marked_by_owner(record.owner, &record.owner_start_time);
    let leader = StartTime::of_process(record.pid);
    let ours = match leader {
        Some(start) => start == record.start_time,
        None => platform::group_has_open_pipe(record.group, &record.pipes),
    };
    if !ours {
        return if were_some { OrphanCheckOutcome::Killed } else { OrphanCheckOutcome::NotRunning };
    }
    match platform::kill_group(record.group) {
        // The group may already be gone, because its processes had the mark.
        Ok(()) => OrphanCheckOutcome::Killed,
        Err(_) if were_some => OrphanCheckOutcome::Killed,
        Err(error) => OrphanCheckOutcome::Failed(error.to_string()),
    }
}

impl fmt::Display for RunningServerRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pipes: Vec<String> = self.pipes.iter().map(u64::to_string).collect();
        let pipes = if pipes.is_empty() { "-".to_owned() } else { pipes.join(",") };
        write!(
            f,
            "{} {} {} {} {} {pipes} {}",
            self.pid,
            self.group,
            self.start_time,
            self.owner,
            self.owner_start_time,
            escape_invisible(&self.program),
        )
    }
}

/// Error of parsing a line that is not a [`RunningServerRecord`]. Callers should skip the line.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum InvalidServerRecord {
    /// The line of the record has fewer than seven fields.
    #[error("the record of a running server has too few fields")]
    TooFewFields,
    /// A field of the record that must be a number contains something else.
    #[error("the record of a running server contains a value that is not a number: {0}")]
    NotANumber(#[from] ParseIntError),
}

impl FromStr for RunningServerRecord {
    type Err = InvalidServerRecord;

    fn from_str(line: &str) -> Result<RunningServerRecord, InvalidServerRecord> {
        let mut fields = line.trim_end().splitn(7, ' ');
        let mut next = || fields.next().ok_or(InvalidServerRecord::TooFewFields);
        Ok(RunningServerRecord {
            pid: next()?.parse()?,
            group: next()?.parse()?,
            start_time: StartTime::new(next()?.to_owned()),
            owner: next()?.parse()?,
            owner_start_time: StartTime::new(next()?.to_owned()),
            pipes: match next()? {
                "-" => Vec::new(),
                list => list.split(',').map(str::parse).collect::<Result<_, _>>()?,
            },
            program: next()?.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn test_server_record() -> RunningServerRecord {
        RunningServerRecord {
            pid: 4_190_001,
            group: 4_190_001,
            start_time: StartTime::new("boot+17".to_owned()),
            owner: 4_190_000,
            owner_start_time: StartTime::new("boot+9".to_owned()),
            pipes: vec![31, 32, 33],
            program: "/opt/my tools/server".to_owned(),
        }
    }

    #[test]
    fn running_server_record_round_trips() {
        let line = test_server_record().to_string();
        assert!(!line.contains('\n'), "a record must be one line");
        assert_eq!(line.parse(), Ok(test_server_record()), "what is written must be read");
        let without = RunningServerRecord { pipes: Vec::new(), ..test_server_record() };
        assert_eq!(without.to_string().parse(), Ok(without), "a record without pipes must be read too");
    }

    #[test]
    fn malformed_running_server_record_is_rejected() {
        assert_eq!(
            "12 13".parse::<RunningServerRecord>(),
            Err(InvalidServerRecord::TooFewFields),
            "a truncated line must report the missing fields"
        );
        assert!(
            matches!("x 1 a 1 a - p".parse::<RunningServerRecord>(), Err(InvalidServerRecord::NotANumber(_))),
            "a line with an invalid pid must report the invalid number"
        );
    }

    #[test]
    fn process_with_a_reused_pid_is_not_killed() {
        let other = RunningServerRecord { pid: std::process::id(), group: std::process::id(), ..test_server_record() };
        let swept = kill_orphaned_servers(&[other]);
        assert_eq!(
            swept[0].outcome,
            OrphanCheckOutcome::NotRunning,
            "a pid that was reused (by this test) must not be killed"
        );
    }

    #[cfg(unix)]
    #[test]
    fn servers_of_a_running_drawbridge_process_are_not_killed() {
        let me = std::process::id();
        let mine = RunningServerRecord {
            pid: me,
            group: me,
            start_time: StartTime::of_process(me).unwrap(),
            owner: me,
            owner_start_time: StartTime::of_process(me).unwrap(),
            ..test_server_record()
        };
        assert_eq!(
            kill_orphaned_servers(&[mine])[0].outcome,
            OrphanCheckOutcome::OwnerRunning,
            "a second app on the same data must not kill the servers of the first"
        );
    }

    #[cfg(target_os = "linux")]
    #[test]
    #[allow(clippy::disallowed_methods, reason = "starts an app, not a server")]
    fn killed_drawbridge_process_that_is_not_reaped_yet_is_not_running() {
        let mut app = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let owner = app.id();
        let its = RunningServerRecord {
            owner,
            owner_start_time: StartTime::of_process(owner).unwrap(),
            ..test_server_record()
        };
        assert_eq!(
            kill_orphaned_servers(std::slice::from_ref(&its))[0].outcome,
            OrphanCheckOutcome::OwnerRunning,
            "a running app must count as running"
        );
        app.kill().unwrap();
        while !platform::has_ended(owner) {
            std::thread::yield_now();
        }
        assert!(StartTime::of_process(owner).is_some(), "the pid must still be in use");
        assert_eq!(
            kill_orphaned_servers(&[its])[0].outcome,
            OrphanCheckOutcome::NotRunning,
            "a killed app must not count as running"
        );
        app.wait().unwrap();
    }
}
