//! Tests of servers with a sandbox and limits: a server can access only what its user has named, and its resource use
//! does not affect others.

use std::path::{Path, PathBuf};
use std::time::Duration;
use testkit::calls::UserCalls as _;

use domain::call::CallFailure;
use host::view::{AppSettings, ConsentRequestBody, ConsentRequestView, ServerState, UserDecision};
use policy::ApprovalScope;
use ports::server_config::{AccessMode, AllowedFolder, NetworkAccess, SandboxConfig, ServerConfig, ServerEntry};
use serde_json::{Map, Value, json};
use supervision::limits::ServerLimits;
use testkit::app::{EVENT_TIMEOUT, TestApp, scripted_config};
use testkit::deadline::within;

use crate::pair::GoodAndBadServers;

fn sandboxed_server(sandbox: SandboxConfig, args: &[&str]) -> ServerConfig {
    let mut config = scripted_config(args);
    if let Some(stdio) = config.as_stdio_mut() {
        stdio.sandbox = Some(sandbox);
    }
    config
}

fn allowed_folder(path: &Path, access: AccessMode) -> AllowedFolder {
    AllowedFolder { path: path.to_owned(), access }
}

fn is_start_request(request: &ConsentRequestView) -> bool {
    matches!(request.body, ConsentRequestBody::StartServer { .. })
}

/// Returns the environment variables that a server's process has, as the server's tool reports them.
async fn observed_environment(app: &TestApp, server: &str) -> Value {
    let user = app.decide_automatically(|request| {
        matches!(request.body, ConsentRequestBody::Tool { .. }).then_some(UserDecision::Allow(ApprovalScope::Once))
    });
    let call = app.host.call_tool("seen".into(), server.into(), "environment".into(), Map::new(), None).await;
    user.abort();
    let result = json!(call.expect("its tool can be called").0);
    serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap()
}

#[tokio::test]
async fn sandboxed_server_works_and_its_consent_request_shows_its_sandbox() {
    let ground = tempfile::tempdir().unwrap();
    let inside = ground.path().canonicalize().unwrap();
    let sandbox =
        SandboxConfig { folders: vec![allowed_folder(&inside, AccessMode::Write)], network: NetworkAccess::None };
    let app = TestApp::start(vec![("held", sandboxed_server(sandbox.clone(), &[]))]).await;
    app.host.start_server("held".into()).await.unwrap();
    let request = app.consent_request("held", "its start", is_start_request).await;
    let ConsentRequestBody::StartServer { plan: Some(plan), .. } = &request.body else {
        panic!("the consent request says what it would reach: {request:?}");
    };
    assert_eq!(plan.reach.folders, sandbox.folders, "the request shows the selected folders");
    assert_eq!(plan.network, NetworkAccess::None, "the request shows that the network is not accessible");
    let report = app.host.plan_sandbox("held".into()).await.expect("the sandbox can be set up");
    assert_eq!(report.plan, *plan, "the preview shows the same sandbox");
    let home = plan.reach.home.clone();
    let mechanism = plan.mechanism.name();
    app.decide(&request, UserDecision::Allow(ApprovalScope::Always)).await;
    let view = app.until("held", "ready", |s| s.state == ServerState::Ready && s.counts[0] > 0).await;
    assert_eq!(view.sandbox_mechanism, Some(mechanism), "the mechanism of the sandbox is shown");
    let observed = observed_environment(&app, "held").await;
    assert_eq!(observed["environment"]["HOME"], json!(home), "X33: the server has a private home folder");
    assert!(
        home.starts_with(app.folder.path()),
        "the home folder is below Drawbridge's data folder: {}",
        home.display()
    );
    assert_eq!(observed["environment"].get("XDG_DATA_HOME"), None, "X33: no variable contains the user's home folder");
    assert_eq!(observed["descriptors"], json!([0, 1, 2]), "X33: the server inherits no open file of the host");
    if mechanism == "bubblewrap" {
        assert!(observed["pid"].as_u64().unwrap() < 10, "it sees no process but its own: {}", observed["pid"]);
    }
    app.host.close().await;
}

