//! A server asks for a model's answer: off until it is turned on; asked, answered by a model or by hand, reviewed, sent; within
//! budgets (X26, X27). The model is scripted here; that wires are spoken right is shown elsewhere.

mod held;

use std::time::Duration;
use testkit::calls::CallTool as _;

use domain::call::CallFailure;
use host::AnswerError;
use host::view::{Edit, HostEvent, QuestionBody, QuestionView, ServerState, UserAnswer};
use mcp_proto::types::{CallToolResult, ContentBlock, CreateMessageParams, CreateMessageResult, SamplingContent};
use models::{Delta, ModelError, Part, Stop};
use policy::{Direction, Effect, PolicyRule, SamplingBudget, Scope};
use ports::Document;
use serde_json::{Map, Value, json};
use server_requests::sampling::{Budget, ChosenBy, Run, SamplingSettings, SamplingState};
use testkit::app::{App, PATIENCE, demo, scripted};
use testkit::deadline::holds_within;
use testkit::model::{ScriptedModel, Step, ends, named, reference, text};
use tokio::task::JoinHandle;

const SERVER: &str = "harbour";
const ONCE: UserAnswer = UserAnswer::Allow(Scope::Once);

type Called = JoinHandle<Result<CallToolResult, CallFailure>>;

fn call(app: &App, id: &str, arguments: Value) -> Called {
    let (host, id) = (app.host.clone(), id.to_owned());
    let arguments: Map<String, Value> = arguments.as_object().cloned().unwrap();
    tokio::spawn(async move {
        host.call_tool(id, SERVER.to_owned(), "ask_model".to_owned(), arguments, None).await.map(|(result, _)| result)
    })
}

