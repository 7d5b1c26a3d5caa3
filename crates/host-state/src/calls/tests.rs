//! Tests the call table: ids, tickets, rounds of input requests, and origins of consent requests.

use domain::app_view::ProvidingApp;
use domain::item::ToolResult;
use mcp_proto::session::ClientRequest;
use mcp_proto::types::CallToolResult;
use serde_json::Map;
use tokio::sync::{mpsc, oneshot};

use super::*;
use crate::app_tools::AppToolCommand;

fn call(id: &str, server: &str, state: CallState) -> Box<CallRecord> {
    let (reply, _) = oneshot::channel();
    let name = "tool".to_owned();
    let request = ClientRequest::CallTool { name: name.clone(), arguments: Map::new(), as_task: false };
    let origin = CallOrigin::Model { conversation: "c".to_owned() };
    let (id, server, kind) = (id.to_owned(), server.to_owned(), CallKind::Tool);
    let new = NewCall { id, server, kind, name, origin, app: None, request, shown: None, repeats: None, sent: None };
    let mut record = CallRecord::new(new, 0, reply);
    record.view.state = state;
    Box::new(record)
}

fn table(calls: &[(&str, &str, CallState)]) -> CallTable {
    let records = calls.iter().map(|(id, server, state)| (Arc::from(*id), call(id, server, *state)));
    CallTable { records: records.collect(), ..CallTable::default() }
}

#[test]
fn call_ids_are_unique_and_calls_are_bounded() {
    let mut calls = table(&[("1", "s", CallState::Running)]);
    assert!(matches!(calls.check_new_call("1", "s"), Err(CallFailure::IdInUse(_))), "the id is in use");
    assert_eq!(calls.check_new_call("2", "s"), Ok(()), "another id is free");
    for n in 1..MAX_CALLS_IN_PROGRESS {
        let id = format!("more {n}");
        calls.records.insert(Arc::from(id.as_str()), call(&id, "s", CallState::Running));
    }
    assert!(matches!(calls.check_new_call("2", "s"), Err(CallFailure::Busy { .. })), "the number of calls is limited");
}

#[test]
fn outcome_for_a_call_does_not_apply_to_a_later_call_with_its_id() {
    let mut calls = table(&[("1", "s", CallState::Running)]);
    calls.records.get_mut("1").expect("the call exists").pending.writing = Some(7);
    assert!(calls.take_call_after_audit_write("1", 6).is_none(), "an entry of another call doesn't match");
    assert!(
        calls.take_call_after_path_resolution("1", 7).is_none(),
        "a call whose paths are not being resolved doesn't match"
    );
    let taken = calls.take_call_after_audit_write("1", 7).expect("the call matches its entry");
    assert_eq!(taken.pending.writing, None, "the call no longer waits for its entry");
    assert!(calls.records.is_empty(), "the call is removed from the table");
}

#[test]
fn running_call_is_found_by_its_method_only_if_unambiguous() {
    let mut calls = table(&[
        ("1", "s", CallState::Running),
        ("2", "s", CallState::AwaitingApproval),
        ("3", "other", CallState::Running),
    ]);
    assert_eq!(
        calls.only_running_call_with_method("s", "tools/call").as_deref(),
        Some("1"),
        "only one call was sent to the server"
    );
    assert_eq!(calls.only_running_call_with_method("s", "prompts/get"), None, "the call in progress is a tool call");
    let app = ProvidingApp { view: "v".to_owned(), tool: "show".to_owned() };
    let of_app = Box::new(CallRecord { app: Some(app), ..*call("5", "s", CallState::Running) });
    calls.records.insert(Arc::from("5"), of_app);
    let only = calls.only_running_call_with_method("s", "tools/call");
    assert_eq!(only.as_deref(), Some("1"), "a call that an app received was not sent to the server");
    calls.records.insert(Arc::from("4"), call("4", "s", CallState::Running));
    assert_eq!(calls.only_running_call_with_method("s", "tools/call"), None, "two calls in progress are ambiguous");
}

