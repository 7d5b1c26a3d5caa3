//! Tests of the requests that `server-everything` sends to the user: sampling, a form, and a URL to open.

use domain::call::CallFailure;
use domain::consent_request::ConsentRequestOrigin;
use host::DecisionError;
use host::view::{ConsentRequestBody, ConsentRequestEdit, UserDecision};
use mcp_proto::session::CallError;
use mcp_proto::types::{ContentBlock, SamplingContent};
use policy::ApprovalScope;
use ports::url_parts::UrlParts;
use serde_json::{Map, Value, json};
use server_requests::form::{FieldKind, FieldProblem, Form, TextFormat};
use testkit::app::TestApp;

use crate::installed;
use crate::user::{
    await_call, is_tool_call_request, result_text, start_allowed_call, start_call_with_request, to_json_object,
    wait_for_complete_catalog,
};

const EVERYTHING_SERVER_NAME: &str = "everything";

async fn start_everything_server() -> TestApp {
    let app = TestApp::start(vec![(EVERYTHING_SERVER_NAME, installed::everything_server())]).await;
    app.ready(EVERYTHING_SERVER_NAME).await;
    wait_for_complete_catalog(&app, EVERYTHING_SERVER_NAME).await;
    app
}

/// Returns the JSON value that the last text block of a tool result contains.
fn json_in_result_text(result: &mcp_proto::types::CallToolResult) -> Value {
    let text = result_text(result);
    let (_, json) = text
        .split_once('{')
        .unwrap_or_else(|| panic!("the text of the tool should contain the JSON that the server received: {text}"));
    serde_json::from_str(&format!("{{{json}"))
        .unwrap_or_else(|e| panic!("the text of the tool should end with JSON: {e}: {text}"))
}

#[tokio::test]
async fn sampling_prompt_and_reply_are_both_reviewed() {
    let app = start_everything_server().await;
    let arguments = json!({ "prompt": "When is high tide?", "maxTokens": 50 });
    let (under_way, consent_request) =
        start_call_with_request(&app, EVERYTHING_SERVER_NAME, "trigger-sampling-request", arguments).await;
    let ConsentRequestBody::Sampling { request, response: None, .. } = &consent_request.body else {
        panic!("the consent request should be for a sampling request: {consent_request:?}")
    };
    assert!(
        matches!(
            &consent_request.origin,
            ConsentRequestOrigin::Call { name, .. } if name == "trigger-sampling-request"
        ),
        "the consent request should name its call"
    );
    assert_eq!(
        request.system_prompt.as_deref(),
        Some("You are a helpful test server."),
        "[sampling-review-ui]: the request shows its system prompt"
    );
    assert_eq!(
        (request.max_tokens, request.temperature),
        (50, Some(0.7)),
        "[sampling-review-ui]: the request shows its limits"
    );
    let [ContentBlock::Text(prompt)] = request.messages[0].content.blocks() else {
        panic!("the message should be a single text: {request:?}")
    };
    assert!(
        prompt.text.ends_with("When is high tide?"),
        "[sampling-review-ui]: the request shows its message: {}",
        prompt.text
    );

    let mut shorter = request.clone();
    shorter.system_prompt = None;
    let edited = app.host.edit_consent_request(consent_request.id, ConsentRequestEdit::Request(shorter)).await.unwrap();
    let stale = app
        .host
        .decide(consent_request.id, consent_request.hash.to_string(), UserDecision::Allow(ApprovalScope::Once))
        .await;
    assert_eq!(stale, Err(DecisionError::Stale), "[sampling-edit-prompt]: only the displayed version can be allowed");
    app.decide(&edited, UserDecision::Allow(ApprovalScope::Once)).await;

    let second = app
        .consent_request(EVERYTHING_SERVER_NAME, "the model's response", |q| q.id == edited.id && q.hash != edited.hash)
        .await;
    let mut response = server_requests::sampling::empty_sampling_result();
    response.content = SamplingContent::Many(vec![ContentBlock::text("At noon.")]);
    let written =
        app.host.edit_consent_request(second.id, ConsentRequestEdit::Response(Box::new(response))).await.unwrap();
    app.decide(&written, UserDecision::Allow(ApprovalScope::Once)).await;
    let result = await_call(under_way).await.unwrap();
    assert!(!result.is_error, "[sampling-result-fields]: the server accepts the response: {result:?}");
    let got = json_in_result_text(&result);
    let sent = json!({
        "role": "assistant", "model": "user", "stopReason": "endTurn", "content": { "type": "text", "text": "At noon." }
    });
    assert_eq!(got, sent, "[sampling-review-result]: the server received exactly the reviewed response");
}

