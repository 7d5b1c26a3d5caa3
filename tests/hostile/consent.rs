//! Tests of consent: operations that require it, the effects of a decision, and its binding to the displayed payload.

mod steps;

use steps::{
    await_call, is_tool_call, request_after_tool_approval, result_text, shortest_valid_form_content, start_call,
    start_demo_host, to_map,
};

use std::collections::BTreeMap;

use domain::call::CallFailure;
use domain::consent_request::ConsentRequestOrigin;
use host::DecisionError;
use host::view::{ConsentRequestBody, ConsentRequestEdit, ConsentRequestView, UserDecision};
use mcp_proto::types::{ContentBlock, SamplingContent};
use policy::ApprovalScope;
use ports::AuditQuery;
use serde_json::{Map, json};
use server_requests::form::FieldProblem;
use testkit::app::{EVENT_TIMEOUT, TestApp, demo_config};
use testkit::deadline::within;

#[tokio::test]
async fn tool_call_waits_for_consent_and_sends_the_displayed_payload() {
    let app = start_demo_host("both").await;
    let called = start_call(&app, "1", "add", json!({"a": 2, "b": 3}));
    let consent_request = app.consent_request("harbour", "the tool", is_tool_call).await;
    assert!(!app.activity("harbour").await.contains("tools/call"), "nothing was sent before the decision");
    assert_eq!(consent_request.origin, ConsentRequestOrigin::User { conversation: None }, "the user made the call");
    app.decide(&consent_request, UserDecision::Allow(ApprovalScope::Once)).await;
    let called = await_call(called).await;
    assert!(result_text(&called).contains('5'), "the tool ran: {called:?}");

    let again = start_call(&app, "2", "add", json!({"a": 2, "b": 3}));
    let consent_request = app.consent_request("harbour", "the tool again", is_tool_call).await;
    app.decide(&consent_request, UserDecision::Deny).await;
    assert!(
        matches!(await_call(again).await, Err(CallFailure::Refused { .. })),
        "an approval is valid for one call, and the next one can be denied"
    );
}

#[tokio::test]
async fn approval_is_bound_to_the_displayed_bytes() {
    let app = start_demo_host("both").await;
    let called = start_call(&app, "1", "add", json!({"a": 2, "b": 3}));
    let shown = app.consent_request("harbour", "the tool", is_tool_call).await;
    let edit = ConsentRequestEdit::Arguments(to_map(json!({"a": 20, "b": 3})));
    let edited = app.host.edit_consent_request(shown.id, edit).await.unwrap();
    assert_ne!(edited.hash, shown.hash, "other arguments have another hash");
    let stale = app.host.decide(shown.id, shown.hash.to_string(), UserDecision::Allow(ApprovalScope::Once)).await;
    assert_eq!(stale, Err(DecisionError::Stale), "an approval of an earlier payload has no effect");
    app.decide(&edited, UserDecision::Allow(ApprovalScope::Once)).await;
    let twice = app.host.decide(edited.id, edited.hash.to_string(), UserDecision::Allow(ApprovalScope::Once)).await;
    assert_eq!(twice, Err(DecisionError::NotOpen), "an approval has an effect only once");
    let called = await_call(called).await;
    assert!(result_text(&called).contains("23"), "the edited arguments are sent: {called:?}");
    assert_eq!(called.unwrap().1, Some(to_map(json!({"a": 20, "b": 3}))), "the caller receives the edited arguments");
}

/// Waits until the host has sent a message with this method to the server.
async fn wait_until_sent(app: &TestApp, method: &str) {
    let is_sent = async || {
        let page = app.host.activity_page("harbour".to_owned(), 0, usize::MAX).await.unwrap();
        page.entries.iter().any(|entry| entry.sent && entry.method.as_deref() == Some(method))
    };
    assert!(testkit::deadline::poll_until_async(EVENT_TIMEOUT, is_sent).await, "the server receives {method}");
}

