//! Servers that exit or disconnect are restarted.

use std::time::Duration;
use testkit::calls::UserCalls as _;

use domain::call::CallFailure;
use host::HostOptions;
use host::view::{FailureReason, ScheduledRestart, ServerState, ServerView};
use mcp_proto::Revision;
use mcp_proto::session::SessionTimeouts;
use ports::server_config::{ServerConfig, ServerEntry};
use testkit::app::{TestApp, demo_config, remote_config};
use testkit::http::{HttpServer, ordinary};
use testkit::time::advance_time;

#[allow(clippy::disallowed_methods, reason = "ends a server from outside")]
fn kill(pid: u32) {
    let (program, options) = if cfg!(windows) { ("taskkill", ["/F", "/PID"]) } else { ("kill", ["-s", "KILL"]) };
    let ended = std::process::Command::new(program).args(options).arg(pid.to_string()).status().unwrap();
    assert!(ended.success(), "the server's process can be ended");
}

fn scheduled_retry(view: &ServerView) -> Option<&ScheduledRestart> {
    if let ServerState::Reconnecting(retry) = &view.state { Some(retry) } else { None }
}

/// The host restarts a server that crashed without asking the user. Covers the requirement `[stdio-restart-on-crash]`.
#[tokio::test]
async fn crashed_server_is_restarted_without_consent() {
    let app = TestApp::start(vec![("harbour", demo_config(&[]))]).await;
    let first = app.ready_with_grant("harbour").await.pid.unwrap();
    let (host, slow) = (app.host.clone(), serde_json::json!({"seconds": 60}));
    let call = tokio::spawn(async move {
        let arguments = slow.as_object().unwrap().clone();
        host.call_tool("1".into(), "harbour".into(), "wait".into(), arguments, None).await
    });
    kill(first);
    let down = app.until("harbour", "waiting to come back", |s| scheduled_retry(s).is_some()).await;
    let retry = scheduled_retry(&down).unwrap();
    assert_eq!(retry.attempt, 1, "the first attempt is scheduled");
    assert!(retry.cause.contains("signal"), "the cause is displayed: {}", retry.cause);
    assert!(retry.at >= down.since, "the time of the attempt is displayed");
    let ended = call.await.unwrap();
    assert!(ended.is_err(), "the call in progress ends with an error: {ended:?}");
    let up = app.until("harbour", "ready again", |s| s.state == ServerState::Ready).await;
    assert_ne!(up.pid, Some(first), "[stdio-restart-on-crash] another process is running");
    assert!(app.consent_requests().await.is_empty(), "the restart of an approved server requires no consent");
    let last = app.decisions().into_iter().rfind(|(kind, ..)| kind == "start-server").unwrap();
    assert_eq!((last.1.as_str(), last.2.as_str()), ("allowed", "grant"), "the restart is audited");
    app.host.close().await;
}

#[tokio::test]
async fn pending_restart_can_be_cancelled_by_the_user() {
    let app = TestApp::start(vec![("harbour", demo_config(&[]))]).await;
    kill(app.ready_with_grant("harbour").await.pid.unwrap());
    app.until("harbour", "waiting to come back", |s| scheduled_retry(s).is_some()).await;
    app.host.stop_server("harbour".into()).await.unwrap();
    let stopped = app.until("harbour", "stopped", |s| s.state == ServerState::Stopped).await;
    advance_time(Duration::from_secs(10)).await;
    let still = app.server("harbour").await;
    assert_eq!((still.state, still.since), (ServerState::Stopped, stopped.since), "the server is not restarted");
    app.host.start_server("harbour".into()).await.unwrap();
    app.until("harbour", "ready, because its approval is still valid", |s| s.state == ServerState::Ready).await;
    app.host.close().await;
}

