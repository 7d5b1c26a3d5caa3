//! Tests of tasks in 2025-11-25: the client requests them, polls them and fetches the result.

use std::time::Duration;

use mcp_proto::types::TaskStatus;
use mcp_proto::*;
use serde_json::{Value, json};

use crate::peer::{
    LONG_DEADLINE, TestSession, accepted_form_response, all_capabilities, client_config, form_elicitation_params,
    seconds,
};

const RELATED_TASK_KEY: &str = "io.modelcontextprotocol/related-task";

fn tasks_capability() -> Value {
    json!({ "list": {}, "cancel": {}, "requests": { "tools": { "call": {} } } })
}

/// Returns a session with a server that has this tasks capability and one tool for each kind of task support.
fn test_session_with_tasks_capability(tasks: Value) -> TestSession {
    let mut capabilities = all_capabilities();
    capabilities["tasks"] = tasks;
    let mut peer = TestSession::ready_with(Revision::V2025_11_25, capabilities, client_config(HandshakeMode::Probe));
    let tool = |name: &str, execution: Value| json!({ "name": name, "inputSchema": {}, "execution": execution });
    let tools = json!([
        tool("required", json!({ "taskSupport": "required" })),
        tool("optional", json!({ "taskSupport": "optional" })),
        tool("forbidden", json!({ "taskSupport": "forbidden" })),
        tool("silent", json!({})),
    ]);
    let (call, sent) = peer.start_call(ClientRequest::ListTools { cursor: None });
    peer.send_result(&sent["id"], json!({ "tools": tools }));
    peer.take_result(call).unwrap();
    peer
}

fn task_test_session() -> TestSession {
    test_session_with_tasks_capability(tasks_capability())
}

fn tool_call_request(tool: &str, as_task: bool) -> ClientRequest {
    ClientRequest::CallTool { name: tool.into(), arguments: serde_json::Map::new(), as_task }
}

fn task_with_status(status: &str) -> Value {
    json!({ "taskId": "t1", "status": status, "createdAt": "2025-11-25T10:00:00Z",
            "lastUpdatedAt": "2025-11-25T10:00:01Z", "ttl": null, "pollInterval": 5000, "statusMessage": "at it" })
}

/// Starts a call that the server continues as the task `t1`.
fn start_task(peer: &mut TestSession) -> (CallId, Value) {
    let (call, sent) = peer.start_call(tool_call_request("required", false));
    peer.send_result(&sent["id"], json!({ "task": task_with_status("working") }));
    match peer.take_event() {
        SessionEvent::TaskChanged { call: of, task } => {
            assert_eq!(of, call, "[tasks-track-ids]: the event must name the call");
            assert_eq!(task.status, TaskStatus::Working, "status of the task");
            assert_eq!(task.poll_interval, Some(seconds(5)), "interval of the task");
            assert_eq!((task.id.as_str(), task.ttl), ("t1", None), "identifier and unlimited retention");
            assert_eq!(task.status_message.as_deref(), Some("at it"), "status message of the task");
        }
        other => panic!("[tasks-log-lifecycle]: expected a task event, not {other:?}"),
    }
    (call, sent)
}

/// Advances time by the polling interval of the task, and returns the `tasks/get` request that the session sends.
fn wait_for_task_poll(peer: &mut TestSession) -> Value {
    peer.advance_time(seconds(5));
    let sent = peer.take_sent_message();
    assert_eq!(sent["method"], "tasks/get", "[tasks-poll-until-terminal]");
    assert_eq!(sent["params"], json!({ "taskId": "t1" }), "[tasks-related-meta-omit]: only the id must be sent");
    sent
}

