//! Tests of the output schema that the result of a server's tool is checked against.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chat::{Chat, ToolCall};
use host::CallOrigin;
use host::view::{ConsentRequestBody, UserDecision};
use mcp_proto::session::ListKind;
use policy::ApprovalScope;
use serde_json::{Map, Value, json};
use testkit::app::{EVENT_TIMEOUT, TestApp, remote_config};
use testkit::deadline::{poll_until, within};
use testkit::http::{HttpServer, ordinary};
use tokio::sync::Notify;

const REVISION: &str = "2025-11-25";

/// Returns the output schema of a tool whose result has a member `n` of this type.
fn schema_with_type(name: &str) -> Value {
    json!({ "type": "object", "properties": { "n": { "type": name } } })
}

/// State of a server that a test changes.
#[derive(Default)]
struct ServerScript {
    /// Set if the server lists its tool with another output schema.
    is_changed: AtomicBool,
    /// Notified to let the server respond to a call.
    responds: Notify,
}

/// Starts a server whose tool returns `{"n": 1}`. The output schema of the tool requires `first`, and after a change
/// `second`, as the type of `n`.
async fn start_server(script: Arc<ServerScript>, [first, second]: [&'static str; 2]) -> HttpServer {
    HttpServer::start(move |request, mut answer| {
        let script = Arc::clone(&script);
        async move {
            let body = request.json();
            let result = match body["method"].as_str() {
                Some("tools/list") => {
                    let schema =
                        schema_with_type(if script.is_changed.load(Ordering::Relaxed) { second } else { first });
                    let tool = json!({ "name": "count", "inputSchema": { "type": "object" }, "outputSchema": schema });
                    json!({ "tools": [tool] })
                }
                Some("tools/call") => {
                    script.responds.notified().await;
                    json!({ "content": [], "structuredContent": { "n": 1 } })
                }
                _ => return ordinary::respond(REVISION, &request, answer).await,
            };
            answer.json(&json!({ "jsonrpc": "2.0", "id": body["id"], "result": result })).await
        }
    })
    .await
}

#[tokio::test]
async fn result_is_checked_against_the_output_schema_when_the_call_was_sent() {
    for (types, is_valid) in [(["number", "string"], true), (["string", "number"], false)] {
        let script = Arc::new(ServerScript::default());
        let server = start_server(Arc::clone(&script), types).await;
        let app = TestApp::start(vec![("far", remote_config(&server.url("/mcp")))]).await;
        app.ready("far").await;
        let chat = Chat::new(app.host.clone());
        let origin = CallOrigin::User { conversation: None };
        let (server_name, tool, arguments) = ("far".to_owned(), "count".to_owned(), Map::new());
        let call = ToolCall { id: "1".into(), origin, server: server_name, app: None, tool, arguments, repeats: None };
        let call = tokio::spawn(async move { chat.call_tool(call).await });
        let is_call = |body: &ConsentRequestBody| matches!(body, ConsentRequestBody::Tool { .. });
        let request = app.consent_request("far", "the call", |request| is_call(&request.body)).await;
        app.decide(&request, UserDecision::Allow(ApprovalScope::Once)).await;
        assert!(poll_until(EVENT_TIMEOUT, || server.count("tools/call") == 1).await, "the call is sent");
        script.is_changed.store(true, Ordering::Relaxed);
        let catalog = app.host.refresh_list("far".to_owned(), ListKind::Tools).await.expect("the list is read");
        let listed = catalog.tool("count").expect("the tool is listed").output_schema;
        assert_eq!(listed, Some(schema_with_type(types[1])), "the host knows the new definition during the call");
        script.responds.notify_one();
        let result = within(EVENT_TIMEOUT, "the call ends", call).await.unwrap().expect("the call returns a result");
        assert_eq!(result.structured_problem.is_none(), is_valid, "{types:?}: {result:?}");
        app.host.close().await;
    }
}
