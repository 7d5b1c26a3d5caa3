//! Faults of an HTTP server and of the connections to it.

use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use testkit::proxy::{FaultProxy, ProxyFault};

use super::connected_host::{ConnectedHost, require};
use super::{
    FAULT_NOT_APPLICABLE, FaultOutcome, FaultOutcomes, OUTCOME_FAILED_WITH_CAUSE, OUTCOME_SERVER_RECOVERED,
    OUTCOME_STREAM_RESUMED, OUTCOME_SUCCEEDED,
};
use crate::installed;
use crate::matrix::process::HttpProcess;
use crate::matrix::servers::{MatrixRow, Transport, config_at_origin};

/// Time for which a test makes the HTTP server unreachable.
const SERVER_DOWNTIME: Duration = Duration::from_millis(500);
/// Time by which the proxy delays each response in the test of slow responses.
const RESPONSE_DELAY: Duration = Duration::from_millis(500);

/// Injects all faults into a remote server and its connections one after the other, and returns their outcomes.
pub(super) async fn inject_faults(row: &MatrixRow) -> FaultOutcomes {
    let process = HttpProcess::start(row.server.launch(row.transport)).await;
    let folder = tempfile::tempdir().unwrap();
    super::write_fault_file(folder.path(), "none");
    let between = installed::node_server_command("between-http.mjs")
        .with_argument(&process.origin)
        .with_argument(&folder.path().display().to_string());
    let between = HttpProcess::start(between).await;
    let proxy = FaultProxy::in_front_of(socket_address(&between.origin)).await;
    let connected =
        ConnectedHost::connect(row.server.name, config_at_origin(row, &format!("http://{}", proxy.address))).await;
    let network = NetworkFaultControl { row, folder: folder.path(), proxy, connected };
    let bytewise = network.check_response_unaffected(ProxyFault::Bytewise, Duration::ZERO).await;
    let late = network.check_response_unaffected(ProxyFault::Late(RESPONSE_DELAY), RESPONSE_DELAY).await;
    let twice = network.duplicate_response().await;
    let cut = network.cut_stream().await;
    let never = network.suppress_response().await;
    network.connected.app.host.close().await;
    let restarted = restart_server_process(row, process).await;
    FaultOutcomes { killed: Ok(FAULT_NOT_APPLICABLE), restarted, cut, bytewise, late, twice, never }
}

/// Replaces the server's process by a new one during a call. The call must fail, and the host must start a new session.
/// Covers the MCP requirement [http-session-404-reinit].
async fn restart_server_process(row: &MatrixRow, process: HttpProcess) -> FaultOutcome {
    let proxy = FaultProxy::in_front_of(socket_address(&process.origin)).await;
    let connected =
        ConnectedHost::connect(row.server.name, config_at_origin(row, &format!("http://{}", proxy.address))).await;
    // Started before the old process ends, so that the start time of the program does not count as downtime.
    let new = HttpProcess::start(row.server.launch(row.transport)).await;
    let call = connected.start_call(30).await;
    process.kill().await;
    // sleep: the network fails in the real time of other processes.
    tokio::time::sleep(SERVER_DOWNTIME).await;
    // A resumable stream is retried until the new process rejects its session.
    proxy.set_server(socket_address(&new.origin));
    connected.expect_call_failure(call).await?;
    connected.wait_until_recovered().await?;
    connected.app.host.close().await;
    Ok(OUTCOME_SERVER_RECOVERED)
}

fn socket_address(origin: &str) -> SocketAddr {
    origin
        .trim_start_matches("http://")
        .parse()
        .unwrap_or_else(|e| panic!("{origin} should contain a socket address: {e}"))
}

/// Control of the faults on the connections between host and server. They lead through a proxy process that records
/// messages, and through `proxy`, which injects faults.
struct NetworkFaultControl<'a> {
    row: &'a MatrixRow,
    folder: &'a Path,
    proxy: FaultProxy,
    connected: ConnectedHost,
}

impl NetworkFaultControl<'_> {
    async fn check_response_unaffected(&self, fault: ProxyFault, at_least: Duration) -> FaultOutcome {
        let before = super::count_in_file(self.folder, "seen", "\"tools/call\"");
        let began = Instant::now();
        self.proxy.set_fault(fault);
        let answered = self.connected.call_add_and_check_result().await;
        self.proxy.set_fault(ProxyFault::None);
        answered?;
        require(began.elapsed() >= at_least, "the response should be delayed", began.elapsed())?;
        let sent = super::count_in_file(self.folder, "seen", "\"tools/call\"") - before;
        require(sent == 1, "the call should be sent once", sent)?;
        Ok(OUTCOME_SUCCEEDED)
    }

    /// Makes the proxy process send each response on a stream twice. The call must succeed, and a later one too. The
    /// call reports progress, so that its response is sent on a stream.
    async fn duplicate_response(&self) -> FaultOutcome {
        super::write_fault_file(self.folder, "twice");
        let call = self.connected.start_call(1).await;
        let answered = self.connected.await_successful_call(call, 1).await;
        super::write_fault_file(self.folder, "none");
        answered?;
        let doubled = super::count_in_file(self.folder, "twice", "\"result\"");
        require(doubled > 0, "the response should be sent twice", doubled)?;
        self.connected.call_add_and_check_result().await?;
        Ok(OUTCOME_SUCCEEDED)
    }

    /// Closes the connection of a call. The stream must be resumed if the protocol revision supports that, otherwise
    /// the call must fail. Covers the MCP requirement [http-sse-resume-last-event-id].
    async fn cut_stream(&self) -> FaultOutcome {
        const CALL_SECONDS: u32 = 3;
        let before = super::count_in_file(self.folder, "seen", "\"slow_report\"");
        let call = self.connected.start_call(CALL_SECONDS).await;
        self.proxy.set_fault(ProxyFault::Refused);
        self.proxy.cut_connections();
        // sleep: the network fails in the real time of other processes.
        tokio::time::sleep(Duration::from_millis(300)).await;
        self.proxy.set_fault(ProxyFault::None);
        if self.row.can_resume() {
            self.connected.await_successful_call(call, CALL_SECONDS).await?;
        } else {
            self.connected.expect_call_failure(call).await?;
            self.connected.wait_until_recovered().await?;
        }
        let sent = super::count_in_file(self.folder, "seen", "\"slow_report\"") - before;
        require(sent == 1, "the call should be sent once", sent)?;
        Ok(match self.row.transport {
            _ if self.row.can_resume() => OUTCOME_STREAM_RESUMED,
            // The session ends with its only stream.
            Transport::HttpSse => OUTCOME_SERVER_RECOVERED,
            _ => OUTCOME_FAILED_WITH_CAUSE,
        })
    }

    /// Makes the proxy discard the response to a call. The call must time out, and later calls must succeed. Covers the
    /// MCP requirement [lifecycle-timeouts].
    async fn suppress_response(&self) -> FaultOutcome {
        self.proxy.set_fault(ProxyFault::Swallowed);
        let ended = self.connected.call_add().await.map_err(|error| error.to_string());
        self.proxy.set_fault(ProxyFault::None);
        let timed_out = ended.as_ref().is_err_and(|error| error.contains("no answer"));
        require(timed_out, "the call should end with a timeout", ended)?;
        self.connected.wait_until_recovered().await?;
        Ok(OUTCOME_FAILED_WITH_CAUSE)
    }
}
