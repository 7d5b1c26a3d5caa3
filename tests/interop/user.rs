//! User of the tests: calls tools, approves the calls, waits for events, and reads the sent messages.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use testkit::calls::UserCalls as _;

use domain::call::CallFailure;
use host::EventReceiver;
use host::view::{ConsentRequestBody, ConsentRequestView, HostEvent, UserDecision};
use mcp_proto::types::{CallToolResult, ContentBlock};
use offers::catalog::ServerCatalog;
use policy::ApprovalScope;
use serde_json::{Map, Value};
use supervision::activity::ActivityEntry;
use testkit::app::{EVENT_TIMEOUT, TestApp};
use tokio::task::JoinHandle;
use tokio::time::timeout;

pub(crate) type CallOutcome = Result<CallToolResult, CallFailure>;

pub(crate) fn to_json_object(value: &Value) -> Map<String, Value> {
    value.as_object().expect("arguments in a JSON object").clone()
}

pub(crate) fn is_tool_call_request(request: &ConsentRequestView) -> bool {
    matches!(request.body, ConsentRequestBody::Tool { .. })
}

/// Returns a call id that no other call in this process has.
pub(crate) fn next_call_id() -> String {
    static LAST_CALL_NUMBER: AtomicU64 = AtomicU64::new(0);
    format!("call-{}", LAST_CALL_NUMBER.fetch_add(1, Ordering::Relaxed))
}

/// Starts a tool call in a spawned task. The test still has to approve the call.
pub(crate) fn spawn_call(
    app: &TestApp,
    id: &str,
    server: &str,
    tool: &str,
    arguments: &Value,
) -> JoinHandle<CallOutcome> {
    let (host, id, server, tool) = (app.host.clone(), id.to_owned(), server.to_owned(), tool.to_owned());
    let arguments = to_json_object(arguments);
    tokio::spawn(async move { host.call_tool(id, server, tool, arguments, None).await.map(|(result, _)| result) })
}

/// Waits for the consent request of a tool call, approves it once, and returns it.
pub(crate) async fn allow_next_tool_call(app: &TestApp, server: &str, tool: &str) -> ConsentRequestView {
    let is_it = |q: &ConsentRequestView| matches!(&q.body, ConsentRequestBody::Tool { tool: t, .. } if t.name == tool);
    let request = app.consent_request(server, &format!("the tool {tool}"), is_it).await;
    app.decide(&request, UserDecision::Allow(ApprovalScope::Once)).await;
    request
}

/// Starts a tool call in a spawned task, and approves it once.
pub(crate) async fn start_allowed_call(
    app: &TestApp,
    server: &str,
    tool: &str,
    arguments: Value,
) -> JoinHandle<CallOutcome> {
    let call = spawn_call(app, &next_call_id(), server, tool, &arguments);
    allow_next_tool_call(app, server, tool).await;
    call
}

pub(crate) async fn await_call(call: JoinHandle<CallOutcome>) -> CallOutcome {
    timeout(EVENT_TIMEOUT, call)
        .await
        .expect("the call should end before the timeout")
        .expect("the task of the call should not panic")
}

/// Calls a tool, approves the call once, and returns its result.
pub(crate) async fn call_tool(app: &TestApp, server: &str, tool: &str, arguments: Value) -> CallToolResult {
    let called = await_call(start_allowed_call(app, server, tool, arguments).await).await;
    called.unwrap_or_else(|error| panic!("{tool} of {server} should return a result: {error}"))
}

/// Calls a tool repeatedly until its result contains the text `expected`, and returns that result.
pub(crate) async fn call_until_result_contains(
    app: &TestApp,
    server: &str,
    tool: &str,
    expected: &str,
) -> CallToolResult {
    let mut last = String::new();
    let found = timeout(EVENT_TIMEOUT, async {
        loop {
            let result = call_tool(app, server, tool, Value::Object(Map::new())).await;
            last = result_text(&result);
            if last.contains(expected) {
                return result;
            }
            // sleep: polls until the condition holds, which no event reports.
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
    })
    .await;
    found.unwrap_or_else(|_| panic!("{tool} of {server} should return {expected:?}, but returns {last:?}"))
}

/// Starts a tool call and approves it once. Returns the running call, and the consent request that the server causes
/// during the call.
pub(crate) async fn start_call_with_request(
    app: &TestApp,
    server: &str,
    tool: &str,
    arguments: Value,
) -> (JoinHandle<CallOutcome>, ConsentRequestView) {
    let call = start_allowed_call(app, server, tool, arguments).await;
    let request = app
        .consent_request(server, "a request of the server", |q| {
            !is_tool_call_request(q) && q.body != ConsentRequestBody::Roots
        })
        .await;
    (call, request)
}

/// Returns the text blocks of a result, joined by line ends.
pub(crate) fn result_text(result: &CallToolResult) -> String {
    let texts = result.content.iter().filter_map(|b| if let ContentBlock::Text(t) = b { Some(&*t.text) } else { None });
    texts.collect::<Vec<_>>().join("\n")
}

/// Waits until all lists of a server have been read, and returns its catalog.
pub(crate) async fn wait_for_complete_catalog(app: &TestApp, server: &str) -> Arc<ServerCatalog> {
    let mut events = app.host.events();
    let read = async {
        loop {
            let catalog = app.host.catalog(server.to_owned()).await.unwrap();
            if catalog.is_read {
                return catalog;
            }
            events.next().await;
        }
    };
    timeout(EVENT_TIMEOUT, read)
        .await
        .unwrap_or_else(|_| panic!("the lists of {server} should be read before the timeout"))
}

/// Waits for an event for which `fits` returns a value, and returns the value.
pub(crate) async fn wait_for_event<T>(
    events: &mut EventReceiver,
    what: &str,
    fits: impl Fn(&HostEvent) -> Option<T>,
) -> T {
    let found = async {
        while let Some(event) = events.next().await {
            if let Some(found) = fits(&event.event) {
                return found;
            }
        }
        panic!("the host should send {what} before it ends");
    };
    timeout(EVENT_TIMEOUT, found).await.unwrap_or_else(|_| panic!("{what} should arrive before the timeout"))
}

/// Returns all entries of the activity log of a server.
pub(crate) async fn activity_entries(app: &TestApp, server: &str) -> Vec<ActivityEntry> {
    app.host.activity_page(server.to_owned(), 0, usize::MAX).await.unwrap().entries
}

/// Returns the methods of the requests and notifications that the host sent to a server, in order.
pub(crate) async fn sent_methods(app: &TestApp, server: &str) -> Vec<String> {
    use supervision::activity::ActivityKind::{Notification, Request};
    let entries = activity_entries(app, server).await;
    let sent = entries.into_iter().filter(|e| e.sent && matches!(e.kind, Request | Notification));
    sent.filter_map(|e| e.method.map(std::borrow::Cow::into_owned)).collect()
}

/// Waits until the activity log of a server contains an entry for which `fits` returns `true`.
pub(crate) async fn wait_for_activity(app: &TestApp, server: &str, what: &str, fits: impl Fn(&ActivityEntry) -> bool) {
    let mut events = app.host.events();
    let is_there = async {
        while !activity_entries(app, server).await.iter().any(&fits) {
            events.next().await;
        }
    };
    timeout(EVENT_TIMEOUT, is_there)
        .await
        .unwrap_or_else(|_| panic!("the activity log of {server} should contain {what}"));
}
