//! Tests of approvals for a single use (E19): a server that ends or requires another sign-in is started or connected to
//! again only with the user's consent.

use std::time::Duration;
use testkit::calls::UserCalls as _;

use domain::consent_request::ConsentRequestOrigin;
use host::view::{ConsentRequestBody, ConsentRequestView, ServerState, UserDecision};
use policy::ApprovalScope;
use ports::AuditQuery;
use serde_json::{Map, json};
use testkit::app::{TestApp, remote_config};
use testkit::authorization::{AuthorizationScript, AuthorizationServer, ProtectedScript, ProtectedServer};

use crate::gate::{ALLOW_ONCE, BAD_SERVER_NAME, report_withstood, requesting_server};
use crate::report::AttackResultRow;

#[allow(clippy::disallowed_methods, reason = "ends a server from outside")]
fn kill_process(pid: u32) {
    let ended = std::process::Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
    assert!(ended.success(), "the server's process can be ended");
}

async fn start_server_with_approval(scope: ApprovalScope) -> (TestApp, u32, tempfile::TempDir) {
    let aside = tempfile::tempdir().unwrap();
    let app = TestApp::start(vec![(BAD_SERVER_NAME, requesting_server(&aside.path().join("record")))]).await;
    app.host.start_server(BAD_SERVER_NAME.into()).await.unwrap();
    let request = app.consent_request(BAD_SERVER_NAME, "its start", |_| true).await;
    app.decide(&request, UserDecision::Allow(scope)).await;
    let pid = app.until(BAD_SERVER_NAME, "ready", |s| s.state == ServerState::Ready).await.pid.unwrap();
    (app, pid, aside)
}

fn logged_start_decisions(app: &TestApp) -> Vec<(String, String)> {
    let starts = app.decisions().into_iter().filter(|(kind, ..)| kind == "start-server");
    starts.map(|(_, decision, by)| (decision, by)).collect()
}

#[tokio::test]
async fn e19_server_allowed_once_is_not_restarted_without_consent() {
    let row = AttackResultRow::default();
    row.set_name("E19, a server that was allowed once ends");
    let (app, pid, _aside) = start_server_with_approval(ApprovalScope::Once).await;
    kill_process(pid);
    let request = app.consent_request(BAD_SERVER_NAME, "its next start", |_| true).await;
    assert!(
        matches!(request.body, ConsentRequestBody::StartServer { .. }),
        "E19: the restart requires consent: {request:?}"
    );
    let ConsentRequestOrigin::Ended { cause } = &request.origin else {
        panic!("E19: the request states its origin: {request:?}")
    };
    assert!(cause.contains("signal"), "E19: the request states the cause: {cause}");
    let waiting = app.server(BAD_SERVER_NAME).await;
    assert_eq!(
        (waiting.state, waiting.pid),
        (ServerState::AwaitingApproval, None),
        "E19: the server does not run before the decision"
    );
    assert_eq!(
        logged_start_decisions(&app),
        [("allowed".into(), "user".into())],
        "E19: one start was approved, and one is logged"
    );
    app.decide(&request, ALLOW_ONCE).await;
    app.until(BAD_SERVER_NAME, "ready", |s| s.state == ServerState::Ready).await;
    assert_eq!(logged_start_decisions(&app).len(), 2, "E19: the user requested the next start");
    app.host.close().await;
    report_withstood(row, Duration::ZERO);
}

#[tokio::test]
async fn e19_restart_by_a_grant_is_logged() {
    let row = AttackResultRow::default();
    row.set_name("E19, a server that is always allowed ends");
    let (app, pid, _aside) = start_server_with_approval(ApprovalScope::Always).await;
    kill_process(pid);
    let again = |s: &host::view::ServerView| s.state == ServerState::Ready && s.pid.is_some_and(|now| now != pid);
    app.until(BAD_SERVER_NAME, "ready again", again).await;
    assert!(app.consent_requests().await.is_empty(), "E19: a permanent approval requires no consent request");
    let expected = [("allowed".to_owned(), "user".to_owned()), ("allowed".to_owned(), "grant".to_owned())];
    assert_eq!(logged_start_decisions(&app), expected, "E19: the second start is allowed by the permanent approval");
    let log = app.host.ports().audit.read(&AuditQuery::latest(10)).unwrap();
    let last = log.iter().find(|e| e.kind == "start-server").unwrap();
    assert_eq!(last.asker, "host", "E19: the host requested the restart");
    let activity = app.activity(BAD_SERVER_NAME).await;
    assert!(activity.contains("with its saved approval"), "E19: the activity log shows the restart: {activity}");
    app.host.close().await;
    report_withstood(row, Duration::ZERO);
}

