//! Requests for user input that a server sends while a task runs (extension `io.modelcontextprotocol/tasks`). Each key
//! is requested once and gets one response, with `tasks/update`.

use std::time::Instant;

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use crate::jsonrpc::{RawJson, RequestId, RpcError, escape_and_truncate};

use super::request_encoding::parse_server_request;
use super::request_table::RequestPurpose;
use super::results::InputRequest;
use super::server_requests::ServerRequestSource;
use super::task_calls::{TaskCall, TaskInputState};
use super::{CallError, CallId, ServerRequestId, Session, WithdrawalReason, meta};

/// Maximum number of input requests of one task.
const MAX_INPUT_REQUESTS_PER_TASK: usize = 1000;

impl Session {
    /// Replaces the open input requests of a task by those in its latest state: withdraws removed ones and reports new
    /// ones.
    pub(super) fn update_input_requests(
        &mut self,
        id: CallId,
        requests: IndexMap<String, InputRequest>,
        now: Instant,
    ) -> Result<(), String> {
        let Some(running) = self.task_call(id) else { return Ok(()) };
        let removed: Vec<ServerRequestId> = running
            .inputs
            .iter()
            .filter(|(key, _)| !requests.contains_key(*key))
            .filter_map(|(_, input)| if let TaskInputState::Requested(request) = input { Some(*request) } else { None })
            .collect();
        // A key that was answered and is still requested: the `tasks/update` with its answer was lost.
        let again = running.inputs.iter().any(|(key, input)| {
            requests.contains_key(key) && matches!(input, TaskInputState::Answered { update: None, .. })
        });
        let new: Vec<(String, InputRequest)> =
            requests.into_iter().filter(|(key, _)| !running.inputs.contains_key(key)).collect();
        if running.inputs.len() + new.len() > MAX_INPUT_REQUESTS_PER_TASK {
            return Err(format!("the task requests input more than {MAX_INPUT_REQUESTS_PER_TASK} times"));
        }
        for request in removed {
            self.close_server_request(request, now);
            self.withdraw_server_request(request, WithdrawalReason::CancelledByServer);
        }
        if again {
            self.send_task_update(id);
        }
        let offered = meta::capabilities_in_revision(&self.config.capabilities, self.revision());
        for (key, InputRequest { method, params }) in new {
            let params = params.unwrap_or_default();
            let bytes = Value::Object(params.clone()).to_string().len();
            let server_request = parse_server_request(&method, params, &offered)
                .map_err(|error| format!("inputRequests.{}: {}", escape_and_truncate(&key, 80), error.message))?;
            if !self.has_room_for_server_requests(1, bytes) {
                return Err("too many or too large requests for input are open".into());
            }
            let origin = ServerRequestSource::Task { call: id, key: key.clone() };
            let request = self.report_server_request(origin, Some(id), vec![id], (server_request, bytes), now);
            if let Some(running) = self.task_call(id) {
                running.inputs.insert(key, TaskInputState::Requested(request));
            }
        }
        Ok(())
    }

    /// Processes the user's response to an input request of a task. `None` is a refusal, which ends the call because
    /// the protocol has no response for it.
    pub(super) fn on_task_input_answered(&mut self, id: CallId, key: &str, answer: Option<Value>, now: Instant) {
        let Some(answer) = answer else {
            return self.cancel_call_with_error(id, "a request for input was refused", CallError::Refused, now);
        };
        if let Some(input) = self.task_call(id).and_then(|running| running.inputs.get_mut(key)) {
            *input = TaskInputState::Answered { answer, update: None };
            self.send_task_update(id);
        }
    }

    /// Sends `tasks/update` with all responses of the user that have not been sent yet.
    fn send_task_update(&mut self, id: CallId) {
        if self.is_reopening() {
            // The first poll of the new session shows which answers are still requested.
            return;
        }
        let Some(running) = self.task_call(id) else { return };
        let task = running.state.id.clone();
        let mut answers = Map::new();
        for (key, input) in &running.inputs {
            if let TaskInputState::Answered { answer, update: None } = input {
                answers.insert(key.clone(), answer.clone());
            }
        }
        let params = json!({ "taskId": task, "inputResponses": answers });
        let wire = self.send_request(RequestPurpose::TaskUpdate(id), "tasks/update", params, Some(task));
        for input in self.task_call(id).into_iter().flat_map(|running| running.inputs.values_mut()) {
            if let TaskInputState::Answered { update: update @ None, .. } = input {
                *update = Some(wire);
            }
        }
    }

    /// Handles the response to `tasks/update`, after which the task continues.
    pub(super) fn on_task_update_response(
        &mut self,
        id: CallId,
        wire: &RequestId,
        answer: Result<RawJson, RpcError>,
        now: Instant,
    ) {
        if let Err(error) = &answer {
            self.report_protocol_anomaly(format!("the server rejected the input for a task: {error}"), None);
        }
        let Some(running) = self.task_call(id) else { return };
        for input in running.inputs.values_mut().filter(|input| input.is_answered_by_update_request(wire)) {
            *input = TaskInputState::Confirmed;
        }
        running.poll_at = Some(now);
    }
}

impl TaskCall {
    /// Marks as lost all responses whose delivery the server has not confirmed.
    pub(super) fn mark_all_task_updates_lost(&mut self) {
        for input in self.inputs.values_mut() {
            if let TaskInputState::Answered { update, .. } = input {
                *update = None;
            }
        }
    }

    /// Marks the responses of one `tasks/update` request as lost. They are sent again if the server still requests
    /// them.
    pub(super) fn mark_task_update_lost(&mut self, wire: &RequestId) {
        for input in self.inputs.values_mut().filter(|input| input.is_answered_by_update_request(wire)) {
            if let TaskInputState::Answered { update, .. } = input {
                *update = None;
            }
        }
    }
}

impl TaskInputState {
    fn is_answered_by_update_request(&self, wire: &RequestId) -> bool {
        matches!(
            (self, wire),
            (TaskInputState::Answered { update: Some(update), .. }, RequestId::Number(wire)) if update == wire
        )
    }
}