/// A grant for a tool ends when its definition changes. Covers the MCP requirement `[tools-list-changed]`.
#[tokio::test]
async fn tool_grant_ends_when_its_definition_changes() {
    let app = start_demo_host("legacy").await;
    let allow_all = |scope| move |q: &ConsentRequestView| is_tool_call(q).then_some(UserDecision::Allow(scope));
    let called = start_call(&app, "1", "lighthouse", json!({}));
    let consent_request = app.consent_request("harbour", "the tool", is_tool_call).await;
    app.decide(&consent_request, UserDecision::Allow(ApprovalScope::Always)).await;
    await_call(called).await.unwrap();
    await_call(start_call(&app, "2", "lighthouse", json!({}))).await.expect("the second call requires no consent");

    let known = app.host.catalog("harbour".into()).await.unwrap();
    let user = app.decide_automatically(allow_all(ApprovalScope::Once));
    await_call(start_call(&app, "3", "change_tool", json!({}))).await.expect("the call changes the other tool");
    user.abort();
    let before = consent_request;
    let is_known = async {
        while app.host.catalog("harbour".into()).await.unwrap().tools == known.tools {
            tokio::task::yield_now().await;
        }
    };
    within(EVENT_TIMEOUT, "the host knows the changed tool", is_known).await;
    let called = start_call(&app, "4", "lighthouse", json!({}));
    let consent_request = app.consent_request("harbour", "the changed tool", is_tool_call).await;
    assert_ne!(consent_request.id, before.id, "the changed tool requires consent again");
    assert_eq!(consent_request.reason, "tool-changed", "{consent_request:?}");
    let is_marked = matches!(consent_request.body, ConsentRequestBody::Tool { changed_since_allowed: true, .. });
    assert!(is_marked, "the request names the change: {consent_request:?}");
    app.decide(&consent_request, UserDecision::Cancel).await;
    assert_eq!(await_call(called).await.err(), Some(CallFailure::Cancelled), "closing the request cancels it");
}

/// Sampling requests and their responses require consent. Covers the MCP requirement `[lifecycle-deprecated-handle]`.
#[tokio::test]
async fn sampling_is_reviewed_twice_in_both_protocol_eras() {
    for era in ["legacy", "modern"] {
        let app = start_demo_host(era).await;
        let called = start_call(&app, "1", "ask_model", json!({}));
        let consent_request = request_after_tool_approval(&app).await;
        let ConsentRequestBody::Sampling { request, response: None, .. } = &consent_request.body else {
            panic!("{era}: the request comes first: {consent_request:?}");
        };
        assert!(!request.messages.is_empty() && request.system_prompt.is_some(), "{era}: all of it is shown");
        assert!(
            matches!(&consent_request.origin, ConsentRequestOrigin::Call { name, .. } if name == "ask_model"),
            "{era}: the request names its call"
        );
        assert_eq!(consent_request.scopes, [ApprovalScope::Once], "{era}: sampling can only be allowed once");
        app.decide(&consent_request, UserDecision::Allow(ApprovalScope::Once)).await;
        let second = app
            .consent_request("harbour", "the answer", |q| q.id == consent_request.id && q.hash != consent_request.hash)
            .await;
        let empty = app.host.decide(second.id, second.hash.to_string(), UserDecision::Allow(ApprovalScope::Once)).await;
        assert!(matches!(empty, Err(DecisionError::WrongKind(_))), "{era}: an empty response is not sent: {empty:?}");
        let mut response = server_requests::sampling::empty_sampling_result();
        response.content = SamplingContent::One(ContentBlock::text("High tide at noon."));
        let edit = ConsentRequestEdit::Response(Box::new(response));
        let written = app.host.edit_consent_request(second.id, edit).await.unwrap();
        app.decide(&written, UserDecision::Allow(ApprovalScope::Once)).await;
        let called = await_call(called).await;
        assert!(result_text(&called).contains("High tide at noon."), "{era}: the response arrived: {called:?}");
        let kinds: Vec<String> = app.decisions().into_iter().map(|d| d.0).collect();
        assert_eq!(
            kinds,
            ["start-server", "tool", "sampling-answer"],
            "{era}: the sent payloads are logged, and no model was called"
        );
    }
}