#[tokio::test]
async fn restart_can_be_triggered_immediately() {
    let app = TestApp::start(vec![("harbour", demo_config(&[]))]).await;
    for _ in 0..2 {
        kill(match app.server("harbour").await.pid {
            Some(pid) => pid,
            None => app.ready_with_grant("harbour").await.pid.unwrap(),
        });
        let down = app.until("harbour", "waiting to come back", |s| scheduled_retry(s).is_some()).await;
        app.host.retry_now("harbour".into()).await.unwrap();
        let up = app.until("harbour", "on its way", |s| scheduled_retry(s).is_none()).await;
        assert!(up.since <= scheduled_retry(&down).unwrap().at, "the attempt is made immediately");
        app.until("harbour", "ready again", |s| s.state == ServerState::Ready).await;
    }
    app.host.close().await;
}

#[tokio::test]
async fn server_that_was_never_ready_is_not_retried() {
    let unavailable = HttpServer::start(|_, mut answer| async move { answer.status(500).await }).await;
    let url = unavailable.url("/mcp");
    drop(unavailable);
    let app = TestApp::start(vec![("far", remote_config(&url))]).await;
    app.approve_start("far").await;
    let view = app.until("far", "failed", |s| matches!(s.state, ServerState::Failed(_))).await;
    let ServerState::Failed(failure) = view.state else { unreachable!() };
    assert_eq!(failure.reason, FailureReason::Unreachable, "the server is unreachable: {}", failure.message);
    app.host.close().await;
}

async fn start_http_server_at(address: Option<std::net::SocketAddr>) -> HttpServer {
    let address = address.unwrap_or_else(|| ([127, 0, 0, 1], 0).into());
    HttpServer::start_at(
        address,
        |request, answer| async move { ordinary::respond("2025-11-25", &request, answer).await },
    )
    .await
}

#[tokio::test]
async fn lost_remote_server_is_detected_and_reconnected() {
    let server = start_http_server_at(None).await;
    let address = server.address;
    let folder = tempfile::tempdir().unwrap();
    let ping = Some(Duration::from_millis(200));
    let timeouts =
        SessionTimeouts { ping_interval: ping, ping: Duration::from_millis(500), ..SessionTimeouts::default() };
    let options = HostOptions { timeouts, ..HostOptions::default() };
    let app = TestApp::start_in_folder(folder, vec![("far", remote_config(&server.url("/mcp")))], options).await;
    app.ready_with_grant("far").await;
    drop(server);
    app.until("far", "waiting to come back", |s| scheduled_retry(s).is_some()).await;
    let call = app.host.call_tool("1".into(), "far".into(), "echo".into(), Default::default(), None).await;
    assert_eq!(call, Err(CallFailure::NotReady { server: "far".into() }), "a call doesn't wait for the restart");
    let _back = start_http_server_at(Some(address)).await;
    app.host.handle_network_change().await.unwrap();
    app.until("far", "ready again", |s| s.state == ServerState::Ready && s.counts[0] > 0).await;
    app.host.close().await;
}

/// Stops a remote server, and triggers the host's reconnection attempts without their pauses until none is left.
async fn exhaust_retries(app: &TestApp, name: &str, server: HttpServer) {
    drop(server);
    app.host.handle_network_change().await.unwrap();
    let failure = loop {
        let is_down = |s: &ServerView| scheduled_retry(s).is_some() || matches!(s.state, ServerState::Failed(_));
        if let ServerState::Failed(failure) = app.until(name, "waiting or given up", is_down).await.state {
            break failure;
        }
        app.host.retry_now(name.into()).await.unwrap();
    };
    assert!(app.activity(name).await.contains("attempt 5 to reconnect"), "the maximum number of attempts was made");
    assert_eq!(failure.reason, FailureReason::Unreachable, "the server is unreachable: {}", failure.message);
}

#[tokio::test]
async fn remote_server_beyond_its_retries_reconnects_with_the_network() {
    let server = start_http_server_at(None).await;
    let address = server.address;
    let app = TestApp::start(vec![("far", remote_config(&server.url("/mcp")))]).await;
    app.ready_with_grant("far").await;
    exhaust_retries(&app, "far", server).await;
    app.host.handle_network_change().await.unwrap();
    app.until("far", "tried anew from the first pause on", |s| scheduled_retry(s).is_some()).await;
    let back = start_http_server_at(Some(address)).await;
    app.host.handle_network_change().await.unwrap();
    app.until("far", "ready again", |s| s.state == ServerState::Ready).await;
    assert!(app.consent_requests().await.is_empty(), "the restart of an approved server requires no consent");
    drop(back);
    app.host.close().await;
}

