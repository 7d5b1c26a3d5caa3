//! Waits for the end of a server and collects its output.

use process::{ProcessExit, ServerPipes, ServerProcess};
use tokio::io::{AsyncReadExt, copy, sink};

/// Exit status and output of a server that has ended.
#[derive(Debug)]
pub struct FinishedServer {
    pub exit: ProcessExit,
    /// Lines that the server printed on standard error, without empty ones.
    pub stderr: Vec<String>,
    /// Activity lines about the server's network access.
    pub egress: Vec<String>,
}

/// Waits for a server to end by itself. Its input stays open until then.
pub async fn wait_until_finished(server: ServerProcess) -> FinishedServer {
    let ServerProcess { pipes: ServerPipes { stdin, mut stdout, mut stderr }, mut group } = server;
    let lines = group.take_egress_activity_lines();
    let (mut printed, mut discarded, mut egress) = (Vec::new(), sink(), Vec::new());
    let end = async {
        let (exit, _, read) =
            tokio::join!(group.wait(), copy(&mut stdout, &mut discarded), stderr.read_to_end(&mut printed));
        read.expect("standard error can be read");
        exit
    };
    let collect = async {
        let Some(mut lines) = lines else { return std::future::pending().await };
        while let Some(line) = lines.recv().await {
            egress.push(line);
        }
        std::future::pending::<()>().await;
    };
    let exit = tokio::select! {
        exit = end => exit,
        () = collect => unreachable!("lines are waited for until the server has ended"),
    };
    drop(stdin);
    egress.extend(group.stop_egress_proxy());
    let stderr = String::from_utf8_lossy(&printed).lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
    FinishedServer { exit, stderr, egress }
}