#[tokio::test]
async fn extended_sandbox_requires_another_approval() {
    let sandbox = SandboxConfig::default();
    let app = TestApp::start(vec![("held", sandboxed_server(sandbox.clone(), &[]))]).await;
    app.host.start_server("held".into()).await.unwrap();
    let request = app.consent_request("held", "its start", is_start_request).await;
    app.decide(&request, UserDecision::Allow(ApprovalScope::Always)).await;
    app.until("held", "ready", |s| s.state == ServerState::Ready).await;
    assert!(app.server("held").await.approved, "the unchanged sandbox is approved");
    let without = scripted_config(&[]);
    for (what, config) in [
        ("with the network", sandboxed_server(SandboxConfig { network: NetworkAccess::Full, ..sandbox }, &[])),
        ("without a sandbox", without),
    ] {
        let entry = ServerEntry { name: "held".into(), config };
        app.host.update_server("held".into(), entry).await.unwrap();
        app.until("held", "stopped", |s| s.state == ServerState::Stopped).await;
        assert!(!app.server("held").await.approved, "{what} is not approved");
        app.host.start_server("held".into()).await.unwrap();
        let request = app.consent_request("held", "its start", is_start_request).await;
        let diff = request.marks.diff.as_deref().unwrap_or_else(|| panic!("{what}: the change is shown: {request:?}"));
        assert!(
            format!("{:?}", diff.changes).contains("sandbox"),
            "{what}: the change is that of the sandbox: {diff:?}"
        );
        app.decide(&request, UserDecision::Deny).await;
        app.until("held", "failed", |s| matches!(s.state, ServerState::Failed(_))).await;
    }
    app.host.close().await;
}

#[tokio::test]
async fn server_that_cannot_be_sandboxed_fails_without_a_consent_request() {
    let ground = tempfile::tempdir().unwrap();
    let base = ground.path().canonicalize().unwrap();
    std::fs::create_dir(base.join("real")).unwrap();
    std::os::unix::fs::symlink(base.join("real"), base.join("link")).unwrap();
    let app = TestApp::start(Vec::new()).await;
    let own = app.folder.path().canonicalize().unwrap();
    let tries: [(&str, PathBuf, AccessMode, &str); 3] = [
        ("gone", base.join("gone"), AccessMode::Read, "gone"),
        ("X29 link", base.join("link"), AccessMode::Read, "leads to"),
        ("own", own, AccessMode::Write, "own settings"),
    ];
    for (name, path, access, words) in tries {
        let sandbox = SandboxConfig { folders: vec![allowed_folder(&path, access)], network: NetworkAccess::None };
        let entry = ServerEntry { name: name.into(), config: sandboxed_server(sandbox, &[]) };
        app.host.add_server(entry).await.unwrap();
        app.host.start_server(name.into()).await.unwrap();
        let view = app.until(name, "failed", |s| matches!(s.state, ServerState::Failed(_))).await;
        let ServerState::Failed(failure) = view.state else { panic!("{name}: the server has failed") };
        assert!(failure.message.contains(words), "{name}: the failure message contains the cause: {}", failure.message);
        assert_eq!(view.pid, None, "{name}: nothing runs");
        assert!(app.consent_requests().await.is_empty(), "{name}: there is no consent request");
    }
    app.host.close().await;
}

#[tokio::test]
async fn x29_server_receives_no_folder_outside_its_sandbox() {
    let ground = tempfile::tempdir().unwrap();
    let base = ground.path().canonicalize().unwrap();
    for name in ["in", "in/deep", "inX", "out"] {
        std::fs::create_dir(base.join(name)).unwrap();
    }
    let sandbox = SandboxConfig {
        folders: vec![allowed_folder(&base.join("in"), AccessMode::Read)],
        network: NetworkAccess::None,
    };
    let app = TestApp::start(vec![("held", sandboxed_server(sandbox, &[]))]).await;
    let shared = ["in/deep", "inX", "out"].map(|name| base.join(name)).to_vec();
    app.host.set_roots("held".into(), shared.clone()).await.unwrap();
    let view = app.server("held").await;
    assert_eq!(view.roots, Some(shared), "the folders that the user shared are unchanged");
    assert_eq!(
        view.sent_roots,
        Some(vec![base.join("in/deep")]),
        "X29: the server receives only folders that it can access"
    );
    app.host.set_roots("held".into(), vec![base.clone()]).await.unwrap();
    let sent = app.server("held").await.sent_roots;
    assert_eq!(sent, Some(vec![base.join("in")]), "X29: the server receives the accessible part of a larger folder");
    app.host.close().await;
}

