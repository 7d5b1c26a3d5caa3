//! Tests of tasks in 2026-07-28: the extension `io.modelcontextprotocol/tasks`, where the server decides.

use mcp_proto::types::TaskStatus;
use mcp_proto::*;
use serde_json::{Value, json};

use crate::peer::{Peer, accepted, all_capabilities, config, form, sampling, seconds, tool_call};

const EXTENSION: &str = "io.modelcontextprotocol/tasks";
const KEY: &str = "io.modelcontextprotocol/subscriptionId";

fn peer() -> Peer {
    let mut capabilities = all_capabilities();
    capabilities["extensions"] = json!({ EXTENSION: {} });
    let settings = SessionConfig { carrier: TransportKind::StreamableHttp, ..config(HandshakeMode::Probe) };
    Peer::ready_with(Revision::V2026_07_28, capabilities, settings)
}

fn task(status: &str) -> Value {
    json!({ "resultType": "complete", "taskId": "t1", "status": status, "createdAt": "2026-07-28T10:00:00Z",
            "lastUpdatedAt": "2026-07-28T10:00:01Z", "ttlMs": 60_000, "pollIntervalMs": 1000 })
}

fn with(mut task: Value, key: &str, value: Value) -> Value {
    task[key] = value;
    task
}

/// Starts a call that the server continues as the task `t1`.
fn start_task(peer: &mut Peer) -> CallId {
    let (call, sent) = peer.sends(tool_call());
    peer.answers(&sent["id"], with(task("working"), "resultType", json!("task")));
    match peer.event() {
        SessionEvent::TaskChanged { call: of, task } => {
            assert_eq!((of, task.status), (call, TaskStatus::Working), "[tasks-ext-polymorphic]: a task");
            assert_eq!(task.ttl, Some(seconds(60)), "retention time of the task");
        }
        other => panic!("[tasks-ext-polymorphic], [base-result-type-extensions]: expected a task event, not {other:?}"),
    }
    call
}

/// Waits for the polling interval, and returns the `tasks/get` request that the session sends. Ignores other messages.
fn sent_poll(peer: &mut Peer) -> Value {
    peer.wait(seconds(1));
    let (body, head) = peer.posts().into_iter().find(|(body, _)| body["method"] == "tasks/get").expect(
        "[tasks-ext-poll-interval], [tasks-ext-poll-terminal], [tasks-ext-removed-methods]: the task must be polled",
    );
    assert_eq!(body["params"]["taskId"], "t1", "the poll must name the task");
    assert_eq!(head.name.as_deref(), Some("t1"), "[tasks-ext-mcp-name]");
    let declared = &body["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"]["extensions"];
    assert_eq!(*declared, json!({ EXTENSION: {} }), "[tasks-ext-declare-on-task-methods]");
    body
}

fn ask(key: &str) -> Value {
    json!({ key: { "method": "elicitation/create", "params": form() } })
}

