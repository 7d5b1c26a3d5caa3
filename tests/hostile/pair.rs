//! A well-behaved server and a hostile one, and the criterion for every attack: the call of the hostile server ends in
//! time, with a message that states the cause and the server's name; memory is bounded; the well-behaved server
//! responds in time throughout; no process remains; nothing connects to an address that the user did not name; no
//! secret is written to a file or sent.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use testkit::calls::UserCalls as _;

use domain::call::CallFailure;
use host::HostOptions;
use host::view::{CallTimeouts, ConsentRequestBody, ConsentRequestView, ServerState, UserDecision};
use mcp_proto::session::{ListKind, SessionTimeouts};
use mcp_proto::types::CallToolResult;
use policy::ApprovalScope;
use ports::Ports;
use ports::secrets::SecretsInMemory;
use ports::server_config::ServerConfig;
use serde_json::{Map, Value, json};
use testkit::app::{TestApp, scripted_config};
use testkit::time::RuntimeClock;
use testkit::{binaries, forbidden_url, processes};
use tokio::task::JoinHandle;

use crate::collector::forbidden_url_listener;
use crate::report::{self, AttackMeasurements, AttackResultRow};
use crate::{leaks, log};

/// Time without progress after which a call fails.
pub(crate) const IDLE_CALL_TIMEOUT: Duration = Duration::from_secs(4);
/// Time after which a call fails, even if it reports progress.
pub(crate) const TOTAL_CALL_TIMEOUT: Duration = Duration::from_secs(8);
/// Time after which a call fails during a flood of messages, of which a debug build processes fewer per second than a
/// release build.
pub(crate) const FLOOD_TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum time until a call fails whose cause the host can detect at once. It is longer for debug builds, which share
/// the machine with others, but still far below [`FLOOD_TIMEOUT`], with which these tests call the server.
pub(crate) const FAILURE_TIMEOUT: Duration = Duration::from_secs(if cfg!(debug_assertions) { 15 } else { 2 });
/// Maximum growth of the test process's peak memory during a test, in bytes. The process also runs scripted HTTP
/// servers.
const MAX_MEMORY_GROWTH: u64 = 300 * 1024 * 1024;
/// Name of the file to which the well-behaved server writes the messages that it receives.
const GOOD_RECORD_FILE: &str = "good";
/// Maximum time of a response of the well-behaved server. A busy machine delays it by about a second. If the hostile
/// server blocked the call, it would take at least [`IDLE_CALL_TIMEOUT`].
const GOOD_RESPONSE_TIMEOUT: Duration = Duration::from_secs(3);
/// Time between two calls of the well-behaved server.
const GOOD_CALL_INTERVAL: Duration = Duration::from_millis(200);

/// Returns the options of a host whose tool calls have these idle and total timeouts.
fn host_options((idle, total): (Duration, Duration)) -> HostOptions {
    HostOptions {
        timeouts: SessionTimeouts {
            probe: Duration::from_secs(2),
            initialize: Duration::from_secs(3),
            ..SessionTimeouts::default()
        },
        call_timeouts: CallTimeouts {
            tool: (idle, total),
            list: (IDLE_CALL_TIMEOUT, TOTAL_CALL_TIMEOUT),
            read: (IDLE_CALL_TIMEOUT, TOTAL_CALL_TIMEOUT),
            ..CallTimeouts::default()
        },
        ..HostOptions::default()
    }
}

pub(crate) fn allow_starts_and_tools(request: &ConsentRequestView) -> Option<UserDecision> {
    match request.body {
        ConsentRequestBody::StartServer { .. }
        | ConsentRequestBody::ConnectServer { .. }
        | ConsentRequestBody::SignIn { .. }
        | ConsentRequestBody::Tool { .. } => Some(UserDecision::Allow(ApprovalScope::Once)),
        // The user has no client ID to enter.
        ConsentRequestBody::ClientId { .. } => Some(UserDecision::Deny),
        _ => None,
    }
}

