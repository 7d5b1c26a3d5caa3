//! Tools whose definitions require consent for each call: grants, rules and trust in the server don't change that.

use domain::call::CallFailure;
use host::DecisionError;
use host::rules::{DryRunAct, TrustDuration};
use host::view::{ConsentRequestBody, ConsentRequestView, UserDecision};
use mcp_proto::types::{CallToolResult, Tool};
use policy::{
    ApprovalScope, Grant, GrantId, GrantSubject, PolicyRule, ReviewState, RuleEffect, RuleFit, StricterReason,
};
use ports::Document;
use ports::server_config::{ServerConfig, grant_hash};
use serde_json::{Map, Value, json};
use testkit::app::{EVENT_TIMEOUT, TestApp, scripted_config};
use testkit::calls::UserCalls as _;
use tokio::task::JoinHandle;

const SERVER: &str = "bank";

fn tool_json(name: &str, meta: Value) -> Value {
    json!({"name": name, "inputSchema": {"type": "object"}, "_meta": meta})
}

fn always_asking_tool() -> Value {
    tool_json("echo", json!({"anthropic/requiresUserInteraction": true}))
}

fn bank_server() -> ServerConfig {
    let list = json!({"tools": [always_asking_tool(), tool_json("environment", json!({}))]});
    scripted_config(&["--reply", &format!("tools/list={list}")])
}

fn spawn_call(app: &TestApp, id: &str, tool: &str) -> JoinHandle<Result<CallToolResult, CallFailure>> {
    let (host, id, tool) = (app.host.clone(), id.to_owned(), tool.to_owned());
    tokio::spawn(
        async move { host.call_tool(id, SERVER.into(), tool, Map::new(), None).await.map(|(result, _)| result) },
    )
}

fn is_tool_call_request(request: &ConsentRequestView) -> bool {
    matches!(request.body, ConsentRequestBody::Tool { .. })
}

/// Calls a tool, checks that the consent request offers no approval beyond this one call, and approves it.
async fn assert_consent_required(app: &TestApp, id: &str, what: &str) {
    let called = spawn_call(app, id, "echo");
    let request = app.consent_request(SERVER, what, is_tool_call_request).await;
    assert_eq!((request.reason, request.scopes), ("tool-asks-each-time", &[ApprovalScope::Once][..]), "{what}");
    assert_eq!(request.stricter_reason, Some(StricterReason::EachTime), "{what}: no rule can allow it");
    let hash = request.hash.to_string();
    for scope in [ApprovalScope::Conversation, ApprovalScope::Session, ApprovalScope::Always] {
        let lasting = app.host.decide(request.id, hash.clone(), UserDecision::Allow(scope)).await;
        assert!(matches!(lasting, Err(DecisionError::WrongKind(_))), "{what}: {scope:?} is refused: {lasting:?}");
    }
    app.decide(&request, UserDecision::Allow(ApprovalScope::Once)).await;
    tokio::time::timeout(EVENT_TIMEOUT, called)
        .await
        .expect("the call ends in time")
        .unwrap()
        .expect("the call returns a result");
}

async fn review_tools(app: &TestApp) {
    for (id, tool) in [("seen-1", "echo"), ("seen-2", "environment")] {
        let called = spawn_call(app, id, tool);
        let request = app.consent_request(SERVER, "the first call", is_tool_call_request).await;
        app.decide(&request, UserDecision::Allow(ApprovalScope::Once)).await;
        called.await.unwrap().expect("the call returns a result");
    }
}

/// Makes a dry run of the tool that requires consent for each call. Returns the tool's review state, and how the policy
/// matched the grants and rules that would allow calls of other tools.
async fn dry_run_always_asking_tool(app: &TestApp) -> (Option<ReviewState>, Vec<RuleFit>) {
    let act =
        DryRunAct::Tool { tool: "echo".to_owned(), arguments: Map::new(), conversation: None, after_untrusted: false };
    let run = app.host.dry_run(SERVER.to_owned(), act).await.unwrap();
    let allowing = run.explanation.considered.iter().filter(|one| one.effect == RuleEffect::Allow);
    (run.review_state, allowing.map(|one| one.fit).collect())
}

#[tokio::test]
async fn grant_for_an_always_asking_tool_has_no_effect() {
    let app = TestApp::start(vec![(SERVER, bank_server())]).await;
    app.ready(SERVER).await;
    review_tools(&app).await;
    // A version of Drawbridge that doesn't know this setting may have stored such a grant.
    let definition: Tool = serde_json::from_value(always_asking_tool()).unwrap();
    let grant = Grant {
        id: GrantId::default(),
        server: SERVER.to_owned(),
        subject: GrantSubject::Tool("echo".to_owned()),
        rests_on: grant_hash(&bank_server(), &definition),
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
        dry_run_always_asking_tool(&app).await,
        (Some(ReviewState::Reviewed), vec![RuleFit::AsksEachTime]),
        "only the definition requires consent"
    );
    assert_consent_required(&app, "1", "a call that a grant would allow").await;
    assert_consent_required(&app, "2", "the next call").await;
    app.host.close().await;
}

#[tokio::test]
async fn trust_and_rules_for_an_always_asking_tool_have_no_effect() {
    let app = TestApp::start(vec![(SERVER, bank_server())]).await;
    app.ready(SERVER).await;
    review_tools(&app).await;
    app.host.set_server_trust(SERVER.to_owned(), TrustDuration::Always).await.unwrap();
    app.host.set_rule(PolicyRule::new(RuleEffect::Allow, SERVER.to_owned())).await.unwrap();
    let other = tokio::time::timeout(EVENT_TIMEOUT, spawn_call(&app, "1", "environment")).await;
    other.expect("another tool of the server requires no consent").unwrap().expect("the call returns a result");
    assert_consent_required(&app, "2", "a call of the marked tool").await;
    let expected = (Some(ReviewState::Reviewed), vec![RuleFit::AsksEachTime; 2]);
    assert_eq!(dry_run_always_asking_tool(&app).await, expected, "the definition overrides both");
    app.host.stop_server(SERVER.to_owned()).await.unwrap();
    app.until(SERVER, "stopped", |s| s.state == host::view::ServerState::Stopped).await;
    assert_eq!(
        dry_run_always_asking_tool(&app).await,
        expected,
        "for a stopped server the reviewed definition is used"
    );
    app.host.close().await;
}
