//! Sampling while settings change: replies are dropped when sampling is disabled, usage is counted, and an approval
//! applies only to the displayed provider.

use std::fs::File;
use std::pin::pin;

use models::{Conversion, ConversionChoices, ModelRef, UnsupportedFeature};
use testkit::model::provider_settings;

use super::*;

/// Maximum number of reply tokens that the server requests.
const MAX_REPLY_TOKENS: u64 = 4_000;

/// Starts a call whose sampling request a rule allows, and waits until the model is running.
async fn start_call_with_allowed_sampling(app: &TestApp, model: &ScriptedModel, id: &str) -> PendingCall {
    let before = model.requests().len();
    // The model takes longer than disabling sampling on a slow machine. No test waits for its end.
    model.queue_reply(vec![ModelStep::Waits(Duration::from_secs(10)), text_reply("Aye.", (10, 2)).remove(1)]);
    let called = spawn_call(app, id, json!({ "with_picture": false, "max_tokens": MAX_REPLY_TOKENS }));
    assert!(poll_until(EVENT_TIMEOUT, || model.requests().len() > before).await, "the request is sent to the model");
    called
}

#[tokio::test]
async fn reply_is_not_sent_if_sampling_is_disabled_meanwhile() {
    let (app, model, user) = start_with_scripted_model("legacy").await;
    for end in ["the setting", "the rule", "a rule that asks", "another program"] {
        set_sampling(&app, enabled_settings()).await;
        let own = app.host.set_rule(sampling_rule(9, 1_000_000)).await.unwrap();
        let before = app.host.sampling(SERVER.to_owned()).await.unwrap().in_all.tokens;
        let called = start_call_with_allowed_sampling(&app, &model, end).await;
        let mut rules = vec![own];
        match end {
            "the setting" => set_sampling(&app, SamplingSettings { on: false, ..enabled_settings() }).await,
            "the rule" => app.host.remove_rule(rules.remove(0)).await.unwrap(),
            "a rule that asks" => {
                let ask_rule = PolicyRule { effect: RuleEffect::Ask, sampling: None, ..sampling_rule(1, 1) };
                rules.push(app.host.set_rule(ask_rule).await.unwrap());
            }
            _ => {
                let documents = app.host.ports().documents.clone();
                let mut stored = documents.read(Document::Sampling).unwrap().unwrap();
                stored[SERVER]["on"] = json!(false);
                documents.write(Document::Sampling, &stored).unwrap();
            }
        }
        let (went_well, words) = call_text(called).await;
        assert!(!went_well && !words.contains("Aye"), "[sampling-user-controls]: by {end}: {words}");
        let after = app.host.sampling(SERVER.to_owned()).await.unwrap().in_all.tokens;
        assert!(
            after - before >= MAX_REPLY_TOKENS,
            "[sampling-rate-limit]: the maximum counts if the usage is unknown, by {end}"
        );
        for rule in rules {
            app.host.remove_rule(rule).await.unwrap();
        }
    }
    user.abort();
}

#[tokio::test]
async fn usage_of_a_model_stopped_while_thinking_counts_as_the_maximum() {
    let (app, model, user) = start_with_scripted_model("legacy").await;
    set_sampling(&app, SamplingSettings { max_tokens: 64, ..enabled_settings() }).await;
    let called = spawn_call(&app, "1", json!({ "with_picture": false }));
    let mut request = app.consent_request(SERVER, "the model", is_sampling).await;
    let thinks = ModelStep::Says(ReplyDelta::Thinking("Hm. ".repeat(300)));
    // Each case consists of the model's steps, the text of the final error if any, and the minimum number of tokens to
    // count.
    let cases = [
        (vec![ModelStep::Hangs], None, 64),
        (vec![thinks, ModelStep::Hangs], None, 300),
        (vec![ModelStep::Fails(ModelError::Silent { after: Duration::from_secs(1) })], Some("silent"), 64),
    ];
    for (script, fails, least) in cases {
        let before = app.host.sampling(SERVER.to_owned()).await.unwrap().in_all.tokens;
        let request_count = model.requests().len();
        let hangs = matches!(script.last(), Some(ModelStep::Hangs));
        model.queue_reply(script);
        app.decide(&request, ALLOW_ONCE).await;
        assert!(
            poll_until(EVENT_TIMEOUT, || model.requests().len() > request_count).await,
            "the request is sent to the model"
        );
        if hangs {
            // Only the case with reasoning counts more tokens than the maximum of the reply.
            let has_thought = least > 64;
            let running = wait_until(
                &app,
                "at work",
                |state, _| matches!(state.run, ModelAnswerState::Running { thinking, .. } if thinking == has_thought),
            )
            .await;
            app.decide(&running, UserDecision::Stop).await;
        }
        request = wait_until(&app, "stopped", |state, _| match state.run {
            ModelAnswerState::Failed { code, .. } => Some(code.name()) == fails,
            ModelAnswerState::No => fails.is_none(),
            _ => false,
        })
        .await;
        let after = app.host.sampling(SERVER.to_owned()).await.unwrap().in_all.tokens;
        assert!(after - before >= least, "[sampling-rate-limit]: {} of {least} tokens were counted", after - before);
    }
    app.decide(&request, UserDecision::Deny).await;
    assert!(!call_text(called).await.0, "the request is denied");
    user.abort();
}

