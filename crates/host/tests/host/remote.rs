//! Remote servers: consent, connection, stored transport and revision, and the headers that are sent.

use std::sync::Arc;
use testkit::calls::UserCalls as _;

use domain::consent_request::ConsentRequestOutcome;
use host::view::{
    ConsentRequestBody, ConsentRequestView, DetectedTransport, EarlierApproval, FailureReason, ServerFailure,
    ServerState, UserDecision,
};
use host::{Host, HostOptions};
use policy::ApprovalScope;
use ports::secrets::{self, SecretsInMemory};
use ports::server_config::{HttpConfig, HttpKind, ServerConfig, ServerEntry};
use serde_json::json;
use testkit::app::{TestApp, TestPlatform, remote_config};
use testkit::http::{HttpServer, ordinary};
use testkit::time::{ManualClock, advance_time};

async fn start_server(revision: &'static str) -> HttpServer {
    HttpServer::start(move |request, answer| async move { ordinary::respond(revision, &request, answer).await }).await
}

fn is_connection_request(consent_request: &ConsentRequestView) -> bool {
    matches!(consent_request.body, ConsentRequestBody::ConnectServer { .. })
}

fn failure(state: &ServerState) -> &host::view::ServerFailure {
    let ServerState::Failed(failure) = state else { panic!("the server did not fail: {state:?}") };
    failure
}

#[tokio::test]
async fn nothing_is_sent_before_the_address_is_approved() {
    let server = start_server("2025-11-25").await;
    let app = TestApp::start(vec![("far", remote_config(&server.url("/mcp")))]).await;
    app.host.start_server("far".into()).await.unwrap();
    let consent_request = app.consent_request("far", "its address", is_connection_request).await;
    let ConsentRequestBody::ConnectServer { config, earlier_approval } = &consent_request.body else { unreachable!() };
    assert_eq!(
        (config.url.as_str(), earlier_approval),
        (server.url("/mcp").as_str(), &None),
        "the consent request contains the whole URL"
    );
    assert_eq!(consent_request.transport, "http", "the consent request contains the transport");
    assert!(server.received_requests().is_empty(), "nothing is sent before the decision");
    app.decide(&consent_request, UserDecision::Deny).await;
    let view = app.until("far", "failed", |s| matches!(s.state, ServerState::Failed(_))).await;
    let denied = ServerFailure::refused_by_user(ConsentRequestOutcome::Denied);
    assert_eq!(failure(&view.state), &denied, "a denial by the user is told from other failures");
    assert!(server.received_requests().is_empty(), "nothing is sent after a denial");
    app.ready("far").await;
    let expected = [("connect-server", "denied"), ("connect-server", "allowed")];
    let decisions: Vec<_> = app.decisions().into_iter().map(|(kind, decision, _)| (kind, decision)).collect();
    assert_eq!(decisions, expected.map(|(k, d)| (k.to_owned(), d.to_owned())), "both decisions are audited");
    app.host.close().await;
}

#[tokio::test]
async fn key_in_a_url_is_shown_for_consent_and_not_stored() {
    let server = start_server("2025-11-25").await;
    let url = format!("{}?api_key=s3cret", server.url("/mcp"));
    let app = TestApp::start(vec![("far", remote_config(&url))]).await;
    app.host.start_server("far".into()).await.unwrap();
    let consent_request = app.consent_request("far", "its address", is_connection_request).await;
    let ConsentRequestBody::ConnectServer { config, .. } = &consent_request.body else { unreachable!() };
    assert_eq!(config.url, url, "the consent request contains the whole URL");
    app.decide(&consent_request, UserDecision::Allow(ApprovalScope::Always)).await;
    let view = app.until("far", "ready", |s| s.state == ServerState::Ready).await;
    app.host.restart_server("far".into()).await.unwrap();
    app.until("far", "ready again", |s| s.state == ServerState::Ready && s.since > view.since).await;
    let activity = app.activity("far").await;
    assert!(activity.contains("/mcp?api_key=…"), "the activity log contains the parameter's name: {activity}");
    assert!(!activity.contains("s3cret"), "the activity log doesn't contain the key: {activity}");
    let grant = app.host.grants().await.unwrap().remove(0);
    assert!(grant.words.ends_with("/mcp?api_key=…"), "the grant contains the parameter's name: {}", grant.words);
    app.host.revoke_grant(grant.id).await.unwrap();
    app.host.close().await;
    let mut looked_at = 0;
    let mut folders = vec![app.folder.path().join("data")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            assert!(!text.contains("s3cret"), "no file except the settings contains the key: {}", path.display());
            looked_at += usize::from(text.contains("api_key=…"));
        }
    }
    assert!(looked_at > 0, "files were checked");
}

