//! Grants that are revoked and restored, and the last uses that the user sees next to them.

use std::sync::Arc;
use std::time::Duration;

use domain::call::CallFailure;
use host::view::{ConsentRequestBody, ServerState, UserDecision};
use host::{HostOptions, RestoreGrantError};
use policy::{ApprovalScope, Grant, GrantSubject, PolicyRule, UsedBy};
use ports::Document;
use ports::server_config::{ServerConfig, ServerEntry};
use serde_json::{Map, json};
use testkit::app::{EVENT_TIMEOUT, TestApp, scripted_config};
use testkit::calls::UserCalls as _;
use testkit::time::{ManualClock, advance_time};

const SERVER: &str = "harbour";
const TOOL: &str = "echo";

/// Starts a server, and returns the permanent grant for one of its tools.
async fn start_with_tool_grant(clock: &Arc<ManualClock>) -> (TestApp, Grant) {
    let app = TestApp::start_with_clock(Arc::clone(clock), vec![(SERVER, scripted_config(&[]))]).await;
    app.ready(SERVER).await;
    let user = app.decide_automatically(|request| {
        matches!(request.body, ConsentRequestBody::Tool { .. }).then_some(UserDecision::Allow(ApprovalScope::Always))
    });
    call(&app, "first").await.expect("an approved call");
    user.abort();
    let grant = tool_grant(&app).await.expect("a grant for the tool");
    (app, grant)
}

async fn call(app: &TestApp, id: &str) -> Result<(), CallFailure> {
    let arguments = Map::from_iter([("text".to_owned(), json!("x"))]);
    app.host.call_tool(id.into(), SERVER.into(), TOOL.into(), arguments, None).await.map(drop)
}

async fn tool_grant(app: &TestApp) -> Option<Grant> {
    let grants = app.host.grants().await.unwrap();
    grants.into_iter().find(|grant| grant.subject == GrantSubject::Tool(TOOL.to_owned()))
}

fn stored_grants(app: &TestApp) -> Vec<Grant> {
    let stored = app.host.ports().documents.read(Document::Grants).unwrap().unwrap_or_else(|| json!([]));
    serde_json::from_value(stored).unwrap()
}

#[tokio::test]
async fn restored_grant_is_the_revoked_one_and_is_audited() {
    let clock = ManualClock::new();
    let (app, grant) = start_with_tool_grant(&clock).await;
    call(&app, "used").await.expect("the grant allows the call");
    let grant = tool_grant(&app).await.unwrap_or(grant);
    assert!(app.host.revoke_grant(grant.id).await.unwrap());
    clock.advance(Duration::from_secs(10));
    assert_eq!(app.host.restore_grant(grant.id).await, Ok(()));
    assert_eq!(tool_grant(&app).await.as_ref(), Some(&grant), "nothing about the grant differs");
    assert_eq!(stored_grants(&app).len(), 1, "the file contains it again");
    call(&app, "again").await.expect("the grant allows the call again");
    let audited: Vec<_> =
        app.decisions().into_iter().filter(|(kind, ..)| kind == "revoke" || kind == "restore").collect();
    let entry = |kind: &str, decision: &str| (kind.to_owned(), decision.to_owned(), "user".to_owned());
    assert_eq!(audited, [entry("revoke", "denied"), entry("restore", "allowed")]);
    assert_eq!(app.host.restore_grant(grant.id).await, Err(RestoreGrantError::NotRevoked), "once");
    app.host.close().await;
}

#[tokio::test]
async fn grant_is_not_restored_after_the_restore_period() {
    let clock = ManualClock::new();
    let (app, grant) = start_with_tool_grant(&clock).await;
    assert!(app.host.revoke_grant(grant.id).await.unwrap());
    clock.advance(Duration::from_secs(60));
    assert_eq!(app.host.restore_grant(grant.id).await, Err(RestoreGrantError::TooLate));
    assert_eq!(tool_grant(&app).await, None, "the grant stays revoked");
    app.host.close().await;
}

#[tokio::test]
async fn grant_is_not_restored_after_a_change_of_its_server() {
    let clock = ManualClock::new();
    let (app, grant) = start_with_tool_grant(&clock).await;
    assert!(app.host.revoke_grant(grant.id).await.unwrap());
    let entry = ServerEntry { name: SERVER.into(), config: scripted_config(&["--changed"]) };
    app.host.update_server(SERVER.into(), entry).await.unwrap();
    app.until(SERVER, "stopped", |server| server.state == ServerState::Stopped).await;
    assert_eq!(app.host.restore_grant(grant.id).await, Err(RestoreGrantError::Changed));
    assert_eq!(tool_grant(&app).await, None, "the grant stays revoked");
    app.host.close().await;
}

