//! Tests of reading from servers: prompts with completion, resources and templates, subscriptions, log messages, and
//! paginated lists.

use std::collections::BTreeMap;

use domain::call::CallFailure;
use host::view::{HostEvent, ServerState};
use mcp_proto::session::CallError;
use mcp_proto::types::{CompletionReference, ContentBlock, LogLevel, Prompt, Role};
use offers::uri_template;
use serde_json::json;
use supervision::activity::{ActivityEntry, ActivityKind};
use testkit::app::{TestApp, demo_config};

use crate::installed;
use crate::user::{
    activity_entries, call_tool, next_call_id, sent_methods, wait_for_activity, wait_for_complete_catalog,
    wait_for_event,
};

const EVERYTHING_SERVER_NAME: &str = "everything";
const TEXT_RESOURCE_TEMPLATE: &str = "demo://resource/dynamic/text/{resourceId}";

async fn start_everything_server() -> TestApp {
    let app = TestApp::start(vec![(EVERYTHING_SERVER_NAME, installed::everything_server())]).await;
    app.ready(EVERYTHING_SERVER_NAME).await;
    app
}

fn string_map(given: &[(&str, &str)]) -> BTreeMap<String, String> {
    given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

async fn completion_values(
    app: &TestApp,
    reference: CompletionReference,
    argument: &str,
    value: &str,
    earlier: &[(&str, &str)],
) -> Vec<String> {
    let result = app
        .host
        .complete_argument(EVERYTHING_SERVER_NAME.into(), reference, argument.into(), value.into(), string_map(earlier))
        .await;
    result.unwrap_or_else(|error| panic!("{argument} should have completions: {error}")).values
}

#[tokio::test]
async fn prompts_are_listed_completed_and_read() {
    let app = start_everything_server().await;
    let catalog = wait_for_complete_catalog(&app, EVERYTHING_SERVER_NAME).await;
    let prompts: Vec<Prompt> = catalog.prompts.iter().map(|p| p.read().unwrap()).collect();
    let listed: Vec<(&str, usize)> =
        prompts.iter().map(|p| (&*p.name, p.arguments.iter().filter(|a| a.required).count())).collect();
    let expected = [("simple-prompt", 0), ("args-prompt", 1), ("completable-prompt", 2), ("resource-prompt", 2)];
    assert_eq!(listed, expected, "[prompts-required-arguments]: each prompt has its required arguments");

    let team = || CompletionReference::Prompt { name: "completable-prompt".into() };
    let all = completion_values(&app, team(), "department", "", &[]).await;
    assert_eq!(
        all,
        ["Engineering", "Sales", "Marketing", "Support"],
        "[prompts-argument-completion]: all values are offered"
    );
    assert_eq!(
        completion_values(&app, team(), "department", "S", &[]).await,
        ["Sales", "Support"],
        "the completions match the typed text"
    );
    for (department, names) in [("Sales", &["David", "Eve", "Frank"]), ("Support", &["John", "Kim", "Lee"])] {
        let offered = completion_values(&app, team(), "name", "", &[("department", department)]).await;
        assert_eq!(offered, names, "[completion-context]: the completions depend on {department}");
    }
    assert!(
        completion_values(&app, team(), "name", "", &[]).await.is_empty(),
        "without the preceding argument there are no completions"
    );

    let given = string_map(&[("department", "Sales"), ("name", "Eve")]);
    let prompt = app
        .host
        .get_prompt(next_call_id(), EVERYTHING_SERVER_NAME.into(), "completable-prompt".into(), given)
        .await
        .unwrap();
    let expected = ContentBlock::text("Please promote Eve to the head of the Sales team.");
    assert_eq!(prompt.messages[0].content, expected, "[prompts-string-arguments]: the message contains the arguments");
    assert_eq!(prompt.messages[0].role, Role::User, "[prompts-roles]: the role is preserved");

    let given = string_map(&[("resourceType", "Text"), ("resourceId", "3")]);
    let prompt = app
        .host
        .get_prompt(next_call_id(), EVERYTHING_SERVER_NAME.into(), "resource-prompt".into(), given)
        .await
        .unwrap();
    assert!(
        matches!(prompt.messages[1].content, ContentBlock::Resource(_)),
        "[prompts-content-basic]: the second message should be a resource: {prompt:?}"
    );

    let failed =
        app.host.get_prompt(next_call_id(), EVERYTHING_SERVER_NAME.into(), "args-prompt".into(), BTreeMap::new()).await;
    let Err(CallFailure::Session { server, error }) = &failed else {
        panic!("the prompt should fail because the city is missing: {failed:?}")
    };
    assert_eq!(server, EVERYTHING_SERVER_NAME, "the error names the server");
    assert!(
        matches!(&**error, CallError::Server(e) if e.code == -32602),
        "the error should have the code of invalid parameters: {error}"
    );
}

#[tokio::test]
async fn resources_and_templates_are_read() {
    let app = start_everything_server().await;
    let catalog = wait_for_complete_catalog(&app, EVERYTHING_SERVER_NAME).await;
    for resource in &catalog.resources {
        let read =
            app.host.read_resource(next_call_id(), EVERYTHING_SERVER_NAME.into(), resource.name().to_owned()).await;
        let read = read.unwrap_or_else(|error| panic!("{} is listed, so it can be read: {error}", resource.name()));
        assert!(
            read[0].text.as_ref().is_some_and(|t| !t.is_empty()),
            "[resources-text-blob]: the resource should contain text: {read:?}"
        );
    }
    assert!(
        catalog.templates.iter().any(|t| t.name() == TEXT_RESOURCE_TEMPLATE),
        "the template is listed: {catalog:?}"
    );
    assert_eq!(
        uri_template::template_variable_names(TEXT_RESOURCE_TEMPLATE),
        ["resourceId"],
        "the variable of the template is known"
    );
    let of_template = || CompletionReference::Resource { uri: TEXT_RESOURCE_TEMPLATE.into() };
    assert_eq!(
        completion_values(&app, of_template(), "resourceId", "7", &[]).await,
        ["7"],
        "[completion-ref-types]: a number has a completion"
    );
    assert!(
        completion_values(&app, of_template(), "resourceId", "x", &[]).await.is_empty(),
        "a letter has no completion"
    );

    for (template, is_text) in [(TEXT_RESOURCE_TEMPLATE, true), ("demo://resource/dynamic/blob/{resourceId}", false)] {
        let uri = uri_template::expand(template, &string_map(&[("resourceId", "7")])).unwrap();
        let read = app.host.read_resource(next_call_id(), EVERYTHING_SERVER_NAME.into(), uri.clone()).await.unwrap();
        assert_eq!(read[0].uri, uri, "[resources-templates-rfc6570]: the expanded URI is read");
        let content = if is_text { &read[0].text } else { &read[0].blob };
        // The text begins with "Resource 7", as text or as base64.
        let begin = if is_text { "Resource 7" } else { "UmVzb3VyY2UgN" };
        assert!(
            content.as_ref().is_some_and(|c| c.starts_with(begin)),
            "[resources-text-blob]: the content should begin with {begin}: {read:?}"
        );
    }
    let missing =
        app.host.read_resource(next_call_id(), EVERYTHING_SERVER_NAME.into(), "demo://resource/nowhere".into()).await;
    let is_missing = matches!(&missing, Err(CallFailure::NotFound(what)) if what.contains("demo://resource/nowhere"));
    assert!(is_missing, "[resources-not-found-both]: the error names the missing resource: {missing:?}");
}

fn uri_of_updated_resource(event: &HostEvent) -> Option<String> {
    if let HostEvent::ResourceUpdated { uri, .. } = event { Some(uri.clone()) } else { None }
}

#[tokio::test]
async fn only_subscribed_resources_report_changes() {
    let app = start_everything_server().await;
    wait_for_complete_catalog(&app, EVERYTHING_SERVER_NAME).await;
    let (one, two) = ("demo://resource/dynamic/text/1", "demo://resource/dynamic/text/2");
    let mut events = app.host.events();
    for uri in [one, two] {
        app.host.subscribe(EVERYTHING_SERVER_NAME.into(), uri.into(), true).await.unwrap();
    }
    assert_eq!(
        app.server(EVERYTHING_SERVER_NAME).await.subscriptions,
        [one, two],
        "both resources are shown as subscribed"
    );
    // After the tool has enabled updates, the server sends one immediately, and then one every five seconds.
    call_tool(&app, EVERYTHING_SERVER_NAME, "toggle-subscriber-updates", json!({})).await;
    let mut updated = [
        wait_for_event(&mut events, "an update", uri_of_updated_resource).await,
        wait_for_event(&mut events, "an update", uri_of_updated_resource).await,
    ];
    updated.sort();
    assert_eq!(updated, [one, two], "[resources-subscribe]: changes of both resources are reported");
    call_tool(&app, EVERYTHING_SERVER_NAME, "toggle-subscriber-updates", json!({})).await;

    app.host.subscribe(EVERYTHING_SERVER_NAME.into(), one.into(), false).await.unwrap();
    assert_eq!(app.server(EVERYTHING_SERVER_NAME).await.subscriptions, [two], "one subscription has ended");
    let mut events = app.host.events();
    call_tool(&app, EVERYTHING_SERVER_NAME, "toggle-subscriber-updates", json!({})).await;
    assert_eq!(
        wait_for_event(&mut events, "an update", uri_of_updated_resource).await,
        two,
        "[resources-subscribe]: only changes of the other resource are reported"
    );
}

#[tokio::test]
async fn change_made_by_a_call_is_reported_to_subscribers() {
    let folder = tempfile::tempdir().unwrap();
    let app = TestApp::start(vec![("memory", installed::memory_server(folder.path()))]).await;
    app.ready("memory").await;
    let uri = wait_for_complete_catalog(&app, "memory").await.resources[0].name().to_owned();
    assert_eq!(uri, "memory://knowledge-graph", "[resources-custom-schemes]: the URI has a custom scheme");
    app.host.subscribe("memory".into(), uri.clone(), true).await.unwrap();
    let mut events = app.host.events();
    let ship = json!({ "name": "Erna", "entityType": "ship", "observations": ["is blue"] });
    call_tool(&app, "memory", "create_entities", json!({ "entities": [ship] })).await;
    assert_eq!(
        wait_for_event(&mut events, "an update", uri_of_updated_resource).await,
        uri,
        "[resources-subscribe]: the change is reported"
    );
    let read = app.host.read_resource(next_call_id(), "memory".into(), uri).await.unwrap();
    assert!(read[0].text.as_ref().is_some_and(|t| t.contains("is blue")), "the changed resource can be read: {read:?}");
}

#[tokio::test]
async fn log_messages_respect_the_level() {
    let app = start_everything_server().await;
    let is_log_of = |uri: &'static str| {
        move |e: &ActivityEntry| e.kind == ActivityKind::Log && e.body().contains("Subscribe") && e.body().contains(uri)
    };
    let (quiet, loud) = ("demo://resource/dynamic/text/1", "demo://resource/dynamic/text/2");
    // The server logs each subscription with the level `info` before it responds.
    app.host.set_log_level(EVERYTHING_SERVER_NAME.into(), LogLevel::Warning).await.unwrap();
    app.host.subscribe(EVERYTHING_SERVER_NAME.into(), quiet.into(), true).await.unwrap();
    app.host.set_log_level(EVERYTHING_SERVER_NAME.into(), LogLevel::Info).await.unwrap();
    assert_eq!(app.server(EVERYTHING_SERVER_NAME).await.log_level, Some(LogLevel::Info), "the level is shown");
    app.host.subscribe(EVERYTHING_SERVER_NAME.into(), loud.into(), true).await.unwrap();
    wait_for_activity(
        &app,
        EVERYTHING_SERVER_NAME,
        "[logging-levels]: a message at the level that was set",
        is_log_of(loud),
    )
    .await;
    let all = activity_entries(&app, EVERYTHING_SERVER_NAME).await;
    assert!(!all.iter().any(is_log_of(quiet)), "[logging-set-level]: no message is below the level");
    let log = all.iter().find(|e| is_log_of(loud)(e)).unwrap();
    assert_eq!(log.method.as_deref(), Some("info"), "[logging-present]: the level of a message is shown");
}

