//! Calls that the session's caller makes: their start, their cancellation, and their end, which is reported once.

use std::time::Instant;

use serde_json::Value;

use crate::jsonrpc::{RawJson, RpcError, code, escape_and_truncate};
use crate::revision::Revision;
use crate::types::ElicitParams;

use super::handshake::SessionPhase;
use super::mrtr::RequestedInputs;
use super::results::{self, ResultBody};
use super::task_calls::TaskCall;
use super::timers::{CallTimer, earliest_instant};
use super::{
    CacheHint, CallDeadline, CallError, CallId, CancelReason, ClientRequest, CloseReason, ServerResult, Session,
    SessionEvent, tasks,
};

/// State of a call that has not ended.
#[derive(Debug)]
pub(super) struct PendingCall {
    pub(super) request: ClientRequest,
    pub(super) clock: CallTimer,
    /// JSON-RPC id of the pending request of the call, or `None` if no request is pending, for instance while the call
    /// waits for user input.
    pub(super) wire: Option<i64>,
    /// Time at which the call's request is sent again, or `None` if no retransmission is scheduled.
    pub(super) send_at: Option<Instant>,
    /// Number of times that the call's request was sent again after the transport failed to deliver it.
    pub(super) resends: u32,
    /// `true` if a new session was already opened because of this call, which happens at most once for each call.
    pub(super) reopened: bool,
    /// `true` if `tools/list` was already sent because the server refused the headers of this call, which happens at
    /// most once for each call.
    pub(super) has_relisted_tools: bool,
    /// `true` if the call's request had a `task` parameter, with which the client asks the server to run the call as a
    /// task.
    pub(super) requested_as_task: bool,
    /// State of the server's task as which the call continues, or `None` if the call is not a task.
    pub(super) task: Option<Box<TaskCall>>,
    /// Value of `progressToken` in the call's request, or `None` if it had none.
    pub(super) token: Option<i64>,
    /// Number of reasons to pause the call's deadlines: its open requests of the server, and pauses by
    /// [`Session::pause_call_that_sent`]. The deadlines run while the number is zero.
    pub(super) server_requests: usize,
    /// Latest `progress` value of the current request. Later values must be greater.
    pub(super) progress: Option<f64>,
    /// Number of valid progress notifications of the call so far.
    pub(super) progressed: u64,
    /// `true` if the session has already reported an anomaly because a progress value of the call did not increase.
    pub(super) reported_progress_anomaly: bool,
    /// Number of `input_required` results that the call has received.
    pub(super) rounds: usize,
    /// Input that the server requested from the user in the latest `input_required` result, or `None`.
    pub(super) inputs: Option<RequestedInputs>,
}

impl PendingCall {
    /// Returns the time of the call's next timeout, retransmission or poll of its task.
    pub(super) fn next_due(&self) -> Option<Instant> {
        earliest_instant([
            self.clock.next_timeout(),
            self.send_at,
            self.task.as_ref().and_then(|running| running.next_poll()),
        ])
    }
}

impl Session {
    pub(super) fn start_call(
        &mut self,
        request: ClientRequest,
        deadline: CallDeadline,
        now: Instant,
    ) -> Result<CallId, CallError> {
        let known = self.facts.as_deref().or(self.reopening.as_ref().map(|reopening| &*reopening.facts));
        match (&self.phase, known) {
            (SessionPhase::Closed(reason), _) => return Err(CallError::Closed(reason.clone())),
            (SessionPhase::Failed(cause), _) => {
                return Err(CallError::Closed(CloseReason::HandshakeFailed(cause.clone())));
            }
            (SessionPhase::Initializing { .. }, None) if request == ClientRequest::Ping => {}
            (SessionPhase::Ready | SessionPhase::Probing { .. } | SessionPhase::Initializing { .. }, Some(facts)) => {
                if let Some(what) = request.unsupported_reason(facts) {
                    return Err(CallError::Unsupported { what });
                }
            }
            _ => return Err(CallError::NotReady),
        }
        if self.calls.len() >= self.config.limits.in_flight_calls {
            return Err(CallError::TooManyCalls);
        }
        self.check_subscription_limit(&request)?;
        self.last_call += 1;
        let id = CallId(self.last_call);
        let call = PendingCall {
            request,
            clock: CallTimer::start(deadline, now),
            wire: None,
            send_at: None,
            resends: 0,
            reopened: false,
            has_relisted_tools: false,
            requested_as_task: false,
            task: None,
            token: None,
            server_requests: 0,
            progress: None,
            progressed: 0,
            reported_progress_anomaly: false,
            rounds: 0,
            inputs: None,
        };
        self.calls.insert(id, call);
        if self.is_reopening() {
            self.retain_call_until_session_reopens(id);
        } else {
            self.send_or_poll_call(id, now);
        }
        Ok(id)
    }

