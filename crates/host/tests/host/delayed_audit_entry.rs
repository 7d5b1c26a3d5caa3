//! Approvals whose audit entry is delayed: a second approval of the same request, and a new rule that denies it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::time::Duration;
use testkit::calls::UserCalls as _;

use domain::call::CallFailure;
use host::view::{ConsentRequestBody, ConsentRequestView, ServerState, UserDecision};
use host::{CallOrigin, DecisionError, HostClosed};
use mcp_proto::types::CallToolResult;
use policy::{ApprovalScope, PolicyRule};
use ports::server_config::{ServerConfig, ServerEntry, ToolFilter};
use serde_json::{Map, Value, json};
use testkit::app::{EVENT_TIMEOUT, TestApp, demo_config};
use testkit::processes::is_alive;
use tokio::task::JoinHandle;

use crate::audit::{
    CallOutcome, ScriptedAuditLog, call_outcome, sent_call_count, start_with_scripted_audit_log, wait_until_delayed,
};

const ALLOW_ONCE: UserDecision = UserDecision::Allow(ApprovalScope::Once);

fn spawn_call(app: &TestApp, tool: &str, arguments: Value) -> JoinHandle<CallOutcome> {
    let (host, tool) = (app.host.clone(), tool.to_owned());
    let arguments: Map<String, Value> = arguments.as_object().cloned().unwrap();
    tokio::spawn(async move { host.call_tool("held".into(), "harbour".into(), tool, arguments, None).await })
}

async fn call_request(app: &TestApp) -> ConsentRequestView {
    app.consent_request("harbour", "a tool", |request| matches!(request.body, ConsentRequestBody::Tool { .. })).await
}

/// Approves a request while the audit log delays new entries. Later entries are not delayed.
async fn approve_with_slow_audit_log(
    app: &TestApp,
    disk: &Arc<ScriptedAuditLog>,
    request: &ConsentRequestView,
) -> JoinHandle<Result<(), DecisionError>> {
    disk.slow.store(true, Ordering::SeqCst);
    let (host, id, hash) = (app.host.clone(), request.id, request.hash.to_string());
    let approved = tokio::spawn(async move { host.decide(id, hash, ALLOW_ONCE).await });
    wait_until_delayed(disk).await;
    disk.slow.store(false, Ordering::SeqCst);
    approved
}

fn audited_decisions(app: &TestApp) -> Vec<String> {
    app.entries_of_kind("tool").into_iter().map(|entry| entry.decision.into_owned()).collect()
}

#[tokio::test]
async fn request_is_approved_once_while_its_audit_entry_is_written() {
    let (app, disk) = start_with_scripted_audit_log().await;
    let called = spawn_call(&app, "fail", json!({}));
    let request = call_request(&app).await;
    let first = approve_with_slow_audit_log(&app, &disk, &request).await;
    let second = app.host.decide(request.id, request.hash.to_string(), ALLOW_ONCE).await;
    assert_eq!(second, Err(DecisionError::Stale), "the first approval is being executed");
    assert_eq!(sent_call_count(&app).await, 1, "only the previous call was sent");
    disk.release_delayed_entries();
    assert_eq!(first.await.unwrap(), Ok(()), "the first approval is executed");
    assert!(call_outcome(called).await.is_ok(), "the call returns a result");
    assert_eq!(sent_call_count(&app).await, 2, "once");
    assert_eq!(audited_decisions(&app), ["allowed", "allowed"], "the approval has one entry");
    app.host.close().await;
}

/// If a rule with a path condition that denies an approved call is added while the audit entry of the approval is
/// written, the call is refused once the entry is written, even if the symbolic links in its paths can't be resolved.
#[test]
fn rule_added_while_the_audit_entry_is_written_denies_before_symlinks_are_resolved() {
    // The test occupies the only blocking thread, so that links can't be resolved.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(1).build().unwrap();
    runtime.block_on(async {
        let (app, disk) = start_with_scripted_audit_log().await;
        let called = spawn_call(&app, "fail", json!({ "file": "/private/key" }));
        let request = call_request(&app).await;
        let approved = approve_with_slow_audit_log(&app, &disk, &request).await;

        let (go_on, held) = mpsc::sync_channel::<()>(1);
        let occupied = tokio::task::spawn_blocking(move || held.recv());
        let argument = json!({ "at": "/file", "path": "/private/**" });
        let rule = json!({ "effect": "deny", "server": "harbour", "arguments": [argument] });
        let rule: PolicyRule = serde_json::from_value(rule).unwrap();
        app.host.set_rule(rule).await.expect("the rule is accepted");
        assert_eq!(app.consent_requests().await.len(), 1, "the request waits for the resolution of links");
        disk.release_delayed_entries();
        let answered = approved.await.unwrap();
        assert_eq!(answered, Err(DecisionError::Denied("rule 1".to_owned())), "the rule denies the approval");
        assert!(call_outcome(called).await.is_err(), "the call is refused");
        assert_eq!(sent_call_count(&app).await, 1, "only the previous call was sent");
        assert_eq!(
            audited_decisions(&app),
            ["allowed", "allowed", "denied", "withdrawn"],
            "the log records that nothing was sent"
        );
        drop(go_on);
        occupied.await.unwrap().expect_err("the blocking thread was released by the test");
        app.host.close().await;
    });
}