#[tokio::test]
async fn server_stopped_by_the_user_is_not_restarted_with_the_network() {
    let server = start_http_server_at(None).await;
    let address = server.address;
    let app = TestApp::start(vec![("far", remote_config(&server.url("/mcp")))]).await;
    app.ready_with_grant("far").await;
    exhaust_retries(&app, "far", server).await;
    app.host.stop_server("far".into()).await.unwrap();
    let _back = start_http_server_at(Some(address)).await;
    app.host.handle_network_change().await.unwrap();
    assert_eq!(app.server("far").await.state, ServerState::Stopped, "a stopped server stays stopped");
    app.host.start_server("far".into()).await.unwrap();
    app.until("far", "ready, because its approval is still valid", |s| s.state == ServerState::Ready).await;
    app.host.close().await;
}

#[tokio::test]
async fn servers_are_probed_after_sleep() {
    let server = start_http_server_at(None).await;
    let app = TestApp::start(vec![("far", remote_config(&server.url("/mcp"))), ("harbour", demo_config(&[]))]).await;
    let near = app.ready_with_grant("harbour").await;
    app.ready_with_grant("far").await;
    drop(server);
    app.host.handle_network_change().await.unwrap();
    app.until("far", "waiting to come back", |s| scheduled_retry(s).is_some()).await;
    let still = app.server("harbour").await;
    assert_eq!((still.state, still.pid), (ServerState::Ready, near.pid), "a responding server keeps its process");
    app.host.close().await;
}

#[tokio::test]
async fn user_subscriptions_and_log_level_are_restored_after_a_restart() {
    let app = TestApp::start(vec![("harbour", demo_config(&["--era", "legacy"]))]).await;
    let first = app.ready_with_grant("harbour").await;
    app.until("harbour", "known whole", |s| s.counts[2] > 0).await;
    let uri = app.host.catalog("harbour".into()).await.unwrap().resources[0].name().to_owned();
    app.host.subscribe("harbour".into(), uri.clone(), true).await.unwrap();
    app.host.set_log_level("harbour".into(), mcp_proto::types::LogLevel::Debug).await.unwrap();
    kill(first.pid.unwrap());
    app.until("harbour", "another process", |s| s.state == ServerState::Ready && s.pid != first.pid).await;
    let back = app.until("harbour", "as it was set up", |s| !s.subscriptions.is_empty() && s.log_level.is_some()).await;
    assert_eq!(back.subscriptions, [uri], "the subscription is restored");
    assert!(
        app.activity("harbour").await.matches("resources/subscribe").count() >= 2,
        "the subscription is sent to the new process"
    );
    app.host.close().await;
}

/// Returns a server that runs a script, which the test can change without changing the command.
#[cfg(unix)]
fn script_server(folder: &tempfile::TempDir, script: &str) -> ports::server_config::ServerConfig {
    std::fs::write(folder.path().join("server.sh"), script).unwrap();
    let script = folder.path().join("server.sh").display().to_string();
    testkit::app::local_config("/bin/sh".into(), &[&script])
}

/// Script of a server of revision 2025-06-18. It ignores unknown requests, and supports logging and one resource.
#[cfg(unix)]
const LEGACY_SCRIPT: &str = r#"
says() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
while read -r line; do
    id=${line##*\"id\":}; id=${id%%[,\}]*}
    case "$line" in
    *'"method":"initialize"'*) says '{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"logging":{},"resources":{"subscribe":true}},"serverInfo":{"name":"old","version":"1"}}' ;;
    *'"method":"tools/list"'*) says '{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}' ;;
    *'"method":"resources/list"'*) says '{"resources":[{"uri":"a:b","name":"b"}]}' ;;
    *'"method":"resources/templates/list"'*) says '{"resourceTemplates":[]}' ;;
    *'"method":"resources/subscribe"'* | *'"method":"logging/setLevel"'* | *'"method":"ping"'*) says '{}' ;;
    esac
done
"#;

