//! Idle child processes, each with a task that reads its output.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use bench::report::{Clock, Memory, Report};
use bench::request::request;
use bench::scenario::{FEW_TOOLS, IDLE_SESSIONS, Scenario};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};

use crate::{ID, Outcome};

const SETTLE_TIME: Duration = Duration::from_secs(1);

/// Starts the processes, and reports the memory per process.
#[tokio::main(flavor = "current_thread")]
pub(crate) async fn run(server: &Path) -> Outcome<Report> {
    let mut running = vec![open(server).await?];
    tokio::time::sleep(SETTLE_TIME).await;
    let before = Memory::now()?;
    let clock = Clock::start()?;
    for _ in 1..IDLE_SESSIONS {
        running.push(open(server).await?);
    }
    let mut report = clock.stop(Scenario::Idle200)?;
    tokio::time::sleep(SETTLE_TIME).await;
    Memory::now()?.per_session(before, IDLE_SESSIONS - 1, &mut report);
    for child in &mut running {
        child.kill().await?;
    }
    Ok(report)
}

async fn open(server: &Path) -> Outcome<Child> {
    let mut child = Command::new(server)
        .args(["bare", "--tools", &FEW_TOOLS.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let (Some(mut input), Some(mut output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("the server has no pipes".into());
    };
    input.write_all(format!("{}\n", request(Scenario::Idle200, ID)).as_bytes()).await?;
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
