//! Steps that the tests in `consent.rs` share: starting a server, calling a tool, and its form.

use domain::call::CallFailure;
use host::view::{ConsentRequestBody, ConsentRequestView, UserDecision};
use mcp_proto::types::ContentBlock;
use policy::ApprovalScope;
use serde_json::{Map, Value, json};
use testkit::app::{EVENT_TIMEOUT, TestApp, demo_config};
use testkit::calls::UserCalls as _;
use tokio::task::JoinHandle;

type CallOutcome = Result<(mcp_proto::types::CallToolResult, Option<Map<String, Value>>), CallFailure>;

pub(super) fn to_map(value: Value) -> Map<String, Value> {
    value.as_object().expect("an object").clone()
}

pub(super) fn start_call(app: &TestApp, id: &str, tool: &str, arguments: Value) -> JoinHandle<CallOutcome> {
    let (host, id, tool) = (app.host.clone(), id.to_owned(), tool.to_owned());
    tokio::spawn(async move { host.call_tool(id, "harbour".into(), tool, to_map(arguments), None).await })
}

pub(super) async fn await_call(call: JoinHandle<CallOutcome>) -> CallOutcome {
    tokio::time::timeout(EVENT_TIMEOUT, call).await.expect("the call ends").expect("it does not panic")
}

pub(super) fn result_text(called: &CallOutcome) -> String {
    let (result, _) = called.as_ref().unwrap_or_else(|e| panic!("the call should have been answered: {e}"));
    result
        .content
        .iter()
        .filter_map(|b| if let ContentBlock::Text(t) = b { Some(t.text.as_str()) } else { None })
        .collect()
}

pub(super) fn is_tool_call(request: &ConsentRequestView) -> bool {
    matches!(request.body, ConsentRequestBody::Tool { .. })
}

pub(super) async fn start_demo_host(era: &str) -> TestApp {
    let app = TestApp::start(vec![("harbour", demo_config(&["--era", era]))]).await;
    app.ready("harbour").await;
    app.until("harbour", "known whole", |s| s.counts[0] >= 16).await;
    app
}

/// Approves the pending tool call once. Returns the consent request that the tool then causes.
pub(super) async fn request_after_tool_approval(app: &TestApp) -> ConsentRequestView {
    let request = app.consent_request("harbour", "the tool", is_tool_call).await;
    app.decide(&request, UserDecision::Allow(ApprovalScope::Once)).await;
    app.consent_request("harbour", "something more", |q| !is_tool_call(q)).await
}

/// Returns values for the fields of a form that are required or have no default, each as short as the field permits.
pub(super) fn shortest_valid_form_content(form: &server_requests::form::Form) -> Map<String, Value> {
    use server_requests::form::{FieldKind, TextFormat};
    form.fields
        .iter()
        .filter(|f| f.required || f.default.is_none())
        .map(|field| {
            let value = match &field.kind {
                FieldKind::Text { format, min_length, .. } => match format {
                    Some(TextFormat::Email) => json!("ann@harbour.example"),
                    Some(TextFormat::Uri) => json!("https://harbour.example/"),
                    Some(TextFormat::Date) => json!("2026-07-28"),
                    Some(TextFormat::DateTime) => json!("2026-07-28T12:00:00Z"),
                    None => json!("a".repeat(min_length.unwrap_or(1).max(1) as usize)),
                },
                FieldKind::Number { minimum, .. } => {
                    let least = minimum.unwrap_or(1.0).ceil();
                    json!(least as i64)
                }
                FieldKind::Boolean => json!(true),
                FieldKind::Choice { options } => json!(options[0].value),
                FieldKind::Choices { options, min_items, .. } => {
                    json!(
                        options
                            .iter()
                            .take(min_items.unwrap_or(1).max(1) as usize)
                            .map(|o| &o.value)
                            .collect::<Vec<_>>()
                    )
                }
            };
            (field.name.clone(), value)
        })
        .collect()
}
