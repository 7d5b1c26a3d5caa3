//! Tests that processes which leave their group, or outlive a killed app, are ended.

use std::process::Stdio;
use std::time::Duration;

use process::orphans::{OrphanCheckOutcome, RunningServerRecord, kill_orphaned_servers};
use process::{GracePeriods, ServerCommand, StartTime, shut_down};
use testkit::deadline::{poll_until, within};
use testkit::processes::{is_alive, living_processes_in_group};
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::support::{WAIT_TIMEOUT, scripted_server_command, start_server};

const PROCESS_END_TIMEOUT: Duration = Duration::from_secs(2);

/// X34: a process that has left its group, its session and its parent is still killed with its server, as long as its
/// environment contains the variable that identifies the server's processes.
#[tokio::test]
async fn process_outside_the_group_ends_with_the_server() {
    let leaves = |seconds: u32| {
        let script = format!("(setsid sleep {seconds} &) ; echo left >&2; exec cat >/dev/null");
        ServerCommand {
            program: "/bin/sh".into(),
            arguments: vec!["-c".into(), script],
            ..scripted_server_command(&[])
        }
    };
    let sleeps = |seconds: u32| {
        let expected = format!("sleep\0{seconds}\0");
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        processes
            .filter(|p| std::fs::read(p.path().join("cmdline")).is_ok_and(|line| line == expected.as_bytes()))
            .count()
    };
    let server = start_server(&leaves(7421)).await;
    assert!(poll_until(WAIT_TIMEOUT, || sleeps(7421) == 1).await, "the process must run in its own session");
    drop(server);
    assert!(
        poll_until(PROCESS_END_TIMEOUT, || sleeps(7421) == 0).await,
        "the process must end when the server is dropped"
    );
    let server = start_server(&leaves(7422)).await;
    assert!(poll_until(WAIT_TIMEOUT, || sleeps(7422) == 1).await, "the process must run again");
    shut_down(server, GracePeriods::default()).await;
    assert!(poll_until(WAIT_TIMEOUT, || sleeps(7422) == 0).await, "the process must end when the server is shut down");
}

#[tokio::test]
#[allow(clippy::disallowed_methods, reason = "starts an app, not a server")]
async fn orphaned_servers_of_a_killed_drawbridge_process_are_killed() {
    // The crate's example is an app that runs one program.
    let example = testkit::binaries::program_path("examples/one_program");
    let mut app = tokio::process::Command::new(example)
        .arg(testkit::binaries::scripted_server())
        .args(["--misbehave", "never-exits", "--misbehave", "grandchild@start"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut output = BufReader::new(app.stdout.take().unwrap()).lines();
    let record: RunningServerRecord = within(WAIT_TIMEOUT, "the app starts its server", async {
        loop {
            let line = output.next_line().await.unwrap().expect("the app still runs");
            if let Some((_, record)) = line.split_once("record: ") {
                return record.parse().unwrap();
            }
        }
    })
    .await;
    let run = poll_until(WAIT_TIMEOUT, || living_processes_in_group(record.group).len() >= 2).await;
    assert!(run, "server and grandchild run: {:?}", living_processes_in_group(record.group));
    assert_eq!(
        kill_orphaned_servers(std::slice::from_ref(&record))[0].outcome,
        OrphanCheckOutcome::OwnerRunning,
        "while the app runs, its servers must not count as orphans"
    );

    app.kill().await.unwrap();
    assert!(
        poll_until(PROCESS_END_TIMEOUT, || !is_alive(record.pid)).await,
        "the server's own process must end with the app, although it ignores signals"
    );
    assert!(!living_processes_in_group(record.group).is_empty(), "the grandchild must remain for the sweep");
    // The start time remains readable until init has reaped the leader.
    poll_until(PROCESS_END_TIMEOUT, || StartTime::of_process(record.pid).is_none()).await;
    let another = StartTime::of_process(1).unwrap();
    let owner_start_time = another.clone();
    let recycled =
        RunningServerRecord { pipes: vec![1, 2, 3], start_time: another, owner_start_time, ..record.clone() };
    assert_eq!(
        kill_orphaned_servers(&[recycled])[0].outcome,
        OrphanCheckOutcome::NotRunning,
        "a group without the recorded pipes must not be killed"
    );
    assert!(!living_processes_in_group(record.group).is_empty(), "the grandchild must still run");
    assert_eq!(
        kill_orphaned_servers(std::slice::from_ref(&record))[0].outcome,
        OrphanCheckOutcome::Killed,
        "the sweep must find the grandchild"
    );
    assert!(
        poll_until(PROCESS_END_TIMEOUT, || living_processes_in_group(record.group).is_empty()).await,
        "the sweep must end the grandchild"
    );
    assert_eq!(
        kill_orphaned_servers(&[record])[0].outcome,
        OrphanCheckOutcome::NotRunning,
        "a second sweep has nothing to do"
    );
}