    /// Sends the call's request or polls its task, depending on the state of the call.
    pub(super) fn send_or_poll_call(&mut self, id: CallId, now: Instant) {
        if self.task_call(id).is_some() {
            self.poll_task(id);
        } else if !self.process_call_without_request(id, now) {
            self.send_call_request(id);
        }
    }

    /// Processes a call that needs no request of its own in this revision, such as a subscription in 2026-07-28.
    /// Returns `false` if the call needs a request.
    fn process_call_without_request(&mut self, id: CallId, now: Instant) -> bool {
        let revision = self.revision();
        let Some(call) = self.calls.get(&id) else { return false };
        match &call.request {
            ClientRequest::SetLogLevel { level } if !revision.has_set_log_level() => {
                self.log_level = Some(*level);
                self.end_call(id, Ok(ServerResult::Empty));
            }
            ClientRequest::Subscribe { uri } if !revision.has_resource_subscribe() => {
                let uri = uri.clone();
                self.subscribe(id, uri, now);
            }
            ClientRequest::Unsubscribe { uri } if !revision.has_resource_subscribe() => {
                let uri = uri.clone();
                self.unsubscribe(id, &uri, now);
            }
            _ => return false,
        }
        true
    }

    /// Returns the negotiated revision, or until then the revision that the client offers in `initialize`.
    pub(super) fn revision(&self) -> Revision {
        match (&self.facts, &self.phase) {
            (Some(facts), _) => facts.revision,
            (None, SessionPhase::Initializing { offered, .. }) => *offered,
            _ => Revision::NEWEST_LEGACY,
        }
    }

    pub(super) fn on_call_response(&mut self, id: CallId, answer: Result<RawJson, RpcError>, now: Instant) {
        let Some(call) = self.calls.get_mut(&id) else { return };
        call.wire = None;
        let (body, bytes) = match answer {
            Ok(raw) => (ResultBody::read(&call.request, &raw), raw.get().len()),
            Err(error) => {
                if self.reopen_session_if_server_changed_revision(id, &error, now)
                    || self.on_header_mismatch_error(id, &error)
                {
                    return;
                }
                let error = self.classify_call_error(error);
                return self.end_call(id, Err(error));
            }
        };
        match body.and_then(|body| self.process_result_by_type(id, body, bytes, now)) {
            Ok(Some(result)) => self.complete_call(id, result),
            Ok(None) => {}
            Err(cause) => self.end_call(id, Err(CallError::BadAnswer { cause })),
        }
    }

    /// Completes a call with its result, and updates the session state that depends on the result, such as the
    /// subscriptions.
    fn complete_call(&mut self, id: CallId, mut result: ServerResult) {
        if let ServerResult::Tools { items, .. } = &mut result {
            self.record_listed_tools(items);
        }
        match self.calls.get(&id).map(|call| &call.request) {
            Some(ClientRequest::SetLogLevel { level }) => self.log_level = Some(*level),
            Some(ClientRequest::Subscribe { uri }) => self.listen.add_resource(uri.clone()),
            Some(ClientRequest::Unsubscribe { uri }) => self.listen.remove_resource(uri),
            _ => {}
        }
        self.end_call(id, Ok(result));
    }

