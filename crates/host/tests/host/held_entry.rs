//! What becomes of an approval while the audit log writes its entry: another approval of the same request, and a rule that denies it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::time::Duration;
use testkit::calls::CallTool as _;

use host::view::{QuestionBody, QuestionView, UserAnswer};
use host::{AnswerError, HostClosed};
use policy::{PolicyRule, Scope};
use serde_json::{Map, Value, json};
use testkit::app::{App, PATIENCE};
use testkit::processes::is_alive;
use tokio::task::JoinHandle;

use crate::audit::{Called, Disk, ended, harbour, sent, until_held};
use crate::kept::of_kind;

const ONCE: UserAnswer = UserAnswer::Allow(Scope::Once);

fn call(app: &App, tool: &str, arguments: Value) -> JoinHandle<Called> {
    let (host, tool) = (app.host.clone(), tool.to_owned());
    let arguments: Map<String, Value> = arguments.as_object().cloned().unwrap();
    tokio::spawn(async move { host.call_tool("held".into(), "harbour".into(), tool, arguments, None).await })
}

async fn asked(app: &App) -> QuestionView {
    app.question("harbour", "a tool", |question| matches!(question.body, QuestionBody::Tool { .. })).await
}

/// Approves a request. The log does not write the entry, but later ones.
async fn approved(app: &App, disk: &Arc<Disk>, question: &QuestionView) -> JoinHandle<Result<(), AnswerError>> {
    disk.slow.store(true, Ordering::SeqCst);
    let (host, id, hash) = (app.host.clone(), question.id, question.hash.to_string());
    let approved = tokio::spawn(async move { host.answer(id, hash, ONCE).await });
    until_held(disk).await;
    disk.slow.store(false, Ordering::SeqCst);
    approved
}

fn decisions(app: &App) -> Vec<String> {
    of_kind(app, "tool").into_iter().map(|entry| entry.decision.into_owned()).collect()
}

#[tokio::test]
async fn a_request_is_approved_once_while_the_entry_is_written() {
    let (app, disk) = harbour().await;
    let called = call(&app, "fail", json!({}));
    let question = asked(&app).await;
    let first = approved(&app, &disk, &question).await;
    let second = app.host.answer(question.id, question.hash.to_string(), ONCE).await;
    assert_eq!(second, Err(AnswerError::Stale), "the first approval is being carried out");
    assert_eq!(sent(&app).await, 1, "and nothing left yet but the call before");
    disk.go_on();
    assert_eq!(first.await.unwrap(), Ok(()), "the first one acts");
    assert!(ended(called).await.is_ok(), "the call is answered");
    assert_eq!(sent(&app).await, 2, "once");
    assert_eq!(decisions(&app), ["allowed", "allowed"], "with one entry");
    app.host.close().await;
}

/// A rule on paths refuses what waits only when the links are followed. The entry may be written before.
#[test]
fn a_rule_that_comes_while_the_entry_is_written_denies_before_links_are_followed() {
    // One thread for blocking work, which the test can occupy.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(1).build().unwrap();
    runtime.block_on(async {
        let (app, disk) = harbour().await;
        let called = call(&app, "fail", json!({ "file": "/private/key" }));
        let question = asked(&app).await;
        let approved = approved(&app, &disk, &question).await;

        let (go_on, held) = mpsc::sync_channel::<()>(1);
        let occupied = tokio::task::spawn_blocking(move || held.recv());
        let argument = json!({ "at": "/file", "path": "/private/**" });
        let rule = json!({ "effect": "deny", "server": "harbour", "arguments": [argument] });
        let rule: PolicyRule = serde_json::from_value(rule).unwrap();
        app.host.set_rule(rule).await.expect("the rule is taken");
        assert_eq!(app.questions().await.len(), 1, "no link was followed yet, so the request waits");
        disk.go_on();
        let answered = approved.await.unwrap();
        assert_eq!(answered, Err(AnswerError::Denied("rule 1".to_owned())), "the rule came first");
        assert!(ended(called).await.is_err(), "the call is refused");
        assert_eq!(sent(&app).await, 1, "and nothing left but the call before");
        assert_eq!(decisions(&app), ["allowed", "allowed", "denied", "withdrawn"], "the log says that nothing left");
        drop(go_on);
        occupied.await.unwrap().expect_err("the test has let it go");
        app.host.close().await;
    });
}

/// Half changed, the state is of no use.
#[tokio::test]
async fn a_turn_that_panics_ends_the_host_and_its_servers() {
    let (app, disk) = harbour().await;
    let pid = app.server("harbour").await.pid.expect("it is a process");
    disk.panics.store(true, Ordering::SeqCst);
    let called = call(&app, "add", json!({"a": 1, "b": 2})).await;
    assert!(called.expect_err("the call's task takes the turn").is_panic(), "and panics with it");
    assert_eq!(app.host.snapshot().await.unwrap_err(), HostClosed, "nobody takes another turn");
    let deadline = tokio::time::Instant::now() + PATIENCE;
    while is_alive(pid) {
        assert!(tokio::time::Instant::now() < deadline, "the server ends");
        // sleep: looks again until it holds; no event tells of it.
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    app.host.close().await;
}