#[tokio::test]
async fn denied_sampling_request_fails_the_call_with_a_cause() {
    for era in ["legacy", "modern"] {
        let app = start_demo_host(era).await;
        let called = start_call(&app, "1", "ask_model", json!({}));
        let consent_request = request_after_tool_approval(&app).await;
        app.decide(&consent_request, UserDecision::Deny).await;
        match await_call(called).await {
            Ok((result, _)) => {
                assert!(result.is_error && era == "legacy", "{era}: the tool reports its failure: {result:?}")
            }
            Err(error) => assert!(
                error.to_string().contains("refused") || error.to_string().contains("rejected"),
                "{era}: {error}"
            ),
        }
    }
}

#[tokio::test]
async fn forms_are_validated_and_have_three_distinct_responses() {
    for era in ["legacy", "modern"] {
        for (answer, action) in
            [(None, "accept"), (Some(UserDecision::Deny), "decline"), (Some(UserDecision::Cancel), "cancel")]
        {
            let app = start_demo_host(era).await;
            let called = start_call(&app, "1", "ask_user", json!({}));
            let consent_request = request_after_tool_approval(&app).await;
            let ConsentRequestBody::Form { form: Ok(form), .. } = &consent_request.body else {
                panic!("{era}: a form: {consent_request:?}")
            };
            let answer = answer.unwrap_or_else(|| UserDecision::Submit(shortest_valid_form_content(form)));
            if let UserDecision::Submit(content) = &answer {
                let empty = app.host.check_form(consent_request.id, Map::new()).await.unwrap();
                assert!(
                    empty.iter().any(|p| p.problem == FieldProblem::Required),
                    "{era}: missing required fields are reported: {empty:?}"
                );
                let bad = app
                    .host
                    .decide(consent_request.id, consent_request.hash.to_string(), UserDecision::Submit(Map::new()))
                    .await;
                assert!(matches!(bad, Err(DecisionError::Form(_))), "{era}: an incomplete form is not sent: {bad:?}");
                let good = app.host.check_form(consent_request.id, content.clone()).await.unwrap();
                assert!(good.is_empty(), "{era}: a filled form has no problems: {good:?}");
            }
            app.decide(&consent_request, answer).await;
            let result = result_text(&await_call(called).await).to_lowercase();
            let is_received = match action {
                "accept" => !result.contains("declin") && !result.contains("cancel"),
                "decline" => result.contains("declin"),
                _ => result.contains("cancel"),
            };
            assert!(is_received, "{era}: the server received {action}: {result}");
        }
    }
}

#[tokio::test]
async fn url_is_opened_only_after_consent() {
    for era in ["legacy", "modern"] {
        let app = start_demo_host(era).await;
        let called = start_call(&app, "1", "ask_url", json!({}));
        let consent_request = request_after_tool_approval(&app).await;
        let ConsentRequestBody::Url { url, .. } = &consent_request.body else {
            panic!("{era}: a URL: {consent_request:?}")
        };
        assert!(app.platform.opened.lock().unwrap().is_empty(), "{era}: the URL was not opened before the approval");
        let url = url.clone();
        app.decide(&consent_request, UserDecision::Allow(ApprovalScope::Once)).await;
        await_call(called).await.unwrap_or_else(|e| panic!("{era}: the call continues: {e}"));
        assert_eq!(*app.platform.opened.lock().unwrap(), [url], "{era}: exactly this URL was opened, once");
    }
}

#[tokio::test]
async fn roots_request_consent_once_and_changes_are_notified() {
    for era in ["legacy", "modern"] {
        let app = start_demo_host(era).await;
        let folder = std::fs::canonicalize(app.folder.path()).unwrap();
        let called = start_call(&app, "1", "list_folders", json!({}));
        let consent_request = request_after_tool_approval(&app).await;
        assert_eq!(consent_request.body, ConsentRequestBody::Roots, "{era}: the first request requires consent");
        let relative = app
            .host
            .decide(consent_request.id, consent_request.hash.to_string(), UserDecision::Share(vec!["data".into()]))
            .await;
        assert!(matches!(relative, Err(DecisionError::Folder { .. })), "{era}: paths are absolute: {relative:?}");
        app.decide(&consent_request, UserDecision::Share(vec![folder.join("data").join("..")])).await;
        let result = result_text(&await_call(called).await);
        assert!(result.contains(&format!("file://{}", folder.display())), "{era}: the path is canonical: {result}");

        let second = app.folder.path().join("data");
        app.host.set_roots("harbour".into(), vec![second.clone()]).await.unwrap();
        if era == "legacy" {
            wait_until_sent(&app, "notifications/roots/list_changed").await;
        }
        let user = app.decide_automatically(|q| is_tool_call(q).then_some(UserDecision::Allow(ApprovalScope::Once)));
        let result = result_text(&await_call(start_call(&app, "2", "list_folders", json!({}))).await);
        user.abort();
        assert!(result.contains("data"), "{era}: the second request is answered without consent: {result}");
    }
}

