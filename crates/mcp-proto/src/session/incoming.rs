//! Dispatches messages from the server: responses, requests, notifications and invalid messages.

use std::time::Instant;

use serde::Deserialize;

use crate::jsonrpc::{
    IncomingMessage, InvalidMessage, InvalidMessageCause, RawJson, RequestId, RpcError, code, escape_and_truncate,
};
use crate::types::{ElicitParams, LogMessage, Map};

use super::handshake::SessionPhase;
use super::request_table::{RequestPurpose, ResponseMatch};
use super::{CallError, ListKind, Session, SessionEvent, StreamOrigin, results};

/// Maximum number of URL elicitations whose ids are stored until the server reports them as complete.
const MAX_STORED_URL_ELICITATION_IDS: usize = 256;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CancelledParams {
    request_id: RequestId,
}

#[derive(Deserialize)]
struct ResourceUpdatedParams {
    uri: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ElicitationCompleteParams {
    elicitation_id: String,
}

impl Session {
    pub(super) fn process_received_message(
        &mut self,
        message: IncomingMessage,
        origin: StreamOrigin,
        batch: Option<u64>,
        now: Instant,
    ) {
        match message {
            IncomingMessage::Response { id, result } => self.on_server_response(&id, result, now),
            IncomingMessage::ErrorWithoutId { error } => self.on_error_without_id(error, now),
            IncomingMessage::Request { id, method, params } if self.accepts_server_requests() => {
                let bytes = raw_params_bytes(params.as_ref());
                self.on_server_request(id, &method, parse_params_object(params.as_ref()), bytes, (batch, &origin), now);
            }
            // 2026-07-28 has no requests of servers, and only requests and notifications may be written to a local
            // server (`basic/transports/stdio`).
            IncomingMessage::Request { id, method, .. } => {
                let method = escape_and_truncate(&method, 80);
                self.report_protocol_anomaly(
                    format!("the request `{method}`, which servers of this revision do not send"),
                    Some(id),
                );
            }
            // One call may have thousands of progress notifications.
            IncomingMessage::Notification { method, params } if method == "notifications/progress" => {
                self.on_progress_notification(params.as_ref(), now);
            }
            IncomingMessage::Notification { method, params } => match parse_params_object(params.as_ref()) {
                Ok(read) => self.on_server_notification(&method, read, raw_params_bytes(params.as_ref()), &origin, now),
                Err(cause) => {
                    let method = escape_and_truncate(&method, 80);
                    self.report_protocol_anomaly(
                        format!("the notification `{method}` does not fit: params: {cause}"),
                        None,
                    );
                }
            },
            IncomingMessage::Batch(messages) => self.process_received_batch(messages, origin, now),
        }
    }

    /// Returns `true` if the session responds to requests from the server: before the revision is negotiated, and in
    /// revisions that have such requests.
    pub(super) fn accepts_server_requests(&self) -> bool {
        self.facts.as_ref().is_none_or(|facts| facts.revision.has_server_requests())
    }

    fn on_server_response(&mut self, id: &RequestId, result: Result<RawJson, RpcError>, now: Instant) {
        match self.wire.match_response(id) {
            ResponseMatch::Waiting(RequestPurpose::Probe) => self.on_probe_response(result, now),
            ResponseMatch::Waiting(RequestPurpose::Initialize) => self.on_initialize_response(result, now),
            ResponseMatch::Waiting(RequestPurpose::Call(call)) => self.on_call_response(call, result, now),
            ResponseMatch::Waiting(RequestPurpose::Listen) => self.on_listen_response(result.map(|_| ()), now),
            ResponseMatch::Waiting(RequestPurpose::Relist { call, page }) => {
                self.on_tool_list_for_headers(call, page, result)
            }
            ResponseMatch::Waiting(RequestPurpose::Restore) => self.on_state_restore_response(result),
            ResponseMatch::Waiting(RequestPurpose::HealthCheck) => self.liveness.on_pong(),
            ResponseMatch::Waiting(RequestPurpose::TaskGet(call)) => self.on_task_get_response(call, result, now),
            ResponseMatch::Waiting(RequestPurpose::TaskResult(call)) => self.on_task_result_response(call, result),
            ResponseMatch::Waiting(RequestPurpose::TaskUpdate(call)) => {
                self.on_task_update_response(call, id, result, now)
            }
            ResponseMatch::Waiting(RequestPurpose::TaskCancel) => {}
            ResponseMatch::GivenUp => self.cancel_task_of_late_response(id, result),
            ResponseMatch::Answered => {
                self.report_protocol_anomaly(format!("a second answer to request {id} was ignored"), Some(id.clone()))
            }
            ResponseMatch::Unknown => {
                self.report_protocol_anomaly(
                    format!("an answer to request {id}, which was never sent, was ignored"),
                    Some(id.clone()),
                );
            }
        }
    }

