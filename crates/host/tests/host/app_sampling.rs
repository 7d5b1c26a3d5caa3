//! Sampling requests of apps (MCP Apps): settings, limits, consent and audit entries are those of the app's server.

use domain::call::CallFailure;
use domain::consent_request::{ConsentRequestId, ConsentRequestOrigin, ConsentRequestOutcome};
use host::view::{ConsentRequestBody, ConsentRequestEdit, ConsentRequestView, HostEvent, UserDecision};
use host::{CallOrigin, DecisionError, EventReceiver};
use mcp_proto::session::ClientResponse;
use mcp_proto::types::{ContentBlock, CreateMessageParams, SamplingContent};
use policy::ApprovalScope;
use serde_json::{Value, json};
use server_requests::sampling::{ModelAnswerState, SamplingSettings};
use testkit::app::{EVENT_TIMEOUT, TestApp, scripted_config};
use testkit::model::{ModelStep, ScriptedModel, model_named, text_reply};
use tokio::task::JoinHandle;

use crate::sampling::sampling_rule;

const SERVER: &str = "harbour";
const TOOL: &str = "show-board";
const ALLOW_ONCE: UserDecision = UserDecision::Allow(ApprovalScope::Once);

type PendingSampling = JoinHandle<Result<ClientResponse, CallFailure>>;

/// Returns a host with a running server that may use sampling, and a scripted model.
async fn start() -> (TestApp, std::sync::Arc<ScriptedModel>) {
    let app = TestApp::start(vec![(SERVER, scripted_config(&[]))]).await;
    app.ready(SERVER).await;
    let model = ScriptedModel::add_to_host(&app.host, vec![model_named("scripted-1")]).await;
    (app, model)
}

fn sampling_params(members: Value) -> Box<CreateMessageParams> {
    let message = json!({ "role": "user", "content": { "type": "text", "text": "Which card is next?" } });
    let mut params = json!({ "messages": [message], "maxTokens": 50 });
    for (name, value) in members.as_object().unwrap() {
        params[name] = value.clone();
    }
    Box::new(serde_json::from_value(params).unwrap())
}

fn spawn_sampling(app: &TestApp, reaches_other_hosts: bool) -> PendingSampling {
    let origin = CallOrigin::App { conversation: Some("c".to_owned()), tool: TOOL.to_owned(), reaches_other_hosts };
    let host = app.host.clone();
    tokio::spawn(async move { host.sample_for_app(origin, SERVER.to_owned(), sampling_params(json!({}))).await })
}

async fn sampling_response(sampling: PendingSampling) -> Result<ClientResponse, CallFailure> {
    tokio::time::timeout(EVENT_TIMEOUT, sampling).await.expect("the request should end in time").unwrap()
}

async fn sampling_request(app: &TestApp) -> ConsentRequestView {
    let is_sampling = |q: &ConsentRequestView| matches!(q.body, ConsentRequestBody::Sampling { response: None, .. });
    app.consent_request(SERVER, "the app's sampling", is_sampling).await
}

/// Waits until a consent request contains the reply of the model or the user.
async fn answered_request(app: &TestApp) -> ConsentRequestView {
    let is_answered = |q: &ConsentRequestView| matches!(q.body, ConsentRequestBody::Sampling { response: Some(_), .. });
    app.consent_request(SERVER, "the answer", is_answered).await
}

async fn closing_outcome(events: &mut EventReceiver, id: ConsentRequestId) -> ConsentRequestOutcome {
    let find = async {
        loop {
            let event = events.next().await.expect("the host should run");
            if let HostEvent::ConsentRequestClosed { id: closed, outcome } = &event.event
                && *closed == id
            {
                return *outcome;
            }
        }
    };
    tokio::time::timeout(EVENT_TIMEOUT, find).await.expect("the request should be closed in time")
}

