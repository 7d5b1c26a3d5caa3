//! Calls that continue as tasks of the server. The session polls the task until it has a result, and the call ends like
//! any other.

use std::time::Instant;

use indexmap::{IndexMap, IndexSet};
use serde_json::{Value, json};

use crate::jsonrpc::{RawJson, RequestId, RpcError, code};
use crate::types::{Map, TaskStatus};

use super::delivery::to_undelivered_error;
use super::request_table::RequestPurpose;
use super::results::ResultBody;
use super::tasks::{self, TaskStateMessage};
use super::timers::{checked_deadline, is_due};
use super::{
    CallError, CallId, ClientRequest, DeliveryFault, ServerRequestId, Session, SessionEvent, TaskState, results,
};

/// Retention time that the client requests for a task, in milliseconds.
const REQUESTED_TASK_TTL_MILLIS: u64 = 60 * 60 * 1000;
/// Maximum number of cancelled requests whose ids are stored because the server may still create a task for them.
const MAX_STORED_CANCELLED_REQUESTS: usize = 256;
/// Maximum number of tools whose task support is stored.
const MAX_TOOLS_WITH_TASK_SUPPORT: usize = 10_000;

/// State of a call that continues as a task.
#[derive(Debug)]
pub(super) struct TaskCall {
    pub(super) state: TaskState,
    /// Time to send the next `tasks/get` for the task, or `None` if no poll is scheduled.
    pub(super) poll_at: Option<Instant>,
    /// Id of the pending `tasks/get` request, or `None`.
    get: Option<i64>,
    /// Id of the pending `tasks/result` request, or `None`.
    result: Option<i64>,
    /// Number of status updates that the server sent for the task.
    pub(super) update_count: u32,
    /// Requests of the task for user input, by the key that the server chose (extension only).
    pub(super) inputs: IndexMap<String, TaskInputState>,
}

impl TaskCall {
    /// Returns the time to send the next `tasks/get`. Returns `None` while one is pending, because its response
    /// schedules the next one.
    pub(super) fn next_poll(&self) -> Option<Instant> {
        self.poll_at.filter(|_| self.get.is_none())
    }
}

/// State of a task's request for user input.
#[derive(Debug)]
pub(super) enum TaskInputState {
    Requested(ServerRequestId),
    /// The user has responded, and the server has not confirmed the response yet.
    Answered {
        answer: Value,
        /// Id of the pending `tasks/update` request that carries the response, or `None` if it must be sent again.
        update: Option<i64>,
    },
    Confirmed,
}

/// Tools that can run as tasks, and cancelled requests of the client for which the server may still create a task.
#[derive(Debug, Default)]
pub(super) struct ToolTaskSupportRecords {
    /// Tools that can run as tasks. The value is `true` if a tool always runs as one (2025-11-25).
    support: IndexMap<String, bool>,
    /// Ids of requests that the client cancelled, but whose late response may still create a task.
    late: IndexSet<i64>,
}

impl ToolTaskSupportRecords {
    /// Records the `execution.taskSupport` of a listed tool.
    pub(super) fn record_tool(&mut self, tool: &str, support: Option<&str>) {
        match support {
            Some(support @ ("optional" | "required")) => {
                if self.support.len() == MAX_TOOLS_WITH_TASK_SUPPORT {
                    self.support.swap_remove_index(0);
                }
                self.support.insert(tool.to_owned(), support == "required");
            }
            _ => {
                self.support.swap_remove(tool);
            }
        }
    }
}

impl Session {
    /// Returns the value of the `task` parameter of `tools/call`, or `None` if the call does not request a task.
    pub(super) fn task_parameter_of_call(&self, id: CallId) -> Option<Value> {
        let ClientRequest::CallTool { name, as_task, .. } = &self.calls.get(&id)?.request else { return None };
        let is_requested = *self.tasks.support.get(name)? || *as_task;
        (is_requested && tasks::supports_task_calls(self.facts.as_deref()?))
            .then(|| json!({ "ttl": REQUESTED_TASK_TTL_MILLIS }))
    }

    /// Continues a call as the task that the server created in its result.
    pub(super) fn on_task_created(&mut self, id: CallId, task: Value, now: Instant) -> Result<(), String> {
        let Value::Object(task) = task else { return Err("its task is not an object".into()) };
        let message = TaskStateMessage::read(task)?;
        let Some(call) = self.calls.get_mut(&id) else { return Ok(()) };
        call.clock.remove_total_deadline(now);
        call.task = Some(Box::new(TaskCall {
            state: message.to_task_state(),
            poll_at: None,
            get: None,
            result: None,
            update_count: 0,
            inputs: IndexMap::new(),
        }));
        self.events.push(SessionEvent::TaskChanged { call: id, task: Box::new(message.to_task_state()) });
        self.on_task_status(id, message, now)
    }

    /// Returns the call that continues as this task.
    pub(super) fn call_of_task(&self, task: &str) -> Option<CallId> {
        let same = |running: &TaskCall| running.state.id == task;
        self.calls.iter().find(|(_, call)| call.task.as_deref().is_some_and(same)).map(|(id, _)| *id)
    }

