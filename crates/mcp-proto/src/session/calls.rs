//! Calls of the host: sending, cancelling, and the one end that each has.

use std::time::Instant;

use serde_json::{Value, json};

use crate::jsonrpc::{Outgoing, RawJson, RequestId, RpcError, code, escape};
use crate::revision::Revision;
use crate::types::{ElicitParams, Map};

use super::mrtr::Inputs;
use super::opening::Phase;
use super::timers::Clock;
use super::wire::Purpose;
use super::{
    CacheHint, CallError, CallId, CancelReason, Carrier, ClientRequest, CloseReason, Deadline, ServerResult, Session,
    SessionEvent, meta, results,
};

/// A call that has not ended.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) request: ClientRequest,
    pub(super) clock: Clock,
    /// Its id on the wire; none while the server waits for answers of the user, or if it needs no
    /// request of its own.
    pub(super) wire: Option<i64>,
    /// Questions that stop its clock.
    pub(super) questions: usize,
    /// The last progress, how many there were, and whether it was complained about.
    pub(super) progress: Option<f64>,
    pub(super) progressed: u64,
    pub(super) complained: bool,
    /// How often the server asked back, and what it asked last.
    pub(super) rounds: usize,
    pub(super) inputs: Option<Inputs>,
}

impl Session {
    pub(super) fn start_call(
        &mut self,
        request: ClientRequest,
        deadline: Deadline,
        now: Instant,
    ) -> Result<CallId, CallError> {
        match (&self.phase, &self.facts) {
            (Phase::Closed(reason), _) => return Err(CallError::Closed(reason.clone())),
            (Phase::Failed(cause), _) => {
                return Err(CallError::Closed(CloseReason::OpeningFailed(cause.clone())));
            }
            (Phase::Initializing { .. }, None) if request == ClientRequest::Ping => {}
            (Phase::Ready, Some(facts)) => {
                if let Some(what) = request.obstacle(facts) {
                    return Err(CallError::Unsupported { what });
                }
            }
            _ => return Err(CallError::NotReady),
        }
        if self.calls.len() >= self.config.limits.in_flight_calls {
            return Err(CallError::TooManyCalls);
        }
        self.check_subscription(&request)?;
        self.last_call += 1;
        let id = CallId(self.last_call);
        let call = Call {
            request,
            clock: Clock::start(deadline, now),
            wire: None,
            questions: 0,
            progress: None,
            progressed: 0,
            complained: false,
            rounds: 0,
            inputs: None,
        };
        self.calls.insert(id, call);
        if !self.emulate(id) {
            self.transmit(id);
        }
        Ok(id)
    }

    /// 2026-07-28 has no request for some calls. Does what they ask for in its way.
    fn emulate(&mut self, id: CallId) -> bool {
        let revision = self.revision();
        let Some(call) = self.calls.get(&id) else { return false };
        match call.request.clone() {
            ClientRequest::SetLogLevel { level } if !revision.has_set_log_level() => {
                self.log_level = Some(level);
                self.end_call(id, Ok(ServerResult::Empty));
            }
            ClientRequest::Subscribe { uri } if !revision.has_resource_subscribe() => self.subscribe(id, uri),
            ClientRequest::Unsubscribe { uri } if !revision.has_resource_subscribe() => self.unsubscribe(id, &uri),
            _ => return false,
        }
        true
    }

    /// Sends a call's request, for the first time or with answers to what the server asked back.
    pub(super) fn transmit(&mut self, id: CallId) {
        let revision = self.revision();
        let Some(call) = self.calls.get_mut(&id) else { return };
        let wire = self.wire.open(Purpose::Call(id));
        call.wire = Some(wire);
        call.progress = None;
        let mut params = call.request.params(revision);
        if let Some(inputs) = call.inputs.take() {
            inputs.add_to(&mut params);
        }
        let token = call.request.may_ask_back().then_some(wire);
        let meta = meta::request_meta(&self.config, revision, self.log_level, token);
        if !meta.is_empty() {
            params.insert("_meta".into(), Value::Object(meta));
        }
        let method = call.request.method(revision);
        let params = (!params.is_empty()).then_some(Value::Object(params));
        self.send_request(wire, method, params.as_ref());
    }