/// After a lost ping, the errors of running calls name it, and the server's failure contains the last lines of its
/// standard error.
#[cfg(unix)]
#[tokio::test]
async fn failed_ping_ends_calls_and_reports_the_last_output() {
    use host::view::{ConsentRequestBody, UserDecision};
    use mcp_proto::session::{CallError, CloseReason};
    use policy::ApprovalScope;

    let folder = tempfile::tempdir().unwrap();
    let script = LEGACY_SCRIPT.replace(r#" | *'"method":"ping"'*"#, "");
    let config = script_server(&folder, &format!("echo 'waiting for the disk' >&2\n{script}"));
    let app = TestApp::start_in_folder(folder, vec![("old", config)], options_with_short_delays()).await;
    app.ready_with_grant("old").await;
    // Without its grant the server is not restarted, so its failure is kept.
    let grant = app.host.grants().await.unwrap().remove(0);
    assert!(app.host.revoke_grant(grant.id).await.unwrap(), "the grant existed");
    let (host, none) = (app.host.clone(), serde_json::Map::new());
    let call = tokio::spawn(async move { host.call_tool("1".into(), "old".into(), "t".into(), none, None).await });
    let request = app.consent_request("old", "a tool", |q| matches!(q.body, ConsentRequestBody::Tool { .. })).await;
    app.decide(&request, UserDecision::Allow(ApprovalScope::Once)).await;
    while !app.activity("old").await.contains("tools/call") {
        tokio::task::yield_now().await;
    }
    app.host.handle_network_change().await.unwrap();
    advance_time(Duration::from_secs(11)).await;
    let failed = app.until("old", "failed", |s| matches!(s.state, ServerState::Failed(_))).await;
    let ServerState::Failed(failure) = failed.state else { unreachable!() };
    assert_eq!(failure.reason, FailureReason::Unresponsive, "the server did not respond: {}", failure.message);
    assert_eq!(failure.stderr, ["waiting for the disk"], "the last lines are displayed");
    let unresponsive = CallError::Closed(CloseReason::Unresponsive(Duration::from_secs(10)));
    let expected = CallFailure::Session { server: "old".into(), error: Box::new(unresponsive) };
    assert_eq!(call.await.unwrap().map(drop), Err(expected), "the call ends because of the ping");
    app.host.close().await;
}

/// Script of a server of revision 2026-07-28, which exits on `initialize`.
#[cfg(unix)]
const MODERN_SCRIPT: &str = r#"
says() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
while read -r line; do
    id=${line##*\"id\":}; id=${id%%[,\}]*}
    case "$line" in
    *'"method":"initialize"'*) exit 3 ;;
    *'"method":"server/discover"'*) says '{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"resultType":"complete","ttlMs":0,"cacheScope":"private"}' ;;
    *'"method":"tools/list"'*) says '{"tools":[{"name":"t","inputSchema":{"type":"object"}}],"resultType":"complete","ttlMs":0,"cacheScope":"private"}' ;;
    esac
done
"#;

#[cfg(unix)]
fn options_with_short_delays() -> HostOptions {
    let timeouts = SessionTimeouts { probe: Duration::from_millis(300), ..SessionTimeouts::default() };
    HostOptions { timeouts, ..HostOptions::default() }
}

/// The host tries the protocol revision of a local server's last session first on the next start. Covers the
/// requirement `[lifecycle-era-cache]`.
#[cfg(unix)]
#[tokio::test]
async fn revision_of_a_local_server_is_tried_first_the_next_time() {
    let folder = tempfile::tempdir().unwrap();
    let config = script_server(&folder, LEGACY_SCRIPT);
    let app = TestApp::start_in_folder(folder, vec![("old", config)], options_with_short_delays()).await;
    let revision = |view: &ServerView| view.facts.as_ref().map(|facts| facts.revision.to_string());
    let stopped = async || {
        app.host.stop_server("old".into()).await.unwrap();
        app.until("old", "stopped", |s| s.state == ServerState::Stopped).await;
    };
    let probes = async || app.activity("old").await.matches("server/discover").count();
    let first = app.ready("old").await;
    assert_eq!(revision(&first).as_deref(), Some("2025-06-18"), "the server speaks an old revision");
    let probed = probes().await;
    assert!(probed > 0, "an unknown server is probed");
    stopped().await;
    app.ready("old").await;
    assert_eq!(probes().await, probed, "[lifecycle-era-cache] the second start does not wait for the probe");
    stopped().await;

    std::fs::write(app.folder.path().join("server.sh"), MODERN_SCRIPT).unwrap();
    app.approve_start("old").await;
    app.until("old", "failed", |s| matches!(s.state, ServerState::Failed(_))).await;
    let new = app.ready("old").await;
    assert_eq!(
        revision(&new).as_deref(),
        Some("2026-07-28"),
        "[lifecycle-era-cache] the server is probed again when the known revision fails"
    );
    app.host.close().await;
}