/// Decides a consent request as the user: allows everything except tool calls of the hostile server, which the test
/// decides.
fn allow_good_tools(request: &ConsentRequestView) -> Option<UserDecision> {
    let is_others_tool = request.server != "good" && matches!(request.body, ConsentRequestBody::Tool { .. });
    if is_others_tool { None } else { allow_starts_and_tools(request) }
}

/// Decides a consent request as the user: allows everything of the well-behaved server. The test decides on the consent
/// requests of the hostile server.
fn allow_good_start_and_tools(request: &ConsentRequestView) -> Option<UserDecision> {
    if request.server == "bad" { None } else { allow_starts_and_tools(request) }
}

/// Returns the configuration with the URL of [`forbidden_url_listener`] as an additional argument if it starts the
/// scripted server, and unchanged otherwise.
fn with_forbidden_url(mut bad: ServerConfig) -> ServerConfig {
    let address = forbidden_url_listener().url();
    forbidden_url::set_forbidden_url(&address);
    let is_scripted = |command: &str| command == binaries::scripted_server().to_string_lossy();
    if let Some(stdio) = bad.as_stdio_mut().filter(|stdio| is_scripted(&stdio.command)) {
        stdio.args.extend(["--forbidden-url".to_owned(), address]);
    }
    bad
}

/// Tool call that runs in a spawned task.
pub(crate) type PendingCall = JoinHandle<Result<CallToolResult, CallFailure>>;

/// Result and duration of a tool call of the hostile server.
pub(crate) struct EndedCall {
    pub(crate) result: Result<CallToolResult, CallFailure>,
    pub(crate) took: Duration,
}

impl EndedCall {
    /// Returns the result as JSON text, or an empty string if the call failed.
    pub(crate) fn result_json(&self) -> String {
        self.result.as_ref().map(|result| json!(result).to_string()).unwrap_or_default()
    }
}

/// A well-behaved local server named `good` and a hostile server named `bad` in one host, with a simulated user who
/// decides on consent requests.
pub(crate) struct GoodAndBadServers {
    pub(crate) app: TestApp,
    user: JoinHandle<()>,
    memory: u64,
    total: Duration,
    /// Folder for files of the test, outside of the app's folder.
    record_folder: tempfile::TempDir,
    /// Duration of the slowest response of the well-behaved server so far, in microseconds.
    slowest: AtomicU64,
    row: AttackResultRow,
}

impl GoodAndBadServers {
    /// Starts both servers with a user who allows all starts and calls, and waits until the well-behaved server is
    /// ready.
    pub(crate) async fn start(bad: ServerConfig) -> Self {
        Self::start_with_timeouts((IDLE_CALL_TIMEOUT, TOTAL_CALL_TIMEOUT), bad).await
    }

    async fn start_with_timeouts(times: (Duration, Duration), bad: ServerConfig) -> Self {
        let pair = Self::set_up(times, with_forbidden_url(bad), allow_starts_and_tools).await;
        pair.app.host.start_server("bad".into()).await.unwrap();
        pair
    }

    /// Starts the well-behaved server with a user who allows all starts and calls. The hostile server is only added to
    /// the settings.
    pub(crate) async fn with_stopped_bad_server(bad: ServerConfig) -> Self {
        Self::set_up((IDLE_CALL_TIMEOUT, TOTAL_CALL_TIMEOUT), with_forbidden_url(bad), allow_starts_and_tools).await
    }

    /// Starts both servers and waits until they are ready. The test has to decide on the tool calls of the hostile
    /// server.
    pub(crate) async fn with_undecided_tools(bad: ServerConfig) -> Self {
        let pair = Self::set_up((FLOOD_TIMEOUT, FLOOD_TIMEOUT), with_forbidden_url(bad), allow_good_tools).await;
        pair.app.host.start_server("bad".into()).await.unwrap();
        pair.app.until("bad", "ready", |s| s.state == ServerState::Ready && s.counts[0] > 0).await;
        pair
    }