#[test]
fn tasks_extension_is_declared_with_each_request() {
    let mut peer = peer();
    let (_, sent) = peer.sends(tool_call());
    let declared = &sent["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
    assert_eq!(
        declared["extensions"],
        json!({ EXTENSION: {} }),
        "[tasks-ext-declare], [lifecycle-ext-advertise-modern]"
    );
    assert_eq!(declared.get("tasks"), None, "[tasks-ext-declare]: the legacy capability must be absent");
    assert_eq!(sent["params"].get("task"), None, "[tasks-ext-server-directed]");
}

#[test]
fn task_ends_with_the_response_of_tasks_get() {
    let mut peer = peer();
    let call = start_task(&mut peer);
    let sent = sent_poll(&mut peer);
    peer.answers(&sent["id"], with(task("working"), "pollIntervalMs", json!(3000)));
    peer.events();
    let listen = peer.sent().remove(0);
    assert_eq!(listen["params"]["notifications"]["taskIds"], json!(["t1"]), "[tasks-ext-subscribe]");
    peer.grants(&listen);
    peer.wait(seconds(2));
    assert_eq!(peer.sent(), Vec::<Value>::new(), "[tasks-ext-poll-interval]: a changed interval must be respected");
    let sent = sent_poll(&mut peer);
    let result = json!({ "content": [], "isError": true, "ttlMs": 5 });
    peer.answers(&sent["id"], with(task("completed"), "result", result));
    match peer.done(call) {
        Ok(ServerResult::Tool(result)) => assert!(result.is_error, "[tasks-ext-failed-vs-completed]: a tool's error"),
        other => panic!("[tasks-ext-removed-methods]: expected an inline result, not {other:?}"),
    }
    assert_eq!(peer.sent(), Vec::<Value>::new(), "[tasks-ext-poll-terminal]: no further poll must be sent");

    let call = start_task(&mut peer);
    let sent = sent_poll(&mut peer);
    let failed = with(task("failed"), "error", json!({ "code": -32603, "message": "broke" }));
    peer.answers(&sent["id"], with(failed, "resultType", json!("task")));
    let end = peer.done(call);
    assert!(matches!(&end, Err(CallError::Server(e)) if e.code == -32603), "[tasks-ext-failed-vs-completed]: {end:?}");

    let call = start_task(&mut peer);
    let sent = sent_poll(&mut peer);
    peer.answers(&sent["id"], with(task("cancelled"), "statusMessage", json!("no more")));
    let message = Some("no more".to_owned());
    assert_eq!(peer.done(call), Err(CallError::TaskCancelled { message }), "[tasks-ext-status-message]");

    let call = start_task(&mut peer);
    let sent = sent_poll(&mut peer);
    peer.refuses(&sent["id"], -32602, "unknown task");
    assert!(matches!(peer.done(call), Err(CallError::Server(_))), "[tasks-ext-unknown-task]");

    for wrong in [task("completed"), task("failed"), with(task("working"), "resultType", json!("input_required"))] {
        let call = start_task(&mut peer);
        let sent = sent_poll(&mut peer);
        peer.answers(&sent["id"], wrong);
        assert!(
            matches!(peer.done(call), Err(CallError::BadAnswer { .. })),
            "an end without a result must be rejected"
        );
    }
}

#[test]
fn only_tool_calls_become_tasks() {
    let mut peer = peer();
    for request in [ClientRequest::ReadResource { uri: "a:b".into() }, ClientRequest::ListTools { cursor: None }] {
        let (call, sent) = peer.sends(request);
        peer.answers(&sent["id"], with(task("working"), "resultType", json!("task")));
        let end = peer.done(call);
        assert!(matches!(end, Err(CallError::BadAnswer { .. })), "[tasks-ext-unsupported-method]: {end:?}");
    }
}

#[test]
fn task_status_is_received_through_the_subscription() {
    let mut peer = peer();
    let call = start_task(&mut peer);
    let sent = sent_poll(&mut peer);
    peer.answers(&sent["id"], task("working"));
    let listen = peer.sent().remove(0);
    peer.grants(&listen);
    peer.events();
    let mut done = with(task("completed"), "result", json!({ "content": [] }));
    done["_meta"] = json!({ KEY: listen["id"] });
    peer.tells("notifications/tasks", done);
    assert!(peer.done(call).is_ok(), "[tasks-ext-subscribe]: a notification must end the call");
}

#[test]
fn task_input_is_requested_and_answered_once() {
    let mut peer = peer();
    let call = start_task(&mut peer);
    let sent = sent_poll(&mut peer);
    let mut both = ask("when");
    both["who"] = json!({ "method": "sampling/createMessage", "params": sampling() });
    peer.answers(&sent["id"], with(task("input_required"), "inputRequests", both.clone()));
    let asked: Vec<_> = peer
        .events()
        .into_iter()
        .filter_map(|event| match event {
            SessionEvent::RequestReceived { request, call: of, .. } => {
                assert_eq!(of, Some(call), "[tasks-ext-same-trust]: the request must be reported like any other");
                Some(request)
            }
            _ => None,
        })
        .collect();
    assert_eq!(asked.len(), 2, "[tasks-ext-update]: each must be reported");
    peer.sent();
    let sent = sent_poll(&mut peer);
    peer.answers(&sent["id"], with(task("input_required"), "inputRequests", both.clone()));
    let again = peer.events().iter().filter(|event| matches!(event, SessionEvent::RequestReceived { .. })).count();
    assert_eq!(again, 0, "[tasks-ext-dedupe]");

    peer.session.answer(asked[0], accepted(), peer.now).unwrap();
    let (update, head) = peer.post();
    assert_eq!(
        (update["method"].as_str(), head.name.as_deref()),
        (Some("tasks/update"), Some("t1")),
        "[tasks-ext-mcp-name]"
    );
    let expected = json!({ "when": { "action": "accept", "content": { "day": "2026-08-01" } } });
    assert_eq!(update["params"]["inputResponses"], expected, "[tasks-ext-update-keys]");
    peer.answers(&update["id"], json!({ "resultType": "complete" }));
    peer.wait(seconds(0));
    let sent = peer.sent_one();
    assert_eq!(sent["method"], "tasks/get", "[tasks-ext-observe-after-update]");
    peer.answers(&sent["id"], with(task("input_required"), "inputRequests", both));
    assert_eq!(peer.sent(), Vec::<Value>::new(), "[tasks-ext-answer-once]: a confirmed answer must not be sent again");

    let sent = sent_poll(&mut peer);
    peer.answers(&sent["id"], task("working"));
    let sent = sent_poll(&mut peer);
    peer.answers(&sent["id"], with(task("working"), "inputRequests", json!({})));
    let events = peer.events();
    assert!(
        events.contains(&SessionEvent::Withdrawn { request: asked[1], why: Withdrawal::CancelledByServer }),
        "[tasks-ext-update-keys]: a request that is no longer open must be withdrawn: {events:?}"
    );
}

#[test]
fn lost_input_response_is_sent_again_while_requested() {
    let mut peer = peer();
    let _call = start_task(&mut peer);
    let sent = sent_poll(&mut peer);
    peer.answers(&sent["id"], with(task("input_required"), "inputRequests", ask("when")));
    let server_request = peer.events().into_iter().find_map(|event| match event {
        SessionEvent::RequestReceived { request, .. } => Some(request),
        _ => None,
    });
    peer.sent();
    peer.session.answer(server_request.unwrap(), accepted(), peer.now).unwrap();
    let update = peer.sent_one();
    peer.fails(&update["id"], DeliveryFault::Lost { cause: "cut".into() });
    let sent = sent_poll(&mut peer);
    peer.answers(&sent["id"], with(task("input_required"), "inputRequests", ask("when")));
    let again = peer.sent_one();
    assert_eq!(
        again["params"]["inputResponses"], update["params"]["inputResponses"],
        "the same answer must be sent again"
    );
}

#[test]
fn refusal_or_cancellation_cancels_the_task() {
    let mut peer = peer();
    let call = start_task(&mut peer);
    peer.session.cancel(call, CancelReason::User, peer.now);
    let (told, head) = peer.post();
    assert_eq!(told["method"], "tasks/cancel", "[tasks-ext-cancel-method], [tasks-ext-cancel-forget]");
    assert_eq!(head.name.as_deref(), Some("t1"), "[tasks-ext-mcp-name]");
    assert_eq!(
        peer.done(call),
        Err(CallError::Cancelled),
        "[tasks-ext-cancel-cooperative]: the call must end immediately"
    );
    peer.answers(&told["id"], json!({}));
    assert_eq!(peer.events(), vec![], "the acknowledgement must be ignored");

    let call = start_task(&mut peer);
    let sent = sent_poll(&mut peer);
    peer.answers(&sent["id"], with(task("input_required"), "inputRequests", ask("when")));
    let server_request = peer.events().into_iter().find_map(|event| match event {
        SessionEvent::RequestReceived { request, .. } => Some(request),
        _ => None,
    });
    peer.sent();
    let refused = ClientResponse::Refused { code: -1, message: "no".into() };
    peer.session.answer(server_request.unwrap(), refused, peer.now).unwrap();
    assert_eq!(peer.sent_one()["method"], "tasks/cancel", "[tasks-ext-same-trust]: a refusal must cancel the task");
    assert_eq!(peer.done(call), Err(CallError::Refused), "the call must end with the reason");

    let mut stdio = Peer::ready(Revision::V2026_07_28);
    let (call, sent) = stdio.sends(tool_call());
    stdio.session.cancel(call, CancelReason::User, stdio.now);
    stdio.sent();
    stdio.events();
    stdio.answers(&sent["id"], with(task("working"), "resultType", json!("task")));
    assert_eq!(
        stdio.sent_one()["method"],
        "tasks/cancel",
        "[cancel-races]: a task created meanwhile must be cancelled"
    );
}

#[test]
fn forbidden_input_request_ends_the_task_call() {
    for wrong in
        [json!({ "x": { "method": "ping" } }), json!({ "x": { "method": "elicitation/create", "params": {} } })]
    {
        let mut peer = peer();
        let call = start_task(&mut peer);
        let sent = sent_poll(&mut peer);
        peer.answers(&sent["id"], with(task("input_required"), "inputRequests", wrong));
        assert!(
            matches!(peer.done(call), Err(CallError::BadAnswer { .. })),
            "[tasks-ext-same-trust], [lifecycle-ext-untrusted]"
        );
    }
}

#[test]
fn task_without_progress_stays_alive() {
    let mut peer = peer();
    let call = start_task(&mut peer);
    for step in 0..300 {
        let sent = sent_poll(&mut peer);
        peer.answers(&sent["id"], with(task("working"), "statusMessage", json!(format!("step {step}"))));
        let told = peer.events().into_iter().any(|event| {
            matches!(event, SessionEvent::TaskChanged { task, .. } if task.status_message == Some(format!("step {step}")))
        });
        assert!(told, "[tasks-ext-no-progress], [tasks-ext-status-message]: each status message must be reported");
    }
    let sent = sent_poll(&mut peer);
    peer.answers(&sent["id"], with(task("completed"), "result", json!({ "content": [] })));
    assert!(peer.done(call).is_ok(), "[tasks-ext-no-progress]: the call must survive 300 s without progress");
}
