//! Sends a sampling request to a model: adds streamed text to the consent request, and the reply when it is complete.

use std::time::Duration;

use domain::consent_request::ConsentRequestId;
use futures_util::StreamExt as _;
use models::{ModelError, ModelRef, ModelRequest, ProviderRegistry, ReplyDelta, ToolChoice};
use policy::{ApprovalScope, UsedBy};
use server_requests::sampling::conversion::{contains_tool_use, reply_to_sampling_result, to_tool_choice};
use server_requests::sampling::{ModelAnswerState, UnmetRequirementNote, empty_sampling_result, sampling_request_hash};
use tokio::time::Instant;

use super::Owner;
use crate::owner::gate::{Approval, AuthorizedPayload, OutgoingPayload};
use crate::owner::state::{
    DecisionError, DecisionProgress, ModelOutcome, ModelRun, RequestPurpose, SharedModelOutput, UsageReservation,
};
use crate::owner::{DeferredTurn, WeakOwner};
use crate::view::{ConsentRequestBody, ConsentRequestView, HostEvent};

/// Interval at which a model's streamed text is sent to observers: about two frames of a display at 60 Hz.
const STREAMED_TEXT_INTERVAL: Duration = Duration::from_millis(33);

impl Owner {
    /// Sends an approved sampling request to the chosen model, whose reply is then added to the consent request.
    pub(super) fn send_to_model(&mut self, at: usize, approval: Approval) -> Result<DecisionProgress, DecisionError> {
        self.consent.check_no_model_run(at)?;
        let shown = self.consent.pending[at].clone_without_run();
        let ConsentRequestBody::Sampling { request: params, state, .. } = &shown.view.body else {
            return Ok(DecisionProgress::Done);
        };
        let Some(choice) = &state.model else { return Ok(DecisionProgress::Done) };
        let (server, model, params, state) =
            (shown.view.server.clone(), choice.model.clone(), params.clone(), state.clone());
        let id = shown.view.id;
        let by = match shown.purpose {
            RequestPurpose::Request { requester, .. } => requester.originator(),
            _ => UsedBy::Server,
        };
        let pending = &mut self.consent.pending[at];
        (pending.being_acted_on, pending.being_written) = (true, true);
        self.reserve_budget(&server.clone(), by, &model, &params.clone(), move |owner, reservation| {
            if let Some(pending) = owner.consent.pending.iter_mut().find(|p| p.view.id == id) {
                (pending.being_acted_on, pending.being_written) = (false, false);
            }
            let acted = reservation.and_then(|reservation| {
                let outgoing = OutgoingPayload::model_request(&params, &state);
                owner.audit_approval(approval, ApprovalScope::Once, outgoing, move |owner, permitted| {
                    let payload = permitted
                        .and_then(|(at, permit)| Ok((at, permit.authorize_model_request(&server, &params, &state)?)));
                    match payload {
                        Ok((at, payload)) => {
                            owner.run_model(at, payload, reservation);
                            Ok(DecisionProgress::Done)
                        }
                        Err(error) => {
                            owner.record_unanswered_reservation(&reservation);
                            Err(error)
                        }
                    }
                })
            });
            owner.consent.report_decision(id, acted);
        });
        Ok(DecisionProgress::Later)
    }

    fn run_model(
        &mut self,
        at: usize,
        payload: AuthorizedPayload<(ModelRef, ModelRequest)>,
        reservation: UsageReservation,
    ) {
        self.models.sampling.last_run += 1;
        let (number, id) = (self.models.sampling.last_run, self.consent.pending[at].view.id);
        let work = AuthorizedModelRequest { models: self.models.registry.clone(), payload };
        let on_text = move |text: String| -> DeferredTurn {
            DeferredTurn::new(move |owner| owner.on_sampling_text(id, number, text))
        };
        let end = move |ended: ModelOutcome| -> DeferredTurn {
            DeferredTurn::new(move |owner| owner.on_sampling_end(id, number, ended))
        };
        let progress = SharedModelOutput::default();
        let task = tokio::spawn(work.run(self.lifetime.back.clone(), progress.clone(), Some(on_text), end));
        self.consent.pending[at].running = Some(ModelRun::new(number, reservation, progress, task.abort_handle()));
        if let ConsentRequestBody::Sampling { request, state, .. } = &mut self.consent.pending[at].view.body {
            state.attempts = state.attempts.saturating_add(1);
            state.last_sent = Some(sampling_request_hash(request, state));
        }
        self.set_model_reply(at, None, ModelAnswerState::Running { text: String::new(), thinking: false });
    }

    fn on_sampling_text(&mut self, id: ConsentRequestId, number: u64, more: String) {
        let Some(at) = self.consent.position_of_model_run(id, number) else { return };
        if let ConsentRequestBody::Sampling { state, .. } = &mut self.consent.pending[at].view.body
            && let ModelAnswerState::Running { text, thinking } = &mut state.run
        {
            text.push_str(&more);
            *thinking = text.is_empty();
        }
        self.events.emit(HostEvent::SamplingText { id, text: more });
    }