    /// Starts the well-behaved server. The hostile server is only added to the settings, and the test has to decide on
    /// all of its consent requests.
    pub(crate) async fn with_undecided_start(bad: ServerConfig) -> Self {
        Self::set_up((FLOOD_TIMEOUT, FLOOD_TIMEOUT), bad, allow_good_start_and_tools).await
    }

    /// Does the same as [`Self::with_undecided_start`], but with other options of the host.
    pub(crate) async fn with_undecided_start_and_options(
        bad: ServerConfig,
        change: impl FnOnce(HostOptions) -> HostOptions,
    ) -> Self {
        let options = change(host_options((FLOOD_TIMEOUT, FLOOD_TIMEOUT)));
        Self::set_up_with(options, FLOOD_TIMEOUT, bad, allow_good_start_and_tools).await
    }

    async fn set_up(
        times: (Duration, Duration),
        bad: ServerConfig,
        user: fn(&ConsentRequestView) -> Option<UserDecision>,
    ) -> Self {
        Self::set_up_with(host_options(times), times.1, bad, user).await
    }

    async fn set_up_with(
        options: HostOptions,
        total: Duration,
        bad: ServerConfig,
        user: fn(&ConsentRequestView) -> Option<UserDecision>,
    ) -> Self {
        log::start_log_recording();
        let record_folder = tempfile::tempdir().unwrap();
        let good = scripted_config(&["--record", &record_folder.path().join(GOOD_RECORD_FILE).to_string_lossy()]);
        let servers = vec![("good", good), ("bad", bad)];
        let (folder, secrets) = (tempfile::tempdir().unwrap(), Arc::new(SecretsInMemory::default()));
        let clock = RuntimeClock::new();
        let app =
            TestApp::start_with_changed_ports(folder, servers, options, secrets, |ports| Ports { clock, ..ports })
                .await;
        let user = app.decide_automatically(user);
        app.host.start_server("good".into()).await.unwrap();
        app.until("good", "ready", |s| s.state == ServerState::Ready && s.counts[0] > 0).await;
        let memory = processes::resident_bytes(std::process::id()).expect("the test runs on Linux");
        processes::reset_peak_memory().expect("the peak of the own memory can be set back");
        Self { app, user, memory, total, record_folder, slowest: AtomicU64::new(0), row: AttackResultRow::default() }
    }

    /// Returns all messages that the well-behaved server has received, as text.
    pub(crate) fn messages_received_by_good_server(&self) -> String {
        std::fs::read_to_string(self.record_folder.path().join(GOOD_RECORD_FILE)).unwrap()
    }

    /// Starts both servers with a user who allows all starts and calls, and waits until both are ready.
    pub(crate) async fn ready(bad: ServerConfig) -> Self {
        Self::ready_with_timeouts((IDLE_CALL_TIMEOUT, TOTAL_CALL_TIMEOUT), bad).await
    }

    /// Does the same as [`Self::ready`], but calls have the timeout [`FLOOD_TIMEOUT`].
    pub(crate) async fn start_ready_for_flood(bad: ServerConfig) -> Self {
        Self::ready_with_timeouts((FLOOD_TIMEOUT, FLOOD_TIMEOUT), bad).await
    }

    async fn ready_with_timeouts(times: (Duration, Duration), bad: ServerConfig) -> Self {
        let pair = Self::start_with_timeouts(times, bad).await;
        pair.app.until("bad", "ready", |s| s.state == ServerState::Ready && s.counts[0] > 0).await;
        pair
    }