    /// Processes the state of a task from a notification or from the result of `tasks/get`.
    pub(super) fn on_task_state_message(&mut self, params: Map, now: Instant) -> Result<(), String> {
        let message = TaskStateMessage::read(params)?;
        let state = message.to_task_state();
        let Some(id) = self.call_of_task(&state.id) else { return Ok(()) };
        let Some(running) = self.calls.get_mut(&id).and_then(|call| call.task.as_deref_mut()) else { return Ok(()) };
        // A terminal status is final, even if an earlier status arrives after it.
        if running.state.status.is_terminal() && !state.status.is_terminal() {
            return Ok(());
        }
        running.update_count = running.update_count.saturating_add(1);
        if running.state != state {
            running.state = state.clone();
            self.events.push(SessionEvent::TaskChanged { call: id, task: Box::new(state) });
        }
        self.on_task_status(id, message, now)
    }

    /// Continues, completes or fails a call depending on the status of its task.
    fn on_task_status(&mut self, id: CallId, task_message: TaskStateMessage, now: Instant) -> Result<(), String> {
        let core = self.revision().has_core_tasks();
        let Some(call) = self.calls.get_mut(&id) else { return Ok(()) };
        let Some(running) = call.task.as_deref_mut() else { return Ok(()) };
        let (status, update_count) = (running.state.status, running.update_count);
        let next = checked_deadline(now, running.state.time_until_poll());
        running.poll_at = next;
        call.clock.on_activity(next.unwrap_or(now));
        match status {
            TaskStatus::Cancelled => {
                let message = running.state.status_message.clone();
                self.end_call(id, Err(CallError::TaskCancelled { message }));
            }
            TaskStatus::Completed | TaskStatus::Failed if core => {
                running.poll_at = None;
                self.request_task_result(id);
            }
            // The server sends its requests while `tasks/result` is pending.
            TaskStatus::InputRequired if core => self.request_task_result(id),
            TaskStatus::Completed => match task_message.result {
                Some(result) => {
                    let result = ResultBody::parse_embedded(&call.request, result)
                        .and_then(|body| results::to_server_result(&call.request, body, None))?;
                    self.end_call(id, Ok(result));
                }
                // The task completed immediately. The result of `tasks/get` has its result.
                None if update_count == 0 => running.poll_at = Some(now),
                None => return Err("the task is completed without a result".into()),
            },
            TaskStatus::Failed => match task_message.error {
                Some(error) => self.end_call(id, Err(CallError::Server(error))),
                None if update_count == 0 => running.poll_at = Some(now),
                None => return Err("the task failed without an error".into()),
            },
            TaskStatus::InputRequired | TaskStatus::Working => {
                match task_message.input_requests {
                    Some(requests) => self.update_input_requests(id, requests, now)?,
                    None if status == TaskStatus::InputRequired && update_count == 0 => running.poll_at = Some(now),
                    None => {}
                }
                if update_count > 0 && self.facts.as_deref().is_some_and(tasks::supports_task_notifications) {
                    self.listen_to_task(&task_message.task_id, now);
                }
            }
        }
        Ok(())
    }

    /// Sends `tasks/get` for each task whose poll is due.
    pub(super) fn poll_due_tasks(&mut self, now: Instant) {
        let is_due = |running: &TaskCall| is_due(running.next_poll(), now);
        let due: Vec<CallId> =
            self.calls.iter().filter(|(_, call)| call.task.as_deref().is_some_and(is_due)).map(|(id, _)| *id).collect();
        for id in due {
            self.poll_task(id);
        }
    }

    pub(super) fn poll_task(&mut self, id: CallId) {
        let Some(task) = self.task_id(id) else { return };
        let wire = self.send_request(RequestPurpose::TaskGet(id), "tasks/get", json!({ "taskId": task }), Some(task));
        if let Some(running) = self.task_call(id) {
            running.poll_at = None;
            running.get = Some(wire);
        }
    }

    /// Sends `tasks/result`, to which the server responds when the task has ended (2025-11-25).
    fn request_task_result(&mut self, id: CallId) {
        let Some(task) = self.task_id(id) else { return };
        if self.task_call(id).is_none_or(|running| running.result.is_some()) {
            return;
        }
        let wire =
            self.send_request(RequestPurpose::TaskResult(id), "tasks/result", json!({ "taskId": task }), Some(task));
        if let Some(running) = self.task_call(id) {
            running.result = Some(wire);
        }
    }

    pub(super) fn task_call(&mut self, id: CallId) -> Option<&mut TaskCall> {
        self.calls.get_mut(&id)?.task.as_deref_mut()
    }

    pub(super) fn task_id(&mut self, id: CallId) -> Option<String> {
        self.task_call(id).map(|running| running.state.id.clone())
    }