#[tokio::test]
async fn unsupported_subscription_is_reported_without_effect() {
    let app = TestApp::start(vec![("time", installed::time_server())]).await;
    app.ready("time").await;
    let refused = app.host.subscribe("time".into(), "clock://now".into(), true).await;
    assert!(
        matches!(&refused, Err(CallFailure::Session { server, .. }) if server == "time"),
        "[resources-subscribe-gate]: the missing capability is reported: {refused:?}"
    );
    let view = app.server("time").await;
    assert!(view.subscriptions.is_empty() && view.state == ServerState::Ready, "the state is unchanged: {view:?}");
    call_tool(&app, "time", "get_current_time", json!({ "timezone": "UTC" })).await;
}

#[tokio::test]
async fn paged_lists_are_read_completely_in_both_eras() {
    // One of its tools can only be called as a task of the newest revision.
    for (era, tools) in [("legacy", 18), ("modern", 19)] {
        let app = TestApp::start(vec![("demo", demo_config(&["--era", era]))]).await;
        app.ready("demo").await;
        let catalog = wait_for_complete_catalog(&app, "demo").await;
        assert_eq!(
            catalog.tools.len(),
            tools,
            "{era}, [pagination-follow-cursor]: the list has more than one page of ten"
        );
        let requests = sent_methods(&app, "demo").await.iter().filter(|m| *m == "tools/list").count();
        assert_eq!(requests, 2, "{era}, [pagination-missing-cursor-end]: two pages were requested");
        let entries = activity_entries(&app, "demo").await;
        let returns = |e: &&ActivityEntry| {
            e.sent && e.method.as_deref() == Some("tools/list") && e.body().contains("\"cursor\":\"from-10\"")
        };
        assert_eq!(
            entries.iter().filter(returns).count(),
            1,
            "{era}, [pagination-opaque-cursor]: the cursor is sent unchanged"
        );
    }
}