    /// Calls the tool `echo` of a server with this text and the call id `id`.
    pub(crate) async fn call_echo_tool(
        &self,
        server: &str,
        id: &str,
        text: &str,
    ) -> Result<CallToolResult, CallFailure> {
        let arguments = Map::from_iter([("text".to_owned(), json!(text))]);
        let called = self.app.host.call_tool(id.into(), server.into(), "echo".into(), arguments, None).await;
        called.map(|(result, _)| result)
    }

    /// Starts a call of a tool of the hostile server in a spawned task.
    pub(crate) fn spawn_call(&self, id: &str, tool: &str, arguments: Value) -> PendingCall {
        let (host, id, tool) = (self.app.host.clone(), id.to_owned(), tool.to_owned());
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        tokio::spawn(
            async move { host.call_tool(id, "bad".into(), tool, arguments, None).await.map(|(result, _)| result) },
        )
    }

    /// Waits for a consent request for a tool call of the hostile server for which `fits` returns `true`.
    pub(crate) async fn wait_for_tool_consent_request(
        &self,
        what: &str,
        fits: impl Fn(&ConsentRequestView) -> bool,
    ) -> ConsentRequestView {
        self.row.set_name(what);
        let is_tool_request = |request: &ConsentRequestView| matches!(request.body, ConsentRequestBody::Tool { .. });
        self.app.consent_request("bad", "the tool", |request| is_tool_request(request) && fits(request)).await
    }

    /// Waits for a consent request of the hostile server that is not for a tool call.
    pub(crate) async fn next_server_request(&self, what: &str) -> ConsentRequestView {
        self.row.set_name(what);
        let is_tool_request = |request: &ConsentRequestView| matches!(request.body, ConsentRequestBody::Tool { .. });
        self.app.consent_request("bad", "something", |request| !is_tool_request(request)).await
    }

    /// Calls the tool `echo` of the hostile server. Asserts that the well-behaved server responds in time during and
    /// after the call.
    pub(crate) async fn call_bad_server(&self, what: &str) -> EndedCall {
        let began = Instant::now();
        let limit = self.total + Duration::from_secs(20);
        let call = async { tokio::time::timeout(limit, self.call_echo_tool("bad", "bad", "hello")).await };
        let (ended, took) = self.while_good_server_responds(what, async { (call.await, began.elapsed()) }).await;
        let Ok(result) = ended else {
            let activity: String = self.app.activity("bad").await.chars().take(2_000).collect();
            panic!("{what}: the call must end; consent requests: {:?}; {activity}", self.app.consent_requests().await)
        };
        EndedCall { result, took }
    }

    /// Runs the future `attack` and returns its output. Asserts that the well-behaved server responds in time meanwhile
    /// and once afterwards.
    pub(crate) async fn while_good_server_responds<F: Future>(&self, what: &str, attack: F) -> F::Output {
        let over = AtomicBool::new(false);
        let attack = async {
            let output = attack.await;
            over.store(true, Ordering::Relaxed);
            output
        };
        let good = async {
            while !over.load(Ordering::Relaxed) {
                self.assert_good_server_responds(what, "meanwhile").await;
                // sleep: the interval between calls of the good server.
                tokio::time::sleep(GOOD_CALL_INTERVAL).await;
            }
        };
        let (output, ()) = tokio::join!(attack, good);
        self.assert_good_server_responds(what, "afterwards").await;
        output
    }

    /// Waits until the hostile server has read all messages that were sent before. It responds in order, so one request
    /// suffices.
    pub(crate) async fn wait_until_bad_server_has_read(&self, what: &str) {
        let read = self.app.host.refresh_list("bad".into(), ListKind::Tools).await;
        assert!(read.is_ok(), "{what}: the list is read: {read:?}");
    }

    pub(crate) async fn assert_good_server_responds(&self, what: &str, when: &str) {
        self.row.set_name(what);
        let began = Instant::now();
        let answered = self.call_echo_tool("good", when, "hello").await;
        answered.unwrap_or_else(|e| panic!("{what}: the good server responds {when}: {e}"));
        let took = began.elapsed();
        self.slowest.fetch_max(took.as_micros() as u64, Ordering::Relaxed);
        assert!(took < GOOD_RESPONSE_TIMEOUT, "{what}: the good server responds in time {when}: {took:?}");
    }