/// A protocol revision that the user set for a server is not stored as the detected revision. Covers the requirement
/// `[lifecycle-era-cache]`.
#[tokio::test]
async fn revision_set_by_the_user_is_not_stored_as_detected() {
    let pinned = |revision| ServerConfig { revision, ..demo_config(&[]) };
    let app = TestApp::start(vec![("both", pinned(Some(Revision::V2025_06_18)))]).await;
    let revision = |view: &ServerView| view.facts.as_ref().map(|facts| facts.revision);
    assert_eq!(revision(&app.ready("both").await), Some(Revision::V2025_06_18), "the chosen revision is used");
    let entry = ServerEntry { name: "both".into(), config: pinned(None) };
    app.host.update_server("both".into(), entry).await.unwrap();
    app.until("both", "stopped", |s| s.state == ServerState::Stopped).await;
    assert_eq!(
        revision(&app.ready("both").await),
        Some(Revision::NEWEST),
        "[lifecycle-era-cache] the revision is detected again"
    );
    app.host.close().await;
}

#[cfg(unix)]
#[tokio::test]
async fn user_settings_survive_a_failed_restart() {
    let folder = tempfile::tempdir().unwrap();
    // The script itself is not changed, since that would require consent.
    let broken = folder.path().join("broken");
    let config = script_server(&folder, &format!("[ -e '{}' ] && exit 3\n{LEGACY_SCRIPT}", broken.display()));
    let app = TestApp::start_in_folder(folder, vec![("old", config)], options_with_short_delays()).await;
    let first = app.ready_with_grant("old").await;
    app.host.subscribe("old".into(), "a:b".into(), true).await.unwrap();
    app.host.set_log_level("old".into(), mcp_proto::types::LogLevel::Debug).await.unwrap();
    std::fs::write(&broken, "").unwrap();
    kill(first.pid.unwrap());
    app.until("old", "waiting for the second attempt", |s| scheduled_retry(s).is_some_and(|retry| retry.attempt == 2))
        .await;
    std::fs::remove_file(&broken).unwrap();
    app.host.retry_now("old".into()).await.unwrap();
    let is_set_up = |s: &ServerView| !s.subscriptions.is_empty() && s.log_level.is_some();
    let back = app.until("old", "as it was set up", is_set_up).await;
    assert_eq!(back.subscriptions, ["a:b"], "the subscription is restored");
    app.host.close().await;
}

#[tokio::test]
async fn e29_manual_ping_uses_the_method_of_the_revision_and_reports_the_latency() {
    for (era, method) in [("legacy", "\"ping\""), ("modern", "\"server/discover\"")] {
        let app = TestApp::start(vec![("harbour", demo_config(&["--era", era]))]).await;
        let asleep = app.host.ping("harbour".into()).await;
        assert!(matches!(asleep, Err(CallFailure::NotReady { .. })), "a stopped server can't be pinged: {asleep:?}");
        app.ready("harbour").await;
        let before = app.activity("harbour").await.matches(method).count();
        let took = app.host.ping("harbour".into()).await.expect("the ping succeeds");
        assert!(
            !took.is_zero() && took < Duration::from_secs(10),
            "[ping-removed-modern] the measured time is plausible: {took:?}"
        );
        let after = app.activity("harbour").await.matches(method).count();
        assert!(after > before, "{era}: the ping was sent as {method}");
        app.host.close().await;
    }
}
