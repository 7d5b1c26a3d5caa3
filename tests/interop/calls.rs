//! Tests of calls of `server-everything`: every content type, progress, cancellation, and lists that change during a
//! call.

use std::time::Duration;

use domain::call::{CallFailure, CallState};
use host::view::HostEvent;
use mcp_proto::types::ContentBlock;
use serde_json::{Value, json};
use testkit::app::TestApp;

use crate::installed;
use crate::user::{
    allow_next_tool_call, await_call, call_tool, result_text, spawn_call, start_allowed_call, wait_for_activity,
    wait_for_complete_catalog, wait_for_event,
};

const EVERYTHING_SERVER_NAME: &str = "everything";

async fn start_everything_server() -> TestApp {
    let app = TestApp::start(vec![(EVERYTHING_SERVER_NAME, installed::everything_server())]).await;
    app.ready(EVERYTHING_SERVER_NAME).await;
    wait_for_complete_catalog(&app, EVERYTHING_SERVER_NAME).await;
    app
}

#[tokio::test]
async fn every_kind_of_content_is_received() {
    let app = start_everything_server().await;
    let result =
        call_tool(&app, EVERYTHING_SERVER_NAME, "get-structured-content", json!({ "location": "Chicago" })).await;
    let weather = json!({ "temperature": 36, "conditions": "Light rain / drizzle", "humidity": 82 });
    assert_eq!(
        result.structured_content,
        Some(weather.clone()),
        "[tools-structured-object]: the structured content is complete"
    );
    let same: Value = serde_json::from_str(&result_text(&result)).unwrap();
    assert_eq!(same, weather, "the text contains the same data");

    let result = call_tool(&app, EVERYTHING_SERVER_NAME, "get-tiny-image", json!({})).await;
    let [ContentBlock::Text(_), ContentBlock::Image(image), ContentBlock::Text(_)] = &result.content[..] else {
        panic!("[tools-content-basic]: the result should be an image between two texts: {result:?}")
    };
    assert_eq!(image.mime_type, "image/png", "the MIME type is preserved");
    assert!(image.data.starts_with("iVBORw0KGgo"), "the picture is a PNG in base64: {:.20}", image.data);

    let result = call_tool(&app, EVERYTHING_SERVER_NAME, "get-resource-links", json!({ "count": 2 })).await;
    let [_, ContentBlock::ResourceLink(first), ContentBlock::ResourceLink(second)] = &result.content[..] else {
        panic!("[tools-content-resource-link]: the result should be a text and two links: {result:?}")
    };
    for link in [first, second] {
        let read = app.host.read_resource(link.uri.clone(), EVERYTHING_SERVER_NAME.into(), link.uri.clone()).await;
        let read =
            read.unwrap_or_else(|e| panic!("[tools-resource-link-unlisted]: {} should be readable: {e}", link.uri));
        assert_eq!(read[0].uri, link.uri, "the linked resource was read");
    }

    for (kind, is_text) in [("Text", true), ("Blob", false)] {
        let arguments = json!({ "resourceType": kind, "resourceId": 5 });
        let result = call_tool(&app, EVERYTHING_SERVER_NAME, "get-resource-reference", arguments).await;
        let [_, ContentBlock::Resource(embedded), _] = &result.content[..] else {
            panic!("[tools-content-basic]: the result should be a resource between two texts: {result:?}")
        };
        let has = (embedded.resource.text.is_some(), embedded.resource.blob.is_some());
        assert_eq!(
            has,
            (is_text, !is_text),
            "[resources-text-blob]: the resource should contain a {kind}: {embedded:?}"
        );
    }

    let arguments = json!({ "messageType": "error", "includeImage": true });
    let result = call_tool(&app, EVERYTHING_SERVER_NAME, "get-annotated-message", arguments).await;
    let [ContentBlock::Text(message), ContentBlock::Image(image)] = &result.content[..] else {
        panic!("the result should be a text and an image: {result:?}")
    };
    let priorities = [&message.annotations, &image.annotations].map(|a| a.as_ref().and_then(|a| a.priority));
    assert_eq!(priorities, [Some(1.0), Some(0.5)], "[resources-annotations]: annotations are preserved: {result:?}");
}

#[tokio::test]
async fn progress_is_reported_until_the_call_ends() {
    let app = start_everything_server().await;
    let mut events = app.host.events();
    let arguments = json!({ "duration": 1, "steps": 4 });
    let under_way = spawn_call(&app, "long", EVERYTHING_SERVER_NAME, "trigger-long-running-operation", &arguments);
    allow_next_tool_call(&app, EVERYTHING_SERVER_NAME, "trigger-long-running-operation").await;
    let mut reported = Vec::new();
    loop {
        let view = wait_for_event(&mut events, "a change of the call", |event| match event {
            HostEvent::CallChanged(view) if view.id == "long" => Some(view.clone()),
            _ => None,
        });
        let view = view.await;
        if let Some(progress) = &view.progress {
            assert_eq!(progress.total, Some(4.0), "[progress-opt-in]: the total is reported");
            reported.push(progress.progress);
        }
        if view.state.is_over() {
            assert_eq!(view.state, CallState::Done, "the call succeeds");
            break;
        }
    }
    assert!(reported.is_sorted(), "progress increases: {reported:?}");
    assert!(
        reported.contains(&1.0) && reported.contains(&4.0),
        "progress is reported during the call and at its end: {reported:?}"
    );
    assert!(result_text(&await_call(under_way).await.unwrap()).contains("Steps: 4"), "the result is returned");
}