#[tokio::test]
async fn detected_transport_is_shown_and_tried_first_the_next_time() {
    for (revision, probes) in [("2025-11-25", 1), ("2026-07-28", 1)] {
        let server = start_server(revision).await;
        let app = TestApp::start(vec![("far", remote_config(&server.url("/mcp")))]).await;
        let view = app.ready("far").await;
        let connected = view.connected.expect("the connection is known");
        assert_eq!(connected.transport, DetectedTransport::StreamableHttp, "{revision}: the transport is detected");
        assert!(!connected.how.is_empty(), "{revision}: the detection is described");
        let spoken = view.facts.map(|facts| facts.revision.to_string());
        assert_eq!(spoken.as_deref(), Some(revision), "the revision is known");
        assert_eq!(server.count("server/discover"), probes, "{revision}: an unknown server is probed");
        app.host.close().await;
        let app = TestApp::start_in_folder(app.folder, Vec::new(), HostOptions::default()).await;
        app.ready("far").await;
        if revision < "2026" {
            // With a stored revision, `initialize` is the first request.
            assert_eq!(
                server.count("server/discover"),
                probes,
                "[lifecycle-era-cache] {revision}: a known server is not probed again"
            );
        }
        app.host.close().await;
    }
}

#[tokio::test]
async fn any_change_of_a_server_address_requires_consent_again() {
    let server = start_server("2026-07-28").await;
    let headers = |name: &str, value: &str| [(name.to_owned(), value.to_owned())].into();
    let base = HttpConfig { url: server.url("/mcp"), headers: headers("X-Team", "7"), ..HttpConfig::default() };
    let app = TestApp::start(vec![("far", base.clone().into())]).await;
    app.host.start_server("far".into()).await.unwrap();
    let consent_request = app.consent_request("far", "its address", is_connection_request).await;
    app.decide(&consent_request, UserDecision::Allow(ApprovalScope::Always)).await;
    let view = app.until("far", "ready", |s| s.state == ServerState::Ready).await;
    assert!(view.approved, "the address is approved");
    app.host.restart_server("far".into()).await.unwrap();
    app.until("far", "ready again", |s| s.state == ServerState::Ready && s.since > view.since).await;
    assert!(app.consent_requests().await.is_empty(), "the same address requires no consent");
    let before = format!("{} (with X-Team)", base.url);
    let changes: [(HttpConfig, String); 4] = [
        (HttpConfig { url: server.url("/mcp2"), ..base.clone() }, format!("{} (with X-Team)", server.url("/mcp2"))),
        (HttpConfig { headers: headers("X-Key", "s3cret"), ..base.clone() }, format!("{} (with X-Key)", base.url)),
        (HttpConfig { headers: headers("X-Team", "8"), ..base.clone() }, before.clone()),
        (HttpConfig { kind: Some(HttpKind::Http), ..base.clone() }, before.clone()),
    ];
    for (changed, now) in changes {
        let entry = ServerEntry { name: "far".into(), config: changed.clone().into() };
        app.host.update_server("far".into(), entry).await.unwrap();
        let view = app.until("far", "stopped", |s| s.state == ServerState::Stopped).await;
        assert!(!view.approved, "the approval does not cover {changed:?}");
        app.host.start_server("far".into()).await.unwrap();
        let consent_request = app.consent_request("far", "its changed address", is_connection_request).await;
        let ConsentRequestBody::ConnectServer { earlier_approval, .. } = &consent_request.body else { unreachable!() };
        let shown = Some(EarlierApproval { approved: before.clone(), requested: now });
        assert_eq!(*earlier_approval, shown, "texts of {changed:?} and of the previously approved address");
        assert_eq!(consent_request.reason, "address-changed", "the reason names the change");
        app.decide(&consent_request, UserDecision::Deny).await;
    }
    let pinned = ServerConfig { revision: Some("2026-07-28".parse().unwrap()), ..base.into() };
    app.host.update_server("far".into(), ServerEntry { name: "far".into(), config: pinned }).await.unwrap();
    app.host.start_server("far".into()).await.unwrap();
    app.until("far", "ready", |s| s.state == ServerState::Ready).await;
    app.host.close().await;
}

