//! Tests of tasks in 2026-07-28: the extension `io.modelcontextprotocol/tasks`, where the server decides.

use mcp_proto::types::TaskStatus;
use mcp_proto::*;
use serde_json::{Value, json};

use crate::peer::{
    TestSession, accepted_form_response, all_capabilities, client_config, form_elicitation_params, sampling_params,
    seconds, tool_call,
};

const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";
const SUBSCRIPTION_ID_KEY: &str = "io.modelcontextprotocol/subscriptionId";

fn task_test_session() -> TestSession {
    let mut capabilities = all_capabilities();
    capabilities["extensions"] = json!({ TASKS_EXTENSION: {} });
    let settings = SessionConfig { carrier: TransportKind::StreamableHttp, ..client_config(HandshakeMode::Probe) };
    TestSession::ready_with(Revision::V2026_07_28, capabilities, settings)
}

fn task_with_status(status: &str) -> Value {
    json!({ "resultType": "complete", "taskId": "t1", "status": status, "createdAt": "2026-07-28T10:00:00Z",
            "lastUpdatedAt": "2026-07-28T10:00:01Z", "ttlMs": 60_000, "pollIntervalMs": 1000 })
}

fn task_with_member(mut task: Value, key: &str, value: Value) -> Value {
    task[key] = value;
    task
}

/// Starts a call that the server continues as the task `t1`.
fn start_task(peer: &mut TestSession) -> CallId {
    let (call, sent) = peer.start_call(tool_call());
    peer.send_result(&sent["id"], task_with_member(task_with_status("working"), "resultType", json!("task")));
    match peer.take_event() {
        SessionEvent::TaskChanged { call: of, task } => {
            assert_eq!((of, task.status), (call, TaskStatus::Working), "[tasks-ext-polymorphic]: a task");
            assert_eq!(task.ttl, Some(seconds(60)), "retention time of the task");
        }
        other => panic!("[tasks-ext-polymorphic], [base-result-type-extensions]: expected a task event, not {other:?}"),
    }
    call
}

/// Advances time by the polling interval, and returns the `tasks/get` request that the session sends. Ignores other
/// messages.
fn wait_for_task_poll(peer: &mut TestSession) -> Value {
    peer.advance_time(seconds(1));
    let (body, head) = peer.take_posts().into_iter().find(|(body, _)| body["method"] == "tasks/get").expect(
        "[tasks-ext-poll-interval], [tasks-ext-poll-terminal], [tasks-ext-removed-methods]: the task must be polled",
    );
    assert_eq!(body["params"]["taskId"], "t1", "the poll must name the task");
    assert_eq!(head.name.as_deref(), Some("t1"), "[tasks-ext-mcp-name]");
    let declared = &body["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"]["extensions"];
    assert_eq!(*declared, json!({ TASKS_EXTENSION: {} }), "[tasks-ext-declare-on-task-methods]");
    body
}

fn input_request(key: &str) -> Value {
    json!({ key: { "method": "elicitation/create", "params": form_elicitation_params() } })
}

