//! Requests from the server. The session sends exactly one response to each, unless the server cancels it.

use std::time::Instant;

use serde_json::{Value, json};

use crate::jsonrpc::{OutgoingMessage, RequestId, RpcError, code};
use crate::types::{ElicitAction, ElicitResult, Map};

use super::handshake::SessionPhase;
use super::request_encoding::parse_server_request;
use super::{
    CallId, ClientResponse, ClientResponseError, ServerRequest, ServerRequestId, Session, SessionEvent, StreamOrigin,
    WithdrawalReason, meta, request_encoding, tasks,
};

/// A request from the server that has no response yet.
#[derive(Debug)]
pub(super) struct PendingServerRequest {
    pub(super) origin: ServerRequestSource,
    pub(super) kind: ServerRequestKind,
    /// Call that caused the request, if known.
    call: Option<CallId>,
    /// Calls whose deadlines are paused while the request is open.
    stops: Vec<CallId>,
    /// Length of the request on the wire in bytes, counted against the limit on open requests.
    bytes: usize,
}

/// Source of a server's request, which determines how the client's response is sent.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ServerRequestSource {
    /// JSON-RPC request, alone or in a batch, that is answered with a JSON-RPC response.
    Request {
        id: RequestId,
        batch: Option<u64>,
        /// Id of the task that the request belongs to, which the response must repeat.
        task: Option<String>,
    },
    /// Request for input in an `input_required` result (2026-07-28). The response is sent as a member of the call's
    /// repeated request, under this key.
    Round { call: CallId, key: String },
    /// Request for input of the task that a call continues as. The response is sent with `tasks/update`, under this
    /// key.
    Task { call: CallId, key: String },
}

/// Kind of a request from the server, which determines the valid kinds of response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ServerRequestKind {
    Sampling,
    Form,
    Url,
    Roots,
}

impl Session {
    /// Processes a JSON-RPC request from the server.
    pub(super) fn on_server_request(
        &mut self,
        id: RequestId,
        method: &str,
        params: Result<crate::types::Map, String>,
        bytes: usize,
        (batch, origin): (Option<u64>, &StreamOrigin),
        now: Instant,
    ) {
        if self.is_server_request_open(&id) {
            return self.report_protocol_anomaly(
                "a request with the id of another that is still open was ignored".into(),
                Some(id),
            );
        }
        self.expect_another_batch_response(batch);
        if method == "ping" {
            return self.send_server_request_response(id, batch, Ok(json!({})));
        }
        if !matches!(self.phase, SessionPhase::Ready) {
            self.report_protocol_anomaly(
                format!(
                    "the request `{}` was received before the session was initialized",
                    crate::jsonrpc::escape_and_truncate(method, 80)
                ),
                Some(id.clone()),
            );
            let error = RpcError::new(code::INVALID_REQUEST, "the session is not initialized yet");
            return self.send_server_request_response(id, batch, Err(error));
        }
        let offered = meta::capabilities_in_revision(&self.config.capabilities, self.revision());
        let task = params.as_ref().ok().and_then(related_task_id);
        let parsed = match params {
            Ok(params) => parse_server_request(method, params, &offered),
            Err(cause) => Err(RpcError::new(code::INVALID_PARAMS, format!("params: {cause}"))),
        };
        match parsed {
            Err(error) => self.send_server_request_response(id, batch, Err(error)),
            Ok(_) if !self.has_room_for_server_requests(1, bytes) => {
                let error = RpcError::new(code::INTERNAL_ERROR, "too many requests of the server are open");
                self.send_server_request_response(id, batch, Err(error));
            }
            Ok(server_request) => {
                let of_task = task.as_deref().and_then(|task| self.call_of_task(task));
                let (call, stops) = match of_task {
                    Some(call) => (Some(call), vec![call]),
                    None => self.find_possible_calls_behind_server_request(origin),
                };
                self.report_server_request(
                    ServerRequestSource::Request { id, batch, task },
                    call,
                    stops,
                    (server_request, bytes),
                    now,
                );
            }
        }
    }

    /// Returns `true` if `server_requests` more requests with `bytes` in total stay within the limits on open requests.
    pub(super) fn has_room_for_server_requests(&self, server_requests: usize, bytes: usize) -> bool {
        let limits = &self.config.limits;
        let open: usize = self.server_requests.values().map(|server_request| server_request.bytes).sum();
        self.server_requests.len() + server_requests <= limits.open_requests
            && open.saturating_add(bytes) <= limits.open_request_bytes
    }