async fn said(called: Called) -> (bool, String) {
    let ended = tokio::time::timeout(PATIENCE, called).await.expect("the call ends").unwrap();
    let Ok(result) = ended else { return (false, ended.unwrap_err().to_string()) };
    let texts = result.content.iter().filter_map(|block| match block {
        ContentBlock::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    (!result.is_error, texts.collect())
}

fn is_use(question: &QuestionView) -> Option<UserAnswer> {
    let used = matches!(question.body, QuestionBody::Tool { .. } | QuestionBody::StartServer { .. });
    used.then_some(ONCE)
}

/// A server of this era that may sample, a user who allows its use, and a model.
async fn harbour(era: &str) -> (App, std::sync::Arc<ScriptedModel>, JoinHandle<()>) {
    let app = App::start(vec![(SERVER, demo(&["--era", era]))]).await;
    app.ready(SERVER).await;
    app.until(SERVER, "known whole", |s| s.counts[0] >= 16).await;
    let model = ScriptedModel::offer(&app.host, vec![named("scripted-1"), named("other-2")]).await;
    let user = app.always(is_use);
    (app, model, user)
}

fn parts(question: &QuestionView) -> (&CreateMessageParams, Option<&CreateMessageResult>, &SamplingState) {
    let QuestionBody::Sampling { request, response, state } = &question.body else { panic!("it is about a model") };
    (request, response.as_deref(), state)
}

fn is_sampling(question: &QuestionView) -> bool {
    matches!(question.body, QuestionBody::Sampling { .. })
}

/// The question, once it stands so.
async fn until(
    app: &App,
    what: &str,
    is: impl Fn(&SamplingState, Option<&CreateMessageResult>) -> bool,
) -> QuestionView {
    app.question(SERVER, what, |q| is_sampling(q) && is(parts(q).2, parts(q).1)).await
}

async fn answered(app: &App) -> QuestionView {
    until(app, "the answer of the model", |state, response| response.is_some() && matches!(state.run, Run::Done { .. }))
        .await
}

async fn set(app: &App, settings: SamplingSettings) {
    app.host.set_sampling(SERVER.to_owned(), settings).await.unwrap();
}

fn on() -> SamplingSettings {
    SamplingSettings { on: true, ..SamplingSettings::default() }
}

#[tokio::test]
async fn a_model_answers_and_what_it_says_is_reviewed_before_it_goes_back() {
    for era in ["legacy", "modern"] {
        let (app, model, user) = harbour(era).await;
        let called = call(&app, "1", json!({ "question": "Sail today?" }));
        let question = app.question(SERVER, "the model", is_sampling).await;
        let (request, response, state) = parts(&question);
        let choice = state.model.as_ref().expect("there is a model");
        assert_eq!(choice.model, reference("scripted-1"), "one of the user's own");
        let explained = matches!(&choice.by, ChosenBy::Priorities(all) if !all.is_empty());
        assert!(explained, "[sampling-respect-hints]: no hint fits, so what matters to it decides: {:?}", choice.by);
        assert_eq!((response, &state.run), (None, &Run::No), "[sampling-review-ui]: nothing went to it yet, in {era}");
        assert!(model.asked().is_empty(), "[sampling-human-in-loop]: before the user said so");
        let mut edited = request.clone();
        edited.system_prompt = Some("Be terse.".into());
        let edit = Edit::Request(Box::new(edited));
        let question = app.host.edit(question.id, edit).await.unwrap();
        model.next(text("Aye, sail.", (30, 4)));
        app.answer(&question, ONCE).await;
        let second = answered(&app).await;
        let asked = model.asked();
        assert_eq!(asked.len(), 1, "one word, one request");
        assert_eq!(asked[0].system.as_deref(), Some("Be terse."), "[sampling-system-prompt], [sampling-edit-prompt]");
        let mut parts_asked = asked[0].messages.iter().flat_map(|message| &message.parts);
        assert!(parts_asked.any(|part| matches!(part, Part::Image { .. })), "with its picture");
        assert!(!called.is_finished(), "[sampling-review-result]: the server has nothing yet");
        let (_, response, state) = parts(&second);
        let Run::Done { usage, .. } = &state.run else { panic!("it answered") };
        assert_eq!((usage.input, usage.output), (Some(30), Some(4)), "what it took is shown");
        let mut changed = response.unwrap().clone();
        changed.content = SamplingContent::One(ContentBlock::text("Aye, but mind the wind."));
        let edit = Edit::Response(Box::new(changed));
        let second = app.host.edit(second.id, edit).await.unwrap();
        app.answer(&second, ONCE).await;
        let expected = "scripted-1 said: Aye, but mind the wind. (stopped: endTurn)";
        assert_eq!(said(called).await, (true, expected.into()), "[sampling-result-fields] in {era}");
        let report = app.host.sampling(SERVER.to_owned()).await.unwrap();
        assert_eq!((report.within_hour.requests, report.within_hour.tokens), (1, 34), "[sampling-rate-limit]: counted");
        let kinds: Vec<String> = app.decisions().into_iter().map(|(kind, ..)| kind).collect();
        assert!(
            kinds.ends_with(&["sampling".into(), "sampling-answer".into()]),
            "both steps are written down: {kinds:?}"
        );
        user.abort();
    }
}

#[tokio::test]
async fn what_a_model_says_comes_as_it_says_it_and_can_be_stopped() {
    let (app, model, user) = harbour("legacy").await;
    let called = call(&app, "1", json!({}));
    let question = app.question(SERVER, "the model", is_sampling).await;
    let says = |text: &str| Step::Says(Delta::Text(text.into()));
    model.next(vec![says("Fair "), Step::Waits(Duration::from_millis(100)), says("winds"), Step::Hangs]);
    let mut events = app.host.events();
    app.answer(&question, ONCE).await;
    let mut came = String::new();
    while came != "Fair winds" {
        let event = tokio::time::timeout(PATIENCE, events.next()).await.expect("it comes").expect("the host runs");
        if let HostEvent::SamplingText { id, text } = &event.event {
            assert_eq!(*id, question.id, "it is for this question");
            came.push_str(text);
        }
    }
    let running = until(&app, "the model at work", |state, _| matches!(state.run, Run::Running { .. })).await;
    assert!(
        matches!(&parts(&running).2.run, Run::Running { text, .. } if text == "Fair winds"),
        "a page that opens has it"
    );
    for answer in [ONCE, UserAnswer::ByHand, UserAnswer::Again, UserAnswer::Back] {
        let taken = app.host.answer(running.id, running.hash.to_string(), answer.clone()).await;
        assert!(matches!(taken, Err(AnswerError::WrongKind(_))), "{answer:?} has to wait: {taken:?}");
    }
    app.answer(&running, UserAnswer::Stop).await;
    let stopped = until(&app, "what was said", |state, response| state.run == Run::Stopped && response.is_some()).await;
    assert_eq!(
        parts(&stopped).1.unwrap().content.blocks(),
        [ContentBlock::text("Fair winds")],
        "it can be gone on from"
    );
    app.answer(&stopped, ONCE).await;
    assert!(said(called).await.1.contains("Fair winds"), "and sent");
    user.abort();
}

#[tokio::test]
async fn a_request_can_be_asked_again_changed_answered_by_hand_and_declined_at_each_step() {
    let (app, model, user) = harbour("legacy").await;
    let called = call(&app, "1", json!({}));
    let question = app.question(SERVER, "the model", is_sampling).await;
    let other = app.host.edit(question.id, Edit::Model(reference("other-2"))).await.unwrap();
    assert_ne!(other.hash, question.hash, "another model is another thing to approve");
    assert_eq!(parts(&other).2.model.as_ref().unwrap().by, ChosenBy::User, "and the user's choice");
    model.next(text("First.", (1, 1)));
    app.answer(&other, ONCE).await;
    let first = answered(&app).await;
    assert_eq!(model.asked()[0].model, "other-2", "that one is asked");
    model.next(text("Second.", (1, 1)));
    app.answer(&first, UserAnswer::Again).await;
    let is_second = |response: &CreateMessageResult| response.content.blocks() == [ContentBlock::text("Second.")];
    let second = until(&app, "another answer", |_, response| response.is_some_and(is_second)).await;
    assert_eq!(
        model.asked()[0],
        model.asked()[1],
        "[sampling-no-retention]: asked anew, with nothing of the first time"
    );
    app.answer(&second, UserAnswer::Back).await;
    let back = until(&app, "the request", |state, response| response.is_none() && state.run == Run::No).await;
    app.answer(&back, UserAnswer::ByHand).await;
    let hand = until(&app, "what to write", |_, response| response.is_some_and(|r| r.model == "user")).await;
    let empty = app.host.answer(hand.id, hand.hash.to_string(), ONCE).await;
    assert!(matches!(empty, Err(AnswerError::WrongKind(_))), "[sampling-validate-content]: nothing is no answer");
    app.answer(&hand, UserAnswer::Deny).await;
    assert!(!said(called).await.0, "[sampling-human-in-loop]: declined at the last step");

    let called = call(&app, "2", json!({}));
    let question = app.question(SERVER, "the model", is_sampling).await;
    model.next(vec![Step::Hangs]);
    app.answer(&question, ONCE).await;
    let running = until(&app, "the model at work", |state, _| matches!(state.run, Run::Running { .. })).await;
    app.answer(&running, UserAnswer::Deny).await;
    assert!(!said(called).await.0, "[sampling-approval-controls]: declined while it answers");
    user.abort();
}

#[tokio::test]
async fn why_a_model_does_not_answer_is_said_and_the_user_can_go_on() {
    let (app, model, user) = harbour("legacy").await;
    let called = call(&app, "1", json!({}));
    let question = app.question(SERVER, "the model", is_sampling).await;
    let cut = vec![Step::Says(Delta::Text("Half an ans".into()))];
    let failures = [
        (vec![Step::Fails(ModelError::Overloaded)], "overloaded"),
        (vec![Step::Fails(ModelError::WrongKey { said: String::new() })], "wrongKey"),
        (cut, "cut"),
        (vec![ends(Vec::new(), Stop::EndTurn, (1, 0))], "empty"),
        (vec![ends(Vec::new(), Stop::MaxTokens, (1, 64))], "outOfTokens"),
    ];
    let mut shown = question;
    for (script, expected) in failures {
        model.next(script);
        app.answer(&shown, ONCE).await;
        let failed = |state: &SamplingState, _: Option<&CreateMessageResult>| matches!(state.run, Run::Failed { code, .. } if code.name() == expected);
        shown = until(&app, expected, failed).await;
        assert_eq!(parts(&shown).1, None, "{expected}: it is back at the request");
    }
    app.answer(&shown, UserAnswer::ByHand).await;
    let hand = until(&app, "what to write", |_, response| response.is_some()).await;
    let mut written = parts(&hand).1.unwrap().clone();
    written.content = SamplingContent::One(ContentBlock::text("By hand."));
    let hand = app.host.edit(hand.id, Edit::Response(Box::new(written))).await.unwrap();
    app.answer(&hand, ONCE).await;
    assert!(said(called).await.1.starts_with("user said: By hand."), "the user answers all the same");
    user.abort();
}

#[tokio::test]
async fn sampling_is_off_until_it_is_turned_on() {
    let (app, model, user) = harbour("legacy").await;
    set(&app, SamplingSettings::default()).await;
    let (went_well, words) = said(call(&app, "1", json!({}))).await;
    assert!(!went_well && words.contains("turned sampling off"), "[sampling-user-controls]: refused at once: {words}");
    let report = app.host.sampling(SERVER.to_owned()).await.unwrap();
    assert!(report.is_outdated, "the running session was told otherwise");
    let before = app.server(SERVER).await.pid;
    app.host.restart_server(SERVER.to_owned()).await.unwrap();
    app.until(SERVER, "ready again", |s| s.pid != before && s.state == ServerState::Ready && s.counts[0] >= 16).await;
    let report = app.host.sampling(SERVER.to_owned()).await.unwrap();
    assert!(!report.is_outdated, "started again, it is not told of sampling");
    let (went_well, words) = said(call(&app, "2", json!({}))).await;
    assert!(!went_well, "[sampling-declare-init]: and so it can't ask: {words}");
    assert!(!words.contains("turned sampling off"), "it does not even try: {words}");
    assert!(model.asked().is_empty(), "no model heard of it");
    user.abort();
}

fn rule(requests_per_hour: u64, tokens_per_hour: u64) -> PolicyRule {
    PolicyRule {
        direction: Direction::FromServer,
        effect: Effect::Allow,
        trusted_server: false,
        sampling: Some(SamplingBudget { requests_per_hour, tokens_per_hour }),
        ..PolicyRule::trusting(SERVER)
    }
}

#[tokio::test]
async fn a_rule_with_a_budget_lets_requests_through_until_it_is_used_up() {
    let (app, model, user) = harbour("legacy").await;
    set(&app, SamplingSettings { max_tokens: 50, ..on() }).await;
    app.host.set_rule(rule(2, 100_000)).await.unwrap();
    for id in ["1", "2"] {
        model.next(text("Aye.", (10, 2)));
        let called = call(&app, id, json!({ "with_picture": false }));
        assert_eq!(said(called).await.1, "scripted-1 said: Aye. (stopped: endTurn)", "it is let through");
    }
    assert!(app.activity(SERVER).await.contains("Aye."), "what went back is in the activity");
    let by: Vec<_> = app.decisions().into_iter().filter(|(kind, ..)| kind.starts_with("sampling")).collect();
    let expected = |kind: &str| (kind.to_owned(), "allowed".to_owned(), "policy".to_owned());
    assert!(by.ends_with(&[expected("sampling"), expected("sampling-answer")]), "and in the audit log: {by:?}");
    let called = call(&app, "3", json!({ "with_picture": false }));
    let question = app.question(SERVER, "the model, beyond the budget", is_sampling).await;
    assert_eq!(question.rule, "sampling-asks", "[sampling-rate-limit]: beyond it asks");
    app.answer(&question, UserAnswer::Deny).await;
    assert!(!said(called).await.0, "and is refused as the user says");
    model.next(vec![Step::Fails(ModelError::RateLimited { retry_after: None })]);
    app.host.set_rule(rule(9, 100_000)).await.unwrap();
    let (went_well, words) = said(call(&app, "4", json!({ "with_picture": false }))).await;
    assert!(!went_well && words.contains("did not answer"), "[sampling-sensitive-data]: no more is told: {words}");
    assert!(app.activity(SERVER).await.contains("takes no more requests"), "the user can read why");
    user.abort();
}

#[tokio::test]
async fn x26_a_loop_of_requests_stops_at_its_budget_and_says_so() {
    let next = json!({"jsonrpc": "2.0", "id": "loop", "method": "sampling/createMessage", "params": {
        "messages": [{"role": "user", "content": {"type": "text", "text": "and then?"}}], "maxTokens": 40}});
    let (first, again) = (format!("tools/call={next}"), format!("={next}"));
    let app = App::start(vec![(SERVER, scripted(&["--raw", &first, "--raw", &again]))]).await;
    app.ready(SERVER).await;
    let user = app.always(is_use);
    let model = ScriptedModel::offer(&app.host, vec![named("scripted-1")]).await;
    set(&app, SamplingSettings { per_hour: Budget { requests: Some(5), ..Budget::default() }, ..on() }).await;
    app.host.set_rule(rule(1_000, 1_000_000)).await.unwrap();
    for _ in 0..50 {
        model.next(text("more", (20, 1)));
    }
    let (host, arguments) = (app.host.clone(), Map::from_iter([("text".to_owned(), json!("x"))]));
    let called =
        tokio::spawn(async move { host.call_tool("1".into(), SERVER.into(), "echo".into(), arguments, None).await });
    // Beyond its own limit the rule does not hold, and the next request is refused at once; each refusal brings the next.
    let says_so = async {
        while !app.activity(SERVER).await.contains("the limit is reached") {
            // sleep: looks again until it holds; no event tells of it.
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(PATIENCE, says_so).await.expect("X26: it stops, and the activity says so");
    assert_eq!(model.asked().len(), 5, "X26: five requests and no more");
    let report = app.host.sampling(SERVER.to_owned()).await.unwrap();
    assert_eq!((report.within_hour.requests, report.within_hour.tokens), (5, 105), "X26: what was spent is shown");
    assert!(report.stopped.is_some(), "X26: and that it was stopped");
    let kept = app.host.ports().documents.read(Document::Sampling).unwrap().unwrap();
    assert_eq!(kept[SERVER]["spent"]["inAll"]["requests"], 5, "X26: and kept, so that a restart does not forget it");
    app.host.stop_server(SERVER.to_owned()).await.unwrap();
    assert!(holds_within(PATIENCE, || called.is_finished()).await, "X26: the call ends with its server");
    user.abort();
}

#[tokio::test]
async fn x27_a_billion_tokens_are_capped_and_money_is_bounded() {
    let (app, model, user) = harbour("legacy").await;
    let called = call(&app, "1", json!({ "max_tokens": 1_000_000_000 }));
    let question = app.question(SERVER, "the model", is_sampling).await;
    let (request, _, state) = parts(&question);
    assert_eq!((request.max_tokens, state.wanted_tokens), (4_096, 1_000_000_000), "X27: capped, and told");
    let mut more = request.clone();
    more.max_tokens = u64::MAX;
    let edited = app.host.edit(question.id, Edit::Request(Box::new(more))).await.unwrap();
    assert_eq!(parts(&edited).0.max_tokens, 1_000_000_000, "[sampling-max-tokens]: never more than the server wants");
    let refused = app.host.answer(edited.id, edited.hash.to_string(), ONCE).await;
    assert!(matches!(refused, Err(AnswerError::Budget(_))), "X27: nor than its budget has: {refused:?}");
    let mut fewer = request.clone();
    fewer.max_tokens = 7;
    let edited = app.host.edit(edited.id, Edit::Request(Box::new(fewer))).await.unwrap();
    let bounded = Budget { micros: Some(1_000), ..Budget::default() };
    set(&app, SamplingSettings { in_all: bounded, ..on() }).await;
    let refused = app.host.answer(edited.id, edited.hash.to_string(), ONCE).await;
    assert!(
        matches!(refused, Err(AnswerError::NoPrice(_))),
        "X26: money is bounded, and its price not known: {refused:?}"
    );
    set(&app, on()).await;
    model.next(text("Few.", (5, 2)));
    app.answer(&edited, ONCE).await;
    let second = answered(&app).await;
    assert_eq!(model.asked()[0].max_tokens, Some(7), "[sampling-fewer-tokens]: as the user says");
    app.answer(&second, UserAnswer::Deny).await;
    assert!(!said(called).await.0, "refused");

    // A server that the user chose a model for.
    set(&app, SamplingSettings { model: Some(reference("other-2")), ..on() }).await;
    let called = call(&app, "2", json!({}));
    let question = app.question(SERVER, "the model", is_sampling).await;
    let choice = parts(&question).2.model.clone().unwrap();
    assert_eq!((choice.model, choice.by), (reference("other-2"), ChosenBy::Setting), "[sampling-user-controls]");
    app.answer(&question, UserAnswer::Deny).await;
    assert!(!said(called).await.0, "refused");
    user.abort();
}