#[tokio::test]
async fn progress_is_reported_and_a_call_can_be_cancelled() {
    let app = start_demo_host("both").await;
    let user = app.decide_automatically(|q| is_tool_call(q).then_some(UserDecision::Allow(ApprovalScope::Once)));
    let called = start_call(&app, "long", "slow_report", json!({"seconds": 30, "steps": 60}));
    let mut events = app.host.events();
    let progress = async {
        while let Some(event) = events.next().await {
            if let host::view::HostEvent::CallChanged(call) = &event.event
                && let Some(progress) = &call.progress
            {
                return progress.clone();
            }
        }
        panic!("the host ended");
    };
    let progress = tokio::time::timeout(EVENT_TIMEOUT, progress).await.expect("a progress notification arrives");
    assert!(progress.message.is_some() && progress.total.is_some(), "with its message and total: {progress:?}");
    app.host.cancel_call("long".into()).await.unwrap();
    assert_eq!(await_call(called).await.err(), Some(CallFailure::Cancelled), "the call ends immediately");
    user.abort();
    wait_until_sent(&app, "notifications/cancelled").await;
    assert!(app.host.snapshot().await.unwrap().calls.is_empty(), "no call is left");
}

#[tokio::test]
async fn pending_call_can_be_cancelled() {
    let app = start_demo_host("both").await;
    let called = start_call(&app, "1", "add", json!({"a": 1, "b": 1}));
    app.consent_request("harbour", "the tool", is_tool_call).await;
    app.host.cancel_call("1".into()).await.unwrap();
    assert_eq!(await_call(called).await.err(), Some(CallFailure::Cancelled), "the call has ended");
    assert!(app.consent_requests().await.is_empty(), "the consent request of the call is closed");
    assert!(!app.activity("harbour").await.contains("tools/call"), "nothing was sent");
}

#[tokio::test]
async fn prompts_resources_completion_and_subscriptions_work_in_both_eras() {
    for era in ["legacy", "modern"] {
        let app = start_demo_host(era).await;
        let host = &app.host;
        let prompt = host.get_prompt("p".into(), "harbour".into(), "safety_check".into(), BTreeMap::new()).await;
        assert!(!prompt.unwrap_or_else(|e| panic!("{era}: {e}")).messages.is_empty(), "{era}: a prompt has messages");
        let read = host.read_resource("r".into(), "harbour".into(), "harbour:///welcome.txt".into()).await;
        assert!(read.unwrap_or_else(|e| panic!("{era}: {e}"))[0].text.is_some(), "{era}: a resource has text");
        let reference = mcp_proto::types::CompletionReference::Prompt { name: "greet_ship".into() };
        let harbours = host
            .complete_argument("harbour".into(), reference.clone(), "harbour".into(), String::new(), BTreeMap::new())
            .await
            .unwrap_or_else(|e| panic!("{era}: {e}"));
        let context = BTreeMap::from([("harbour".to_owned(), harbours.values[0].clone())]);
        let ships = host
            .complete_argument("harbour".into(), reference, "ship".into(), String::new(), context)
            .await
            .unwrap_or_else(|e| panic!("{era}: {e}"));
        assert!(!ships.values.is_empty(), "{era}: the preceding argument is passed on");
        let mut events = host.events();
        host.subscribe("harbour".into(), "clock:///now".into(), true).await.unwrap_or_else(|e| panic!("{era}: {e}"));
        let updated = async {
            while let Some(event) = events.next().await {
                if matches!(&event.event, host::view::HostEvent::ResourceUpdated { uri, .. } if uri == "clock:///now") {
                    return;
                }
            }
        };
        tokio::time::timeout(EVENT_TIMEOUT, updated).await.unwrap_or_else(|_| panic!("{era}: a change is reported"));
        assert_eq!(app.server("harbour").await.subscriptions, ["clock:///now"], "{era}: the subscription is shown");
        host.subscribe("harbour".into(), "clock:///now".into(), false).await.unwrap_or_else(|e| panic!("{era}: {e}"));
        assert!(app.server("harbour").await.subscriptions.is_empty(), "{era}: the subscription ends");
    }
}

