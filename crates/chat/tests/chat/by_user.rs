//! Tests of calls that the user makes on the page or the command line: their results and their records in the history.

use chat::ToolCall;
use domain::call::{CallFailure, CallFailureCode, CallRefusal};
use domain::consent_request::ConsentRequestOrigin;
use domain::item::{ItemBody, ItemState, ToolResult};
use host::CallOrigin;
use host::view::{ConsentRequestBody, ConsentRequestView, UserDecision};
use policy::ApprovalScope;
use serde_json::{Map, json};
use std::time::Duration;
use testkit::time::advance_time;
use tokio::task::JoinHandle;

use super::{CONVERSATION_ID, TestConversation, failing_history};

/// Returns a call of the tool `add` by the user in the test conversation, with this call id.
pub(super) fn user_call_of_add_tool(id: &str) -> ToolCall {
    let arguments = json!({"a": 2, "b": 40}).as_object().cloned().unwrap();
    let origin = CallOrigin::User { conversation: Some(CONVERSATION_ID.into()) };
    ToolCall { id: id.into(), origin, server: "demo".into(), app: None, tool: "add".into(), arguments, repeats: None }
}

fn is_tool_call_request(request: &ConsentRequestView) -> bool {
    matches!(request.body, ConsentRequestBody::Tool { .. })
}

/// Spawns a task that approves every call that asks, each once, until the task is aborted.
pub(super) fn approve_all_calls(talk: &TestConversation) -> JoinHandle<()> {
    talk.app.decide_automatically(|request| {
        is_tool_call_request(request).then_some(UserDecision::Allow(ApprovalScope::Once))
    })
}

/// Calls a tool as the user, and answers the consent request with the given decision.
async fn call_tool_and_decide_request(
    talk: &TestConversation,
    call: ToolCall,
    answer: UserDecision,
) -> (ConsentRequestOrigin, Result<ToolResult, CallFailure>) {
    let id = call.id.clone();
    let decide = async {
        let request = talk.app.consent_request("demo", "the call", is_tool_call_request).await;
        assert_eq!(request.call.as_deref(), Some(id.as_str()), "the consent request names the call");
        talk.app.decide(&request, answer).await;
        request.origin
    };
    tokio::join!(decide, talk.chat.call_tool(call))
}

/// Returns the tool calls in the history of the test conversation: item id, call id, result and error of each.
fn stored_tool_calls(talk: &TestConversation) -> Vec<(String, String, Option<ToolResult>, Option<String>)> {
    let items = talk.items().into_iter().map(|item| {
        assert_eq!(item.state, ItemState::Whole, "{item:?} is complete");
        let ItemBody::ToolCall { call, result, error, used: None, .. } = item.body else { panic!("{item:?}") };
        (item.id, call, result, error)
    });
    items.collect()
}

#[tokio::test]
async fn tool_call_by_the_user_is_stored_once_under_its_call_id() {
    let talk = TestConversation::new(Vec::new(), &["add"]).await;
    let (why, result) =
        call_tool_and_decide_request(&talk, user_call_of_add_tool("sum"), UserDecision::Allow(ApprovalScope::Once))
            .await;
    assert_eq!(
        why,
        ConsentRequestOrigin::User { conversation: Some(CONVERSATION_ID.into()) },
        "the origin is the user in the conversation"
    );
    let result = result.unwrap();
    assert!(json!(result.content).to_string().contains("2 + 40 = 42"), "the call was made: {result:?}");
    assert_eq!(
        stored_tool_calls(&talk),
        [("sum".into(), "sum".into(), Some(result), None)],
        "the stored result equals the returned one"
    );
}

/// Returns the stored duration of the only call, and the part of it that waited for decisions, in milliseconds.
fn stored_durations(talk: &TestConversation) -> (u64, u64) {
    match &talk.items()[0].body {
        ItemBody::ToolCall { duration_milliseconds, waited_milliseconds: Some(waited), .. } => {
            (*duration_milliseconds, *waited)
        }
        other => panic!("{other:?} is not a completed call"),
    }
}

#[tokio::test]
async fn wait_for_the_decision_is_stored_apart_from_the_duration() {
    const DECISION_TIME: Duration = Duration::from_secs(20);
    let talk = TestConversation::new(Vec::new(), &["add"]).await;
    let decide = async {
        let request = talk.app.consent_request("demo", "the call", is_tool_call_request).await;
        advance_time(DECISION_TIME).await;
        talk.app.decide(&request, UserDecision::Allow(ApprovalScope::Once)).await;
    };
    let ((), result) = tokio::join!(decide, talk.chat.call_tool(user_call_of_add_tool("sum")));
    result.unwrap();
    let (took, waited) = stored_durations(&talk);
    assert!(waited >= 20_000, "the decision took 20 seconds: {waited} ms");
    assert!(took >= waited, "the wait should be part of the duration: {took} ms");
    assert!(took - waited < 20_000, "the call itself should be short: {took} ms");
}