#[tokio::test]
async fn denied_sampling_is_an_error_of_the_tool_call() {
    let app = start_everything_server().await;
    let (under_way, consent_request) =
        start_call_with_request(&app, EVERYTHING_SERVER_NAME, "trigger-sampling-request", json!({ "prompt": "?" }))
            .await;
    app.decide(&consent_request, UserDecision::Deny).await;
    let result = await_call(under_way).await.unwrap();
    assert!(result.is_error, "the result should be an error: {result:?}");
    let words = result_text(&result);
    assert!(
        words.contains("-1") && words.contains("rejected"),
        "[sampling-reject-error]: the server received the error: {words}"
    );
}

/// Returns the expected fields of the server's form: name, kind, default, a valid value, and the problem of an invalid
/// value.
#[allow(clippy::approx_constant, reason = "a default of the server, not an approximation of pi")]
fn expected_form_fields() -> Vec<(&'static str, FieldKind, Option<Value>, Value, FieldProblem)> {
    let text = |format| FieldKind::Text { format, min_length: None, max_length: None };
    let number = |integer, minimum, maximum| FieldKind::Number {
        integer,
        minimum: Some(f64::from(minimum)),
        maximum: Some(f64::from(maximum)),
    };
    let option =
        |value: &str, title: &str| server_requests::form::ChoiceOption { value: value.into(), title: title.into() };
    let plain = |values: &[&str]| values.iter().map(|v| option(v, v)).collect::<Vec<_>>();
    let some = |options| FieldKind::Choices { options, min_items: Some(1), max_items: Some(3) };
    let friends = plain(&["Monica", "Rachel", "Joey", "Chandler", "Ross", "Phoebe"]);
    let instruments = plain(&["Guitar", "Piano", "Violin", "Drums", "Bass"]);
    let heroes =
        vec![option("hero-1", "Superman"), option("hero-2", "Green Lantern"), option("hero-3", "Wonder Woman")];
    let fish = vec![option("fish-1", "Tuna"), option("fish-2", "Salmon"), option("fish-3", "Trout")];
    let animals = ["Cats", "Dogs", "Birds", "Fish", "Reptiles"];
    let pets = animals.iter().enumerate().map(|(i, title)| option(&format!("pet-{}", i + 1), title)).collect();
    let story = json!("It was a dark and stormy night.");
    use FieldProblem::{
        NotADate, NotAUri, NotAnEmail, NotAnOption, Required, TooFew, TooLarge, TooMany, TooSmall, WrongType,
    };
    vec![
        ("name", text(None), None, json!(""), Required),
        ("check", FieldKind::Boolean, None, json!("yes"), WrongType),
        ("firstLine", text(None), Some(story), json!(1), WrongType),
        ("email", text(Some(TextFormat::Email)), None, json!("ann at harbour"), NotAnEmail),
        ("homepage", text(Some(TextFormat::Uri)), None, json!("harbour"), NotAUri),
        ("birthdate", text(Some(TextFormat::Date)), None, json!("2026-02-30"), NotADate),
        ("integer", number(true, 1, 100), Some(json!(42)), json!(101), TooLarge),
        ("number", number(false, 0, 1000), Some(json!(3.14)), json!(-0.5), TooSmall),
        (
            "untitledSingleSelectEnum",
            FieldKind::Choice { options: friends },
            Some(json!("Monica")),
            json!("Gunther"),
            NotAnOption,
        ),
        ("untitledMultipleSelectEnum", some(instruments), Some(json!(["Guitar"])), json!([]), TooFew),
        (
            "titledSingleSelectEnum",
            FieldKind::Choice { options: heroes },
            Some(json!("hero-1")),
            json!("Superman"),
            NotAnOption,
        ),
        (
            "titledMultipleSelectEnum",
            some(fish),
            Some(json!(["fish-1"])),
            json!(["fish-1", "fish-2", "fish-3", "fish-1"]),
            TooMany,
        ),
        ("legacyTitledEnum", FieldKind::Choice { options: pets }, Some(json!("pet-1")), json!("Cats"), NotAnOption),
    ]
}