#[test]
fn cancellation_reaches_an_app_after_its_tools_are_turned_off() {
    let app = ProvidingApp { view: "v".to_owned(), tool: "show".to_owned() };
    let (commands, mut received) = mpsc::channel(1);
    let (server, conversation) = ("s".to_owned(), "c".to_owned());
    let mut calls = table(&[("2", "s", CallState::Running)]);
    let shown = Arc::new(());
    let tools = AppTools {
        server,
        app: app.clone(),
        conversation,
        tools: Arc::default(),
        commands: commands.clone(),
        shown: Arc::downgrade(&shown),
    };
    calls.app_tools.insert(tools);
    let running = CallRecord { app: Some(app), app_commands: Some(commands), ..*call("1", "s", CallState::Running) };
    calls.records.insert(Arc::from("1"), Box::new(running));
    assert!(calls.turn_off_app_tools("other").is_none(), "the tools of another app are not turned on");
    assert!(received.try_recv().is_err(), "the call continues");
    assert!(calls.turn_off_app_tools("v").is_some());
    let is_cancelled = |command| matches!(command, Ok(AppToolCommand::Cancel { call }) if call == "1");
    assert!(is_cancelled(received.try_recv()), "the running call is cancelled with the tools");
    let cancel = |calls: &CallTable| calls.records["1"].cancel_in_app();
    assert_eq!(cancel(&calls), Ok(true));
    assert!(matches!(cancel(&calls), Err(CallFailure::Busy { .. })), "the caller has to repeat the cancellation");
    assert!(is_cancelled(received.try_recv()), "the app receives the cancellation although its tools are off");
    drop(received);
    assert_eq!(cancel(&calls), Ok(true), "a closed app ends its calls");
    assert_eq!(calls.records["2"].cancel_in_app(), Ok(false), "a call of the server is not sent to an app");
}

#[test]
fn consent_requests_of_one_round_count_once() {
    let mut calls = table(&[("1", "s", CallState::Running)]);
    assert_eq!(calls.advance_input_round("1"), Some(1), "the first request starts a round");
    calls.records.get_mut("1").expect("the call exists").view.state = CallState::AwaitingInput;
    assert_eq!(calls.advance_input_round("1"), Some(1), "a request during a wait belongs to the same round");
    calls.records.get_mut("1").expect("the call exists").view.state = CallState::Running;
    assert_eq!(calls.advance_input_round("1"), Some(2), "a request after the call resumed starts a new round");
    assert_eq!(calls.advance_input_round("2"), None, "an unknown call has no round");
}

#[test]
fn tickets_are_listed_for_their_own_run_only() {
    let mut calls = CallTable::default();
    for (ticket, run) in [(1, 1), (2, 2), (3, 1)] {
        calls.tickets.insert(CallTicket(ticket), CallTicketPurpose::Call { run: RunId(run), id: Arc::from("x") });
    }
    let mut own = calls.tickets_of_run(RunId(1));
    own.sort();
    assert_eq!(own, [CallTicket(1), CallTicket(3)], "tickets of another run are not included");
}

#[test]
fn consent_request_belongs_to_the_conversation_of_its_call() {
    let mut calls = table(&[("1", "s", CallState::Running)]);
    let origin = calls.consent_origin(Some("1"));
    calls.records.clear();
    assert!(
        matches!(&origin, ConsentRequestOrigin::Call { call, .. } if call.as_str() == "1"),
        "the origin is the call: {origin:?}"
    );
    assert_eq!(origin.conversation(), Some("c"), "the conversation is known after the end of the call");
    assert_eq!(
        calls.consent_origin(Some("gone")),
        ConsentRequestOrigin::Server,
        "a call that has ended is not an origin"
    );
    assert_eq!(ConsentRequestOrigin::Server.conversation(), None, "a request of a server has no conversation");
}

#[test]
fn cancelled_result_review_stops_the_model_and_a_denied_one_does_not() {
    for (outcome, stops) in [(ConsentRequestOutcome::Cancelled, true), (ConsentRequestOutcome::Denied, false)] {
        let (mut calls, (reply, mut verdict)) = (CallTable::default(), oneshot::channel());
        let result = ToolResult::new(CallToolResult::default(), None, Map::new());
        calls.held_results.insert("1".to_owned(), ResultUnderReview { result, reply });
        calls.withhold_result("1", outcome, "by the user".to_owned());
        let expected = if stops { ResultReviewVerdict::Stops } else { ResultReviewVerdict::Withheld };
        assert_eq!(verdict.try_recv(), Ok(expected("by the user".to_owned())), "{outcome:?}");
    }
}