#[test]
fn call_runs_as_a_task_only_if_server_and_tool_support_it() {
    for (proves, capability, tool, as_task, expected) in [
        ("[tasks-tool-required]", tasks_capability(), "required", false, true),
        ("[tasks-tool-optional]: requested", tasks_capability(), "optional", true, true),
        ("[tasks-tool-optional]: not requested", tasks_capability(), "optional", false, false),
        ("[tasks-tool-forbidden]", tasks_capability(), "forbidden", true, false),
        ("[tasks-tool-forbidden]: absent", tasks_capability(), "silent", true, false),
        ("[tasks-tool-forbidden]: never listed", tasks_capability(), "unknown", true, false),
        ("[tasks-tool-needs-capability]", json!({ "list": {}, "cancel": {} }), "required", true, false),
        ("[tasks-requests-exhaustive]", json!({ "requests": { "tools": {} } }), "required", true, false),
        ("[tasks-none-declared]", Value::Null, "required", true, false),
        ("[tasks-augment-declared-only]", json!({ "requests": {} }), "optional", true, false),
    ] {
        let mut peer = test_session_with_tasks_capability(capability);
        let (_, sent) = peer.start_call(tool_call_request(tool, as_task));
        let parameter = &sent["params"]["task"];
        assert_eq!(parameter.is_object(), expected, "{proves}: {sent}");
        if expected {
            assert_eq!(parameter["ttl"], 3_600_000, "[tasks-request-ttl]");
        }
    }
    let (_, sent) = task_test_session().start_call(ClientRequest::ReadResource { uri: "a:b".into() });
    assert_eq!(sent["params"].get("task"), None, "[tasks-requests-exhaustive]: only tool calls may be tasks");
    let mut modern = TestSession::ready(Revision::V2026_07_28);
    let (_, sent) = modern.start_call(tool_call_request("required", true));
    assert_eq!(sent["params"].get("task"), None, "[tasks-ext-server-directed]");
}

/// A second poll that is scheduled while the first is pending would stay due, so the caller would never wait for the
/// response.
#[test]
fn notification_during_a_task_poll_schedules_no_second_poll() {
    let mut peer = task_test_session();
    let (_, _) = start_task(&mut peer);
    let poll = wait_for_task_poll(&mut peer);
    peer.send_notification("notifications/tasks/status", task_with_status("working"));
    // Fails if a timeout stays due after it was handled.
    peer.advance_time(seconds(5));
    assert_eq!(peer.take_sent_messages(), Vec::<Value>::new(), "a pending poll must be the only one");
    peer.send_result(&poll["id"], task_with_status("working"));
    wait_for_task_poll(&mut peer);
}

#[test]
fn task_is_polled_and_its_result_fetched() {
    let mut peer = task_test_session();
    let (call, first) = start_task(&mut peer);
    peer.advance_time(Duration::from_millis(4999));
    assert_eq!(peer.take_sent_messages(), Vec::<Value>::new(), "[tasks-poll-interval]: no poll before the interval");
    peer.advance_time(Duration::from_millis(1));
    let sent = peer.take_sent_message();
    assert_eq!(sent["method"], "tasks/get", "[tasks-poll-interval]");
    let mut now = task_with_status("working");
    now["statusMessage"] = json!("half way");
    now["pollInterval"] = json!(1);
    peer.send_result(&sent["id"], now);
    assert!(
        matches!(peer.take_event(), SessionEvent::TaskChanged { .. }),
        "[tasks-log-lifecycle]: a changed message must be reported"
    );
    let token = first["params"]["_meta"]["progressToken"].clone();
    peer.send_notification("notifications/progress", json!({ "progressToken": token, "progress": 0.5 }));
    assert!(
        matches!(peer.take_event(), SessionEvent::Progress { call: of, .. } if of == call),
        "[progress-task-token-lifetime]"
    );
    peer.advance_time(Duration::from_millis(99));
    assert_eq!(peer.take_sent_messages(), Vec::<Value>::new(), "an interval of 1 ms must be raised to 100 ms");
    peer.advance_time(Duration::from_millis(1));
    let sent = peer.take_sent_message();
    let mut slow = task_with_status("working");
    slow["pollInterval"] = json!(1_000_000_000_000_u64);
    peer.send_result(&sent["id"], slow);
    peer.take_events();
    peer.advance_time(seconds(60));
    let sent = peer.take_sent_message();
    assert_eq!(sent["method"], "tasks/get", "an interval of years must be lowered to one minute");
    peer.send_result(&sent["id"], task_with_status("completed"));
    peer.take_events();
    let sent = peer.take_sent_message();
    assert_eq!(sent["method"], "tasks/result", "[tasks-two-phase]");
    assert_eq!(sent["params"], json!({ "taskId": "t1" }), "[tasks-related-meta-omit]");
    let meta = json!({ RELATED_TASK_KEY: { "taskId": "t1" } });
    peer.send_result(&sent["id"], json!({ "content": [{ "type": "text", "text": "42" }], "_meta": meta }));
    match peer.take_result(call) {
        Ok(ServerResult::Tool(result)) => {
            assert_eq!(result.content.len(), 1, "[tasks-two-phase]: the result of the call")
        }
        other => panic!("[tasks-two-phase]: expected the result of the call, not {other:?}"),
    }
    peer.advance_time(seconds(1000));
    assert_eq!(
        peer.take_sent_messages(),
        Vec::<Value>::new(),
        "[tasks-poll-until-terminal]: no further poll must be sent"
    );
    peer.send_notification("notifications/tasks/status", task_with_status("completed"));
    assert_eq!(peer.take_events(), vec![], "a notification of an ended task must be ignored");
}