    fn on_sampling_end(&mut self, id: ConsentRequestId, number: u64, ended: ModelOutcome) {
        let Some(at) = self.consent.position_of_model_run(id, number) else { return };
        let Some(running) = self.consent.pending[at].running.take() else { return };
        let micros = self.record_final_sampling_usage(&running, &ended);
        let ConsentRequestBody::Sampling { request, .. } = &self.consent.pending[at].view.body else { return };
        let (answer, run) = match ended {
            Err(error) => (None, ModelAnswerState::Failed { code: error.kind(), message: error.to_string() }),
            Ok(reply) => match reply_to_sampling_result(&reply, request) {
                Err(unfit) => (None, ModelAnswerState::Failed { code: unfit.code(), message: unfit.to_string() }),
                Ok(answer) => {
                    let broke = to_tool_choice(request) == ToolChoice::Required && !contains_tool_use(&answer);
                    let note = broke.then_some(UnmetRequirementNote::NoToolUsed);
                    (Some(answer), ModelAnswerState::Done { usage: reply.usage, micros, note })
                }
            },
        };
        self.set_model_reply(at, answer, run);
        if self.settings.current.announce {
            let ConsentRequestView { server, id, .. } = &self.consent.pending[at].view;
            self.ports.platform.announce(server, "sampling-answer", Some(*id));
        }
    }

    /// Stops the model as decided by the user. Its output so far becomes the reply.
    pub(in crate::owner) fn stop_model(&mut self, at: usize) -> Result<(), DecisionError> {
        let Some(running) = self.consent.pending[at].running.take() else {
            return Err(DecisionError::WrongKind("no model answers it now"));
        };
        let ConsentRequestBody::Sampling { state, .. } = &self.consent.pending[at].view.body else { return Ok(()) };
        let (text, model) = match (&state.run, &state.model) {
            (ModelAnswerState::Running { text, .. }, Some(choice)) => (text.clone(), choice.model.model.clone()),
            _ => return Ok(()),
        };
        self.record_usage_of_stopped_run(&running);
        drop(running);
        if text.is_empty() {
            self.set_model_reply(at, None, ModelAnswerState::No);
            return Ok(());
        }
        let mut answer = empty_sampling_result();
        answer.content = mcp_proto::types::SamplingContent::One(mcp_proto::types::ContentBlock::text(text));
        answer.model = model;
        answer.stop_reason = None;
        self.set_model_reply(at, Some(answer), ModelAnswerState::Stopped);
        Ok(())
    }
}

/// A sampling request that was authorized for sending, and is about to be sent to a model.
pub(super) struct AuthorizedModelRequest {
    pub(super) models: ProviderRegistry,
    pub(super) payload: AuthorizedPayload<(ModelRef, ModelRequest)>,
}

impl AuthorizedModelRequest {
    /// Sends the request to the model, and reports streamed text and the result to the host's state.
    pub(super) async fn run(
        self,
        back: WeakOwner,
        progress: SharedModelOutput,
        on_text: Option<impl Fn(String) -> DeferredTurn + Send>,
        end: impl FnOnce(ModelOutcome) -> DeferredTurn + Send,
    ) {
        // Fails only if the host has shut down.
        let send = |deferred: DeferredTurn| {
            let _ = back.run(deferred);
        };
        let add_received = |more: usize| progress.change(|current| current.bytes += more as u64);
        let (model, request) = self.payload.into_inner();
        let ended = async {
            let mut deltas = self.models.stream(&model, request).await?;
            progress.change(|current| current.began = true);
            let (mut held, mut reported_at, mut thinks) =
                (String::new(), Instant::now() - STREAMED_TEXT_INTERVAL, false);
            loop {
                let delta = tokio::select! {
                    delta = deltas.next() => delta,
                    () = tokio::time::sleep_until(reported_at + STREAMED_TEXT_INTERVAL), if !held.is_empty() => {
                        if let Some(on_text) = &on_text {
                            send(on_text(std::mem::take(&mut held)));
                        }
                        held.clear();
                        reported_at = Instant::now();
                        continue;
                    }
                };
                match delta {
                    // The stream ended without an end event, so it was interrupted.
                    None => return Err(ModelError::Cut),
                    Some(Err(error)) => return Err(error),
                    Some(Ok(ReplyDelta::Text(text))) => {
                        add_received(text.len());
                        held.push_str(&text);
                    }
                    Some(Ok(ReplyDelta::Thinking(text))) => {
                        add_received(text.len());
                        if !thinks && let Some(on_text) = &on_text {
                            thinks = true;
                            send(on_text(String::new()));
                        }
                    }
                    Some(Ok(ReplyDelta::ToolUseArguments { text, .. })) => add_received(text.len()),
                    Some(Ok(ReplyDelta::ToolUseBegan { .. })) => {}
                    Some(Ok(ReplyDelta::Usage(so_far))) => progress.change(|current| current.usage = so_far),
                    Some(Ok(ReplyDelta::Ended(reply))) => return Ok(reply),
                }
            }
        }
        .await;
        send(end(ended));
    }
}