    /// Asserts that a call failed with an error that contains one of these words, or that it succeeded if there are no
    /// words.
    pub(crate) fn assert_call_ended(&self, what: &str, EndedCall { result, took }: &EndedCall, words: &[&str]) {
        match result {
            Ok(_) => assert!(words.is_empty(), "{what}: the call should fail, but it succeeded"),
            Err(error) => {
                let message = error.to_string();
                assert!(!words.is_empty(), "{what}: the call should succeed, but it failed: {message}");
                assert!(
                    words.iter().any(|word| message.contains(word)),
                    "{what}: the error message contains the cause: {message}"
                );
                assert!(message.contains("bad"), "{what}: the error message contains the server's name: {message}");
            }
        }
        assert!(*took < self.total + Duration::from_secs(3), "{what}: the call ends before its timeout: {took:?}");
        self.assert_memory_bounded(what);
    }

    /// Asserts that a call failed with an error that contains one of these words, and took at most [`FAILURE_TIMEOUT`].
    pub(crate) fn assert_failed_immediately(&self, what: &str, call: &EndedCall, words: &[&str]) {
        self.assert_call_ended(what, call, words);
        assert!(
            call.took <= FAILURE_TIMEOUT,
            "{what}: the call fails without waiting for its timeout: {:?}",
            call.took
        );
    }

    /// Returns the growth of this process's peak memory since the well-behaved server was ready, in bytes. Memory that
    /// was freed again is included.
    fn peak_memory_growth(&self) -> u64 {
        let peak = processes::peak_resident_bytes(std::process::id()).expect("the test runs on Linux");
        peak.saturating_sub(self.memory)
    }

    pub(crate) fn assert_memory_bounded(&self, what: &str) {
        let grown = self.peak_memory_growth();
        assert!(grown < MAX_MEMORY_GROWTH, "{what}: memory is bounded, but grew by {} MiB", grown / 1024 / 1024);
    }

    /// Closes the host. Asserts that the well-behaved server responded in time, memory was bounded, no process
    /// remained, and no secret leaked. A test with further assertions keeps the returned row until they have passed.
    pub(crate) async fn close(mut self, what: &str) -> AttackResultRow {
        self.assert_good_server_responds(what, "at the end").await;
        self.assert_memory_bounded(what);
        let pids = [self.app.server("good").await.pid, self.app.server("bad").await.pid];
        let places = leaks::texts_searched_for_secrets(&self.app, "bad").await;
        self.user.abort();
        let began = Instant::now();
        self.app.host.close().await;
        for pid in pids.into_iter().flatten() {
            let left = processes::living_processes_in_group(pid);
            assert!(left.is_empty(), "{what}: all processes of the server have ended, but {left:?} remain");
        }
        let exit_time = began.elapsed();
        assert!(exit_time < Duration::from_secs(10), "{what}: the processes end within 10 s: {exit_time:?}");
        let mut written = Vec::new();
        leaks::add_file_contents(self.app.folder.path(), &mut written);
        written.push(("the log".to_owned(), log::recorded_log_text()));
        let canary = report::host_canary();
        let found = leaks::find_secret(&places, &canary).or_else(|| leaks::find_secret(&written, &canary));
        assert_eq!(found, None, "{what}: the secret in the host's environment is not found anywhere");
        let hits = forbidden_url_listener().connection_count();
        assert_eq!(hits, 0, "{what}: nothing connected to the forbidden address");
        let slowest = Duration::from_micros(self.slowest.load(Ordering::Relaxed));
        self.row.record_withstood(AttackMeasurements { slowest, memory: self.peak_memory_growth(), exit_time });
        self.row
    }
}