#[tokio::test]
async fn sampling_of_an_app_is_approved_step_by_step_and_names_the_app() {
    let (app, model) = start().await;
    let sampling = spawn_sampling(&app, false);
    let request = sampling_request(&app).await;
    let origin = ConsentRequestOrigin::App {
        conversation: Some("c".to_owned()),
        tool: TOOL.to_owned(),
        reaches_other_hosts: false,
    };
    assert_eq!(request.origin, origin, "the request should name the app");
    assert!(model.requests().is_empty(), "nothing should be sent to a model before the approval");
    model.queue_reply(text_reply("Paint the buoy.", (30, 4)));
    app.decide(&request, ALLOW_ONCE).await;
    let answered = answered_request(&app).await;
    assert!(!sampling.is_finished(), "the answer should not be sent before the approval");
    app.decide(&answered, ALLOW_ONCE).await;
    let ClientResponse::Sampling(result) = sampling_response(sampling).await.unwrap() else { panic!("no result") };
    assert_eq!(result.content.blocks(), [ContentBlock::text("Paint the buoy.")]);
    for kind in ["sampling", "sampling-answer"] {
        let entries = app.entries_of_kind(kind);
        let recorded: Vec<_> =
            entries.iter().map(|entry| (&*entry.decision, &*entry.asker, entry.conversation.as_deref())).collect();
        assert_eq!(recorded, [("allowed", "app", Some("c"))], "{kind} should be recorded for the app");
    }
    let report = app.host.sampling(SERVER.to_owned()).await.unwrap();
    assert_eq!((report.within_hour.requests, report.within_hour.tokens), (1, 34), "the server's budget should be used");
    assert_eq!(report.last_use.map(|used| used.by), Some(policy::UsedBy::App), "the app should be the last user");
    let activity = app.activity(SERVER).await;
    assert!(activity.contains("requests an answer from a model") && activity.contains(TOOL), "{activity}");
}

#[tokio::test]
async fn sampling_of_an_app_is_refused_unless_the_user_turned_it_on() {
    let (app, model) = start().await;
    app.host.set_sampling(SERVER.to_owned(), SamplingSettings::default()).await.unwrap();
    let refused = sampling_response(spawn_sampling(&app, false)).await;
    let Ok(ClientResponse::Refused { code: -1, message }) = refused else { panic!("not refused: {refused:?}") };
    assert!(message.contains("turned sampling off"), "{message}");
    assert!(app.consent_requests().await.is_empty() && model.requests().is_empty(), "nobody should be asked");
    let entries = app.entries_of_kind("sampling");
    let recorded: Vec<_> = entries.iter().map(|entry| (&*entry.decision, &*entry.asker)).collect();
    assert_eq!(recorded, [("denied", "app")]);
}

#[tokio::test]
async fn denied_sampling_of_an_app_is_an_error_and_counts_for_its_server() {
    let (app, _) = start().await;
    for _ in 0..3 {
        let sampling = spawn_sampling(&app, false);
        app.decide(&sampling_request(&app).await, UserDecision::Deny).await;
        let refused = sampling_response(sampling).await;
        assert!(matches!(&refused, Ok(ClientResponse::Refused { code: -1, .. })), "{refused:?}");
    }
    let refused = sampling_response(spawn_sampling(&app, false)).await;
    assert!(matches!(&refused, Ok(ClientResponse::Refused { .. })), "the server should be muted: {refused:?}");
    assert!(app.consent_requests().await.is_empty(), "the user should not be asked again");
}