/// Returns content with a valid value for every field.
fn valid_form_content() -> Map<String, Value> {
    to_json_object(&json!({
        "name": "Ann Hansen", "check": true, "firstLine": "Call me Ishmael.", "email": "ann@harbour.example",
        "homepage": "https://harbour.example/ann", "birthdate": "2000-02-29", "integer": 7, "number": 2.5,
        "untitledSingleSelectEnum": "Phoebe", "untitledMultipleSelectEnum": ["Violin", "Bass"],
        "titledSingleSelectEnum": "hero-3", "titledMultipleSelectEnum": ["fish-2"], "legacyTitledEnum": "pet-5"
    }))
}

async fn start_call_that_requests_form(
    app: &TestApp,
) -> (tokio::task::JoinHandle<crate::user::CallOutcome>, host::view::ConsentRequestView, Form) {
    let (under_way, consent_request) =
        start_call_with_request(app, EVERYTHING_SERVER_NAME, "trigger-elicitation-request", json!({})).await;
    let ConsentRequestBody::Form { message, form: Ok(form) } = &consent_request.body else {
        panic!("[elicit-default-mode]: the consent request should be for a form: {consent_request:?}")
    };
    assert_eq!(
        message, "Please provide inputs for the following fields:",
        "[elicit-what-and-why]: the message is shown"
    );
    let form = form.clone();
    (under_way, consent_request, form)
}

#[tokio::test]
async fn form_with_every_kind_of_field_is_shown_validated_and_sent() {
    let app = start_everything_server().await;
    let (under_way, consent_request, form) = start_call_that_requests_form(&app).await;
    let fields = expected_form_fields();
    let names: Vec<&str> = form.fields.iter().map(|f| &*f.name).collect();
    assert_eq!(
        names,
        fields.iter().map(|f| f.0).collect::<Vec<_>>(),
        "all fields are shown in the order of the server"
    );
    for (shown, (name, kind, default, wrong, problem)) in form.fields.iter().zip(&fields) {
        assert_eq!(shown.kind, *kind, "[elicit-flat-primitives], elicit-enum-*: {name} should have this kind");
        assert_eq!(shown.default, *default, "[elicit-defaults]: {name} should have this default");
        assert_eq!(shown.required, *name == "name", "only the field `name` should be required, not {name}");
        assert!(
            shown.title.is_some() && shown.description.is_some(),
            "[elicit-what-and-why]: {name} should have a title and a description"
        );
        let mut content = valid_form_content();
        content.insert((*name).to_owned(), wrong.clone());
        let problems = app.host.check_form(consent_request.id, content.clone()).await.unwrap();
        let found: Vec<_> = problems.iter().map(|p| (&*p.field, p.problem)).collect();
        assert_eq!(found, [(*name, *problem)], "[elicit-validate]: {wrong} should be rejected as a value of {name}");
        let submitted =
            app.host.decide(consent_request.id, consent_request.hash.to_string(), UserDecision::Submit(content)).await;
        assert_eq!(submitted, Err(DecisionError::Form(problems)), "[elicit-validate]: invalid content is not sent");
    }
    app.decide(&consent_request, UserDecision::Submit(valid_form_content())).await;
    let result = await_call(under_way).await.unwrap();
    assert!(result_text(&result).contains("- Favorite Integer: 7"), "the server accepts the content: {result:?}");
    let got = json_in_result_text(&result);
    assert_eq!(
        got,
        json!({ "action": "accept", "content": valid_form_content() }),
        "[elicit-three-actions]: the server received all content"
    );
}