#[tokio::test]
async fn cancelled_call_does_not_affect_the_server() {
    let app = start_everything_server().await;
    let mut events = app.host.events();
    let arguments = json!({ "duration": 20, "steps": 100 });
    let under_way = spawn_call(&app, "long", EVERYTHING_SERVER_NAME, "trigger-long-running-operation", &arguments);
    allow_next_tool_call(&app, EVERYTHING_SERVER_NAME, "trigger-long-running-operation").await;
    let has_begun = |event: &HostEvent| match event {
        HostEvent::CallChanged(view) if view.id == "long" && view.progress.is_some() => Some(()),
        _ => None,
    };
    wait_for_event(&mut events, "progress", has_begun).await;
    app.host.cancel_call("long".into()).await.unwrap();
    assert_eq!(await_call(under_way).await.err(), Some(CallFailure::Cancelled), "the call ends immediately");
    let is_cancellation =
        |e: &supervision::activity::ActivityEntry| e.sent && e.method.as_deref() == Some("notifications/cancelled");
    wait_for_activity(
        &app,
        EVERYTHING_SERVER_NAME,
        "[cancel-stdio-notify]: the cancellation notification",
        is_cancellation,
    )
    .await;
    // The cancelled tool keeps running and reports further progress, which must be ignored.
    // sleep: another process continues in real time.
    tokio::time::sleep(Duration::from_millis(500)).await;
    let result = call_tool(&app, EVERYTHING_SERVER_NAME, "echo", json!({ "message": "still there" })).await;
    assert_eq!(
        result_text(&result),
        "Echo: still there",
        "[cancel-races]: late messages of the cancelled call have no effect"
    );
}

#[tokio::test]
async fn calls_to_one_server_run_concurrently() {
    let app = start_everything_server().await;
    let slow = start_allowed_call(
        &app,
        EVERYTHING_SERVER_NAME,
        "trigger-long-running-operation",
        json!({ "duration": 2, "steps": 2 }),
    )
    .await;
    let quick = call_tool(&app, EVERYTHING_SERVER_NAME, "get-sum", json!({ "a": 20, "b": 3 })).await;
    assert!(result_text(&quick).contains("23"), "[stdio-response-correlation]: the fast call ends first: {quick:?}");
    assert!(!slow.is_finished(), "the slow call is still running");
    assert!(result_text(&await_call(slow).await.unwrap()).contains("completed"), "the slow call succeeds");
}

#[tokio::test]
async fn resource_created_by_a_call_appears_in_the_list() {
    let app = start_everything_server().await;
    let before = wait_for_complete_catalog(&app, EVERYTHING_SERVER_NAME).await.resources.len();
    let arguments = json!({ "name": "note.gz", "data": "data:text/plain,ahoy" });
    let result = call_tool(&app, EVERYTHING_SERVER_NAME, "gzip-file-as-resource", arguments).await;
    let [ContentBlock::ResourceLink(link)] = &result.content[..] else {
        panic!("the result should be a link to the resource: {result:?}")
    };
    app.until(EVERYTHING_SERVER_NAME, "listed with one more resource", |s| s.counts[2] == before + 1).await;
    let listed =
        wait_for_complete_catalog(&app, EVERYTHING_SERVER_NAME).await.resources.iter().any(|r| r.name() == link.uri);
    assert!(listed, "[resources-list-changed]: the list was read again");
    let read = app.host.read_resource("read".into(), EVERYTHING_SERVER_NAME.into(), link.uri.clone()).await.unwrap();
    let blob = read[0].blob.as_deref().unwrap_or_default();
    assert!(
        blob.starts_with("H4sI"),
        "[resources-text-blob]: the content should begin with the signature of gzip: {blob}"
    );
}

#[tokio::test]
async fn task_only_tool_runs_as_a_task() {
    let app = start_everything_server().await;
    let result = call_tool(&app, EVERYTHING_SERVER_NAME, "simulate-research-query", json!({ "topic": "tides" })).await;
    assert!(
        !result.is_error && result_text(&result).contains("tides"),
        "[tasks-two-phase]: the result of the task is returned: {result:?}"
    );
    let sent = |method, field| {
        move |e: &supervision::activity::ActivityEntry| {
            e.sent && e.method.as_deref() == Some(method) && e.body().contains(field)
        }
    };
    wait_for_activity(
        &app,
        EVERYTHING_SERVER_NAME,
        "[tasks-tool-required]: a tool call as a task",
        sent("tools/call", "\"task\":{"),
    )
    .await;
    wait_for_activity(
        &app,
        EVERYTHING_SERVER_NAME,
        "[tasks-two-phase]: the request for the result",
        sent("tasks/result", "\"taskId\""),
    )
    .await;
}