#[test]
fn task_stays_alive_while_polls_are_answered() {
    let mut peer = task_test_session();
    let (call, _) = start_task(&mut peer);
    for _ in 0..1000 {
        let sent = wait_for_task_poll(&mut peer);
        peer.send_result(&sent["id"], task_with_status("working"));
        assert_eq!(
            peer.take_events(),
            vec![],
            "[lifecycle-timeouts]: answered polls must keep the call alive for 5000 s"
        );
    }
    wait_for_task_poll(&mut peer);
    peer.advance_time(seconds(70));
    let end = peer.take_result(call);
    assert!(
        matches!(end, Err(CallError::Timeout { total: false, .. })),
        "[lifecycle-timeouts]: unanswered polls must end the call: {end:?}"
    );
    let message = peer.take_sent_message();
    assert_eq!(message["method"], "tasks/cancel", "[cancel-task-via-tasks-cancel]");
}

#[test]
fn status_notification_is_used_but_not_required() {
    let mut peer = task_test_session();
    let (_, _) = start_task(&mut peer);
    wait_for_task_poll(&mut peer);
    peer.send_notification("notifications/tasks/status", task_with_status("completed"));
    assert!(
        matches!(peer.take_event(), SessionEvent::TaskChanged { .. }),
        "[tasks-any-stream]: the status must be used"
    );
    assert_eq!(
        peer.take_sent_message()["method"],
        "tasks/result",
        "[tasks-status-not-relied]: the result must be fetched without a poll"
    );
    peer.send_notification("notifications/tasks/status", task_with_status("working"));
    assert_eq!(
        (peer.take_events(), peer.take_sent_messages().len()),
        (vec![], 0),
        "a status after the terminal one must be ignored"
    );
    peer.send_notification("notifications/tasks/status", json!({ "taskId": 5 }));
    assert!(matches!(peer.take_event(), SessionEvent::Anomaly { .. }), "an invalid notification must be reported");
    let mut other = task_with_status("working");
    other["taskId"] = json!("of another");
    peer.send_notification("notifications/tasks/status", other);
    assert_eq!(peer.take_events(), vec![], "[tasks-track-ids]: notifications of unknown tasks must be ignored");
}

#[test]
fn input_is_requested_while_the_result_is_pending() {
    let mut peer = task_test_session();
    let (call, _) = start_task(&mut peer);
    let (_other, _) = peer.start_call(ClientRequest::ReadResource { uri: "a:b".into() });
    let sent = wait_for_task_poll(&mut peer);
    peer.send_result(&sent["id"], task_with_status("input_required"));
    peer.take_events();
    let result = peer.take_sent_message();
    assert_eq!(result["method"], "tasks/result", "[tasks-input-required]");
    let mut params = form_elicitation_params();
    params["_meta"] = json!({ RELATED_TASK_KEY: { "taskId": "t1" } });
    params["task"] = json!({ "ttl": 1000 });
    peer.send_request(json!("e1"), "elicitation/create", params);
    let (server_request, of, _) = peer.take_server_request();
    assert_eq!(of, Some(call), "[tasks-track-ids]: the call must be found by the task");
    peer.session.answer(server_request, accepted_form_response(), peer.now).unwrap();
    let answer = peer.take_sent_message();
    assert_eq!(answer["result"]["_meta"][RELATED_TASK_KEY]["taskId"], "t1", "[tasks-related-meta]");
    assert_eq!(
        answer["result"]["action"], "accept",
        "[tasks-recv-ignore-undeclared]: the response must be a plain result"
    );
    let sent = wait_for_task_poll(&mut peer);
    peer.send_result(&sent["id"], task_with_status("working"));
    peer.take_events();
    wait_for_task_poll(&mut peer);
    peer.send_result(&result["id"], json!({ "content": [], "isError": true }));
    match peer.take_result(call) {
        Ok(ServerResult::Tool(result)) => assert!(result.is_error, "[tasks-failed-includes-is-error]"),
        other => panic!("[tasks-poll-beside-result]: expected the result to end the call, not {other:?}"),
    }
    let all = client_config(HandshakeMode::Probe).capabilities;
    assert!(
        !serde_json::to_string(&all).unwrap().contains("tasks"),
        "[tasks-declare-client]: the client must not declare tasks"
    );
}

