//! Opens a session again after the server discarded it or changed its revision, and continues the calls that can
//! continue (`basic/transports`, 404 to a session id).

use std::time::Instant;

use serde_json::json;

use crate::jsonrpc::{RawJson, RequestId, RpcError, code};

use super::handshake::SessionPhase;
use super::request_table::RequestPurpose;
use super::server_requests::ServerRequestSource;
use super::{CallError, CallId, ServerFacts, ServerRequestId, Session, TransportKind, WithdrawalReason};

/// State of the previous session that is retained while a new session is opened.
#[derive(Debug)]
pub(super) struct ReopeningState {
    /// Facts about the server from the previous handshake.
    pub(super) facts: Box<ServerFacts>,
    /// Calls that are retained while a new session is opened, and whose requests are sent when it is ready.
    held: Vec<CallId>,
}

impl Session {
    pub(super) fn is_reopening(&self) -> bool {
        self.reopening.is_some()
    }

    pub(super) fn on_session_lost(&mut self, refused: Option<&RequestId>, now: Instant) {
        let of_session = self.facts.as_ref().is_some_and(|facts| !facts.revision.is_modern());
        let call = refused.and_then(|id| self.wire.abandon_by_wire_id(id)).and_then(|purpose| purpose.call_id());
        if matches!(self.phase, SessionPhase::Ready) && of_session {
            self.reopen_session(call, now);
            self.reinitialize(now);
        } else if let Some(call) = call
            && self.is_reopening()
        {
            self.retain_call_until_session_reopens(call);
        }
    }

    /// Opens a new session if `error` shows that the server now supports 2026-07-28 instead of earlier revisions, or
    /// vice versa. Returns `true` if so; the request of `call` is then sent again.
    pub(super) fn reopen_session_if_server_changed_revision(
        &mut self,
        call: CallId,
        error: &RpcError,
        now: Instant,
    ) -> bool {
        let Some(facts) = &self.facts else { return false };
        let other_era = match error.code {
            code::UNSUPPORTED_PROTOCOL_VERSION => true,
            code::HEADER_MISMATCH | code::MISSING_CLIENT_CAPABILITY => !facts.revision.is_modern(),
            _ => false,
        };
        let Some(record) = self.calls.get_mut(&call) else { return false };
        let ready = matches!(self.phase, SessionPhase::Ready);
        if !other_era || !ready || self.config.carrier != TransportKind::StreamableHttp || record.reopened {
            return false;
        }
        record.reopened = true;
        self.reopen_session(Some(call), now);
        self.restart_probe(now);
        true
    }

    /// Discards the state of the previous session. Retains the call `refused`, calls without a pending request and
    /// calls that are safe to repeat, and ends all others.
    fn reopen_session(&mut self, refused: Option<CallId>, now: Instant) {
        let Some(facts) = self.facts.take() else { return };
        self.reopening = Some(ReopeningState { facts, held: Vec::new() });
        self.out.clear();
        let open: Vec<ServerRequestId> = self
            .server_requests
            .iter()
            .filter(|(_, server_request)| matches!(server_request.origin, ServerRequestSource::Request { .. }))
            .map(|(request, _)| *request)
            .collect();
        for request in open {
            // The server no longer waits for the response.
            self.close_server_request(request, now);
            self.withdraw_server_request(request, WithdrawalReason::SessionEnded);
        }
        self.batches.clear();
        for purpose in self.wire.abandon_all() {
            if purpose == RequestPurpose::HealthCheck {
                self.liveness.on_pong();
            }
        }
        self.listen.discard_listen_request();
        let calls: Vec<CallId> = self.calls.keys().copied().collect();
        for id in calls {
            self.discard_task_requests(id);
            let Some(call) = self.calls.get_mut(&id) else { continue };
            let in_flight = call.wire.take().is_some();
            if Some(id) == refused || !in_flight || call.request.is_safe_to_repeat() {
                self.retain_call_until_session_reopens(id);
            } else {
                let cause = "the server forgot the session before it answered".into();
                self.end_call(id, Err(CallError::Undelivered { cause, sent: true }));
            }
        }
    }

    /// Retains a call while a new session is opened. Its request is sent when the new session is ready.
    pub(super) fn retain_call_until_session_reopens(&mut self, id: CallId) {
        if let Some(reopening) = &mut self.reopening {
            if let Some(call) = self.calls.get_mut(&id) {
                call.wire = None;
                call.send_at = None;
            }
            if !reopening.held.contains(&id) {
                reopening.held.push(id);
            }
        }
    }

    /// Handles the response to a request that restores state of the previous session, such as the log level. Reports an
    /// error as an anomaly.
    pub(super) fn on_state_restore_response(&mut self, answer: Result<RawJson, RpcError>) {
        if let Err(error) = answer {
            self.report_protocol_anomaly(
                format!("the state of the previous session could not be restored: {error}"),
                None,
            );
        }
    }

    /// Restores subscriptions and log level in the new session, and then sends the requests of the retained calls.
    pub(super) fn resume_retained_calls(&mut self, reopening: ReopeningState, now: Instant) {
        self.restore_subscriptions();
        if let Some(level) = self.log_level
            && self.revision().has_set_log_level()
        {
            self.send_request(RequestPurpose::Restore, "logging/setLevel", json!({ "level": level }), None);
        }
        for id in reopening.held {
            self.send_or_poll_call(id, now);
        }
    }
}