#[tokio::test]
async fn declining_and_cancelling_a_form_differ() {
    let app = start_everything_server().await;
    for (answer, action, words) in
        [(UserDecision::Deny, "decline", "declined"), (UserDecision::Cancel, "cancel", "cancelled")]
    {
        let (under_way, consent_request, _) = start_call_that_requests_form(&app).await;
        app.decide(&consent_request, answer).await;
        let result = await_call(under_way).await.unwrap();
        assert!(
            result_text(&result).contains(words),
            "[elicit-three-actions]: the server received {action}: {result:?}"
        );
        assert_eq!(
            json_in_result_text(&result),
            json!({ "action": action }),
            "[elicit-content-accept-only], [elicit-approval-controls]: only the action should be sent"
        );
    }
}

#[tokio::test]
async fn url_is_opened_only_after_consent() {
    let app = start_everything_server().await;
    let url = "https://harbour.example/pay?ship=Erna&berth=7";
    for (answer, action, opened) in [
        (UserDecision::Deny, "decline", &[][..]),
        (UserDecision::Cancel, "cancel", &[]),
        (UserDecision::Allow(ApprovalScope::Once), "accept", &[url]),
    ] {
        let arguments = json!({ "url": url, "message": "Pay the harbour dues." });
        let (under_way, consent_request) =
            start_call_with_request(&app, EVERYTHING_SERVER_NAME, "trigger-url-elicitation", arguments).await;
        let shown = ConsentRequestBody::Url { message: "Pay the harbour dues.".into(), url: url.into() };
        assert_eq!(consent_request.body, shown, "[elicit-url-full]: the complete URL is shown");
        assert_eq!(consent_request.scopes, [ApprovalScope::Once], "[elicit-url-consent]: each URL requires consent");
        assert!(
            app.platform.opened.lock().unwrap().is_empty(),
            "[elicit-url-no-auto-open]: the URL was not opened before the decision"
        );
        app.decide(&consent_request, answer).await;
        let result = await_call(under_way).await.unwrap();
        assert_eq!(
            json_in_result_text(&result),
            json!({ "action": action }),
            "[elicit-url-no-content], [elicit-url-accept-is-consent]: only the action should be sent"
        );
        let in_browser = app.platform.opened.lock().unwrap().clone();
        assert_eq!(in_browser, opened, "[elicit-url-secure-open]: the URL should be opened only if allowed: {action}");
    }
}

/// In revision 2025-11-25, a call that fails with error -32042 names URLs that the user has to open. After the user has
/// opened them, the call is repeated.
#[tokio::test]
async fn call_that_requires_a_url_can_be_repeated() {
    let app = start_everything_server().await;
    let arguments = json!({ "url": "https://harbour.example/", "errorPath": true });
    let first = await_call(
        start_allowed_call(&app, EVERYTHING_SERVER_NAME, "trigger-url-elicitation", arguments.clone()).await,
    )
    .await;
    let Err(CallFailure::Session { error, .. }) = &first else { panic!("the first call should fail: {first:?}") };
    assert!(
        matches!(&**error, CallError::UrlRequired(pages) if pages.len() == 1),
        "[elicit-url-required-error]: the error should require one URL: {error}"
    );
    let consent_request = app
        .consent_request(EVERYTHING_SERVER_NAME, "the page", |q| {
            !is_tool_call_request(q) && q.body != ConsentRequestBody::Roots
        })
        .await;
    let ConsentRequestBody::Url { url, .. } = &consent_request.body else {
        panic!("[elicit-url-required-error]: the consent request should be for a URL: {consent_request:?}")
    };
    assert!(
        matches!(&consent_request.origin, ConsentRequestOrigin::Call { name, .. } if name == "trigger-url-elicitation"),
        "the consent request should name its call"
    );
    let page = UrlParts::parse(url).url;
    app.decide(&consent_request, UserDecision::Allow(ApprovalScope::Once)).await;
    assert_eq!(*app.platform.opened.lock().unwrap(), [page], "the required page was opened");

    let (again, consent_request) =
        start_call_with_request(&app, EVERYTHING_SERVER_NAME, "trigger-url-elicitation", arguments).await;
    app.decide(&consent_request, UserDecision::Deny).await;
    let result = await_call(again).await.expect("[elicit-manual-controls]: the repeated call continues");
    assert_eq!(
        json_in_result_text(&result),
        json!({ "action": "decline" }),
        "the repeated call requires consent as usual"
    );
}