#[tokio::test]
async fn wait_for_a_form_during_the_call_is_stored_apart_from_the_duration() {
    const FORM_TIME: Duration = Duration::from_secs(20);
    let talk = TestConversation::new(Vec::new(), &["ask_user"]).await;
    let approvals = approve_all_calls(&talk);
    let fill_in = async {
        let is_form = |request: &ConsentRequestView| matches!(request.body, ConsentRequestBody::Form { .. });
        let request = talk.app.consent_request("demo", "the form", is_form).await;
        advance_time(FORM_TIME).await;
        talk.app.decide(&request, UserDecision::Deny).await;
    };
    let call = ToolCall { tool: "ask_user".into(), arguments: Map::new(), ..user_call_of_add_tool("asked") };
    let ((), result) = tokio::join!(fill_in, talk.chat.call_tool(call));
    result.unwrap();
    approvals.abort();
    let (took, waited) = stored_durations(&talk);
    assert!(waited >= 20_000, "the form took 20 seconds: {waited} ms");
    assert!(took >= waited, "the wait should be part of the duration: {took} ms");
    assert!(took - waited < 20_000, "the call itself should be short: {took} ms");
}

#[tokio::test]
async fn denied_user_call_is_stored_as_denied() {
    let talk = TestConversation::new(Vec::new(), &["add"]).await;
    let (_, result) = call_tool_and_decide_request(
        &talk,
        user_call_of_add_tool("sum"),
        UserDecision::DenyBecause("wrong numbers".into()),
    )
    .await;
    let failure = result.unwrap_err();
    assert!(matches!(&failure, CallFailure::Refused { text, .. } if text.contains("wrong numbers")), "{failure:?}");
    assert_eq!(
        stored_tool_calls(&talk),
        [("sum".into(), "sum".into(), None, Some(failure.to_string()))],
        "the stored error contains the reason"
    );
    let refusal = Some(CallRefusal::DeniedByUser { reason: Some("wrong numbers".into()) });
    assert_eq!(failure.refusal(), refusal.as_ref(), "the caller learns who denied the call");
    let ItemBody::ToolCall { failure, refusal: stored, .. } = &talk.items()[0].body else {
        panic!("the item is not a tool call")
    };
    assert_eq!((*failure, stored), (Some(CallFailureCode::Refused), &refusal), "the cause is stored");
    let (took, waited) = stored_durations(&talk);
    assert_eq!(took, waited, "a call that was not sent only waited");
    assert!(!talk.app.activity("demo").await.contains("tools/call"), "no call was sent");
}

#[tokio::test]
async fn call_that_cannot_be_stored_still_returns_its_outcome() {
    let talk = failing_history::conversation_with_rejecting_history(|item| item.body["kind"] == "tool_call").await;
    let (_, result) =
        call_tool_and_decide_request(&talk, user_call_of_add_tool("made"), UserDecision::Allow(ApprovalScope::Once))
            .await;
    assert!(json!(result.unwrap().content).to_string().contains("2 + 40 = 42"), "the call was made");
    let (_, result) = call_tool_and_decide_request(&talk, user_call_of_add_tool("denied"), UserDecision::Deny).await;
    assert!(matches!(result, Err(CallFailure::Refused { .. })), "{result:?}");
    assert!(stored_tool_calls(&talk).is_empty(), "the history contains neither call");
}

#[tokio::test]
async fn command_line_call_is_a_user_call_without_a_conversation() {
    let talk = TestConversation::new(Vec::new(), &["add"]).await;
    let call = ToolCall { origin: CallOrigin::CommandLine, ..user_call_of_add_tool("cli") };
    let (why, result) = call_tool_and_decide_request(&talk, call, UserDecision::Allow(ApprovalScope::Once)).await;
    assert_eq!(why, ConsentRequestOrigin::User { conversation: None }, "the origin is the user without a conversation");
    assert!(result.is_ok(), "{result:?}");
    assert!(stored_tool_calls(&talk).is_empty(), "the call is not recorded in the history");
}

#[tokio::test]
async fn edited_arguments_are_stored_and_returned() {
    let talk = TestConversation::new(Vec::new(), &["add"]).await;
    let changed = json!({"a": 3, "b": 40});
    let decide = async {
        let request = talk.app.consent_request("demo", "the call", is_tool_call_request).await;
        let edit = host::view::ConsentRequestEdit::Arguments(changed.as_object().cloned().unwrap());
        let edited = talk.app.host.edit_consent_request(request.id, edit).await.unwrap();
        talk.app.decide(&edited, UserDecision::Allow(ApprovalScope::Once)).await;
    };
    let ((), result) = tokio::join!(decide, talk.chat.call_tool(user_call_of_add_tool("sum")));
    assert_eq!(result.unwrap().arguments, changed, "the caller receives the sent arguments");
    let ItemBody::ToolCall { arguments, .. } = &talk.items()[0].body else { panic!("the item is not a tool call") };
    assert_eq!(*arguments, changed, "the history contains the sent arguments");
}
