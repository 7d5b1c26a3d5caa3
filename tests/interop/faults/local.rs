//! Faults of a server's process and of the lines on its standard output.

use std::path::Path;

use super::connected_host::{ConnectedHost, require};
use super::{
    FAULT_NOT_APPLICABLE, FaultOutcome, FaultOutcomes, OUTCOME_FAILED_WITH_CAUSE, OUTCOME_SERVER_RECOVERED,
    OUTCOME_SUCCEEDED,
};
use crate::installed;
use crate::matrix::process::LaunchCommand;
use crate::matrix::servers::{MatrixRow, local_config};

/// Injects all faults into a local server one after the other, and returns their outcomes.
pub(super) async fn inject_faults(row: &MatrixRow) -> FaultOutcomes {
    let killed = kill_server_process(row).await;
    let folder = tempfile::tempdir().unwrap();
    let lines = StdioFaultControl { folder: folder.path() };
    lines.write_fault_file("none");
    let connected =
        ConnectedHost::connect(row.server.name, local_config(fault_proxy_command(row, folder.path()))).await;
    let bytewise = lines.check_responses_unaffected(&connected, "bytewise").await;
    let late = lines.check_responses_unaffected(&connected, "late").await;
    let twice = lines.check_responses_unaffected(&connected, "twice").await;
    let cut = lines.cut_stream(&connected).await;
    let never = lines.suppress_response(&connected).await;
    connected.app.host.close().await;
    FaultOutcomes { killed, restarted: Ok(FAULT_NOT_APPLICABLE), cut, bytewise, late, twice, never }
}

/// Kills the server's process during a call. The call must fail, and the host must restart the server. Covers the MCP
/// requirement [stdio-restart-on-crash].
async fn kill_server_process(row: &MatrixRow) -> FaultOutcome {
    let connected = ConnectedHost::connect(row.server.name, local_config(row.server.launch(row.transport))).await;
    let call = connected.start_call(30).await;
    let process = connected.server_pid().await.ok_or("a ready server should have a process")?;
    kill_process(process);
    connected.expect_call_failure(call).await?;
    connected.wait_until_recovered().await?;
    let new = connected.server_pid().await;
    require(new.is_some_and(|new| new != process), "the server should have a new process", new)?;
    connected.app.host.close().await;
    Ok(OUTCOME_SERVER_RECOVERED)
}

#[allow(clippy::disallowed_methods, reason = "starts kill, not a server")]
fn kill_process(pid: u32) {
    let killed = std::process::Command::new("kill").args(["-9", &pid.to_string()]).status();
    assert!(killed.is_ok_and(|status| status.success()), "the signal to process {pid} should be sent");
}

/// Returns the command that starts the proxy process `between.mjs`, which starts the server of a row and can corrupt
/// the lines of its output.
fn fault_proxy_command(row: &MatrixRow, folder: &Path) -> LaunchCommand {
    let inner = row.server.launch(row.transport);
    let mut launch = installed::node_server_command("between.mjs").with_argument(&folder.display().to_string());
    launch = launch.with_argument(&inner.program.display().to_string());
    for argument in &inner.arguments {
        launch = launch.with_argument(argument);
    }
    launch
}

/// Control of the proxy process between host and server, by means of files in `folder`.
struct StdioFaultControl<'a> {
    folder: &'a Path,
}

impl StdioFaultControl<'_> {
    /// Sets the fault that the proxy process applies to all lines from now on.
    fn write_fault_file(&self, fault: &str) {
        super::write_fault_file(self.folder, fault);
    }

    async fn check_responses_unaffected(&self, connected: &ConnectedHost, fault: &str) -> FaultOutcome {
        self.write_fault_file(fault);
        let before = super::count_in_file(self.folder, "seen", "\"tools/call\"");
        for _ in 0..3 {
            connected.call_add_and_check_result().await?;
        }
        self.write_fault_file("none");
        let sent = super::count_in_file(self.folder, "seen", "\"tools/call\"") - before;
        require(sent == 3, "three calls should be sent once each", sent)?;
        let doubled = super::count_in_file(self.folder, "twice", "\"result\"");
        require(fault != "twice" || doubled >= 3, "each response should be sent twice", doubled)?;
        Ok(OUTCOME_SUCCEEDED)
    }

    /// Makes the proxy cut a line of the server's output and kill the server. The call must fail, and the host must
    /// restart the server.
    async fn cut_stream(&self, connected: &ConnectedHost) -> FaultOutcome {
        let call = connected.start_call(30).await;
        self.write_fault_file("cut");
        connected.expect_call_failure(call).await?;
        self.write_fault_file("none");
        connected.wait_until_recovered().await?;
        let sent = super::count_in_file(self.folder, "seen", "\"slow_report\"");
        require(sent == 1, "the call should be sent once", sent)?;
        Ok(OUTCOME_SERVER_RECOVERED)
    }

    /// Makes the proxy discard the response to a call. The call must time out, and later calls must succeed. Covers the
    /// MCP requirement [lifecycle-timeouts].
    async fn suppress_response(&self, connected: &ConnectedHost) -> FaultOutcome {
        self.write_fault_file("never");
        let ended = connected.call_add().await.map_err(|error| error.to_string());
        self.write_fault_file("none");
        let timed_out = ended.as_ref().is_err_and(|error| error.contains("no answer"));
        require(timed_out, "the call should end with a timeout", ended)?;
        connected.wait_until_recovered().await?;
        Ok(OUTCOME_FAILED_WITH_CAUSE)
    }
}