    /// Handles an error response without an id. If only one request is pending and the error says that the server could
    /// not parse it, the request fails. Otherwise reports an anomaly, since some servers respond to unknown
    /// notifications in this way.
    fn on_error_without_id(&mut self, error: RpcError, now: Instant) {
        let about_reading = matches!(error.code, code::PARSE_ERROR | code::INVALID_REQUEST);
        let probing = matches!(self.phase, SessionPhase::Probing { .. });
        match self.wire.sole_pending_request_id() {
            Some(id) if about_reading || probing => self.on_server_response(&id, Err(error), now),
            _ => {
                let cause = format!("an error that names no request: {}", escape_and_truncate(&error.to_string(), 300));
                self.report_protocol_anomaly(cause, None);
            }
        }
    }

    /// Handles a received line that is not a valid message. If it seems to be a response, the call that it belongs to
    /// fails immediately. If it seems to be a request, the session responds with an error.
    pub(super) fn on_invalid_message(&mut self, invalid: InvalidMessage, batch: Option<u64>, now: Instant) {
        if invalid.cause == InvalidMessageCause::Blank {
            return;
        }
        let description = format!("{}: {}", invalid.cause, invalid.excerpt);
        if !matches!(self.phase, SessionPhase::Ready) {
            self.last_output = Some(description.clone());
        }
        self.report_protocol_anomaly(description, invalid.id.clone());
        if let Some(id) = invalid.peer_request.clone() {
            if self.accepts_server_requests() && !self.is_server_request_open(&id) {
                let code = if matches!(invalid.cause, InvalidMessageCause::NotJson(_)) {
                    code::PARSE_ERROR
                } else {
                    code::INVALID_REQUEST
                };
                self.expect_another_batch_response(batch);
                self.send_server_request_response(id, batch, Err(RpcError::new(code, invalid.cause.to_string())));
            }
            return;
        }
        let id = match &invalid.id {
            Some(id) => Some(id.clone()),
            None if invalid.answer => self.wire.sole_pending_request_id(),
            None => None,
        };
        if let Some(id) = id {
            self.fail_client_request(&id, CallError::Unreadable(Box::new(invalid)), now);
        }
    }

    /// Completes a pending request whose response arrived but is invalid. If the request is that of a call, the call
    /// ends with `error`.
    pub(super) fn fail_client_request(&mut self, id: &RequestId, error: CallError, now: Instant) {
        if !self.wire.is_pending(id) {
            return;
        }
        match self.wire.match_response(id) {
            ResponseMatch::Waiting(purpose @ (RequestPurpose::Probe | RequestPurpose::Initialize)) => {
                self.on_unreadable_handshake_response(purpose, &error, now);
            }
            ResponseMatch::Waiting(
                RequestPurpose::Call(call)
                | RequestPurpose::Relist { call, .. }
                | RequestPurpose::TaskGet(call)
                | RequestPurpose::TaskResult(call),
            ) => self.end_call(call, Err(error)),
            ResponseMatch::Waiting(
                RequestPurpose::Restore | RequestPurpose::TaskUpdate(_) | RequestPurpose::TaskCancel,
            ) => {}
            ResponseMatch::Waiting(RequestPurpose::Listen) => {
                self.on_listen_response(Err(RpcError::new(code::PARSE_ERROR, error.to_string())), now);
            }
            ResponseMatch::Waiting(RequestPurpose::HealthCheck) => self.liveness.on_pong(),
            ResponseMatch::GivenUp | ResponseMatch::Answered | ResponseMatch::Unknown => {}
        }
    }

