//! Faults of a server's process and of the lines on its standard output.

use std::path::Path;

use super::app::{ConnectedApp, holds};
use super::{NO_SUCH_FAULT, OUTCOME_ANSWERED, OUTCOME_COMES_BACK, OUTCOME_ENDS, Outcome, Outcomes};
use crate::installed;
use crate::matrix::process::Launch;
use crate::matrix::servers::{Row, local};

/// Injects all faults in sequence, and returns their outcomes.
pub(super) async fn outcomes(row: &Row) -> Outcomes {
    let killed = killed(row).await;
    let folder = tempfile::tempdir().unwrap();
    let lines = LineControl { folder: folder.path() };
    lines.spoil("none");
    let connected = ConnectedApp::to(row.server.name, local(between(row, folder.path()))).await;
    let bytewise = lines.same_answers(&connected, "bytewise").await;
    let late = lines.same_answers(&connected, "late").await;
    let twice = lines.same_answers(&connected, "twice").await;
    let cut = lines.cut(&connected).await;
    let never = lines.never(&connected).await;
    connected.app.host.close().await;
    Outcomes { killed, restarted: Ok(NO_SUCH_FAULT), cut, bytewise, late, twice, never }
}

/// Covers the requirement [stdio-restart-on-crash].
async fn killed(row: &Row) -> Outcome {
    let connected = ConnectedApp::to(row.server.name, local(row.server.launch(row.transport))).await;
    let call = connected.under_way(30).await;
    let process = connected.process().await.ok_or("a ready server has a process")?;
    kill(process);
    connected.ends(call).await?;
    connected.comes_back().await?;
    let new = connected.process().await;
    holds(new.is_some_and(|new| new != process), "it should be another process", new)?;
    connected.app.host.close().await;
    Ok(OUTCOME_COMES_BACK)
}

#[allow(clippy::disallowed_methods, reason = "starts kill, not a server")]
fn kill(pid: u32) {
    let killed = std::process::Command::new("kill").args(["-9", &pid.to_string()]).status();
    assert!(killed.is_ok_and(|status| status.success()), "process {pid} can be killed");
}

/// Returns the command of the proxy process `between.mjs`, which starts the server of a row and corrupts its output
/// lines.
fn between(row: &Row, folder: &Path) -> Launch {
    let inner = row.server.launch(row.transport);
    let mut launch = installed::with_node("between.mjs").and(&folder.display().to_string());
    launch = launch.and(&inner.program.display().to_string());
    for argument in &inner.arguments {
        launch = launch.and(argument);
    }
    launch
}

/// Control of the lines between host and server, by files in the folder of the proxy process.
struct LineControl<'a> {
    folder: &'a Path,
}

impl LineControl<'_> {
    /// Sets the fault that the proxy process applies to all following lines.
    fn spoil(&self, fault: &str) {
        super::spoil(self.folder, fault);
    }

    async fn same_answers(&self, connected: &ConnectedApp, fault: &str) -> Outcome {
        self.spoil(fault);
        let before = super::count(self.folder, "seen", "\"tools/call\"");
        for _ in 0..3 {
            connected.adds().await?;
        }
        self.spoil("none");
        let sent = super::count(self.folder, "seen", "\"tools/call\"") - before;
        holds(sent == 3, "three calls should be sent once each", sent)?;
        let doubled = super::count(self.folder, "twice", "\"result\"");
        holds(fault != "twice" || doubled >= 3, "each answer should have come twice", doubled)?;
        Ok(OUTCOME_ANSWERED)
    }

    /// The server exits in the middle of a line.
    async fn cut(&self, connected: &ConnectedApp) -> Outcome {
        let call = connected.under_way(30).await;
        self.spoil("cut");
        connected.ends(call).await?;
        self.spoil("none");
        connected.comes_back().await?;
        let sent = super::count(self.folder, "seen", "\"slow_report\"");
        holds(sent == 1, "the call should be sent once", sent)?;
        Ok(OUTCOME_COMES_BACK)
    }

    /// Covers the requirement [lifecycle-timeouts].
    async fn never(&self, connected: &ConnectedApp) -> Outcome {
        self.spoil("never");
        let ended = connected.add().await.map_err(|error| error.to_string());
        self.spoil("none");
        let is_told = ended.as_ref().is_err_and(|error| error.contains("no answer"));
        holds(is_told, "the call should end with its time", ended)?;
        connected.comes_back().await?;
        Ok(OUTCOME_ENDS)
    }
}
