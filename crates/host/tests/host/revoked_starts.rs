//! Grants of starts that are revoked while the approved server is running or being restarted. For a call that waits for
//! its audit entry, see `approval_revoked_while_its_audit_entry_is_written_sends_nothing` in `audit.rs`.

use std::time::Duration;

use host::view::{ServerState, UserDecision};
use policy::ApprovalScope;
use testkit::app::{TestApp, remote_config};
use testkit::http::{HttpServer, ordinary};
use testkit::time::advance_time;

async fn start_http_server_at(address: std::net::SocketAddr) -> HttpServer {
    let answer = |request, answer| async move { ordinary::respond("2025-11-25", &request, answer).await };
    HttpServer::start_at(address, answer).await
}

/// Returns a running server with a permanently approved address.
async fn approved_server() -> (HttpServer, TestApp) {
    let server = start_http_server_at(([127, 0, 0, 1], 0).into()).await;
    let app = TestApp::start(vec![("far", remote_config(&server.url("/mcp")))]).await;
    app.host.start_server("far".into()).await.unwrap();
    let consent_request = app.consent_request("far", "its address", |_| true).await;
    app.decide(&consent_request, UserDecision::Allow(ApprovalScope::Always)).await;
    app.until("far", "ready", |s| s.state == ServerState::Ready).await;
    (server, app)
}

async fn disconnect_server(app: &TestApp, server: HttpServer) {
    drop(server);
    app.host.handle_network_change().await.unwrap();
    app.until("far", "waiting to come back", |s| matches!(s.state, ServerState::Reconnecting(_))).await;
}

async fn revoke_grant(app: &TestApp) {
    let grant = app.host.grants().await.unwrap().remove(0);
    assert!(app.host.revoke_grant(grant.id).await.unwrap(), "the grant existed");
}

async fn assert_start_requires_consent(app: &TestApp) {
    app.host.start_server("far".into()).await.unwrap();
    app.consent_request("far", "its address", |_| true).await;
}

#[tokio::test]
async fn server_with_a_grant_is_restarted_without_consent() {
    let (server, app) = approved_server().await;
    let address = server.address;
    disconnect_server(&app, server).await;
    let _back = start_http_server_at(address).await;
    app.until("far", "ready again", |s| s.state == ServerState::Ready).await;
    let last = app.decisions().into_iter().rfind(|(kind, ..)| kind == "connect-server").unwrap();
    assert_eq!((last.1.as_str(), last.2.as_str()), ("allowed", "grant"), "the restart is audited with the grant");
    app.host.close().await;
}

#[tokio::test]
async fn pending_restart_is_cancelled_when_its_grant_is_revoked() {
    let (server, app) = approved_server().await;
    let address = server.address;
    disconnect_server(&app, server).await;
    revoke_grant(&app).await;
    let stopped = app.server("far").await;
    assert_eq!(stopped.state, ServerState::Stopped, "the restart is cancelled");
    let back = start_http_server_at(address).await;
    app.host.handle_network_change().await.unwrap();
    advance_time(Duration::from_secs(10)).await;
    assert_eq!(app.server("far").await.since, stopped.since, "the server is not restarted");
    assert_start_requires_consent(&app).await;
    assert!(back.received_requests().is_empty(), "nothing is sent without an approval");
    app.host.close().await;
}

#[tokio::test]
async fn running_server_is_not_restarted_after_its_grant_is_revoked() {
    let (server, app) = approved_server().await;
    let address = server.address;
    revoke_grant(&app).await;
    assert_eq!(app.server("far").await.state, ServerState::Ready, "a running server continues");
    drop(server);
    app.host.handle_network_change().await.unwrap();
    app.until("far", "left to the user", |s| matches!(s.state, ServerState::Failed(_))).await;
    let back = start_http_server_at(address).await;
    app.host.handle_network_change().await.unwrap();
    advance_time(Duration::from_secs(10)).await;
    assert!(
        matches!(app.server("far").await.state, ServerState::Failed(_)),
        "a change of the network doesn't restart the server"
    );
    assert_start_requires_consent(&app).await;
    assert!(back.received_requests().is_empty(), "nothing is sent without an approval");
    app.host.close().await;
}

#[tokio::test]
async fn running_server_is_restarted_after_its_grant_is_restored() {
    let (server, app) = approved_server().await;
    let address = server.address;
    let grant = app.host.grants().await.unwrap().remove(0);
    assert!(app.host.revoke_grant(grant.id).await.unwrap(), "the grant existed");
    app.host.restore_grant(grant.id).await.unwrap();
    disconnect_server(&app, server).await;
    let _back = start_http_server_at(address).await;
    app.until("far", "ready", |s| s.state == ServerState::Ready && s.launched.as_ref() == Some(&grant.rests_on)).await;
    app.host.close().await;
}
