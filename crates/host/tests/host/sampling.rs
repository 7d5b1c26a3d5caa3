//! Sampling: disabled by default, consent, replies by a model or by the user, review of replies, and budgets (X26,
//! X27). The model is scripted. The wire formats of providers are tested elsewhere.

mod held;

use std::time::Duration;
use testkit::calls::UserCalls as _;

use domain::call::CallFailure;
use host::DecisionError;
use host::view::{ConsentRequestBody, ConsentRequestEdit, ConsentRequestView, HostEvent, ServerState, UserDecision};
use mcp_proto::types::{CallToolResult, ContentBlock, CreateMessageParams, CreateMessageResult, SamplingContent};
use models::{MessagePart, ModelError, ReplyDelta, StopReason};
use policy::{ApprovalScope, PolicyRule, RuleDirection, RuleEffect, SamplingBudget, UsedBy};
use ports::Document;
use serde_json::{Map, Value, json};
use server_requests::sampling::{Budget, ModelAnswerState, ModelChoiceReason, SamplingSettings, SamplingState};
use testkit::app::{EVENT_TIMEOUT, TestApp, demo_config, scripted_config};
use testkit::deadline::poll_until;
use testkit::model::{ModelStep, ScriptedModel, final_reply_step, model_named, model_reference, text_reply};
use tokio::task::JoinHandle;

const SERVER: &str = "harbour";
const ALLOW_ONCE: UserDecision = UserDecision::Allow(ApprovalScope::Once);

type PendingCall = JoinHandle<Result<CallToolResult, CallFailure>>;

fn spawn_call(app: &TestApp, id: &str, arguments: Value) -> PendingCall {
    let (host, id) = (app.host.clone(), id.to_owned());
    let arguments: Map<String, Value> = arguments.as_object().cloned().unwrap();
    tokio::spawn(async move {
        host.call_tool(id, SERVER.to_owned(), "ask_model".to_owned(), arguments, None).await.map(|(result, _)| result)
    })
}