#[tokio::test]
async fn grant_is_not_restored_for_a_server_that_was_removed_and_added_again() {
    let (app, grant) = start_with_tool_grant(&ManualClock::new()).await;
    assert!(app.host.revoke_grant(grant.id).await.unwrap());
    app.host.remove_server(SERVER.into()).await.unwrap();
    app.host.add_server(ServerEntry { name: SERVER.into(), config: scripted_config(&[]) }).await.unwrap();
    assert_eq!(app.host.restore_grant(grant.id).await, Err(RestoreGrantError::NotRevoked));
    app.host.close().await;
}

#[tokio::test]
async fn start_grant_is_not_restored_for_a_server_that_was_removed_and_added_again() {
    let app = TestApp::start(vec![(SERVER, scripted_config(&[]))]).await;
    app.ready_with_grant(SERVER).await;
    let grant = app.host.grants().await.unwrap().remove(0);
    assert!(app.host.revoke_grant(grant.id).await.unwrap());
    app.host.remove_server(SERVER.into()).await.unwrap();
    app.host.add_server(ServerEntry { name: SERVER.into(), config: scripted_config(&[]) }).await.unwrap();
    assert_eq!(app.host.restore_grant(grant.id).await, Err(RestoreGrantError::NotRevoked));
    assert!(app.host.grants().await.unwrap().is_empty(), "the new server has no grant");
    app.host.close().await;
}

#[tokio::test]
async fn grant_is_not_restored_while_another_one_has_its_place() {
    let clock = ManualClock::new();
    let (app, grant) = start_with_tool_grant(&clock).await;
    assert!(app.host.revoke_grant(grant.id).await.unwrap());
    let user = app.decide_automatically(|_| Some(UserDecision::Allow(ApprovalScope::Session)));
    call(&app, "approved anew").await.expect("an approved call");
    user.abort();
    assert_eq!(app.host.restore_grant(grant.id).await, Err(RestoreGrantError::Changed));
    let left = tool_grant(&app).await.map(|grant| grant.scope);
    assert_eq!(left, Some(ApprovalScope::Session), "the newer decision is in effect");
    app.host.close().await;
}

#[tokio::test]
async fn last_use_is_shown_at_once_and_written_later() {
    let clock = ManualClock::new();
    let (app, grant) = start_with_tool_grant(&clock).await;
    assert_eq!(grant.last_use, None, "the approved call itself needed no grant");
    for id in ["one", "two"] {
        clock.advance(Duration::from_secs(1));
        call(&app, id).await.expect("the grant allows the call");
    }
    let used = tool_grant(&app).await.and_then(|grant| grant.last_use).expect("a use");
    assert_eq!((used.at, used.by), (app.host.ports().clock.now(), UsedBy::User));
    let written_use = stored_grants(&app).first().and_then(|grant| grant.last_use);
    assert_eq!(written_use, None, "a call should not write the document at once");
    advance_time(Duration::from_secs(31)).await;
    let written = async {
        while stored_grants(&app).first().is_none_or(|grant| grant.last_use.is_none()) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(EVENT_TIMEOUT, written).await.expect("the use is written");
    assert_eq!(stored_grants(&app)[0].last_use, Some(used));
    app.host.close().await;
}

#[tokio::test]
async fn last_use_is_written_when_the_host_closes() {
    let (app, _) = start_with_tool_grant(&ManualClock::new()).await;
    call(&app, "used").await.expect("the grant allows the call");
    app.host.close().await;
    assert!(stored_grants(&app)[0].last_use.is_some(), "the use is in the file");
}

#[tokio::test]
async fn last_use_of_a_rule_is_read_at_the_next_start() {
    let (app, grant) = start_with_tool_grant(&ManualClock::new()).await;
    assert!(app.host.revoke_grant(grant.id).await.unwrap());
    let new: PolicyRule = serde_json::from_value(json!({"server": SERVER, "tool": TOOL, "effect": "allow"})).unwrap();
    let rule = app.host.set_rule(new.clone()).await.unwrap();
    call(&app, "used").await.expect("the rule allows the call");
    let used = app.host.permission_uses().await.unwrap().last_uses_of_rules();
    assert_eq!(used.iter().map(|(of, _)| *of).collect::<Vec<_>>(), [rule]);
    app.host.close().await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("data")).unwrap();
    for document in [Document::Policy, Document::Uses] {
        let file = std::path::Path::new("data").join(document.file_name());
        std::fs::copy(app.folder.path().join(&file), folder.path().join(&file)).unwrap();
    }
    let restarted = TestApp::start_in_folder(folder, vec![], HostOptions::default()).await;
    assert_eq!(restarted.host.permission_uses().await.unwrap().last_uses_of_rules(), used);
    restarted.host.remove_rule(rule).await.unwrap();
    assert!(restarted.host.permission_uses().await.unwrap().last_uses_of_rules().is_empty(), "the rule is removed");
    assert_eq!(restarted.host.set_rule(new).await.unwrap(), rule, "an equal rule has the same identifier");
    restarted.host.close().await;
    let restarted = TestApp::start_in_folder(restarted.folder, vec![], HostOptions::default()).await;
    let used = restarted.host.permission_uses().await.unwrap().last_uses_of_rules();
    assert!(used.is_empty(), "an equal rule does not inherit the use after a restart");
    restarted.host.close().await;
}