#[test]
fn failed_cancelled_and_expired_tasks_end_the_call() {
    let mut peer = task_test_session();
    let (call, _) = start_task(&mut peer);
    let sent = wait_for_task_poll(&mut peer);
    peer.send_result(&sent["id"], task_with_status("failed"));
    peer.take_events();
    let sent = peer.take_sent_message();
    peer.send_error(&sent["id"], -32603, "it broke");
    let end = peer.take_result(call);
    assert!(
        matches!(&end, Err(CallError::Server(error)) if error.code == -32603),
        "[tasks-result-may-be-error]: {end:?}"
    );

    let (call, _) = start_task(&mut peer);
    let sent = wait_for_task_poll(&mut peer);
    peer.send_result(&sent["id"], task_with_status("cancelled"));
    let end = peer.take_result(call);
    let message = Some("at it".to_owned());
    assert_eq!(end, Err(CallError::TaskCancelled { message }), "[tasks-poll-until-terminal]: cancelled by the server");

    let (call, _) = start_task(&mut peer);
    let sent = wait_for_task_poll(&mut peer);
    peer.send_error(&sent["id"], -32602, "expired");
    let end = peer.take_result(call);
    assert!(matches!(&end, Err(CallError::Server(error)) if error.code == -32602), "[tasks-expired]: {end:?}");

    let (call, _) = start_task(&mut peer);
    let sent = wait_for_task_poll(&mut peer);
    peer.send_error(&sent["id"], -32603, "for a moment");
    assert_eq!(peer.take_events(), vec![], "an internal error must not end the call");
    let sent = wait_for_task_poll(&mut peer);
    let mut other = task_with_status("working");
    other["taskId"] = json!("t2");
    peer.send_result(&sent["id"], other);
    let end = peer.take_result(call);
    assert!(matches!(end, Err(CallError::BadAnswer { .. })), "a response about another task must be rejected: {end:?}");

    for wrong in [json!({ "task": {} }), json!({ "task": { "taskId": "", "status": "working" } })] {
        let (call, sent) = peer.start_call(ClientRequest::CallTool {
            name: "required".into(),
            arguments: serde_json::Map::new(),
            as_task: false,
        });
        peer.send_result(&sent["id"], wrong.clone());
        let end = peer.take_result(call);
        assert!(matches!(end, Err(CallError::BadAnswer { .. })), "an invalid task must be rejected: {wrong}: {end:?}");
    }
    let (plain, sent) = peer.start_call(tool_call_without_task("required"));
    peer.send_result(&sent["id"], json!({ "content": [] }));
    assert!(peer.take_result(plain).is_ok(), "an immediate result must be accepted");
}

fn tool_call_without_task(tool: &str) -> ClientRequest {
    tool_call_request(tool, false)
}

#[test]
fn task_is_cancelled_by_its_id() {
    let mut peer = task_test_session();
    let (call, first) = start_task(&mut peer);
    let poll = wait_for_task_poll(&mut peer);
    peer.session.cancel(call, CancelReason::User, peer.now);
    let message = peer.take_sent_message();
    assert_eq!(message["method"], "tasks/cancel", "[cancel-task-via-tasks-cancel]");
    assert_eq!(message["params"], json!({ "taskId": "t1" }), "[tasks-related-meta-omit]");
    assert_eq!(peer.take_result(call), Err(CallError::Cancelled), "the call must end immediately");
    peer.send_result(&poll["id"], task_with_status("working"));
    peer.send_result(&message["id"], task_with_status("cancelled"));
    assert_eq!(peer.take_events(), vec![], "[cancel-races]: late responses must be ignored");
    let token = first["params"]["_meta"]["progressToken"].clone();
    peer.send_notification("notifications/progress", json!({ "progressToken": token, "progress": 1 }));
    assert_eq!(peer.take_events(), vec![], "[progress-task-token-lifetime]: the token must be invalid after the task");

    let (early, sent) = peer.start_call(tool_call_without_task("required"));
    peer.session.cancel(early, CancelReason::User, peer.now);
    assert_eq!(
        peer.take_sent_messages(),
        Vec::<Value>::new(),
        "[cancel-task-via-tasks-cancel]: no cancellation notification must be sent"
    );
    peer.take_events();
    peer.send_result(&sent["id"], json!({ "task": task_with_status("working") }));
    let message = peer.take_sent_message();
    assert_eq!(
        message["method"], "tasks/cancel",
        "[cancel-task-via-tasks-cancel]: the task must be cancelled once its id is known"
    );

    let mut peer = test_session_with_tasks_capability(json!({ "requests": { "tools": { "call": {} } } }));
    let (call, _) = start_task(&mut peer);
    peer.session.cancel(call, CancelReason::User, peer.now);
    assert_eq!(
        peer.take_sent_messages(),
        Vec::<Value>::new(),
        "[tasks-list-cancel-gate]: no request without the capability"
    );
    let end = peer.session.call(ClientRequest::ListTasks { cursor: None }, LONG_DEADLINE, peer.now);
    assert!(matches!(end, Err(CallError::Unsupported { .. })), "[tasks-list-cancel-gate]: {end:?}");
}