#[test]
fn tasks_extension_is_declared_with_each_request() {
    let mut peer = task_test_session();
    let (_, sent) = peer.start_call(tool_call());
    let declared = &sent["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
    assert_eq!(
        declared["extensions"],
        json!({ TASKS_EXTENSION: {} }),
        "[tasks-ext-declare], [lifecycle-ext-advertise-modern]"
    );
    assert_eq!(declared.get("tasks"), None, "[tasks-ext-declare]: the legacy capability must be absent");
    assert_eq!(sent["params"].get("task"), None, "[tasks-ext-server-directed]");
}

#[test]
fn task_ends_with_the_response_of_tasks_get() {
    let mut peer = task_test_session();
    let call = start_task(&mut peer);
    let sent = wait_for_task_poll(&mut peer);
    peer.send_result(&sent["id"], task_with_member(task_with_status("working"), "pollIntervalMs", json!(3000)));
    peer.take_events();
    let listen = peer.take_sent_messages().remove(0);
    assert_eq!(listen["params"]["notifications"]["taskIds"], json!(["t1"]), "[tasks-ext-subscribe]");
    peer.acknowledge_subscription(&listen);
    peer.advance_time(seconds(2));
    assert_eq!(
        peer.take_sent_messages(),
        Vec::<Value>::new(),
        "[tasks-ext-poll-interval]: a changed interval must be respected"
    );
    let sent = wait_for_task_poll(&mut peer);
    let result = json!({ "content": [], "isError": true, "ttlMs": 5 });
    peer.send_result(&sent["id"], task_with_member(task_with_status("completed"), "result", result));
    match peer.take_result(call) {
        Ok(ServerResult::Tool(result)) => assert!(result.is_error, "[tasks-ext-failed-vs-completed]: a tool's error"),
        other => panic!("[tasks-ext-removed-methods]: expected an inline result, not {other:?}"),
    }
    assert_eq!(
        peer.take_sent_messages(),
        Vec::<Value>::new(),
        "[tasks-ext-poll-terminal]: no further poll must be sent"
    );

    let call = start_task(&mut peer);
    let sent = wait_for_task_poll(&mut peer);
    let failed = task_with_member(task_with_status("failed"), "error", json!({ "code": -32603, "message": "broke" }));
    peer.send_result(&sent["id"], task_with_member(failed, "resultType", json!("task")));
    let end = peer.take_result(call);
    assert!(matches!(&end, Err(CallError::Server(e)) if e.code == -32603), "[tasks-ext-failed-vs-completed]: {end:?}");

    let call = start_task(&mut peer);
    let sent = wait_for_task_poll(&mut peer);
    peer.send_result(&sent["id"], task_with_member(task_with_status("cancelled"), "statusMessage", json!("no more")));
    let message = Some("no more".to_owned());
    assert_eq!(peer.take_result(call), Err(CallError::TaskCancelled { message }), "[tasks-ext-status-message]");

    let call = start_task(&mut peer);
    let sent = wait_for_task_poll(&mut peer);
    peer.send_error(&sent["id"], -32602, "unknown task");
    assert!(matches!(peer.take_result(call), Err(CallError::Server(_))), "[tasks-ext-unknown-task]");

    for wrong in [
        task_with_status("completed"),
        task_with_status("failed"),
        task_with_member(task_with_status("working"), "resultType", json!("input_required")),
    ] {
        let call = start_task(&mut peer);
        let sent = wait_for_task_poll(&mut peer);
        peer.send_result(&sent["id"], wrong);
        assert!(
            matches!(peer.take_result(call), Err(CallError::BadAnswer { .. })),
            "an end without a result must be rejected"
        );
    }
}

#[test]
fn only_tool_calls_become_tasks() {
    let mut peer = task_test_session();
    for request in [ClientRequest::ReadResource { uri: "a:b".into() }, ClientRequest::ListTools { cursor: None }] {
        let (call, sent) = peer.start_call(request);
        peer.send_result(&sent["id"], task_with_member(task_with_status("working"), "resultType", json!("task")));
        let end = peer.take_result(call);
        assert!(matches!(end, Err(CallError::BadAnswer { .. })), "[tasks-ext-unsupported-method]: {end:?}");
    }
}

#[test]
fn task_status_is_received_through_the_subscription() {
    let mut peer = task_test_session();
    let call = start_task(&mut peer);
    let sent = wait_for_task_poll(&mut peer);
    peer.send_result(&sent["id"], task_with_status("working"));
    let listen = peer.take_sent_messages().remove(0);
    peer.acknowledge_subscription(&listen);
    peer.take_events();
    let mut done = task_with_member(task_with_status("completed"), "result", json!({ "content": [] }));
    done["_meta"] = json!({ SUBSCRIPTION_ID_KEY: listen["id"] });
    peer.send_notification("notifications/tasks", done);
    assert!(peer.take_result(call).is_ok(), "[tasks-ext-subscribe]: a notification must end the call");
}

#[test]
fn task_input_is_requested_and_answered_once() {
    let mut peer = task_test_session();
    let call = start_task(&mut peer);
    let sent = wait_for_task_poll(&mut peer);
    let mut both = input_request("when");
    both["who"] = json!({ "method": "sampling/createMessage", "params": sampling_params() });
    peer.send_result(&sent["id"], task_with_member(task_with_status("input_required"), "inputRequests", both.clone()));
    let requests: Vec<_> = peer
        .take_events()
        .into_iter()
        .filter_map(|event| match event {
            SessionEvent::RequestReceived { request, call: of, .. } => {
                assert_eq!(of, Some(call), "[tasks-ext-same-trust]: the request must be reported like any other");
                Some(request)
            }
            _ => None,
        })
        .collect();
    assert_eq!(requests.len(), 2, "[tasks-ext-update]: each must be reported");
    peer.take_sent_messages();
    let sent = wait_for_task_poll(&mut peer);
    peer.send_result(&sent["id"], task_with_member(task_with_status("input_required"), "inputRequests", both.clone()));
    let again = peer.take_events().iter().filter(|event| matches!(event, SessionEvent::RequestReceived { .. })).count();
    assert_eq!(again, 0, "[tasks-ext-dedupe]");

    peer.session.answer(requests[0], accepted_form_response(), peer.now).unwrap();
    let (update, head) = peer.take_post();
    assert_eq!(
        (update["method"].as_str(), head.name.as_deref()),
        (Some("tasks/update"), Some("t1")),
        "[tasks-ext-mcp-name]"
    );
    let expected = json!({ "when": { "action": "accept", "content": { "day": "2026-08-01" } } });
    assert_eq!(update["params"]["inputResponses"], expected, "[tasks-ext-update-keys]");
    peer.send_result(&update["id"], json!({ "resultType": "complete" }));
    peer.advance_time(seconds(0));
    let sent = peer.take_sent_message();
    assert_eq!(sent["method"], "tasks/get", "[tasks-ext-observe-after-update]");
    peer.send_result(&sent["id"], task_with_member(task_with_status("input_required"), "inputRequests", both));
    assert_eq!(
        peer.take_sent_messages(),
        Vec::<Value>::new(),
        "[tasks-ext-answer-once]: a confirmed answer must not be sent again"
    );

    let sent = wait_for_task_poll(&mut peer);
    peer.send_result(&sent["id"], task_with_status("working"));
    let sent = wait_for_task_poll(&mut peer);
    peer.send_result(&sent["id"], task_with_member(task_with_status("working"), "inputRequests", json!({})));
    let events = peer.take_events();
    assert!(
        events.contains(&SessionEvent::Withdrawn { request: requests[1], why: WithdrawalReason::CancelledByServer }),
        "[tasks-ext-update-keys]: a request that is no longer open must be withdrawn: {events:?}"
    );
}

#[test]
fn lost_input_response_is_sent_again_while_requested() {
    let mut peer = task_test_session();
    let _call = start_task(&mut peer);
    let sent = wait_for_task_poll(&mut peer);
    peer.send_result(
        &sent["id"],
        task_with_member(task_with_status("input_required"), "inputRequests", input_request("when")),
    );
    let server_request = peer.take_events().into_iter().find_map(|event| match event {
        SessionEvent::RequestReceived { request, .. } => Some(request),
        _ => None,
    });
    peer.take_sent_messages();
    peer.session.answer(server_request.unwrap(), accepted_form_response(), peer.now).unwrap();
    let update = peer.take_sent_message();
    peer.report_undelivered(&update["id"], DeliveryFault::Lost { cause: "cut".into() });
    let sent = wait_for_task_poll(&mut peer);
    peer.send_result(
        &sent["id"],
        task_with_member(task_with_status("input_required"), "inputRequests", input_request("when")),
    );
    let again = peer.take_sent_message();
    assert_eq!(
        again["params"]["inputResponses"], update["params"]["inputResponses"],
        "the same answer must be sent again"
    );
}

#[test]
fn refused_input_or_cancelled_call_cancels_the_task() {
    let mut peer = task_test_session();
    let call = start_task(&mut peer);
    peer.session.cancel(call, CancelReason::User, peer.now);
    let (message, head) = peer.take_post();
    assert_eq!(message["method"], "tasks/cancel", "[tasks-ext-cancel-method], [tasks-ext-cancel-forget]");
    assert_eq!(head.name.as_deref(), Some("t1"), "[tasks-ext-mcp-name]");
    assert_eq!(
        peer.take_result(call),
        Err(CallError::Cancelled),
        "[tasks-ext-cancel-cooperative]: the call must end immediately"
    );
    peer.send_result(&message["id"], json!({}));
    assert_eq!(peer.take_events(), vec![], "the acknowledgement must be ignored");

    let call = start_task(&mut peer);
    let sent = wait_for_task_poll(&mut peer);
    peer.send_result(
        &sent["id"],
        task_with_member(task_with_status("input_required"), "inputRequests", input_request("when")),
    );
    let server_request = peer.take_events().into_iter().find_map(|event| match event {
        SessionEvent::RequestReceived { request, .. } => Some(request),
        _ => None,
    });
    peer.take_sent_messages();
    let refused = ClientResponse::Refused { code: -1, message: "no".into() };
    peer.session.answer(server_request.unwrap(), refused, peer.now).unwrap();
    assert_eq!(
        peer.take_sent_message()["method"],
        "tasks/cancel",
        "[tasks-ext-same-trust]: a refusal must cancel the task"
    );
    assert_eq!(peer.take_result(call), Err(CallError::Refused), "the call must end with the reason");

    let mut stdio = TestSession::ready(Revision::V2026_07_28);
    let (call, sent) = stdio.start_call(tool_call());
    stdio.session.cancel(call, CancelReason::User, stdio.now);
    stdio.take_sent_messages();
    stdio.take_events();
    stdio.send_result(&sent["id"], task_with_member(task_with_status("working"), "resultType", json!("task")));
    assert_eq!(
        stdio.take_sent_message()["method"],
        "tasks/cancel",
        "[cancel-races]: a task created meanwhile must be cancelled"
    );
}

#[test]
fn forbidden_input_request_ends_the_task_call() {
    for wrong in
        [json!({ "x": { "method": "ping" } }), json!({ "x": { "method": "elicitation/create", "params": {} } })]
    {
        let mut peer = task_test_session();
        let call = start_task(&mut peer);
        let sent = wait_for_task_poll(&mut peer);
        peer.send_result(&sent["id"], task_with_member(task_with_status("input_required"), "inputRequests", wrong));
        assert!(
            matches!(peer.take_result(call), Err(CallError::BadAnswer { .. })),
            "[tasks-ext-same-trust], [lifecycle-ext-untrusted]"
        );
    }
}

#[test]
fn task_without_progress_stays_alive() {
    let mut peer = task_test_session();
    let call = start_task(&mut peer);
    for step in 0..300 {
        let sent = wait_for_task_poll(&mut peer);
        peer.send_result(
            &sent["id"],
            task_with_member(task_with_status("working"), "statusMessage", json!(format!("step {step}"))),
        );
        let are_reported = peer.take_events().into_iter().any(|event| {
            matches!(event, SessionEvent::TaskChanged { task, .. } if task.status_message == Some(format!("step {step}")))
        });
        assert!(
            are_reported,
            "[tasks-ext-no-progress], [tasks-ext-status-message]: each status message must be reported"
        );
    }
    let sent = wait_for_task_poll(&mut peer);
    peer.send_result(&sent["id"], task_with_member(task_with_status("completed"), "result", json!({ "content": [] })));
    assert!(peer.take_result(call).is_ok(), "[tasks-ext-no-progress]: the call must survive 300 s without progress");
}