/// Signs in to a remote server. The user approves each consent request on the way only once, not permanently.
async fn sign_in_with_single_approval() -> (TestApp, AuthorizationServer, ProtectedServer) {
    let issuer = AuthorizationServer::start(AuthorizationScript::default()).await;
    let server = ProtectedServer::start(ProtectedScript::default(), &[&issuer]).await;
    let app = TestApp::start(vec![(BAD_SERVER_NAME, remote_config(&server.url()))]).await;
    app.platform.browses.store(true, std::sync::atomic::Ordering::Relaxed);
    app.host.start_server(BAD_SERVER_NAME.into()).await.unwrap();
    let connects = |q: &ConsentRequestView| matches!(q.body, ConsentRequestBody::ConnectServer { .. });
    let connect = app.consent_request(BAD_SERVER_NAME, "its address", connects).await;
    app.decide(&connect, ALLOW_ONCE).await;
    let sign_in = app
        .consent_request(BAD_SERVER_NAME, "signing in", |q| matches!(q.body, ConsentRequestBody::SignIn { .. }))
        .await;
    app.decide(&sign_in, ALLOW_ONCE).await;
    app.until(BAD_SERVER_NAME, "ready", |s| s.state == ServerState::Ready && s.counts[0] > 0).await;
    (app, issuer, server)
}

#[tokio::test]
async fn e19_remote_server_allowed_once_is_not_reconnected_without_consent() {
    let row = AttackResultRow::default();
    row.set_name("E19, a remote server that was allowed once wants another sign-in");
    let (app, issuer, server) = sign_in_with_single_approval().await;
    let connections = || server.requests_with_method("initialize").len();
    let connects = || app.decisions().into_iter().filter(|(kind, ..)| kind == "connect-server").count();
    let (before, decided) = (connections(), connects());
    issuer.invalidate_access_tokens();
    issuer.set(|script| script.down = Some(503));
    let allowing =
        app.decide_automatically(|q| matches!(q.body, ConsentRequestBody::Tool { .. }).then_some(ALLOW_ONCE));
    let arguments = Map::from_iter([("text".to_owned(), json!("x"))]);
    let called = app.host.call_tool("late".into(), BAD_SERVER_NAME.into(), "echo".into(), arguments, None).await;
    called.expect_err("the token is not renewed");
    app.until(BAD_SERVER_NAME, "waiting for a sign-in", |s| matches!(s.state, ServerState::NeedsSignIn(_))).await;
    issuer.set(|script| script.down = None);
    app.host.handle_network_change().await.unwrap();
    let decided_on = |s: &host::view::ServerView| matches!(s.state, ServerState::AwaitingApproval | ServerState::Ready);
    let view = app.until(BAD_SERVER_NAME, "asked about, or in use", decided_on).await;
    assert_eq!(view.state, ServerState::AwaitingApproval, "E19: the approval was for the previous connection");
    assert_eq!((connections(), connects()), (before, decided), "E19: nothing was sent or decided");
    let request = app.consent_request(BAD_SERVER_NAME, "its next connection", |_| true).await;
    let ConsentRequestOrigin::Ended { .. } = &request.origin else {
        panic!("E19: the host requested the connection: {request:?}")
    };
    app.decide(&request, ALLOW_ONCE).await;
    app.until(BAD_SERVER_NAME, "ready", |s| s.state == ServerState::Ready).await;
    assert_eq!(issuer.authorization_queries().len(), 1, "E19: the existing tokens are used");
    allowing.abort();
    app.host.close().await;
    report_withstood(row, Duration::ZERO);
}

#[tokio::test]
async fn e19_completed_sign_in_connects_to_the_approved_server() {
    let row = AttackResultRow::default();
    row.set_name("E19, the user of a remote server that was allowed once signs in again");
    let (app, issuer, _server) = sign_in_with_single_approval().await;
    issuer.invalidate_all_tokens();
    let allowing =
        app.decide_automatically(|q| matches!(q.body, ConsentRequestBody::Tool { .. }).then_some(ALLOW_ONCE));
    let arguments = Map::from_iter([("text".to_owned(), json!("x"))]);
    let called = app.host.call_tool("late".into(), BAD_SERVER_NAME.into(), "echo".into(), arguments, None).await;
    called.expect_err("the tokens are void");
    app.until(BAD_SERVER_NAME, "waiting for a sign-in", |s| matches!(s.state, ServerState::NeedsSignIn(_))).await;
    app.host.sign_in(BAD_SERVER_NAME.into()).await.unwrap();
    let sign_in = app
        .consent_request(BAD_SERVER_NAME, "signing in", |q| matches!(q.body, ConsentRequestBody::SignIn { .. }))
        .await;
    app.decide(&sign_in, ALLOW_ONCE).await;
    app.until(BAD_SERVER_NAME, "ready", |s| s.state == ServerState::Ready).await;
    let connects = app.decisions().into_iter().filter(|(kind, ..)| kind == "connect-server");
    let by: Vec<String> = connects.map(|(_, _, by)| by).collect();
    assert_eq!(by.first().map(String::as_str), Some("user"), "E19: the first connection was approved");
    assert!(by[1..].iter().all(|by| by == "policy"), "E19: a connection after a sign-in is logged as such: {by:?}");
    allowing.abort();
    app.host.close().await;
    report_withstood(row, Duration::ZERO);
}
