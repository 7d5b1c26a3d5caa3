//! What the server asks of us. Each of its requests gets exactly one answer, unless it withdraws it.

use std::time::Instant;

use serde_json::{Value, json};

use crate::jsonrpc::{Outgoing, RequestId, RpcError, code};
use crate::types::{ElicitAction, ElicitResult, Map};

use super::asked::question;
use super::opening::Phase;
use super::{
    Answer, CallId, ServerQuestion, ServerRequestId, Session, SessionEvent, StreamOrigin, UnknownRequest, Withdrawal,
    asked, meta, tasks,
};

/// A question that waits for an answer of the host.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) origin: Origin,
    pub(super) kind: Kind,
    /// The call that led to it, when that is known.
    call: Option<CallId>,
    /// The calls whose clocks it stops.
    stops: Vec<CallId>,
    /// How large it was on the wire.
    bytes: usize,
}

/// Where the answer has to go.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Origin {
    /// To a request of the server, alone or within a batch.
    Request {
        id: RequestId,
        batch: Option<u64>,
        /// The task that it belongs to, which the answer has to name.
        task: Option<String>,
    },
    /// Into the next round of a call, under this key.
    Round { call: CallId, key: String },
    /// To the task that a call became, under this key.
    Task { call: CallId, key: String },
}

/// What kind of answer fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Sampling,
    Form,
    Url,
    Roots,
}

impl Session {
    /// A request of the server, in a revision that has them or while that is not yet known.
    pub(super) fn requested(
        &mut self,
        id: RequestId,
        method: &str,
        params: Result<crate::types::Map, String>,
        bytes: usize,
        (batch, origin): (Option<u64>, &StreamOrigin),
        now: Instant,
    ) {
        if self.is_open(&id) {
            return self.anomaly("a request with the id of another that is still open was ignored".into(), Some(id));
        }
        self.expect_response(batch);
        if method == "ping" {
            return self.respond(id, batch, Ok(json!({})));
        }
        if !matches!(self.phase, Phase::Ready) {
            self.anomaly(
                format!("the request `{}` came too early", crate::jsonrpc::escape(method, 80)),
                Some(id.clone()),
            );
            let error = RpcError::new(code::INVALID_REQUEST, "the session is not initialized yet");
            return self.respond(id, batch, Err(error));
        }
        let offered = meta::offered(&self.config.capabilities, self.revision());
        let task = params.as_ref().ok().and_then(related_task);
        let asked = match params {
            Ok(params) => question(method, params, &offered),
            Err(cause) => Err(RpcError::new(code::INVALID_PARAMS, format!("params: {cause}"))),
        };
        match asked {
            Err(error) => self.respond(id, batch, Err(error)),
            Ok(_) if !self.has_room(1, bytes) => {
                let error = RpcError::new(code::INTERNAL_ERROR, "too many requests of the server are open");
                self.respond(id, batch, Err(error));
            }
            Ok(question) => {
                let of_task = task.as_deref().and_then(|task| self.call_of_task(task));
                let (call, stops) = match of_task {
                    Some(call) => (Some(call), vec![call]),
                    None => self.likely_calls(origin),
                };
                self.ask(Origin::Request { id, batch, task }, call, stops, (question, bytes), now);
            }
        }
    }

    /// Whether so many questions of so many bytes in all may be open beside those that are.
    pub(super) fn has_room(&self, questions: usize, bytes: usize) -> bool {
        let limits = &self.config.limits;
        let open: usize = self.questions.values().map(|question| question.bytes).sum();
        self.questions.len() + questions <= limits.open_questions
            && open.saturating_add(bytes) <= limits.open_question_bytes
    }

    /// Which call led to a request of the server: over Streamable HTTP the one whose stream carried it.
    /// Else nobody says, so it is known only when one call is in flight; otherwise the clocks of all stop,
    /// because it may be any of them.
    fn likely_calls(&self, origin: &StreamOrigin) -> (Option<CallId>, Vec<CallId>) {
        if let Some(call) = self.call_of_stream(origin) {
            return (Some(call), vec![call]);
        }
        let stops: Vec<CallId> =
            self.calls.iter().filter(|(_, call)| call.request.may_ask_back()).map(|(id, _)| *id).collect();
        let call = if let [only] = stops[..] { Some(only) } else { None };
        (call, stops)
    }

    /// The call whose own stream this is.
    pub(super) fn call_of_stream(&self, origin: &StreamOrigin) -> Option<CallId> {
        let StreamOrigin::Post(RequestId::Number(id)) = origin else { return None };
        self.wire.purpose(*id)?.call()
    }

    pub(super) fn ask(
        &mut self,
        origin: Origin,
        call: Option<CallId>,
        stops: Vec<CallId>,
        (question, bytes): (ServerQuestion, usize),
        now: Instant,
    ) -> ServerRequestId {
        self.last_question += 1;
        let request = ServerRequestId(self.last_question);
        let kind = asked::kind(&question);
        if let ServerQuestion::Elicitation(params) = &question {
            self.remember_elicitation(params);
        }
        for id in &stops {
            if let Some(stopped) = self.calls.get_mut(id) {
                stopped.questions += 1;
                stopped.clock.pause(now);
            }
        }
        self.questions.insert(request, Question { origin, kind, call, stops, bytes });
        self.events.push(SessionEvent::Asked { request, call, question: Box::new(question) });
        request
    }