async fn set_limits(app: &TestApp, limits: ServerLimits) {
    let settings = AppSettings { limits, ..AppSettings::default() };
    app.host.set_settings(settings).await.unwrap();
}

#[tokio::test]
async fn calls_beyond_the_limit_are_rejected_and_counted() {
    let what = "calls beyond the limit";
    let pair = GoodAndBadServers::with_stopped_bad_server(scripted_config(&["--misbehave", "silent"])).await;
    set_limits(&pair.app, ServerLimits { calls: 2, ..ServerLimits::default() }).await;
    pair.app.host.start_server("bad".into()).await.unwrap();
    // Reading a list is also a pending request, so wait until both lists are read.
    pair.app.until("bad", "read", |s| s.state == ServerState::Ready && s.counts[0] > 0 && s.counts[1] > 0).await;
    let waiting = [pair.spawn_call("1", "echo", json!({})), pair.spawn_call("2", "echo", json!({}))];
    let used = || async { pair.app.host.limits_usage("bad".into()).await.unwrap().expect("there is such a server") };
    let mut under_way = 0;
    for _ in 0..100 {
        under_way = used().await.calls.current;
        if under_way == 2 {
            break;
        }
        // sleep: polls until the condition holds, which no event reports.
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(under_way, 2, "{what}: pending calls are counted");
    let third = pair.spawn_call("3", "echo", json!({})).await.unwrap();
    assert!(
        matches!(&third, Err(CallFailure::Busy { server }) if server == "bad")
            || matches!(&third, Err(CallFailure::Session { server, .. }) if server == "bad"),
        "{what}: the next call is rejected with the server's name: {third:?}"
    );
    let is_counted = async {
        loop {
            let now = used().await.calls;
            if now.excess > 0 {
                return now;
            }
            // sleep: usage figures are updated at intervals, which no event reports.
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let now = within(EVENT_TIMEOUT, &format!("{what}: that is counted"), is_counted).await;
    assert_eq!((now.limit, now.excess), (2, 1), "{what}: the rejection is counted");
    waiting.into_iter().for_each(|call| call.abort());
    pair.close(what).await;
}

#[tokio::test]
async fn server_that_sends_too_much_is_throttled_alone() {
    let what = "more bytes than in a minute";
    let args = ["--misbehave", "flood-log", "--count", "400000"];
    let pair = GoodAndBadServers::with_stopped_bad_server(scripted_config(&args)).await;
    set_limits(
        &pair.app,
        ServerLimits { bytes_per_minute: 1, notifications_per_second: 100, ..ServerLimits::default() },
    )
    .await;
    pair.app.host.start_server("bad".into()).await.unwrap();
    pair.app.until("bad", "ready", |s| s.state == ServerState::Ready && s.counts[0] > 0).await;
    let call = pair.spawn_call("1", "echo", json!({}));
    let used = || async { pair.app.host.limits_usage("bad".into()).await.unwrap().expect("there is such a server") };
    let slowed = async {
        for _ in 0..400 {
            if used().await.is_slowed {
                return true;
            }
            // sleep: polls until the condition holds, which no event reports.
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        false
    };
    let is_slowed = pair.while_good_server_responds(what, slowed).await;
    assert!(is_slowed, "{what}: messages are read at the limited rate: {:?}", used().await);
    let now = used().await;
    assert_eq!(
        now.read_bytes.limit,
        ServerLimits::MIN.bytes_per_minute,
        "{what}: a limit below the minimum is raised to the minimum"
    );
    assert!(now.read_bytes.excess >= 1, "{what}: the violation is counted: {now:?}");
    assert!(now.notifications.excess > 0, "{what}: notifications beyond the limit are omitted: {now:?}");
    let activity = pair.app.activity("bad").await;
    assert!(activity.contains("read slower now"), "{what}: the activity log shows the violation");
    call.abort();
    // Ends regardless of the remaining output.
    pair.close(what).await;
}