    fn on_server_notification(&mut self, method: &str, params: Map, bytes: usize, origin: &StreamOrigin, now: Instant) {
        let ready = matches!(self.phase, SessionPhase::Ready);
        let read = match method {
            "notifications/message" => results::deserialize_object::<LogMessage>(params).map(|message| {
                let call = self.call_of_response_stream(origin);
                self.events.push_with_size(SessionEvent::Log { message: Box::new(message), call }, bytes);
            }),
            "notifications/cancelled" => {
                results::deserialize_object::<CancelledParams>(params).map(|CancelledParams { request_id }| {
                    if self.accepts_server_requests() {
                        self.on_request_cancelled_by_server(&request_id, now);
                    } else {
                        self.on_listen_request_cancelled(&request_id, now);
                    }
                })
            }
            // The lists are read once the session is ready, so earlier change notifications are redundant.
            _ if !ready => Ok(()),
            "notifications/tools/list_changed" => self.report_list_changed(ListKind::Tools, &params),
            "notifications/prompts/list_changed" => self.report_list_changed(ListKind::Prompts, &params),
            "notifications/resources/list_changed" => self.report_list_changed(ListKind::Resources, &params),
            "notifications/resources/updated" => {
                if !self.is_subscribed_notification(&params) {
                    return;
                }
                results::deserialize_object::<ResourceUpdatedParams>(params).map(|ResourceUpdatedParams { uri }| {
                    self.events.push_with_size(SessionEvent::ResourceUpdated { uri }, bytes)
                })
            }
            "notifications/elicitation/complete" if self.revision().has_elicitation_complete() => {
                results::deserialize_object::<ElicitationCompleteParams>(params)
                    .map(|done| self.on_elicitation_completed(done.elicitation_id))
            }
            "notifications/tasks/status" if self.revision().has_core_tasks() => self.on_task_state_message(params, now),
            "notifications/tasks" if self.revision().has_subscriptions_listen() => {
                if !self.is_subscribed_notification(&params) {
                    return;
                }
                self.on_task_state_message(params, now)
            }
            "notifications/subscriptions/acknowledged" if self.revision().has_subscriptions_listen() => {
                self.on_subscription_acknowledged(params, now);
                Ok(())
            }
            // Servers may send notifications of later revisions or extensions.
            _ => Ok(()),
        };
        if let Err(cause) = read {
            self.report_protocol_anomaly(
                format!("the notification `{}` does not fit: {cause}", escape_and_truncate(method, 80)),
                None,
            );
        }
    }

    fn report_list_changed(&mut self, kind: ListKind, params: &Map) -> Result<(), String> {
        if self.is_subscribed_notification(params) {
            self.events.push(SessionEvent::ListChanged(kind));
        }
        Ok(())
    }

    /// Stores the id of a URL elicitation, so that a later completion notification is accepted (`client/elicitation`,
    /// 2025-11-25).
    pub(super) fn store_elicitation_id(&mut self, params: &ElicitParams) {
        if let ElicitParams::Url { elicitation_id: Some(id), .. } = params {
            if self.elicitations.len() == MAX_STORED_URL_ELICITATION_IDS {
                self.elicitations.shift_remove_index(0);
            }
            self.elicitations.insert(id.clone());
        }
    }

    fn on_elicitation_completed(&mut self, elicitation_id: String) {
        // The specification requires to ignore unknown and completed ids.
        if self.elicitations.shift_remove(&elicitation_id) {
            self.events.push(SessionEvent::ElicitationComplete { elicitation_id });
        }
    }
}

fn parse_params_object(params: Option<&RawJson>) -> Result<Map, String> {
    params.map_or_else(|| Ok(Map::new()), results::parse_body_object)
}

fn raw_params_bytes(params: Option<&RawJson>) -> usize {
    params.map_or(0, |params| params.get().len())
}