    pub(super) fn answer_question(
        &mut self,
        request: ServerRequestId,
        answer: Answer,
        now: Instant,
    ) -> Result<(), UnknownRequest> {
        let question = self.questions.get(&request).ok_or(UnknownRequest::NotOpen)?;
        let value = asked::answer(question.kind, answer, self.revision()).ok_or(UnknownRequest::WrongKind)?;
        if let Some(question) = self.close_question(request, now) {
            match question.origin {
                Origin::Request { id, batch, task } => self.respond(id, batch, with_task(value, task)),
                Origin::Task { call, key } => self.task_input_answered(call, &key, value.ok(), now),
                Origin::Round { call, key } => self.input_answered(call, &key, value.ok()),
            }
        }
        Ok(())
    }

    /// Takes a question out and lets the clocks run again that it stopped.
    pub(super) fn close_question(&mut self, request: ServerRequestId, now: Instant) -> Option<Question> {
        let question = self.questions.shift_remove(&request)?;
        for id in &question.stops {
            self.let_call_run(*id, now);
        }
        Some(question)
    }

    /// Stops the clock of the call that a request of ours belongs to.
    pub(super) fn hold_call_of(&mut self, id: &RequestId, now: Instant) -> Option<CallId> {
        let RequestId::Number(number) = id else { return None };
        let call = self.wire.purpose(*number)?.call()?;
        let held = self.calls.get_mut(&call)?;
        held.questions += 1;
        held.clock.pause(now);
        Some(call)
    }

    /// One of the reasons for which a call's clock stands still is gone.
    pub(super) fn let_call_run(&mut self, call: CallId, now: Instant) {
        if let Some(call) = self.calls.get_mut(&call) {
            call.questions = call.questions.saturating_sub(1);
            if call.questions == 0 {
                call.clock.resume(now);
            }
        }
    }

    pub(super) fn withdraw(&mut self, request: ServerRequestId, why: Withdrawal) {
        // A question that the host has not seen needs no withdrawal.
        if !self.events.unask(request) {
            self.events.push(SessionEvent::Withdrawn { request, why });
        }
    }

    pub(super) fn is_open(&self, id: &RequestId) -> bool {
        self.question_of(id).is_some()
    }

    fn question_of(&self, wanted: &RequestId) -> Option<ServerRequestId> {
        let asked = |question: &Question| matches!(&question.origin, Origin::Request { id, .. } if id == wanted);
        self.questions.iter().find(|(_, question)| asked(question)).map(|(request, _)| *request)
    }

    /// The server does not want an answer any longer, and so gets none (`basic/utilities/cancellation`).
    pub(super) fn cancelled_by_server(&mut self, id: &RequestId, now: Instant) {
        let Some(request) = self.question_of(id) else { return };
        if let Some(Question { origin: Origin::Request { batch, .. }, .. }) = self.close_question(request, now) {
            self.withdraw(request, Withdrawal::CancelledByServer);
            self.response_done(batch, None);
        }
    }

    /// A call ended: what it asked in its last round is of no use.
    pub(super) fn withdraw_round(&mut self, ended: CallId) {
        let of_call = |question: &Question| matches!(question.origin, Origin::Round { call, .. } | Origin::Task { call, .. } if call == ended);
        let requests: Vec<ServerRequestId> =
            self.questions.iter().filter(|(_, question)| of_call(question)).map(|(request, _)| *request).collect();
        for request in requests {
            self.questions.shift_remove(&request);
            self.withdraw(request, Withdrawal::CallEnded);
        }
    }

    /// We ended a call: the requests that it led to are answered with a refusal.
    pub(super) fn abandon_questions(&mut self, ended: CallId, now: Instant) {
        let requests: Vec<ServerRequestId> = self
            .questions
            .iter()
            .filter(|(_, question)| question.call == Some(ended))
            .map(|(request, _)| *request)
            .collect();
        for request in requests {
            if let Some(question) = self.close_question(request, now) {
                self.withdraw(request, Withdrawal::CallEnded);
                self.refuse(question, "the call that led to this has ended");
            }
        }
    }

    /// The session ends: each open question is withdrawn and each request of the server answered.
    pub(super) fn end_all_questions(&mut self) {
        for (request, question) in std::mem::take(&mut self.questions) {
            self.withdraw(request, Withdrawal::SessionEnded);
            self.refuse(question, "the session has ended");
        }
    }

    fn refuse(&mut self, question: Question, why: &str) {
        let Origin::Request { id, batch, task } = question.origin else { return };
        let answer = match question.kind {
            Kind::Form | Kind::Url => Ok(json!(ElicitResult { action: ElicitAction::Cancel, content: None })),
            Kind::Sampling | Kind::Roots => Err(RpcError::new(code::INTERNAL_ERROR, why)),
        };
        self.respond(id, batch, with_task(answer, task));
    }

    pub(super) fn respond(&mut self, id: RequestId, batch: Option<u64>, answer: Result<Value, RpcError>) {
        let response = Outgoing::response(id, answer);
        match batch {
            None => self.send(response),
            Some(_) => self.response_done(batch, Some(response)),
        }
    }
}

/// The task that a request of the server belongs to (2025-11-25).
fn related_task(params: &Map) -> Option<String> {
    params.get("_meta")?.get(tasks::RELATED)?.get("taskId")?.as_str().map(str::to_owned)
}

/// Names the task that an answer belongs to.
fn with_task(mut answer: Result<Value, RpcError>, task: Option<String>) -> Result<Value, RpcError> {
    if let (Ok(answer), Some(task)) = (&mut answer, task) {
        answer["_meta"][tasks::RELATED] = json!({ "taskId": task });
    }
    answer
}