#[tokio::test]
async fn deny_all_and_mute_silence_one_server() {
    let app = start_demo_host("legacy").await;
    let called = start_call(&app, "1", "ask_user", json!({}));
    request_after_tool_approval(&app).await;
    app.host.deny_all_requests("harbour".into(), true).await.unwrap();
    assert!(result_text(&await_call(called).await).to_lowercase().contains("declin"), "the request was declined");
    let user = app.decide_automatically(|q| is_tool_call(q).then_some(UserDecision::Allow(ApprovalScope::Once)));
    let result = result_text(&await_call(start_call(&app, "2", "ask_user", json!({}))).await).to_lowercase();
    user.abort();
    assert!(result.contains("declin"), "requests of a muted server are denied without being shown: {result}");
    assert!(app.server("harbour").await.muted, "the server is shown as muted");
}

#[tokio::test]
async fn grants_are_listed_and_revocable() {
    let app = start_demo_host("both").await;
    let called = start_call(&app, "1", "add", json!({"a": 1, "b": 1}));
    let consent_request = app.consent_request("harbour", "the tool", is_tool_call).await;
    app.decide(&consent_request, UserDecision::Allow(ApprovalScope::Session)).await;
    await_call(called).await.unwrap();
    await_call(start_call(&app, "2", "add", json!({"a": 1, "b": 1}))).await.expect("the tool is allowed");
    let grants = app.host.grants().await.unwrap();
    assert_eq!(grants.len(), 1, "the grant is listed: {grants:?}");
    assert!(app.host.revoke_grant(grants[0].id).await.unwrap(), "the grant can be revoked");
    let called = start_call(&app, "3", "add", json!({"a": 1, "b": 1}));
    let consent_request = app.consent_request("harbour", "the tool", is_tool_call).await;
    app.decide(&consent_request, UserDecision::Deny).await;
    assert!(matches!(await_call(called).await, Err(CallFailure::Refused { .. })), "the next call asks again");
}

#[tokio::test]
async fn pending_request_does_not_outlive_its_process() {
    let app = start_demo_host("both").await;
    let called = start_call(&app, "1", "add", json!({"a": 1, "b": 1}));
    let consent_request = app.consent_request("harbour", "the tool", is_tool_call).await;
    app.host.stop_server("harbour".into()).await.unwrap();
    assert!(matches!(await_call(called).await, Err(CallFailure::NotReady { .. })), "the call ends with its server");
    app.ready("harbour").await;
    let late = app
        .host
        .decide(consent_request.id, consent_request.hash.to_string(), UserDecision::Allow(ApprovalScope::Always))
        .await;
    assert_eq!(late, Err(DecisionError::NotOpen), "an approval for the old process has no effect on the new one");
    assert!(app.host.grants().await.unwrap().is_empty(), "the approval is not stored");
}

#[tokio::test]
async fn tool_and_folder_grants_end_when_the_command_changes() {
    let app = start_demo_host("both").await;
    let folder = app.folder.path().to_owned();
    app.host.set_roots("harbour".into(), vec![folder]).await.unwrap();
    let called = start_call(&app, "1", "add", json!({"a": 1, "b": 1}));
    let consent_request = app.consent_request("harbour", "the tool", is_tool_call).await;
    app.decide(&consent_request, UserDecision::Allow(ApprovalScope::Always)).await;
    await_call(called).await.unwrap();

    let entry = ports::server_config::ServerEntry { name: "harbour".into(), config: demo_config(&["--era", "legacy"]) };
    app.host.update_server("harbour".into(), entry).await.unwrap();
    app.until("harbour", "stopped", |s| s.state == host::view::ServerState::Stopped).await;
    app.ready("harbour").await;
    app.until("harbour", "known whole", |s| s.counts[0] >= 16).await;
    assert_eq!(app.server("harbour").await.roots, None, "the folders were shared with another command");
    let called = start_call(&app, "2", "add", json!({"a": 1, "b": 1}));
    let consent_request = app.consent_request("harbour", "the same tool of another command", is_tool_call).await;
    assert_eq!(consent_request.reason, "tool-changed", "the request states why consent is required again");
    app.decide(&consent_request, UserDecision::Deny).await;
    assert!(await_call(called).await.is_err(), "nothing was sent");
}