    /// Determines the call that caused a request from the server, and the calls whose deadlines the request pauses.
    /// Over Streamable HTTP, the stream that carried the request identifies the call. Otherwise the call is known only
    /// if a single one is in flight; if several are, the deadlines of all are paused.
    fn find_possible_calls_behind_server_request(&self, origin: &StreamOrigin) -> (Option<CallId>, Vec<CallId>) {
        if let Some(call) = self.call_of_response_stream(origin) {
            return (Some(call), vec![call]);
        }
        let stops: Vec<CallId> =
            self.calls.iter().filter(|(_, call)| call.request.may_request_input()).map(|(id, _)| *id).collect();
        let call = if let [only] = stops[..] { Some(only) } else { None };
        (call, stops)
    }

    /// Returns the call whose POST response stream carried a message, or `None` if another stream did.
    pub(super) fn call_of_response_stream(&self, origin: &StreamOrigin) -> Option<CallId> {
        let StreamOrigin::Post(RequestId::Number(id)) = origin else { return None };
        self.wire.purpose(*id)?.call_id()
    }

    pub(super) fn report_server_request(
        &mut self,
        origin: ServerRequestSource,
        call: Option<CallId>,
        stops: Vec<CallId>,
        (server_request, bytes): (ServerRequest, usize),
        now: Instant,
    ) -> ServerRequestId {
        self.last_request += 1;
        let request = ServerRequestId(self.last_request);
        let kind = request_encoding::server_request_kind(&server_request);
        if let ServerRequest::Elicitation(params) = &server_request {
            self.store_elicitation_id(params);
        }
        for id in &stops {
            if let Some(stopped) = self.calls.get_mut(id) {
                stopped.server_requests += 1;
                stopped.clock.pause(now);
            }
        }
        self.server_requests.insert(request, PendingServerRequest { origin, kind, call, stops, bytes });
        self.events.push(SessionEvent::RequestReceived { request, call, server_request: Box::new(server_request) });
        request
    }

    pub(super) fn respond_to_server_request(
        &mut self,
        request: ServerRequestId,
        answer: ClientResponse,
        now: Instant,
    ) -> Result<(), ClientResponseError> {
        let server_request = self.server_requests.get(&request).ok_or(ClientResponseError::NotOpen)?;
        let value = request_encoding::encode_client_response(server_request.kind, answer, self.revision())
            .ok_or(ClientResponseError::WrongKind)?;
        if let Some(server_request) = self.close_server_request(request, now) {
            match server_request.origin {
                ServerRequestSource::Request { id, batch, task } => {
                    self.send_server_request_response(id, batch, add_related_task(value, task))
                }
                ServerRequestSource::Task { call, key } => self.on_task_input_answered(call, &key, value.ok(), now),
                ServerRequestSource::Round { call, key } => self.on_input_answered(call, &key, value.ok()),
            }
        }
        Ok(())
    }

    /// Removes an open request of the server, and resumes the deadlines of the calls that it paused.
    pub(super) fn close_server_request(
        &mut self,
        request: ServerRequestId,
        now: Instant,
    ) -> Option<PendingServerRequest> {
        let server_request = self.server_requests.shift_remove(&request)?;
        for id in &server_request.stops {
            self.resume_paused_call(*id, now);
        }
        Some(server_request)
    }

    /// Pauses the deadlines of the call whose request has this id, and returns the call.
    pub(super) fn pause_call_that_sent_request(&mut self, id: &RequestId, now: Instant) -> Option<CallId> {
        let RequestId::Number(number) = id else { return None };
        let call = self.wire.purpose(*number)?.call_id()?;
        let held = self.calls.get_mut(&call)?;
        held.server_requests += 1;
        held.clock.pause(now);
        Some(call)
    }

    /// Ends one pause of a call's deadlines, which run again when no pause is left.
    pub(super) fn resume_paused_call(&mut self, call: CallId, now: Instant) {
        if let Some(call) = self.calls.get_mut(&call) {
            call.server_requests = call.server_requests.saturating_sub(1);
            if call.server_requests == 0 {
                call.clock.resume(now);
            }
        }
    }

    pub(super) fn withdraw_server_request(&mut self, request: ServerRequestId, why: WithdrawalReason) {
        // A request whose event is still queued needs no withdrawal.
        if !self.events.remove_server_request_event(request) {
            self.events.push(SessionEvent::Withdrawn { request, why });
        }
    }