#[test]
fn task_list_is_requested_with_its_cursor() {
    let mut peer = task_test_session();
    let cursor = "opaque \u{0} cursor";
    let (call, sent) = peer.start_call(ClientRequest::ListTasks { cursor: Some(cursor.into()) });
    assert_eq!(sent["method"], "tasks/list", "the method");
    assert_eq!(sent["params"], json!({ "cursor": cursor }), "[tasks-list-cursor], [tasks-related-meta-omit]");
    peer.send_result(
        &sent["id"],
        json!({ "tasks": [task_with_status("working"), task_with_status("failed")], "nextCursor": "" }),
    );
    match peer.take_result(call) {
        Ok(ServerResult::Tasks { items, next_cursor }) => {
            assert_eq!(
                items.iter().map(|task| task.status).collect::<Vec<_>>(),
                [TaskStatus::Working, TaskStatus::Failed],
                "status of each task"
            );
            assert_eq!(next_cursor.as_deref(), Some(""), "[tasks-list-cursor]");
        }
        other => panic!("expected the tasks, not {other:?}"),
    }
    peer.send_request(json!(1), "tasks/get", json!({ "taskId": "mine" }));
    assert_eq!(peer.take_sent_message()["error"]["code"], -32601, "[tasks-declare-client]: the client has no tasks");
}

#[test]
fn task_survives_a_reopened_session() {
    let mut peer = task_test_session();
    let (call, _) = start_task(&mut peer);
    let sent = wait_for_task_poll(&mut peer);
    peer.session.handle_session_lost(None, peer.now);
    let init = peer.take_sent_message();
    assert_eq!(init["method"], "initialize", "[http-session-404-reinit]");
    peer.advance_time(seconds(20));
    peer.send_result(&sent["id"], task_with_status("completed"));
    assert_eq!(
        (peer.take_events(), peer.take_sent_messages().len()),
        (vec![], 0),
        "[lifecycle-no-requests-before-init]: no polls before initialization"
    );
    let result = json!({ "protocolVersion": "2025-11-25", "capabilities": all_capabilities() });
    peer.send_result(&init["id"], result);
    let sent = peer.take_sent_messages();
    assert_eq!(
        sent.last().unwrap()["method"],
        "tasks/get",
        "[tasks-poll-until-terminal]: the task must be polled again"
    );
    assert!(matches!(peer.take_event(), SessionEvent::Reopened(_)), "the call must continue");
    let (poll, reason) = (&sent.last().unwrap()["id"], "no such task");
    peer.send_error(poll, -32602, reason);
    assert!(
        matches!(peer.take_result(call), Err(CallError::Server(_))),
        "[tasks-expired]: an unknown task must end the call"
    );
}

#[test]
fn lost_task_polls_are_sent_again() {
    let mut peer = task_test_session();
    let (call, _) = start_task(&mut peer);
    let sent = wait_for_task_poll(&mut peer);
    peer.report_undelivered(&sent["id"], DeliveryFault::Lost { cause: "cut".into() });
    let sent = wait_for_task_poll(&mut peer);
    peer.send_result(&sent["id"], task_with_status("completed"));
    peer.take_events();
    let result = peer.take_sent_message();
    peer.report_undelivered(&result["id"], DeliveryFault::Lost { cause: "cut".into() });
    let sent = wait_for_task_poll(&mut peer);
    peer.send_result(&sent["id"], task_with_status("completed"));
    let result = peer.take_sent_message();
    assert_eq!(result["method"], "tasks/result", "[tasks-disconnect-sse]: a lost stream must not end the task");
    peer.send_result(&result["id"], json!({ "content": [] }));
    assert!(peer.take_result(call).is_ok(), "the call must have its result");
}
