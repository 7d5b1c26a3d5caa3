//! App with a single server, whose user allows everything, and calls during which faults are injected.

use std::time::{Duration, Instant};
use testkit::calls::UserCalls as _;

use host::HostOptions;
use host::view::{CallTimeouts, HostEvent, ServerState};
use mcp_proto::types::CallToolResult;
use ports::server_config::ServerConfig;
use serde_json::{Value, json};
use testkit::app::TestApp;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::matrix::user::spawn_deciding_user;
use crate::user::{CallOutcome, next_call_id, result_text, to_json_object, wait_for_event};

/// Time without progress after which a call fails.
const IDLE_TIMEOUT: Duration = Duration::from_secs(4);
/// Maximum time until a server has been restarted or reconnected to, which may take several increasing delays.
const RECONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// An app that is connected to one server, and whose simulated user approves everything.
pub(super) struct ConnectedHost {
    pub(super) app: TestApp,
    server: &'static str,
}

/// Returns an error that contains `what` and the observed value, unless the condition holds.
pub(super) fn require(condition: bool, what: &str, observed: impl std::fmt::Debug) -> Result<(), String> {
    if condition { Ok(()) } else { Err(format!("{what}: {observed:?}").chars().take(400).collect()) }
}

impl ConnectedHost {
    /// Starts an app with a server, and waits until the server is ready and its tools are known.
    pub(super) async fn connect(server: &'static str, config: ServerConfig) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let times = CallTimeouts { tool: (IDLE_TIMEOUT, Duration::from_secs(60)), ..CallTimeouts::default() };
        let app = TestApp::start_in_folder(
            folder,
            vec![(server, config)],
            HostOptions { call_timeouts: times, ..HostOptions::default() },
        )
        .await;
        // The task of the user ends together with the host.
        let _user = spawn_deciding_user(&app, std::fs::canonicalize(app.folder.path()).unwrap());
        app.host.start_server(server.into()).await.unwrap();
        app.until(server, "ready with all tools", |s| s.state == ServerState::Ready && s.counts[0] > 10).await;
        Self { app, server }
    }

    /// Starts a tool call in a spawned task.
    async fn spawn_call(&self, id: &str, tool: &str, arguments: Value) -> JoinHandle<CallOutcome> {
        let (host, id, server, tool) = (self.app.host.clone(), id.to_owned(), self.server.to_owned(), tool.to_owned());
        let arguments = to_json_object(&arguments);
        tokio::spawn(async move { host.call_tool(id, server, tool, arguments, None).await.map(|(result, _)| result) })
    }

    /// Calls the tool `add`, which returns immediately, and returns the result without checking it.
    pub(super) async fn call_add(&self) -> CallOutcome {
        self.spawn_call(&next_call_id(), "add", json!({ "a": 2, "b": 3 })).await.await.unwrap()
    }

    /// Calls the tool `add`, which returns immediately, and returns an error if its result is wrong.
    pub(super) async fn call_add_and_check_result(&self) -> Result<(), String> {
        let result = self.call_add().await.map_err(|error| format!("the call should succeed: {error}"))?;
        require(result_text(&result).contains("= 5"), "the result should contain the sum", result)
    }

    /// Starts a call that takes this many seconds in a spawned task, and waits for its first progress notification.
    pub(super) async fn start_call(&self, seconds: u32) -> JoinHandle<CallOutcome> {
        let mut events = self.app.host.events();
        let id = next_call_id();
        let call = self.spawn_call(&id, "slow_report", json!({ "seconds": seconds, "steps": seconds * 10 })).await;
        wait_for_event(&mut events, "progress", |event| match event {
            HostEvent::CallChanged(view) if view.id == id && view.progress.is_some() => Some(()),
            _ => None,
        })
        .await;
        call
    }

    /// Waits until a call that takes this many seconds has ended, and returns an error if its result is wrong.
    pub(super) async fn await_successful_call(
        &self,
        call: JoinHandle<CallOutcome>,
        seconds: u32,
    ) -> Result<(), String> {
        let result = await_call(call).await?.map_err(|error| format!("the call should succeed: {error}"))?;
        let is_complete =
            |result: &CallToolResult| result_text(result).contains(&format!("The report has {} pages", seconds * 10));
        require(is_complete(&result), "the result should be complete", &result)
    }

    /// Waits until a call fails with a message that names the server, and returns an error if it does not. The failure
    /// must come within seconds, because the fault has to be detected before the call times out.
    pub(super) async fn expect_call_failure(&self, call: JoinHandle<CallOutcome>) -> Result<(), String> {
        let began = Instant::now();
        let error = await_call(call).await?.err().ok_or("the call should fail")?;
        require(error.to_string().contains(self.server), "the error should name the server", error.to_string())?;
        require(began.elapsed() < Duration::from_secs(5), "the call should end within 5 seconds", began.elapsed())
    }

    /// Calls the server repeatedly until a call succeeds, without any action of the user.
    pub(super) async fn wait_until_recovered(&self) -> Result<(), String> {
        let again = async {
            while self.call_add_and_check_result().await.is_err() {
                // sleep: polls until the condition holds, which no event reports.
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        };
        let has_recovered = timeout(RECONNECT_TIMEOUT, again).await.is_ok();
        require(
            has_recovered,
            "calls should succeed again before the timeout",
            self.app.server(self.server).await.state,
        )
    }

    /// Returns the process id of the server, or `None` if it is not running.
    pub(super) async fn server_pid(&self) -> Option<u32> {
        self.app.server(self.server).await.pid
    }
}

async fn await_call(call: JoinHandle<CallOutcome>) -> Result<CallOutcome, String> {
    let ended = timeout(Duration::from_secs(15), call).await;
    ended.map_err(|_| "the call should end within 15 seconds".to_owned())?.map_err(|error| error.to_string())
}