#[tokio::test]
async fn rule_does_not_inherit_the_last_use_of_a_removed_rule() {
    let (app, grant) = start_with_tool_grant(&ManualClock::new()).await;
    assert!(app.host.revoke_grant(grant.id).await.unwrap());
    let rule = || serde_json::from_value(json!({"server": SERVER, "tool": TOOL, "effect": "allow"})).unwrap();
    let first = app.host.set_rule(rule()).await.unwrap();
    call(&app, "used").await.expect("the rule allows the call");
    let used = app.host.permission_uses().await.unwrap().last_uses_of_rules();
    assert_eq!(used.iter().map(|(rule, _)| *rule).collect::<Vec<_>>(), [first]);
    app.host.remove_rule(first).await.unwrap();
    let other: PolicyRule = serde_json::from_value(json!({"tool": "other", "effect": "allow"})).unwrap();
    assert_eq!(app.host.set_rule(other).await.unwrap(), first, "the identifier is used again");
    assert!(app.host.permission_uses().await.unwrap().last_uses_of_rules().is_empty(), "the new rule was never used");
    app.host.close().await;
}

/// Returns the originator of the last start that the server's start grant allowed.
async fn originator_of_last_start(app: &TestApp) -> Option<UsedBy> {
    let grants = app.host.grants().await.unwrap();
    let grant = grants.into_iter().find(|grant| grant.subject == GrantSubject::Command).expect("a grant for the start");
    grant.last_use.map(|used| used.by)
}

#[tokio::test]
async fn start_is_shown_with_its_originator() {
    let app = TestApp::start(vec![(SERVER, scripted_config(&[]))]).await;
    let first = app.ready_with_grant(SERVER).await.pid;
    assert_eq!(originator_of_last_start(&app).await, None, "the approved start itself needed no grant");
    app.host.restart_server(SERVER.into()).await.unwrap();
    app.until(SERVER, "ready again", |server| server.state == ServerState::Ready && server.pid != first).await;
    assert_eq!(originator_of_last_start(&app).await, Some(UsedBy::User));
    app.host.close().await;
    let options = HostOptions { autostart: true, ..HostOptions::default() };
    let app = TestApp::start_in_folder(app.folder, Vec::new(), options).await;
    app.until(SERVER, "started automatically", |server| server.state == ServerState::Ready).await;
    assert_eq!(originator_of_last_start(&app).await, Some(UsedBy::Host), "the start was not requested");
    app.host.close().await;
    let options = HostOptions { user_origin: UsedBy::CommandLine, ..HostOptions::default() };
    let app = TestApp::start_in_folder(app.folder, Vec::new(), options).await;
    app.host.start_server(SERVER.into()).await.unwrap();
    app.until(SERVER, "ready", |server| server.state == ServerState::Ready).await;
    assert_eq!(originator_of_last_start(&app).await, Some(UsedBy::CommandLine));
    app.host.close().await;
}

#[tokio::test]
async fn server_that_is_not_to_start_with_drawbridge_is_started_only_by_hand() {
    const BY_HAND: &str = "by-hand";
    let by_hand = ServerConfig { autostart: false, ..scripted_config(&[]) };
    let app = TestApp::start(vec![(SERVER, scripted_config(&[])), (BY_HAND, scripted_config(&[]))]).await;
    let pid = app.ready_with_grant(BY_HAND).await.pid;
    app.ready_with_grant(SERVER).await;
    let entry = ServerEntry { name: BY_HAND.to_owned(), config: by_hand };
    app.host.update_server(BY_HAND.into(), entry).await.unwrap();
    let running = app.server(BY_HAND).await;
    assert_eq!((running.state, running.pid), (ServerState::Ready, pid), "the change does not stop the server");
    app.host.close().await;
    let options = HostOptions { autostart: true, ..HostOptions::default() };
    let app = TestApp::start_in_folder(app.folder, Vec::new(), options).await;
    app.until(SERVER, "started automatically", |server| server.state == ServerState::Ready).await;
    assert_eq!(app.server(BY_HAND).await.state, ServerState::Stopped, "it waits for the user");
    app.host.start_server(BY_HAND.into()).await.unwrap();
    app.until(BY_HAND, "started without a request", |server| server.state == ServerState::Ready).await;
    app.host.close().await;
}