#[tokio::test]
async fn abandoned_sampling_of_an_app_is_withdrawn_and_stops_the_model() {
    let (app, model) = start().await;
    for is_sent in [false, true] {
        let sampling = spawn_sampling(&app, false);
        let request = sampling_request(&app).await;
        if is_sent {
            model.queue_reply(vec![ModelStep::Hangs]);
            app.decide(&request, ALLOW_ONCE).await;
            let is_running = |q: &ConsentRequestView| {
                let ConsentRequestBody::Sampling { state, .. } = &q.body else { return false };
                matches!(state.run, ModelAnswerState::Running { .. })
            };
            app.consent_request(SERVER, "the model at work", is_running).await;
        }
        let mut events = app.host.events();
        sampling.abort();
        let outcome = closing_outcome(&mut events, request.id).await;
        assert_eq!(outcome, ConsentRequestOutcome::Withdrawn, "nobody waits for the answer any more");
        assert!(app.consent_requests().await.is_empty());
    }
}

#[tokio::test]
async fn sampling_of_an_app_ends_with_the_session_of_its_server() {
    let (app, _) = start().await;
    let sampling = spawn_sampling(&app, false);
    sampling_request(&app).await;
    app.host.stop_server(SERVER.to_owned()).await.unwrap();
    assert_eq!(sampling_response(sampling).await, Err(CallFailure::Cancelled));
    let stopped = |s: &host::view::ServerView| s.state == host::view::ServerState::Stopped;
    app.until(SERVER, "stopped", stopped).await;
    let late = sampling_response(spawn_sampling(&app, false)).await;
    assert!(matches!(late, Err(CallFailure::NotReady { .. })), "{late:?}");
    assert!(app.consent_requests().await.is_empty());
}

#[tokio::test]
async fn rule_with_a_budget_covers_only_apps_that_reach_no_other_hosts() {
    let (app, model) = start().await;
    app.host.set_rule(sampling_rule(9, 100_000)).await.unwrap();
    model.queue_reply(text_reply("Paint the buoy.", (30, 4)));
    let allowed = sampling_response(spawn_sampling(&app, false)).await;
    assert!(matches!(&allowed, Ok(ClientResponse::Sampling(_))), "{allowed:?}");
    let entries = app.entries_of_kind("sampling-answer");
    let recorded: Vec<_> = entries.iter().map(|entry| (&*entry.by, &*entry.asker)).collect();
    assert_eq!(recorded, [("policy", "app")]);
    let sampling = spawn_sampling(&app, true);
    let request = sampling_request(&app).await;
    assert_eq!(request.reason, "after-untrusted", "other hosts may have caused the request, and may get the answer");
    app.decide(&request, UserDecision::Deny).await;
    assert!(matches!(sampling_response(sampling).await, Ok(ClientResponse::Refused { code: -1, .. })));
    assert_eq!(model.requests().len(), 1, "the denied request should not be sent");
}

#[tokio::test]
async fn answer_that_an_app_cannot_read_is_not_sent() {
    let (app, _) = start().await;
    let sampling = spawn_sampling(&app, false);
    app.decide(&sampling_request(&app).await, UserDecision::ByHand).await;
    let by_hand = answered_request(&app).await;
    let ConsentRequestBody::Sampling { response: Some(written), .. } = &by_hand.body else { panic!("no answer") };
    let with_content = |content: Value| {
        let mut written = written.clone();
        written.content = SamplingContent::Many(serde_json::from_value(content).unwrap());
        ConsentRequestEdit::Response(written)
    };
    let image = json!({ "type": "image", "data": "YQ==", "mimeType": "image/png" });
    let pictures = app.host.edit_consent_request(by_hand.id, with_content(json!([image, image]))).await.unwrap();
    let refused = app.host.decide(pictures.id, pictures.hash.to_string(), ALLOW_ONCE).await;
    assert!(matches!(refused, Err(DecisionError::WrongKind(_))), "one block should be asked for: {refused:?}");
    let text = app
        .host
        .edit_consent_request(by_hand.id, with_content(json!([{ "type": "text", "text": "Mine." }])))
        .await
        .unwrap();
    app.decide(&text, ALLOW_ONCE).await;
    let ClientResponse::Sampling(result) = sampling_response(sampling).await.unwrap() else { panic!("no result") };
    assert_eq!(result.model, "user");
}