    /// Processes the response to `tasks/get`.
    pub(super) fn on_task_get_response(&mut self, id: CallId, answer: Result<RawJson, RpcError>, now: Instant) {
        let Some(running) = self.task_call(id) else { return };
        running.get = None;
        let body = match answer {
            Ok(body) => body,
            // An internal error does not mean that the task failed. The idle deadline of the call limits further polls.
            Err(error) if error.code == code::INTERNAL_ERROR => {
                running.poll_at = checked_deadline(now, running.state.time_until_poll());
                return;
            }
            Err(error) => return self.end_call(id, Err(CallError::Server(error))),
        };
        let name = running.state.id.clone();
        let read = results::parse_body_object(&body).and_then(|body| {
            if body.get("taskId").and_then(Value::as_str) != Some(&name) {
                return Err("it describes another task".into());
            }
            match body.get("resultType").and_then(Value::as_str) {
                None | Some("complete" | "task") => self.on_task_state_message(body, now),
                Some(_) => Err("unknown resultType".into()),
            }
        });
        if let Err(cause) = read {
            self.end_call(id, Err(CallError::BadAnswer { cause: format!("`tasks/get`: {cause}") }));
        }
    }

    /// Processes the response to `tasks/result`, which is the result of the call itself.
    pub(super) fn on_task_result_response(&mut self, id: CallId, answer: Result<RawJson, RpcError>) {
        let Some(call) = self.calls.get(&id) else { return };
        let read = |body: &RawJson| {
            ResultBody::read(&call.request, body).and_then(|body| results::to_server_result(&call.request, body, None))
        };
        let result = match answer {
            Ok(body) => read(&body).map_err(|cause| CallError::BadAnswer { cause }),
            Err(error) => Err(self.classify_call_error(error)),
        };
        self.end_call(id, result);
    }

    /// Handles a request about a task that the transport failed to deliver: schedules its repetition, which is always
    /// safe, or ends the call if the server refused the request.
    pub(super) fn on_task_request_undelivered(
        &mut self,
        (id, purpose): (CallId, RequestPurpose),
        wire: &RequestId,
        fault: &DeliveryFault,
        now: Instant,
    ) {
        let final_answer = match fault {
            DeliveryFault::Status { error: Some(error), .. } => Some(CallError::Server(error.clone())),
            DeliveryFault::Status { code: 400..=499, .. } => Some(to_undelivered_error(fault)),
            _ => None,
        };
        let Some(running) = self.task_call(id) else { return };
        match purpose {
            RequestPurpose::TaskGet(_) => running.get = None,
            RequestPurpose::TaskResult(_) => running.result = None,
            _ => running.mark_task_update_lost(wire),
        }
        running.poll_at = checked_deadline(now, running.state.time_until_poll());
        if let Some(error) = final_answer
            && !matches!(purpose, RequestPurpose::TaskUpdate(_))
        {
            self.end_call(id, Err(error));
        }
    }

    /// Discards the ids of the pending requests about a call's task, after a new session was opened.
    pub(super) fn discard_task_requests(&mut self, id: CallId) {
        if let Some(running) = self.task_call(id) {
            running.get = None;
            running.result = None;
            running.poll_at = None;
            running.mark_all_task_updates_lost();
        }
    }

    /// Cancels the task of a call, or records that the pending request may still create one. Returns `true` if
    /// `notifications/cancelled` must not be sent.
    pub(super) fn cancel_task(&mut self, id: CallId) -> bool {
        let Some(call) = self.calls.get_mut(&id) else { return false };
        if let Some(running) = call.task.as_deref_mut() {
            let waiting = [running.get.take(), running.result.take()];
            let name = running.state.id.clone();
            waiting.into_iter().flatten().for_each(|wire| self.wire.abandon(wire));
            self.send_task_cancellation(name);
            return true;
        }
        let requested_as_task = call.requested_as_task;
        if let (Some(wire), ClientRequest::CallTool { .. }) = (call.wire, &call.request) {
            if self.tasks.late.len() == MAX_STORED_CANCELLED_REQUESTS {
                self.tasks.late.shift_remove_index(0);
            }
            self.tasks.late.insert(wire);
            if requested_as_task {
                call.wire = None;
                self.wire.abandon(wire);
            }
        }
        requested_as_task
    }

    /// Processes the late response to an abandoned request. If the response contains a new task, cancels the task.
    pub(super) fn cancel_task_of_late_response(&mut self, id: &RequestId, answer: Result<RawJson, RpcError>) {
        let RequestId::Number(wire) = id else { return };
        if !self.tasks.late.shift_remove(wire) {
            return;
        }
        let core = self.revision().has_core_tasks();
        let task = answer.ok().and_then(|body| results::parse_body_object(&body).ok());
        if let Some(Value::Object(task)) = task.and_then(|mut body| tasks::take_created_task(&mut body, core))
            && let Ok(message) = TaskStateMessage::read(task)
        {
            self.send_task_cancellation(message.to_task_state().id);
        }
    }

    fn send_task_cancellation(&mut self, task: String) {
        if self.facts.as_deref().is_some_and(tasks::supports_task_cancellation) {
            self.send_request(RequestPurpose::TaskCancel, "tasks/cancel", json!({ "taskId": task }), Some(task));
        }
    }
}