fn spawn_model_call(app: &TestApp, tool: &str, arguments: Value) -> JoinHandle<Result<CallToolResult, CallFailure>> {
    let (host, tool) = (app.host.clone(), tool.to_owned());
    let arguments: Map<String, Value> = arguments.as_object().cloned().unwrap();
    let origin = CallOrigin::Model { conversation: "conversation".to_owned() };
    let sent = tokio::sync::oneshot::channel().0;
    tokio::spawn(async move { host.call_tool_as(origin, "held".into(), "harbour".into(), tool, arguments, sent).await })
}

async fn set_disabled(app: &TestApp, disabled: &[&str]) {
    let tools = ToolFilter { enabled: None, disabled: disabled.iter().map(|&tool| tool.to_owned()).collect() };
    let entry = ServerEntry { name: "harbour".to_owned(), config: ServerConfig { tools, ..demo_config(&[]) } };
    app.host.update_server("harbour".to_owned(), entry).await.expect("the lists are accepted");
}

async fn assert_turned_off(call: JoinHandle<Result<CallToolResult, CallFailure>>) {
    let ended = tokio::time::timeout(EVENT_TIMEOUT, call).await.expect("the call ends").unwrap();
    assert!(
        matches!(&ended, Err(CallFailure::Refused { text, .. }) if text.contains("turned off for models")),
        "{ended:?}"
    );
}

#[tokio::test]
async fn allowed_call_is_refused_if_its_tool_is_turned_off_while_the_entry_is_written() {
    let (app, disk) = start_with_scripted_audit_log().await;
    // A model that has read nothing calls the tool without consent.
    app.host.record_conversation_servers("conversation".to_owned(), Vec::new(), true).await.unwrap();
    disk.slow.store(true, Ordering::SeqCst);
    let called = spawn_model_call(&app, "add", json!({ "a": 1, "b": 2 }));
    wait_until_delayed(&disk).await;
    disk.slow.store(false, Ordering::SeqCst);
    set_disabled(&app, &["add"]).await;
    assert!(!called.is_finished(), "the call waits for its entry");
    disk.release_delayed_entries();
    assert_turned_off(called).await;
    assert_eq!(sent_call_count(&app).await, 1, "only the previous call was sent");
    assert_eq!(
        audited_decisions(&app),
        ["allowed", "allowed", "denied", "withdrawn"],
        "the log records that nothing was sent"
    );
    app.host.close().await;
}

#[tokio::test]
async fn approved_call_is_refused_if_its_tool_is_turned_off_while_the_entry_is_written() {
    let (app, disk) = start_with_scripted_audit_log().await;
    let called = spawn_model_call(&app, "fail", json!({}));
    let request = call_request(&app).await;
    let approved = approve_with_slow_audit_log(&app, &disk, &request).await;
    set_disabled(&app, &["fail"]).await;
    assert_turned_off(called).await;
    disk.release_delayed_entries();
    assert_eq!(approved.await.unwrap(), Err(DecisionError::NotOpen), "the approval has no effect");
    assert_eq!(sent_call_count(&app).await, 1, "only the previous call was sent");
    assert_eq!(
        audited_decisions(&app),
        ["allowed", "denied", "allowed", "withdrawn"],
        "the log records that nothing was sent"
    );
    app.host.close().await;
}

#[tokio::test]
async fn start_continues_if_the_lists_of_tools_change_while_its_entry_is_written() {
    let (app, disk) = start_with_scripted_audit_log().await;
    let stop = async || {
        app.host.stop_server("harbour".to_owned()).await.unwrap();
        app.until("harbour", "stopped", |server| server.state == ServerState::Stopped).await;
    };
    stop().await;
    app.ready_with_grant("harbour").await;
    stop().await;
    disk.slow.store(true, Ordering::SeqCst);
    app.host.start_server("harbour".to_owned()).await.unwrap();
    wait_until_delayed(&disk).await;
    disk.slow.store(false, Ordering::SeqCst);
    assert_eq!(app.server("harbour").await.state, ServerState::Starting, "the start waits for its entry");
    set_disabled(&app, &["add"]).await;
    disk.release_delayed_entries();
    app.until("harbour", "ready with the new lists", |server| server.state == ServerState::Ready).await;
    app.until("harbour", "known whole", |server| server.counts[0] >= 16).await;
    assert_turned_off(spawn_model_call(&app, "add", json!({ "a": 1, "b": 2 }))).await;
    app.host.close().await;
}

/// A panic in a turn shuts down the host and ends its servers, since the state may be partially changed.
#[tokio::test]
async fn panic_in_an_owner_turn_closes_the_host_and_its_servers() {
    let (app, disk) = start_with_scripted_audit_log().await;
    let pid = app.server("harbour").await.pid.expect("the server is a process");
    disk.panics.store(true, Ordering::SeqCst);
    let called = spawn_call(&app, "add", json!({"a": 1, "b": 2})).await;
    assert!(called.expect_err("the call's task takes the turn").is_panic(), "the task of the call panics");
    assert_eq!(app.host.snapshot().await.unwrap_err(), HostClosed, "no further turn is possible");
    let deadline = tokio::time::Instant::now() + EVENT_TIMEOUT;
    while is_alive(pid) {
        assert!(tokio::time::Instant::now() < deadline, "the server did not end in time");
        // sleep: polls for a condition that no event reports.
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    app.host.close().await;
}