    pub(super) fn is_server_request_open(&self, id: &RequestId) -> bool {
        self.server_request_by_wire_id(id).is_some()
    }

    fn server_request_by_wire_id(&self, wire_id: &RequestId) -> Option<ServerRequestId> {
        let has_wire_id = |server_request: &PendingServerRequest| matches!(&server_request.origin, ServerRequestSource::Request { id, .. } if id == wire_id);
        self.server_requests.iter().find(|(_, server_request)| has_wire_id(server_request)).map(|(request, _)| *request)
    }

    /// Processes the server's cancellation of its own request: reports the withdrawal to the caller and sends no
    /// response (`basic/utilities/cancellation`).
    pub(super) fn on_request_cancelled_by_server(&mut self, id: &RequestId, now: Instant) {
        let Some(request) = self.server_request_by_wire_id(id) else { return };
        if let Some(PendingServerRequest { origin: ServerRequestSource::Request { batch, .. }, .. }) =
            self.close_server_request(request, now)
        {
            self.withdraw_server_request(request, WithdrawalReason::CancelledByServer);
            self.record_batch_response(batch, None);
        }
    }

    /// Withdraws the open requests for input of a call or of its task, because the call has ended.
    pub(super) fn withdraw_input_requests(&mut self, ended: CallId) {
        let of_call = |server_request: &PendingServerRequest| matches!(server_request.origin, ServerRequestSource::Round { call, .. } | ServerRequestSource::Task { call, .. } if call == ended);
        let requests: Vec<ServerRequestId> = self
            .server_requests
            .iter()
            .filter(|(_, server_request)| of_call(server_request))
            .map(|(request, _)| *request)
            .collect();
        for request in requests {
            self.server_requests.shift_remove(&request);
            self.withdraw_server_request(request, WithdrawalReason::CallEnded);
        }
    }

    /// Refuses the open requests that a call caused, after the client ended the call.
    pub(super) fn refuse_server_requests_of_call(&mut self, ended: CallId, now: Instant) {
        let requests: Vec<ServerRequestId> = self
            .server_requests
            .iter()
            .filter(|(_, server_request)| server_request.call == Some(ended))
            .map(|(request, _)| *request)
            .collect();
        for request in requests {
            if let Some(server_request) = self.close_server_request(request, now) {
                self.withdraw_server_request(request, WithdrawalReason::CallEnded);
                self.refuse_server_request(server_request, "the call that led to this has ended");
            }
        }
    }

    /// Withdraws and refuses all open requests at the end of the session.
    pub(super) fn end_all_server_requests(&mut self) {
        for (request, server_request) in std::mem::take(&mut self.server_requests) {
            self.withdraw_server_request(request, WithdrawalReason::SessionEnded);
            self.refuse_server_request(server_request, "the session has ended");
        }
    }

    fn refuse_server_request(&mut self, server_request: PendingServerRequest, why: &str) {
        let ServerRequestSource::Request { id, batch, task } = server_request.origin else { return };
        let answer = match server_request.kind {
            ServerRequestKind::Form | ServerRequestKind::Url => {
                Ok(json!(ElicitResult { action: ElicitAction::Cancel, content: None }))
            }
            ServerRequestKind::Sampling | ServerRequestKind::Roots => Err(RpcError::new(code::INTERNAL_ERROR, why)),
        };
        self.send_server_request_response(id, batch, add_related_task(answer, task));
    }

    pub(super) fn send_server_request_response(
        &mut self,
        id: RequestId,
        batch: Option<u64>,
        answer: Result<Value, RpcError>,
    ) {
        let response = OutgoingMessage::response(id, answer);
        match batch {
            None => self.send_response(response),
            Some(_) => self.record_batch_response(batch, Some(response)),
        }
    }
}

/// Returns the id of the task that a server's request belongs to, from its `_meta` (2025-11-25).
fn related_task_id(params: &Map) -> Option<String> {
    params.get("_meta")?.get(tasks::RELATED_TASK_KEY)?.get("taskId")?.as_str().map(str::to_owned)
}

/// Adds the id of a task to the `_meta` of a result that belongs to the task.
fn add_related_task(mut answer: Result<Value, RpcError>, task: Option<String>) -> Result<Value, RpcError> {
    if let (Ok(answer), Some(task)) = (&mut answer, task) {
        answer["_meta"][tasks::RELATED_TASK_KEY] = json!({ "taskId": task });
    }
    answer
}
