//! Tests that no process of a server remains after its end.

use std::time::Duration;

use process::orphans::{OrphanCheckOutcome, RunningServerRecord, kill_orphaned_servers};
use process::{GracePeriods, ProcessExit, StartTime, shut_down};
use testkit::deadline::poll_until;
use testkit::processes::{is_alive, living_processes_in_group};

use crate::support::{scripted_server_command, start_server};

const PROCESS_END_TIMEOUT: Duration = Duration::from_secs(2);

#[tokio::test]
async fn dropped_process_is_killed_with_its_group() {
    let server =
        start_server(&scripted_server_command(&["--misbehave", "never-exits", "--misbehave", "grandchild@start"]))
            .await;
    let group = server.spawned().group;
    assert!(
        poll_until(PROCESS_END_TIMEOUT, || living_processes_in_group(group).len() >= 2).await,
        "server and grandchild run: {:?}",
        living_processes_in_group(group)
    );
    drop(server);
    assert!(
        poll_until(PROCESS_END_TIMEOUT, || living_processes_in_group(group).is_empty()).await,
        "dropping kills the whole group"
    );
}

#[tokio::test]
async fn server_whose_drawbridge_process_is_gone_is_killed() {
    let server = start_server(&scripted_server_command(&["--misbehave", "never-exits"])).await;
    let mut record = server.spawned().record();
    // Makes the record look like that of an app that has ended.
    record.owner = 4_190_000;
    let later = RunningServerRecord { start_time: StartTime::of_process(1).unwrap(), ..record.clone() };
    assert_eq!(
        kill_orphaned_servers(&[later])[0].outcome,
        OrphanCheckOutcome::NotRunning,
        "the same pid with another start time is another process"
    );
    assert!(is_alive(record.pid), "the process must not be killed");
    assert_eq!(
        kill_orphaned_servers(&[record])[0].outcome,
        OrphanCheckOutcome::Killed,
        "a process with the recorded start time must be killed"
    );
    let exit = shut_down(server, GracePeriods::default()).await;
    assert_eq!(exit, ProcessExit { status: None, signal: Some(9), exceeded: None }, "the server has been killed");
}