/// Returns an app with this server, and a keychain that contains these secrets.
async fn app_with_secrets(server: ServerConfig, secrets: &[(&str, &str)]) -> TestApp {
    let folder = tempfile::tempdir().unwrap();
    let platform = Arc::new(TestPlatform::default());
    let keychain = Arc::new(SecretsInMemory::default());
    for (key, value) in secrets {
        ports::Secrets::set(keychain.as_ref(), key, value).unwrap();
    }
    let (config, data) = (folder.path().join("mcp.json"), folder.path().join("data"));
    let ports = store::open_with(&config, &data, platform.clone(), keychain).unwrap();
    let host = Host::start(ports, HostOptions::default()).await;
    host.add_server(ServerEntry { name: "far".into(), config: server }).await.unwrap();
    TestApp { folder, host, platform }
}

#[tokio::test]
async fn secrets_are_sent_to_their_server_only() {
    let server = start_server("2025-11-25").await;
    let config = HttpConfig {
        url: server.url("/mcp"),
        headers: [("Authorization".to_owned(), format!("Bearer {}", secrets::secret_reference("far.Authorization")))]
            .into(),
        kind: None,
        auth: None,
    };
    let key = secrets::secret_storage_key("far.Authorization", &config.origin().unwrap());
    let app = app_with_secrets(config.into(), &[(&key, "t0psecret")]).await;
    let view = app.ready("far").await;
    let sent = server.received_requests();
    assert!(!sent.is_empty(), "the server was reached");
    for request in &sent {
        assert_eq!(request.header("authorization"), Some("Bearer t0psecret"), "every request contains the secret");
    }
    assert!(!format!("{view:?}").contains("t0psecret"), "the view doesn't contain the secret");
    assert!(!app.activity("far").await.contains("t0psecret"), "the activity log doesn't contain the secret");
    let allowing = app.decide_automatically(|consent_request| {
        matches!(consent_request.body, ConsentRequestBody::Tool { .. })
            .then_some(UserDecision::Allow(ApprovalScope::Once))
    });
    let arguments = json!({ "text": "you sent t0psecret" }).as_object().unwrap().clone();
    app.host.call_tool("c".into(), "far".into(), "echo".into(), arguments, None).await.unwrap();
    allowing.abort();
    let activity = app.activity("far").await;
    assert!(
        !activity.contains("t0psecret") && activity.contains("you sent [redacted]"),
        "an echoed secret is redacted: {activity}"
    );
    // The app is closed first, since the file may be replaced while it is read.
    app.host.close().await;
    let mut files = Vec::new();
    let mut folders = vec![app.folder.path().to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.path().is_dir() { folders.push(entry.path()) } else { files.push(entry.path()) }
        }
    }
    for file in files {
        let text = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
        assert!(!text.contains("t0psecret"), "no file contains the secret: {}", file.display());
    }
}

#[tokio::test]
async fn secret_is_bound_to_the_address_it_was_entered_for() {
    let (own, other) = (start_server("2025-11-25").await, start_server("2025-11-25").await);
    let origin = HttpConfig { url: own.url("/mcp"), ..HttpConfig::default() }.origin().unwrap();
    let config = HttpConfig {
        url: other.url("/mcp"),
        headers: [("X-Key".to_owned(), secrets::secret_reference("far.X-Key"))].into(),
        kind: None,
        auth: None,
    };
    let app =
        app_with_secrets(config.into(), &[(&secrets::secret_storage_key("far.X-Key", &origin), "t0psecret")]).await;
    app.approve_start("far").await;
    let view = app.until("far", "failed", |s| matches!(s.state, ServerState::Failed(_))).await;
    assert_eq!(failure(&view.state).reason, FailureReason::NoSecret, "the secret is not sent to another address");
    assert!(failure(&view.state).message.contains("far.X-Key"), "the failure names the missing secret");
    assert!(other.received_requests().is_empty(), "nothing was sent");
    app.host.close().await;
}

