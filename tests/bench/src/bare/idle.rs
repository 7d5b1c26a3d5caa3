//! Idle child processes, each with a task that reads its output.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use bench::report::{BenchClock, BenchReport, ProcessMemory};
use bench::request::request_json;
use bench::scenario::{FEW_TOOLS_COUNT, IDLE_SESSIONS, Scenario};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};

use crate::{Outcome, REQUEST_ID};

const SETTLE_TIME: Duration = Duration::from_secs(1);

/// Starts the server processes of the idle scenario, and reports this program's memory per process.
#[tokio::main(flavor = "current_thread")]
pub(crate) async fn measure_idle_processes(server: &Path) -> Outcome<BenchReport> {
    let mut running = vec![start_server(server).await?];
    tokio::time::sleep(SETTLE_TIME).await;
    let before = ProcessMemory::measure()?;
    let clock = BenchClock::start()?;
    for _ in 1..IDLE_SESSIONS {
        running.push(start_server(server).await?);
    }
    let mut report = clock.stop(Scenario::Idle200)?;
    tokio::time::sleep(SETTLE_TIME).await;
    ProcessMemory::measure()?.add_memory_per_session(before, IDLE_SESSIONS - 1, &mut report);
    for child in &mut running {
        child.kill().await?;
    }
    Ok(report)
}

async fn start_server(server: &Path) -> Outcome<Child> {
    let mut child = Command::new(server)
        .args(["bare", "--tools", &FEW_TOOLS_COUNT.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let (Some(mut input), Some(mut output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("the server has no pipes".into());
    };
    input.write_all(format!("{}\n", request_json(Scenario::Idle200, REQUEST_ID)).as_bytes()).await?;
    let mut read = [0; 1024];
    loop {
        match output.read(&mut read).await? {
            0 => return Err("the server has ended".into()),
            length if read[length - 1] == b'\n' => break,
            _ => {}
        }
    }
    tokio::spawn(async move {
        // Keeps standard input open until the server ends.
        let _input = input;
        let mut byte = [0];
        let _ = output.read(&mut byte).await;
    });
    Ok(child)
}