    /// The revision that is spoken; before that is known, the one that was offered.
    pub(super) fn revision(&self) -> Revision {
        match (&self.facts, &self.phase) {
            (Some(facts), _) => facts.revision,
            (None, Phase::Initializing { offered, .. }) => *offered,
            _ => Revision::NEWEST_LEGACY,
        }
    }

    pub(super) fn call_answered(&mut self, id: CallId, answer: Result<RawJson, RpcError>, now: Instant) {
        let Some(call) = self.calls.get_mut(&id) else { return };
        call.wire = None;
        let (body, bytes) = match answer {
            Ok(raw) => (results::object(&raw), raw.get().len()),
            Err(error) => {
                let error = self.explain(error);
                return self.end_call(id, Err(error));
            }
        };
        match body.and_then(|body| self.dispatch_result(id, body, bytes, now)) {
            Ok(Some(result)) => self.end_call(id, Ok(result)),
            Ok(None) => {}
            Err(cause) => self.end_call(id, Err(CallError::BadAnswer { cause })),
        }
    }

    /// Reads a body by its `resultType` (`basic`, 2026-07-28). `None` means that the call goes on.
    fn dispatch_result(
        &mut self,
        id: CallId,
        body: Map,
        bytes: usize,
        now: Instant,
    ) -> Result<Option<ServerResult>, String> {
        let Some(call) = self.calls.get(&id) else { return Ok(None) };
        if self.revision().has_multi_round_trip() {
            match body.get("resultType") {
                None => {}
                Some(Value::String(kind)) if kind == "complete" => {}
                Some(Value::String(kind)) if kind == "input_required" => {
                    if !call.request.may_ask_back() {
                        return Err("it asks back where that is not allowed".into());
                    }
                    self.asked_back(id, body, bytes, now);
                    return Ok(None);
                }
                Some(other) => return Err(format!("unknown resultType {}", escape(&other.to_string(), 80))),
            }
        }
        // Results of repeated requests hold the user's answers and are never kept.
        let cache = (self.revision().has_cache_hints() && call.rounds == 0).then(|| CacheHint::of(&body));
        results::result(&call.request, body, cache).map(Some)
    }

    /// An error of the server, in the terms of the host.
    fn explain(&mut self, error: RpcError) -> CallError {
        if error.code == code::URL_REQUIRED && self.revision().has_url_required_error() {
            let pages = error.data.as_ref().and_then(|data| data.get("elicitations"));
            let pages: Option<Vec<ElicitParams>> = pages.and_then(|pages| serde_json::from_value(pages.clone()).ok());
            if let Some(pages) = pages
                && !pages.is_empty()
                && pages.iter().all(|page| matches!(page, ElicitParams::Url { .. }))
            {
                pages.iter().for_each(|page| self.remember_elicitation(page));
                return CallError::UrlRequired(pages);
            }
        }
        CallError::Server(error)
    }

    pub(super) fn cancel_call(&mut self, id: CallId, reason: &CancelReason, now: Instant) {
        self.stop_call(id, &reason.to_string(), CallError::Cancelled, now);
    }

    /// Ends a call from our side, and tells the server if it works on it.
    pub(super) fn stop_call(&mut self, id: CallId, reason: &str, error: CallError, now: Instant) {
        let Some(call) = self.calls.get_mut(&id) else { return };
        if let Some(wire) = call.wire.take() {
            self.wire.give_up(wire);
            self.tell_cancelled(wire, Some(reason));
        }
        self.drop_subscription(id);
        self.end_call(id, Err(error));
        self.abandon_questions(id, now);
    }

    /// Tells the server that a request is not wanted any longer: over HTTP in 2026-07-28 by closing its
    /// stream, else by a notification (`basic/patterns/cancellation`).
    pub(super) fn tell_cancelled(&mut self, wire: i64, reason: Option<&str>) {
        if self.config.carrier == Carrier::StreamableHttp && self.revision().is_modern() {
            return self.send(Outgoing::abort(RequestId::Number(wire)));
        }
        let mut params = json!({ "requestId": wire });
        if let Some(reason) = reason {
            params["reason"] = json!(reason);
        }
        self.tell("notifications/cancelled", Some(&params));
    }

    /// The one place where a call ends.
    pub(super) fn end_call(&mut self, id: CallId, result: Result<ServerResult, CallError>) {
        if self.calls.shift_remove(&id).is_some() {
            self.withdraw_round(id);
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