#[tokio::test]
async fn fresh_resource_is_not_requested_again() {
    let server = HttpServer::start(|request, mut answer| async move {
        let body = request.json();
        let mut result = match body["method"].as_str() {
            Some("server/discover") => json!({
                "supportedVersions": ["2026-07-28"], "capabilities": {"resources": {}},
                "serverInfo": {"name": "fresh", "version": "1"},
            }),
            Some("resources/list") => json!({"resources": [{"uri": "a:1", "name": "one"}]}),
            Some("resources/templates/list") => json!({"resourceTemplates": []}),
            Some("resources/read") => json!({"contents": [{"uri": "a:1", "text": "x"}]}),
            _ => return answer.status(404).await,
        };
        result["resultType"] = json!("complete");
        result["ttlMs"] = json!(60_000);
        result["cacheScope"] = json!("private");
        answer.json(&json!({"jsonrpc": "2.0", "id": body["id"], "result": result})).await
    })
    .await;
    let app = TestApp::start(vec![("far", remote_config(&server.url("/mcp")))]).await;
    app.ready("far").await;
    let read =
        |id: &str, refresh| app.host.read_resource_with_freshness(id.into(), "far".into(), "a:1".into(), refresh);
    let first = read("1", false).await.unwrap();
    assert!(!first.cached && first.fresh_until.is_some(), "the first read is from the server, and fresh");
    let second = read("2", false).await.unwrap();
    assert!(second.cached, "[cache-ttl-positive] the second read is from the cache");
    assert_eq!(second.contents, first.contents, "the cached contents are equal");
    assert_eq!(server.count("resources/read"), 1, "one request was sent");
    assert!(!read("3", true).await.unwrap().cached, "a refresh bypasses the cache");
    assert_eq!(server.count("resources/read"), 2, "the refresh sends a request");
    let catalog = app.host.catalog("far".into()).await.unwrap();
    assert!(catalog.fresh_until[2].is_some(), "the expiry of a list is known");
    assert_eq!(server.count("resources/list"), 1, "a fresh list is not read again");
    app.host.close().await;
}

#[tokio::test]
async fn stale_list_is_read_again_on_access() {
    let server = HttpServer::start(|request, mut answer| async move {
        let body = request.json();
        let Some(mut result) = ordinary::rpc_result("2026-07-28", &body) else { return answer.status(404).await };
        result["ttlMs"] = json!(3_000);
        answer.json(&json!({"jsonrpc": "2.0", "id": body["id"], "result": result})).await
    })
    .await;
    let clock = ManualClock::new();
    let app = TestApp::start_with_clock(Arc::clone(&clock), vec![("far", remote_config(&server.url("/mcp")))]).await;
    app.ready("far").await;
    let span = std::time::Duration::from_secs(5);
    clock.advance(span);
    advance_time(span).await;
    assert_eq!(server.count("tools/list"), 1, "[cache-no-poll] no timer reads a list again");
    let shown = app.host.catalog("far".into()).await.unwrap();
    assert_eq!(shown.entry_counts()[0], 1, "the known entries are returned meanwhile");
    let deadline = std::time::Instant::now() + testkit::app::EVENT_TIMEOUT;
    while server.count("tools/list") < 2 && std::time::Instant::now() < deadline {
        // sleep: polls for a condition that no event reports.
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert_eq!(server.count("tools/list"), 2, "[cache-stale-refetch] a stale list is read again on access");
    let again = server.received_requests().into_iter().rfind(|r| r.rpc_method() == "tools/list").unwrap().json();
    assert_eq!(again["params"].get("cursor"), None, "[cache-consistent-list] the list is read from its first page");
    app.host.close().await;
}
