//! Faults of an HTTP server and of the connections to it.

use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use testkit::proxy::{FaultProxy, ProxyFault};

use super::app::{ConnectedApp, holds};
use super::{NO_SUCH_FAULT, OUTCOME_ANSWERED, OUTCOME_COMES_BACK, OUTCOME_ENDS, OUTCOME_GOES_ON, Outcome, Outcomes};
use crate::installed;
use crate::matrix::process::HttpProcess;
use crate::matrix::servers::{Row, Transport, at};

/// Duration for which the server is not reachable.
const DOWNTIME: Duration = Duration::from_millis(500);
/// Delay that the proxy adds to responses.
const RESPONSE_DELAY: Duration = Duration::from_millis(500);

/// Injects all faults in sequence, and returns their outcomes.
pub(super) async fn outcomes(row: &Row) -> Outcomes {
    let process = HttpProcess::start(row.server.launch(row.transport)).await;
    let folder = tempfile::tempdir().unwrap();
    super::spoil(folder.path(), "none");
    let between =
        installed::with_node("between-http.mjs").and(&process.origin).and(&folder.path().display().to_string());
    let between = HttpProcess::start(between).await;
    let proxy = FaultProxy::in_front_of(address(&between.origin)).await;
    let connected = ConnectedApp::to(row.server.name, at(row, &format!("http://{}", proxy.address))).await;
    let network = Network { row, folder: folder.path(), proxy, connected };
    let bytewise = network.same_answer(ProxyFault::Bytewise, Duration::ZERO).await;
    let late = network.same_answer(ProxyFault::Late(RESPONSE_DELAY), RESPONSE_DELAY).await;
    let twice = network.twice().await;
    let cut = network.cut().await;
    let never = network.never().await;
    network.connected.app.host.close().await;
    let restarted = restarted(row, process).await;
    Outcomes { killed: Ok(NO_SUCH_FAULT), restarted, cut, bytewise, late, twice, never }
}

/// Covers the requirement [http-session-404-reinit].
async fn restarted(row: &Row, process: HttpProcess) -> Outcome {
    let proxy = FaultProxy::in_front_of(address(&process.origin)).await;
    let connected = ConnectedApp::to(row.server.name, at(row, &format!("http://{}", proxy.address))).await;
    // Started before the old process ends, so that the start time of the program does not count as downtime.
    let new = HttpProcess::start(row.server.launch(row.transport)).await;
    let call = connected.under_way(30).await;
    process.kill().await;
    // sleep: the network fails in the real time of other processes.
    tokio::time::sleep(DOWNTIME).await;
    // A resumable stream is retried until the new process rejects its session.
    proxy.set_server(address(&new.origin));
    connected.ends(call).await?;
    connected.comes_back().await?;
    connected.app.host.close().await;
    Ok(OUTCOME_COMES_BACK)
}

fn address(origin: &str) -> SocketAddr {
    origin.trim_start_matches("http://").parse().unwrap_or_else(|e| panic!("{origin}: {e}"))
}

/// Network path to a server: through the proxy process that records messages, and the proxy that injects faults.
struct Network<'a> {
    row: &'a Row,
    folder: &'a Path,
    proxy: FaultProxy,
    connected: ConnectedApp,
}

impl Network<'_> {
    async fn same_answer(&self, fault: ProxyFault, at_least: Duration) -> Outcome {
        let before = super::count(self.folder, "seen", "\"tools/call\"");
        let began = Instant::now();
        self.proxy.set(fault);
        let answered = self.connected.adds().await;
        self.proxy.set(ProxyFault::None);
        answered?;
        holds(began.elapsed() >= at_least, "the answer should have been spoiled", began.elapsed())?;
        let sent = super::count(self.folder, "seen", "\"tools/call\"") - before;
        holds(sent == 1, "the call should be sent once", sent)?;
        Ok(OUTCOME_ANSWERED)
    }

    /// Each response on a stream is duplicated. The call reports progress, so its response is sent on a stream.
    async fn twice(&self) -> Outcome {
        super::spoil(self.folder, "twice");
        let call = self.connected.under_way(1).await;
        let answered = self.connected.finish_call(call, 1).await;
        super::spoil(self.folder, "none");
        answered?;
        let doubled = super::count(self.folder, "twice", "\"result\"");
        holds(doubled > 0, "the answer should have come twice", doubled)?;
        self.connected.adds().await?;
        Ok(OUTCOME_ANSWERED)
    }

    /// The connection of a call is closed. Its stream is resumed if the revision supports that, otherwise the call
    /// fails: [http-sse-resume-last-event-id]
    async fn cut(&self) -> Outcome {
        const CALL_SECONDS: u32 = 3;
        let before = super::count(self.folder, "seen", "\"slow_report\"");
        let call = self.connected.under_way(CALL_SECONDS).await;
        self.proxy.set(ProxyFault::Refused);
        self.proxy.cut_connections();
        // sleep: the network fails in the real time of other processes.
        tokio::time::sleep(Duration::from_millis(300)).await;
        self.proxy.set(ProxyFault::None);
        if self.row.can_resume() {
            self.connected.finish_call(call, CALL_SECONDS).await?;
        } else {
            self.connected.ends(call).await?;
            self.connected.comes_back().await?;
        }
        let sent = super::count(self.folder, "seen", "\"slow_report\"") - before;
        holds(sent == 1, "the call should be sent once", sent)?;
        Ok(match self.row.transport {
            _ if self.row.can_resume() => OUTCOME_GOES_ON,
            // The session ends with its only stream.
            Transport::HttpSse => OUTCOME_COMES_BACK,
            _ => OUTCOME_ENDS,
        })
    }

    /// Covers the requirement [lifecycle-timeouts].
    async fn never(&self) -> Outcome {
        self.proxy.set(ProxyFault::Swallowed);
        let ended = self.connected.add().await.map_err(|error| error.to_string());
        self.proxy.set(ProxyFault::None);
        let is_told = ended.as_ref().is_err_and(|error| error.contains("no answer"));
        holds(is_told, "the call should end with its time", ended)?;
        self.connected.comes_back().await?;
        Ok(OUTCOME_ENDS)
    }
}