#[tokio::test]
async fn tool_changed_while_pending_requires_consent_again() {
    let app = start_demo_host("legacy").await;
    let waiting = start_call(&app, "1", "lighthouse", json!({}));
    let shown = app.consent_request("harbour", "the tool", is_tool_call).await;
    let changing = start_call(&app, "2", "change_tool", json!({}));
    let consent_request = app.consent_request("harbour", "another tool", |q| is_tool_call(q) && q.id != shown.id).await;
    app.decide(&consent_request, UserDecision::Allow(ApprovalScope::Once)).await;
    await_call(changing).await.unwrap();
    let now = app.consent_request("harbour", "the changed tool", |q| q.id == shown.id && q.hash != shown.hash).await;
    assert!(
        matches!(now.body, ConsentRequestBody::Tool { changed_since_allowed: true, .. }),
        "the request shows the new definition"
    );
    let stale = app.host.decide(shown.id, shown.hash.to_string(), UserDecision::Allow(ApprovalScope::Once)).await;
    assert_eq!(stale, Err(DecisionError::Stale), "an approval of the old definition has no effect");
    app.decide(&now, UserDecision::Deny).await;
    assert!(matches!(await_call(waiting).await, Err(CallFailure::Refused { .. })), "the user can deny the call");
}

#[tokio::test]
async fn url_is_opened_once_despite_repeated_approvals() {
    let app = start_demo_host("legacy").await;
    *app.platform.slow.lock().unwrap() = std::time::Duration::from_millis(300);
    let called = start_call(&app, "1", "ask_url", json!({}));
    let consent_request = request_after_tool_approval(&app).await;
    let approve = || {
        app.host.decide(consent_request.id, consent_request.hash.to_string(), UserDecision::Allow(ApprovalScope::Once))
    };
    let (first, second) = tokio::join!(approve(), approve());
    assert_eq!(first, Ok(()), "the first approval opens it");
    assert_eq!(second, Err(DecisionError::Stale), "a second approval while the URL is being opened has no effect");
    await_call(called).await.unwrap();
    assert_eq!(app.platform.opened.lock().unwrap().len(), 1, "an approval is valid for one action");
}

#[tokio::test]
async fn rule_added_while_a_url_opens_does_not_deny_it_afterwards() {
    let app = start_demo_host("legacy").await;
    *app.platform.slow.lock().unwrap() = std::time::Duration::from_secs(1);
    let called = start_call(&app, "1", "ask_url", json!({}));
    let consent_request = request_after_tool_approval(&app).await;
    let decisions = || {
        let query = AuditQuery { kind: Some("url".to_owned()), ..AuditQuery::latest(10) };
        let entries = app.host.ports().audit.read(&query).unwrap();
        entries.into_iter().map(|entry| entry.decision.into_owned()).collect::<Vec<_>>()
    };
    let approve =
        app.host.decide(consent_request.id, consent_request.hash.to_string(), UserDecision::Allow(ApprovalScope::Once));
    let deny = async {
        while decisions().is_empty() {
            tokio::task::yield_now().await;
        }
        let rule = json!({ "effect": "deny", "server": "harbour", "direction": "from_server" });
        app.host.set_rule(serde_json::from_value(rule).unwrap()).await.expect("the rule is accepted");
    };
    let (approved, ()) = tokio::join!(approve, deny);
    assert_eq!(approved, Ok(()), "the URL was already being opened when the rule was added");
    await_call(called).await.unwrap();
    assert_eq!(decisions(), ["allowed"], "the approval is not denied afterwards");
}
