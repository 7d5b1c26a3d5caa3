//! Tools whose definition requires consent for each call: grants, rules and trust in their server have no effect.

use domain::call::CallFailure;
use host::DecisionError;
use host::rules::{DryRunAct, TrustDuration};
use host::view::{ConsentRequestBody, ConsentRequestView, UserDecision};
use mcp_proto::types::{CallToolResult, Tool};
use policy::{ApprovalScope, Grant, GrantId, GrantSubject, PolicyRule, ReviewState, RuleEffect, RuleFit};
use ports::Document;
use ports::server_config::{ServerConfig, definition_hash};
use serde_json::{Map, Value, json};
use testkit::app::{EVENT_TIMEOUT, TestApp, scripted};
use testkit::calls::UserCalls as _;
use tokio::task::JoinHandle;

const SERVER: &str = "bank";

fn tool(name: &str, meta: Value) -> Value {
    json!({"name": name, "inputSchema": {"type": "object"}, "_meta": meta})
}

fn marked_tool() -> Value {
    tool("echo", json!({"anthropic/requiresUserInteraction": true}))
}

fn bank_server() -> ServerConfig {
    let list = json!({"tools": [marked_tool(), tool("environment", json!({}))]});
    scripted(&["--reply", &format!("tools/list={list}")])
}

fn call(app: &TestApp, id: &str, tool: &str) -> JoinHandle<Result<CallToolResult, CallFailure>> {
    let (host, id, tool) = (app.host.clone(), id.to_owned(), tool.to_owned());
    tokio::spawn(
        async move { host.call_tool(id, SERVER.into(), tool, Map::new(), None).await.map(|(result, _)| result) },
    )
}

fn is_tool(request: &ConsentRequestView) -> bool {
    matches!(request.body, ConsentRequestBody::Tool { .. })
}

/// Makes a call, which requires consent for this call only, and allows it.
async fn assert_consent_required(app: &TestApp, id: &str, what: &str) {
    let called = call(app, id, "echo");
    let request = app.consent_request(SERVER, what, is_tool).await;
    assert_eq!((request.rule, request.scopes), ("tool-asks-each-time", &[ApprovalScope::Once][..]), "{what}");
    let hash = request.hash.to_string();
    for scope in [ApprovalScope::Conversation, ApprovalScope::Session, ApprovalScope::Always] {
        let lasting = app.host.decide(request.id, hash.clone(), UserDecision::Allow(scope)).await;
        assert!(matches!(lasting, Err(DecisionError::WrongKind(_))), "{what}: {scope:?} is refused: {lasting:?}");
    }
    app.decide(&request, UserDecision::Allow(ApprovalScope::Once)).await;
    tokio::time::timeout(EVENT_TIMEOUT, called).await.expect("the call ends in time").unwrap().expect("it is allowed");
}

async fn review(app: &TestApp) {
    for (id, tool) in [("seen-1", "echo"), ("seen-2", "environment")] {
        let called = call(app, id, tool);
        let request = app.consent_request(SERVER, "the first call", is_tool).await;
        app.decide(&request, UserDecision::Allow(ApprovalScope::Once)).await;
        called.await.unwrap().expect("it is allowed");
    }
}

/// Returns the review state of the marked tool, and the results of matching the grants and rules that would allow it.
async fn check_marked_tool(app: &TestApp) -> (Option<ReviewState>, Vec<RuleFit>) {
    let asked =
        DryRunAct::Tool { tool: "echo".to_owned(), arguments: Map::new(), conversation: None, after_untrusted: false };
    let run = app.host.dry_run(SERVER.to_owned(), asked).await.unwrap();
    let allowing = run.explanation.considered.iter().filter(|one| one.effect == RuleEffect::Allow);
    (run.standing, allowing.map(|one| one.fit).collect())
}

#[tokio::test]
async fn grant_for_an_always_asking_tool_has_no_effect() {
    let app = TestApp::start(vec![(SERVER, bank_server())]).await;
    app.ready(SERVER).await;
    review(&app).await;
    // An instance that does not know the mark may have stored such a grant.
    let definition: Tool = serde_json::from_value(marked_tool()).unwrap();
    let grant = Grant {
        id: GrantId::default(),
        server: SERVER.to_owned(),
        subject: GrantSubject::Tool("echo".to_owned()),
        rests_on: definition_hash(&bank_server(), &definition),
        scope: ApprovalScope::Always,
        conversation: None,
        since: 0,
        expires_at: None,
        words: "echo".to_owned(),
        last_use: None,
    };
    let mut events = app.host.events();
    app.host.ports().documents.write(Document::Grants, &json!([grant])).unwrap();
    while app.host.grants().await.unwrap().is_empty() {
        tokio::time::timeout(EVENT_TIMEOUT, events.next()).await.expect("the grant is read");
    }
    assert_eq!(
        check_marked_tool(&app).await,
        (Some(ReviewState::Reviewed), vec![RuleFit::AsksEachTime]),
        "only the mark is against it"
    );
    assert_consent_required(&app, "1", "a call that a grant would allow").await;
    assert_consent_required(&app, "2", "the next call").await;
    app.host.close().await;
}

#[tokio::test]
async fn trust_and_rules_for_an_always_asking_tool_have_no_effect() {
    let app = TestApp::start(vec![(SERVER, bank_server())]).await;
    app.ready(SERVER).await;
    review(&app).await;
    app.host.set_server_trust(SERVER.to_owned(), TrustDuration::Always).await.unwrap();
    app.host.set_rule(PolicyRule::new(RuleEffect::Allow, SERVER.to_owned())).await.unwrap();
    let other = tokio::time::timeout(EVENT_TIMEOUT, call(&app, "1", "environment")).await;
    other.expect("another tool of the server requires no consent").unwrap().expect("it is allowed");
    assert_consent_required(&app, "2", "a call of the marked tool").await;
    let expected = (Some(ReviewState::Reviewed), vec![RuleFit::AsksEachTime; 2]);
    assert_eq!(check_marked_tool(&app).await, expected, "the mark is against both");
    app.host.stop_server(SERVER.to_owned()).await.unwrap();
    app.until(SERVER, "stopped", |s| s.state == host::view::ServerState::Stopped).await;
    assert_eq!(check_marked_tool(&app).await, expected, "of a stopped server, the reviewed definition counts");
    app.host.close().await;
}