#[tokio::test]
async fn request_beyond_the_budget_can_be_shortened_or_answered_by_hand() {
    let (app, model, user) = start_with_scripted_model("legacy").await;
    let few = Budget { tokens: Some(300), ..Budget::default() };
    set_sampling(&app, SamplingSettings { per_hour: few, ..enabled_settings() }).await;
    let called = spawn_call(&app, "1", json!({ "question": "long ".repeat(200), "with_picture": false }));
    let request = app.consent_request(SERVER, "the model", is_sampling).await;
    let refused = app.host.decide(request.id, request.hash.to_string(), ALLOW_ONCE).await;
    assert!(
        matches!(refused, Err(DecisionError::Budget(_))),
        "[sampling-rate-limit]: a request beyond the budget is refused: {refused:?}"
    );
    assert!(model.requests().is_empty(), "[sampling-rate-limit]: no request was sent to a model");
    let mut shorter = sampling_parts(&request).0.clone();
    shorter.messages.truncate(1);
    shorter.messages[0].content = SamplingContent::One(ContentBlock::text("Short?"));
    shorter.max_tokens = 20;
    let request =
        app.host.edit_consent_request(request.id, ConsentRequestEdit::Request(Box::new(shorter))).await.unwrap();
    model.queue_reply(text_reply("Aye.", (10, 2)));
    app.decide(&request, ALLOW_ONCE).await;
    app.decide(&answered_request(&app).await, ALLOW_ONCE).await;
    assert!(call_text(called).await.1.contains("Aye."), "the shortened request is sent");
    user.abort();
}

#[tokio::test]
async fn approval_is_bound_to_the_provider_settings_shown() {
    let app = TestApp::start(vec![(SERVER, demo_config(&["--era", "legacy"]))]).await;
    app.ready(SERVER).await;
    app.until(SERVER, "known whole", |s| s.counts[0] >= 16).await;
    let user = app.decide_automatically(allow_start_and_tools);
    app.host.set_provider(provider_settings("http://127.0.0.1:9/v1")).await.unwrap();
    let small = ModelRef { provider: "own".into(), model: "small".into() };
    set_sampling(&app, SamplingSettings { model: Some(small), ..enabled_settings() }).await;
    let called = spawn_call(&app, "1", json!({}));
    let shown = app.consent_request(SERVER, "the model", is_sampling).await;
    let mut quiet = provider_settings("http://127.0.0.1:9/v1");
    quiet.conversions = ConversionChoices([(UnsupportedFeature::Image, Conversion::LeaveOut)].into_iter().collect());
    for changed in [provider_settings("http://127.0.0.1:10/v1"), quiet] {
        let before = app.consent_request(SERVER, "as it is", is_sampling).await;
        app.host.set_provider(changed).await.unwrap();
        let taken = app.host.decide(before.id, before.hash.to_string(), ALLOW_ONCE).await;
        assert!(
            matches!(taken, Err(DecisionError::Stale)),
            "the approval does not cover the changed provider: {taken:?}"
        );
    }
    app.host.remove_provider("own".into()).await.unwrap();
    let without = wait_until(&app, "no model", |state, _| state.model.is_none()).await;
    assert_ne!(without.hash, shown.hash, "removing the provider changes the hash");
    app.decide(&without, UserDecision::Deny).await;
    assert!(!call_text(called).await.0, "the request is denied");
    user.abort();
}

#[tokio::test]
async fn request_edited_while_tokens_are_counted_is_not_sent() {
    let (app, model, user) = start_with_scripted_model("legacy").await;
    let called = spawn_call(&app, "1", json!({ "with_picture": false }));
    let shown = app.consent_request(SERVER, "the model", is_sampling).await;
    let mut other = sampling_parts(&shown).0.clone();
    other.messages[0].content = SamplingContent::One(ContentBlock::text("Another?"));

    let path = app.folder.path().join("data/lock");
    let lock = File::options().write(true).create(true).truncate(false).open(path).unwrap();
    lock.lock().unwrap();
    let mut approved = pin!(app.host.decide(shown.id, shown.hash.to_string(), ALLOW_ONCE));
    // The owner executes requests in order, so the approval precedes the edit.
    let edit = ConsentRequestEdit::Request(Box::new(other));
    let edited = tokio::select! {
        biased;
        taken = &mut approved => panic!("the approval did not wait for the reservation: {taken:?}"),
        edited = app.host.edit_consent_request(shown.id, edit) => edited.unwrap(),
    };
    assert_ne!(edited.hash, shown.hash, "the edit changes the hash");
    drop(lock);
    assert_eq!(approved.await, Err(DecisionError::Stale), "the approval does not cover the edited request");
    assert!(model.requests().is_empty(), "no request was sent to a model");
    let kinds: Vec<String> = app.decisions().into_iter().map(|(kind, ..)| kind).collect();
    assert!(!kinds.iter().any(|kind| kind == "sampling"), "no approval is audited: {kinds:?}");

    model.queue_reply(text_reply("Aye.", (10, 2)));
    app.decide(&edited, ALLOW_ONCE).await;
    app.decide(&answered_request(&app).await, ALLOW_ONCE).await;
    assert!(call_text(called).await.1.contains("Aye."), "the edited request can be approved");
    assert_eq!(model.requests().len(), 1, "the edited request is sent once");
    user.abort();
}