    /// Evaluates the `resultType` of a result (2026-07-28). Returns the converted result, or `None` if the call
    /// continues: with further input of the user, or as a task.
    fn process_result_by_type(
        &mut self,
        id: CallId,
        mut body: ResultBody,
        bytes: usize,
        now: Instant,
    ) -> Result<Option<ServerResult>, String> {
        let Some(call) = self.calls.get(&id) else { return Ok(None) };
        let is_call = matches!(call.request, ClientRequest::CallTool { .. });
        let core = call.requested_as_task;
        let extension = !core && self.revision().has_subscriptions_listen();
        if is_call
            && (core || extension)
            && let Some(task) = tasks::take_created_task(&mut body, core)
        {
            return self.on_task_created(id, task, now).map(|()| None);
        }
        if self.revision().has_multi_round_trip() {
            match body.get("resultType") {
                None => {}
                Some(Value::String(kind)) if kind == "complete" => {}
                Some(Value::String(kind)) if kind == "input_required" => {
                    if !call.request.may_request_input() {
                        return Err("an input_required result is not allowed for this method".into());
                    }
                    self.on_input_required_result(id, body.into_fields(), bytes, now);
                    return Ok(None);
                }
                Some(other) => {
                    return Err(format!("unknown resultType {}", escape_and_truncate(&other.to_string(), 80)));
                }
            }
        }
        // Results of repeated requests contain input of the user and are not cached.
        let cache = (self.revision().has_cache_hints() && call.rounds == 0).then(|| CacheHint::parse(&body));
        if let Some((list, items)) = body.take_dropped_entries() {
            self.events.push(SessionEvent::ItemsDropped { list, items });
        }
        results::to_server_result(&call.request, body, cache).map(Some)
    }

    /// Converts an error response to a [`CallError`]: [`CallError::UrlRequired`] if it lists URLs for the user to
    /// visit, otherwise [`CallError::Server`].
    pub(super) fn classify_call_error(&mut self, error: RpcError) -> CallError {
        if error.code == code::URL_ELICITATION_REQUIRED && self.revision().has_url_required_error() {
            let pages = error.data.as_ref().and_then(|data| data.get("elicitations"));
            let pages: Option<Vec<ElicitParams>> = pages.and_then(|pages| serde_json::from_value(pages.clone()).ok());
            if let Some(pages) = pages
                && !pages.is_empty()
                && pages.iter().all(|page| matches!(page, ElicitParams::Url { .. }))
            {
                pages.iter().for_each(|page| self.store_elicitation_id(page));
                return CallError::UrlRequired(pages);
            }
        }
        CallError::Server(error)
    }

    pub(super) fn cancel_call(&mut self, id: CallId, reason: &CancelReason, now: Instant) {
        self.cancel_call_with_error(id, &reason.to_string(), CallError::Cancelled, now);
    }

    /// Ends a call with `error`, and sends a cancellation to the server if a request or task is pending.
    pub(super) fn cancel_call_with_error(&mut self, id: CallId, reason: &str, error: CallError, now: Instant) {
        let as_task = self.cancel_task(id);
        let Some(call) = self.calls.get_mut(&id) else { return };
        if let Some(wire) = call.wire.take().filter(|_| !as_task) {
            self.wire.abandon(wire);
            self.send_cancellation(wire, Some(reason));
        }
        self.drop_subscription_of_ended_call(id, now);
        self.end_call(id, Err(error));
        self.refuse_server_requests_of_call(id, now);
    }

    /// Ends a call and reports its result. No other function removes calls.
    pub(super) fn end_call(&mut self, id: CallId, result: Result<ServerResult, CallError>) {
        if let Some(call) = self.calls.remove(id) {
            if let Some(running) = call.task {
                self.stop_listening_to_task(&running.state.id);
            }
            self.withdraw_input_requests(id);
            self.events.push(SessionEvent::Done { call: id, result });
        }
    }

    pub(super) fn end_all_calls(&mut self, reason: &CloseReason) {
        let ids: Vec<CallId> = self.calls.keys().copied().collect();
        for id in ids {
            self.end_call(id, Err(CallError::Closed(reason.clone())));
        }
    }
}