async fn call_text(called: PendingCall) -> (bool, String) {
    let ended = tokio::time::timeout(EVENT_TIMEOUT, called).await.expect("the call ends").unwrap();
    let Ok(result) = ended else { return (false, ended.unwrap_err().to_string()) };
    let texts = result.content.iter().filter_map(|block| match block {
        ContentBlock::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    (!result.is_error, texts.collect())
}

fn allow_start_and_tools(consent_request: &ConsentRequestView) -> Option<UserDecision> {
    let used = matches!(consent_request.body, ConsentRequestBody::Tool { .. } | ConsentRequestBody::StartServer { .. });
    used.then_some(ALLOW_ONCE)
}

/// Returns a host with a server that may use sampling, a scripted model, and a task that approves the server's start
/// and tool calls.
async fn start_with_scripted_model(revision: &str) -> (TestApp, std::sync::Arc<ScriptedModel>, JoinHandle<()>) {
    let app = TestApp::start(vec![(SERVER, demo_config(&["--era", revision]))]).await;
    app.ready(SERVER).await;
    app.until(SERVER, "known whole", |s| s.counts[0] >= 16).await;
    let model = ScriptedModel::add_to_host(&app.host, vec![model_named("scripted-1"), model_named("other-2")]).await;
    let user = app.decide_automatically(allow_start_and_tools);
    (app, model, user)
}

fn sampling_parts(
    consent_request: &ConsentRequestView,
) -> (&CreateMessageParams, Option<&CreateMessageResult>, &SamplingState) {
    let ConsentRequestBody::Sampling { request, response, state } = &consent_request.body else {
        panic!("the request is not about sampling")
    };
    (request, response.as_deref(), state)
}

fn is_sampling(consent_request: &ConsentRequestView) -> bool {
    matches!(consent_request.body, ConsentRequestBody::Sampling { .. })
}

/// Waits for a consent request whose sampling state satisfies a condition, which `what` describes in failure messages.
async fn wait_until(
    app: &TestApp,
    what: &str,
    is: impl Fn(&SamplingState, Option<&CreateMessageResult>) -> bool,
) -> ConsentRequestView {
    app.consent_request(SERVER, what, |q| is_sampling(q) && is(sampling_parts(q).2, sampling_parts(q).1)).await
}

async fn answered_request(app: &TestApp) -> ConsentRequestView {
    wait_until(app, "the answer of the model", |state, response| {
        response.is_some() && matches!(state.run, ModelAnswerState::Done { .. })
    })
    .await
}

async fn set_sampling(app: &TestApp, settings: SamplingSettings) {
    app.host.set_sampling(SERVER.to_owned(), settings).await.unwrap();
}

fn enabled_settings() -> SamplingSettings {
    SamplingSettings { on: true, ..SamplingSettings::default() }
}

#[tokio::test]
async fn sampling_reply_is_reviewed_before_it_is_sent() {
    for revision in ["legacy", "modern"] {
        let (app, model, user) = start_with_scripted_model(revision).await;
        let called = spawn_call(&app, "1", json!({ "question": "Sail today?" }));
        let consent_request = app.consent_request(SERVER, "the model", is_sampling).await;
        let (request, response, state) = sampling_parts(&consent_request);
        let choice = state.model.as_ref().expect("a model was chosen");
        assert_eq!(choice.model, model_reference("scripted-1"), "the chosen model is one of the user's");
        let explained = matches!(&choice.by, ModelChoiceReason::Priorities(all) if !all.is_empty());
        assert!(explained, "[sampling-respect-hints]: without a matching hint, the priorities decide: {:?}", choice.by);
        assert_eq!(
            (response, &state.run),
            (None, &ModelAnswerState::No),
            "[sampling-review-ui]: nothing was sent to the model yet, in {revision}"
        );
        assert!(model.requests().is_empty(), "[sampling-human-in-loop]: no request is sent before the approval");
        let edited = CreateMessageParams { system_prompt: Some("Be terse.".into()), ..request.clone() };
        let edited = ConsentRequestEdit::Request(edited.into());
        let consent_request = app.host.edit_consent_request(consent_request.id, edited).await.unwrap();
        model.queue_reply(text_reply("Aye, sail.", (30, 4)));
        app.decide(&consent_request, ALLOW_ONCE).await;
        let second = answered_request(&app).await;
        let sent = model.requests();
        assert_eq!(sent.len(), 1, "one approval sends one request");
        assert_eq!(sent[0].system.as_deref(), Some("Be terse."), "[sampling-system-prompt], [sampling-edit-prompt]");
        let mut parts = sent[0].messages.iter().flat_map(|message| &message.parts);
        assert!(parts.any(|part| matches!(part, MessagePart::Image { .. })), "the request contains the image");
        assert!(!called.is_finished(), "[sampling-review-result]: the reply is not sent before the approval");
        let (_, response, state) = sampling_parts(&second);
        let ModelAnswerState::Done { usage, .. } = &state.run else { panic!("the model has replied") };
        assert_eq!((usage.input, usage.output), (Some(30), Some(4)), "the usage is displayed");
        let mut changed = response.unwrap().clone();
        changed.content = SamplingContent::One(ContentBlock::text("Aye, but mind the wind."));
        let edit = ConsentRequestEdit::Response(Box::new(changed));
        let second = app.host.edit_consent_request(second.id, edit).await.unwrap();
        app.decide(&second, ALLOW_ONCE).await;
        let expected = "scripted-1 said: Aye, but mind the wind. (stopped: endTurn)";
        assert_eq!(call_text(called).await, (true, expected.into()), "[sampling-result-fields] in {revision}");
        let report = app.host.sampling(SERVER.to_owned()).await.unwrap();
        let used = (report.within_hour.requests, report.within_hour.tokens, report.last_use.map(|used| used.by));
        assert_eq!(used, (1, 34, Some(UsedBy::Server)), "[sampling-rate-limit]: the use is counted and displayed");
        let kinds: Vec<String> = app.decisions().into_iter().map(|(kind, ..)| kind).collect();
        assert!(kinds.ends_with(&["sampling".into(), "sampling-answer".into()]), "both steps are audited: {kinds:?}");
        user.abort();
    }
}

#[tokio::test]
async fn sampling_reply_streams_and_can_be_stopped() {
    let (app, model, user) = start_with_scripted_model("legacy").await;
    let called = spawn_call(&app, "1", json!({}));
    let consent_request = app.consent_request(SERVER, "the model", is_sampling).await;
    let text_step = |text: &str| ModelStep::Says(ReplyDelta::Text(text.into()));
    model.queue_reply(vec![
        text_step("Fair "),
        ModelStep::Waits(Duration::from_millis(100)),
        text_step("winds"),
        ModelStep::Hangs,
    ]);
    let mut events = app.host.events();
    app.decide(&consent_request, ALLOW_ONCE).await;
    let mut received = String::new();
    while received != "Fair winds" {
        let event =
            tokio::time::timeout(EVENT_TIMEOUT, events.next()).await.expect("an event arrives").expect("the host runs");
        if let HostEvent::SamplingText { id, text } = &event.event {
            assert_eq!(*id, consent_request.id, "the text belongs to this request");
            received.push_str(text);
        }
    }
    let running =
        wait_until(&app, "the model at work", |state, _| matches!(state.run, ModelAnswerState::Running { .. })).await;
    assert!(
        matches!(&sampling_parts(&running).2.run, ModelAnswerState::Running { text, .. } if text == "Fair winds"),
        "the partial text is part of the request"
    );
    for answer in [ALLOW_ONCE, UserDecision::ByHand, UserDecision::Again, UserDecision::Back] {
        let taken = app.host.decide(running.id, running.hash.to_string(), answer.clone()).await;
        assert!(
            matches!(taken, Err(DecisionError::WrongKind(_))),
            "{answer:?} is refused while the model works: {taken:?}"
        );
    }
    app.decide(&running, UserDecision::Stop).await;
    let stopped = wait_until(&app, "what was said", |state, response| {
        state.run == ModelAnswerState::Stopped && response.is_some()
    })
    .await;
    assert_eq!(
        sampling_parts(&stopped).1.unwrap().content.blocks(),
        [ContentBlock::text("Fair winds")],
        "the partial text becomes the reply"
    );
    app.decide(&stopped, ALLOW_ONCE).await;
    assert!(call_text(called).await.1.contains("Fair winds"), "the approved reply is sent");
    user.abort();
}

#[tokio::test]
async fn sampling_request_can_be_edited_retried_answered_by_hand_and_denied() {
    let (app, model, user) = start_with_scripted_model("legacy").await;
    let called = spawn_call(&app, "1", json!({}));
    let consent_request = app.consent_request(SERVER, "the model", is_sampling).await;
    let edit = ConsentRequestEdit::Model(model_reference("other-2"));
    let other = app.host.edit_consent_request(consent_request.id, edit).await.unwrap();
    assert_ne!(other.hash, consent_request.hash, "another model changes the hash");
    let choice = sampling_parts(&other).2.model.as_ref().unwrap();
    assert_eq!(choice.by, ModelChoiceReason::User, "the model is chosen by the user");
    model.queue_reply(text_reply("First.", (1, 1)));
    app.decide(&other, ALLOW_ONCE).await;
    let first = answered_request(&app).await;
    assert_eq!(model.requests()[0].model, "other-2", "the request is sent to the chosen model");
    model.queue_reply(text_reply("Second.", (1, 1)));
    app.decide(&first, UserDecision::Again).await;
    let is_second = |response: &CreateMessageResult| response.content.blocks() == [ContentBlock::text("Second.")];
    let second = wait_until(&app, "another answer", |_, response| response.is_some_and(is_second)).await;
    assert_eq!(
        model.requests()[0],
        model.requests()[1],
        "[sampling-no-retention]: the repeated request contains nothing of the first reply"
    );
    app.decide(&second, UserDecision::Back).await;
    let back =
        wait_until(&app, "the request", |state, response| response.is_none() && state.run == ModelAnswerState::No)
            .await;
    app.decide(&back, UserDecision::ByHand).await;
    let hand = wait_until(&app, "what to write", |_, response| response.is_some_and(|r| r.model == "user")).await;
    let empty = app.host.decide(hand.id, hand.hash.to_string(), ALLOW_ONCE).await;
    assert!(
        matches!(empty, Err(DecisionError::WrongKind(_))),
        "[sampling-validate-content]: an empty reply is refused"
    );
    app.decide(&hand, UserDecision::Deny).await;
    assert!(!call_text(called).await.0, "[sampling-human-in-loop]: the reply can be denied");

    let called = spawn_call(&app, "2", json!({}));
    let consent_request = app.consent_request(SERVER, "the model", is_sampling).await;
    model.queue_reply(vec![ModelStep::Hangs]);
    app.decide(&consent_request, ALLOW_ONCE).await;
    let running =
        wait_until(&app, "the model at work", |state, _| matches!(state.run, ModelAnswerState::Running { .. })).await;
    app.decide(&running, UserDecision::Deny).await;
    assert!(
        !call_text(called).await.0,
        "[sampling-approval-controls]: the request can be denied while the model works"
    );
    user.abort();
}

#[tokio::test]
async fn model_failure_is_reported_and_the_user_can_continue() {
    let (app, model, user) = start_with_scripted_model("legacy").await;
    let called = spawn_call(&app, "1", json!({}));
    let consent_request = app.consent_request(SERVER, "the model", is_sampling).await;
    let cut = vec![ModelStep::Says(ReplyDelta::Text("Half an ans".into()))];
    let failures = [
        (vec![ModelStep::Fails(ModelError::Overloaded)], "overloaded"),
        (vec![ModelStep::Fails(ModelError::WrongKey { message: String::new() })], "wrongKey"),
        (cut, "cut"),
        (vec![final_reply_step(Vec::new(), StopReason::EndTurn, (1, 0))], "empty"),
        (vec![final_reply_step(Vec::new(), StopReason::MaxTokens, (1, 64))], "outOfTokens"),
    ];
    let mut shown = consent_request;
    for (script, expected) in failures {
        model.queue_reply(script);
        app.decide(&shown, ALLOW_ONCE).await;
        let failed = |state: &SamplingState, _: Option<&CreateMessageResult>| matches!(state.run, ModelAnswerState::Failed { code, .. } if code.name() == expected);
        shown = wait_until(&app, expected, failed).await;
        assert_eq!(sampling_parts(&shown).1, None, "{expected}: the request has no reply");
    }
    app.decide(&shown, UserDecision::ByHand).await;
    let hand = wait_until(&app, "what to write", |_, response| response.is_some()).await;
    let mut written = sampling_parts(&hand).1.unwrap().clone();
    written.content = SamplingContent::One(ContentBlock::text("By hand."));
    let hand = app.host.edit_consent_request(hand.id, ConsentRequestEdit::Response(Box::new(written))).await.unwrap();
    app.decide(&hand, ALLOW_ONCE).await;
    assert!(call_text(called).await.1.starts_with("user said: By hand."), "the user can reply by hand");
    user.abort();
}

#[tokio::test]
async fn sampling_is_off_by_default() {
    let (app, model, user) = start_with_scripted_model("legacy").await;
    set_sampling(&app, SamplingSettings::default()).await;
    let (went_well, words) = call_text(spawn_call(&app, "1", json!({}))).await;
    assert!(
        !went_well && words.contains("turned sampling off"),
        "[sampling-user-controls]: the request is refused immediately: {words}"
    );
    let report = app.host.sampling(SERVER.to_owned()).await.unwrap();
    assert!(report.is_outdated, "the running session has the outdated capability");
    let before = app.server(SERVER).await.pid;
    app.host.restart_server(SERVER.to_owned()).await.unwrap();
    app.until(SERVER, "ready again", |s| s.pid != before && s.state == ServerState::Ready && s.counts[0] >= 16).await;
    let report = app.host.sampling(SERVER.to_owned()).await.unwrap();
    assert!(!report.is_outdated, "a new session has the current capability");
    let (went_well, words) = call_text(spawn_call(&app, "2", json!({}))).await;
    assert!(!went_well, "[sampling-declare-init]: sampling fails without the capability: {words}");
    assert!(!words.contains("turned sampling off"), "no request is sent without the capability: {words}");
    assert!(model.requests().is_empty(), "no request was sent to a model");
    user.abort();
}

pub(crate) fn sampling_rule(requests_per_hour: u64, tokens_per_hour: u64) -> PolicyRule {
    PolicyRule {
        direction: RuleDirection::FromServer,
        effect: RuleEffect::Allow,
        trusted_server: false,
        sampling: Some(SamplingBudget { requests_per_hour, tokens_per_hour }),
        ..PolicyRule::for_trusted_server(SERVER)
    }
}

#[tokio::test]
async fn sampling_rule_allows_requests_within_its_budget() {
    let (app, model, user) = start_with_scripted_model("legacy").await;
    set_sampling(&app, SamplingSettings { max_tokens: 50, ..enabled_settings() }).await;
    app.host.set_rule(sampling_rule(2, 100_000)).await.unwrap();
    for id in ["1", "2"] {
        model.queue_reply(text_reply("Aye.", (10, 2)));
        let called = spawn_call(&app, id, json!({ "with_picture": false }));
        assert_eq!(
            call_text(called).await.1,
            "scripted-1 said: Aye. (stopped: endTurn)",
            "the rule allows the request"
        );
    }
    assert!(app.activity(SERVER).await.contains("Aye."), "the reply is in the activity log");
    let by: Vec<_> = app.decisions().into_iter().filter(|(kind, ..)| kind.starts_with("sampling")).collect();
    let expected = |kind: &str| (kind.to_owned(), "allowed".to_owned(), "policy".to_owned());
    assert!(
        by.ends_with(&[expected("sampling"), expected("sampling-answer")]),
        "the reply is in the audit log: {by:?}"
    );
    let called = spawn_call(&app, "3", json!({ "with_picture": false }));
    let consent_request = app.consent_request(SERVER, "the model, beyond the budget", is_sampling).await;
    assert_eq!(
        consent_request.reason, "sampling-asks",
        "[sampling-rate-limit]: a request beyond the budget requires consent"
    );
    app.decide(&consent_request, UserDecision::Deny).await;
    assert!(!call_text(called).await.0, "the request is denied by the user");
    model.queue_reply(vec![ModelStep::Fails(ModelError::RateLimited { retry_after: None })]);
    app.host.set_rule(sampling_rule(9, 100_000)).await.unwrap();
    let (went_well, words) = call_text(spawn_call(&app, "4", json!({ "with_picture": false }))).await;
    assert!(
        !went_well && words.contains("did not answer"),
        "[sampling-sensitive-data]: the provider's message is not sent: {words}"
    );
    assert!(app.activity(SERVER).await.contains("accepts no more requests"), "the activity log contains the cause");
    user.abort();
}

#[tokio::test]
async fn x26_request_loop_stops_at_its_budget_and_is_reported() {
    let next = json!({"jsonrpc": "2.0", "id": "loop", "method": "sampling/createMessage", "params": {
        "messages": [{"role": "user", "content": {"type": "text", "text": "and then?"}}], "maxTokens": 40}});
    let (first, again) = (format!("tools/call={next}"), format!("={next}"));
    let app = TestApp::start(vec![(SERVER, scripted_config(&["--raw", &first, "--raw", &again]))]).await;
    app.ready(SERVER).await;
    let user = app.decide_automatically(allow_start_and_tools);
    let model = ScriptedModel::add_to_host(&app.host, vec![model_named("scripted-1")]).await;
    set_sampling(
        &app,
        SamplingSettings { per_hour: Budget { requests: Some(5), ..Budget::default() }, ..enabled_settings() },
    )
    .await;
    app.host.set_rule(sampling_rule(1_000, 1_000_000)).await.unwrap();
    for _ in 0..50 {
        model.queue_reply(text_reply("more", (20, 1)));
    }
    let (host, arguments) = (app.host.clone(), Map::from_iter([("text".to_owned(), json!("x"))]));
    let called =
        tokio::spawn(async move { host.call_tool("1".into(), SERVER.into(), "echo".into(), arguments, None).await });
    // Beyond the limit of the server, the rule doesn't apply and the next request is refused immediately. Each refusal
    // makes the server send another request.
    let notice = async {
        while !app.activity(SERVER).await.contains("the limit is reached") {
            // sleep: polls for a condition that no event reports.
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(EVENT_TIMEOUT, notice)
        .await
        .expect("X26: the loop stops, and the activity log contains the reason");
    assert_eq!(model.requests().len(), 5, "X26: five requests are sent");
    let report = app.host.sampling(SERVER.to_owned()).await.unwrap();
    assert_eq!((report.within_hour.requests, report.within_hour.tokens), (5, 105), "X26: the usage is displayed");
    assert!(report.stopped.is_some(), "X26: the reached limit is displayed");
    let stored = app.host.ports().documents.read(Document::Sampling).unwrap().unwrap();
    assert_eq!(stored[SERVER]["spent"]["inAll"]["requests"], 5, "X26: the usage is stored across restarts");
    assert_eq!(stored[SERVER]["spent"]["lastUse"]["by"], "server", "the last use is stored with it");
    app.host.stop_server(SERVER.to_owned()).await.unwrap();
    assert!(poll_until(EVENT_TIMEOUT, || called.is_finished()).await, "X26: the call ends with its server");
    user.abort();
}

#[tokio::test]
async fn x27_token_limit_is_capped_and_cost_is_bounded() {
    let (app, model, user) = start_with_scripted_model("legacy").await;
    let called = spawn_call(&app, "1", json!({ "max_tokens": 1_000_000_000 }));
    let consent_request = app.consent_request(SERVER, "the model", is_sampling).await;
    let (request, _, state) = sampling_parts(&consent_request);
    assert_eq!(
        (request.max_tokens, state.wanted_tokens),
        (4_096, 1_000_000_000),
        "X27: the tokens are capped, which is displayed"
    );
    let mut more = request.clone();
    more.max_tokens = u64::MAX;
    let edited =
        app.host.edit_consent_request(consent_request.id, ConsentRequestEdit::Request(Box::new(more))).await.unwrap();
    assert_eq!(
        sampling_parts(&edited).0.max_tokens,
        1_000_000_000,
        "[sampling-max-tokens]: an edit can't exceed the requested tokens"
    );
    let refused = app.host.decide(edited.id, edited.hash.to_string(), ALLOW_ONCE).await;
    assert!(matches!(refused, Err(DecisionError::Budget(_))), "X27: the budget limits the tokens: {refused:?}");
    let mut fewer = request.clone();
    fewer.max_tokens = 7;
    let edited = app.host.edit_consent_request(edited.id, ConsentRequestEdit::Request(Box::new(fewer))).await.unwrap();
    let bounded = Budget { micros: Some(1_000), ..Budget::default() };
    set_sampling(&app, SamplingSettings { in_all: bounded, ..enabled_settings() }).await;
    let refused = app.host.decide(edited.id, edited.hash.to_string(), ALLOW_ONCE).await;
    assert!(
        matches!(refused, Err(DecisionError::NoPrice(_))),
        "X26: a model without a price is refused if money is limited: {refused:?}"
    );
    set_sampling(&app, enabled_settings()).await;
    model.queue_reply(text_reply("Few.", (5, 2)));
    app.decide(&edited, ALLOW_ONCE).await;
    let second = answered_request(&app).await;
    assert_eq!(model.requests()[0].max_tokens, Some(7), "[sampling-fewer-tokens]: the user's limit is sent");
    app.decide(&second, UserDecision::Deny).await;
    assert!(!call_text(called).await.0, "refused");

    // The user's choice of a model for the server has priority.
    set_sampling(&app, SamplingSettings { model: Some(model_reference("other-2")), ..enabled_settings() }).await;
    let called = spawn_call(&app, "2", json!({}));
    let consent_request = app.consent_request(SERVER, "the model", is_sampling).await;
    let choice = sampling_parts(&consent_request).2.model.clone().unwrap();
    assert_eq!(
        (choice.model, choice.by),
        (model_reference("other-2"), ModelChoiceReason::Setting),
        "[sampling-user-controls]"
    );
    app.decide(&consent_request, UserDecision::Deny).await;
    assert!(!call_text(called).await.0, "refused");
    user.abort();
}
