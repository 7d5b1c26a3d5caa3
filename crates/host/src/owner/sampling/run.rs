//! A model answers a request: its text goes into the question as it comes, and its answer when it is whole.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use domain::question::QuestionId;
use futures_util::StreamExt as _;
use models::{Delta, ModelError, ModelRef, Registry, Reply, Request, TokenUse, ToolChoice};
use policy::Scope;
use server_requests::sampling::convert::{from_reply, tool_choice, uses_tool};
use server_requests::sampling::{Run, RunNote, ask_hash, empty_response};
use tokio::time::Instant;

use super::Owner;
use super::budget::Counted;
use crate::owner::answers::Acted;
use crate::owner::gate::{Approval, Leaving, Passed};
use crate::owner::{AnswerError, DeferredTurn, WeakOwner};
use crate::view::{HostEvent, QuestionBody};

/// What comes within this time is told together: two frames of the page.
const TOGETHER: Duration = Duration::from_millis(33);

/// A model at work. Dropped, it stops.
pub(in crate::owner) struct Running {
    number: u64,
    pub(super) counted: Counted,
    progress: Progress,
    task: tokio::task::AbortHandle,
}

impl Running {
    pub(super) const fn new(number: u64, counted: Counted, progress: Progress, task: tokio::task::AbortHandle) -> Self {
        Self { number, counted, progress, task }
    }

    /// Whether it is the run of this number.
    pub(in crate::owner) const fn is(&self, number: u64) -> bool {
        self.number == number
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// How a model ended.
pub(super) type Ended = Result<Reply, ModelError>;

/// How far a model is, for whoever has to count it before its end.
#[derive(Clone, Default)]
pub(super) struct Progress(Arc<Mutex<Came>>);

/// What came so far.
#[derive(Debug, Clone, Copy, Default)]
struct Came {
    /// Whether the provider took the request.
    began: bool,
    /// Bytes of the answer: words, thoughts, arguments.
    bytes: u64,
    /// What it took, as far as the provider said it.
    usage: TokenUse,
}

impl Progress {
    fn read(&self) -> Came {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Came)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Owner {
    /// Asks the model that was chosen, once that is counted and written down. Its answer comes into the question.
    pub(super) fn ask_model(&mut self, at: usize, approval: Approval) -> Result<Acted, AnswerError> {
        self.consent.is_not_running(at)?;
        let shown = self.consent.pending[at].copy();
        let QuestionBody::Sampling { request: params, state, .. } = &shown.view.body else { return Ok(Acted::Done) };
        let Some(choice) = &state.model else { return Ok(Acted::Done) };
        let (server, model, params, state) =
            (shown.view.server.clone(), choice.model.clone(), params.clone(), state.clone());
        let id = shown.view.id;
        let pending = &mut self.consent.pending[at];
        (pending.being_acted_on, pending.being_written) = (true, true);
        self.count_run(&server.clone(), &model, &params.clone(), move |owner, counted| {
            if let Some(pending) = owner.consent.pending.iter_mut().find(|p| p.view.id == id) {
                (pending.being_acted_on, pending.being_written) = (false, false);
            }
            let acted = counted.and_then(|counted| {
                let leaving = Leaving::ask(&params, &state);
                owner.depart(approval, Scope::Once, leaving, move |owner, departed| {
                    let asks = departed.and_then(|(at, departure)| Ok((at, departure.ask(&server, &params, &state)?)));
                    match asks {
                        Ok((at, asks)) => {
                            owner.run_model(at, asks, counted);
                            Ok(Acted::Done)
                        }
                        Err(error) => {
                            owner.settle_unanswered(&counted);
                            Err(error)
                        }
                    }
                })
            });
            owner.consent.answered(id, acted);
        });
        Ok(Acted::Later)
    }

    fn run_model(&mut self, at: usize, asks: Passed<(ModelRef, Request)>, counted: Counted) {
        self.models.sampling.last_run += 1;
        let (number, id) = (self.models.sampling.last_run, self.consent.pending[at].view.id);
        let work = Work { models: self.models.registry.clone(), asks };
        let tell = move |text: String| -> DeferredTurn {
            DeferredTurn::of(move |owner| owner.on_sampling_text(id, number, text))
        };
        let end = move |ended: Ended| -> DeferredTurn {
            DeferredTurn::of(move |owner| owner.on_sampling_end(id, number, ended))
        };
        let progress = Progress::default();
        let task = tokio::spawn(work.run(self.lifetime.back.clone(), progress.clone(), Some(tell), end));
        self.consent.pending[at].running = Some(Running::new(number, counted, progress, task.abort_handle()));
        if let QuestionBody::Sampling { request, state, .. } = &mut self.consent.pending[at].view.body {
            state.attempts = state.attempts.saturating_add(1);
            state.asked = Some(ask_hash(request, state));
        }
        self.put_answer(at, None, Run::Running { text: String::new(), thinking: false });
    }

    fn on_sampling_text(&mut self, id: QuestionId, number: u64, more: String) {
        let Some(at) = self.consent.running_at(id, number) else { return };
        if let QuestionBody::Sampling { state, .. } = &mut self.consent.pending[at].view.body
            && let Run::Running { text, thinking } = &mut state.run
        {
            text.push_str(&more);
            *thinking = text.is_empty();
        }
        self.events.emit(HostEvent::SamplingText { id, text: more });
    }

    fn on_sampling_end(&mut self, id: QuestionId, number: u64, ended: Ended) {
        let Some(at) = self.consent.running_at(id, number) else { return };
        let Some(running) = self.consent.pending[at].running.take() else { return };
        let micros = self.settle_ended(&running, &ended);
        let QuestionBody::Sampling { request, .. } = &self.consent.pending[at].view.body else { return };
        let (answer, run) = match ended {
            Err(error) => (None, Run::Failed { code: error.code(), message: error.to_string() }),
            Ok(reply) => match from_reply(&reply, request) {
                Err(unfit) => (None, Run::Failed { code: unfit.code(), message: unfit.to_string() }),
                Ok(answer) => {
                    let broke = tool_choice(request) == ToolChoice::Required && !uses_tool(&answer);
                    let note = broke.then_some(RunNote::NoToolUsed);
                    (Some(answer), Run::Done { usage: reply.usage, micros, note })
                }
            },
        };
        self.put_answer(at, answer, run);
        if self.settings.current.announce {
            self.ports.platform.announce(&self.consent.pending[at].view.server, "sampling-answer");
        }
    }

    /// Counts what a model took.
    pub(super) fn settle_ended(&mut self, running: &Running, ended: &Ended) -> Option<u64> {
        let (counted, Came { began, bytes, usage }) = (&running.counted, running.progress.read());
        match ended {
            Ok(reply) => return self.settle(counted, reply.usage, bytes),
            Err(_) if !began => self.settle_unanswered(counted),
            Err(ModelError::Silent { .. } | ModelError::Cut) => self.settle_cut(counted, usage, bytes),
            // What it refuses in words it did not think about for long.
            Err(_) => {
                let output = usage.output.unwrap_or(0);
                self.settle_cut(counted, TokenUse { output: Some(output), ..usage }, bytes);
            }
        }
        None
    }

    /// The user stops the model. What it said until then is there to go on from.
    pub(in crate::owner) fn stop_model(&mut self, at: usize) -> Result<(), AnswerError> {
        let Some(running) = self.consent.pending[at].running.take() else {
            return Err(AnswerError::WrongKind("no model answers it now"));
        };
        let QuestionBody::Sampling { state, .. } = &self.consent.pending[at].view.body else { return Ok(()) };
        let (text, model) = match (&state.run, &state.model) {
            (Run::Running { text, .. }, Some(choice)) => (text.clone(), choice.model.model.clone()),
            _ => return Ok(()),
        };
        let Came { bytes, usage, .. } = running.progress.read();
        self.settle_cut(&running.counted, usage, bytes);
        drop(running);
        if text.is_empty() {
            self.put_answer(at, None, Run::No);
            return Ok(());
        }
        let mut answer = empty_response();
        answer.content = mcp_proto::types::SamplingContent::One(mcp_proto::types::ContentBlock::text(text));
        answer.model = model;
        answer.stop_reason = None;
        self.put_answer(at, Some(answer), Run::Stopped);
        Ok(())
    }
}

/// What a model is asked, and whom.
pub(super) struct Work {
    pub(super) models: Registry,
    pub(super) asks: Passed<(ModelRef, Request)>,
}

impl Work {
    /// Asks the model; tells what comes and how it ended.
    pub(super) async fn run(
        self,
        back: WeakOwner,
        progress: Progress,
        tell: Option<impl Fn(String) -> DeferredTurn + Send>,
        end: impl FnOnce(Ended) -> DeferredTurn + Send,
    ) {
        // The host may have ended.
        let send = |deferred: DeferredTurn| {
            let _ = back.run(deferred);
        };
        let came = |more: usize| progress.change(|came| came.bytes += more as u64);
        let (model, request) = self.asks.into_inner();
        let ended = async {
            let mut deltas = self.models.stream(&model, request).await?;
            progress.change(|came| came.began = true);
            let (mut held, mut told, mut thinks) = (String::new(), Instant::now() - TOGETHER, false);
            loop {
                let delta = tokio::select! {
                    delta = deltas.next() => delta,
                    () = tokio::time::sleep_until(told + TOGETHER), if !held.is_empty() => {
                        if let Some(tell) = &tell {
                            send(tell(std::mem::take(&mut held)));
                        }
                        held.clear();
                        told = Instant::now();
                        continue;
                    }
                };
                match delta {
                    // A stream that ends without its end was cut.
                    None => return Err(ModelError::Cut),
                    Some(Err(error)) => return Err(error),
                    Some(Ok(Delta::Text(text))) => {
                        came(text.len());
                        held.push_str(&text);
                    }
                    Some(Ok(Delta::Thinking(text))) => {
                        came(text.len());
                        if !thinks && let Some(tell) = &tell {
                            thinks = true;
                            send(tell(String::new()));
                        }
                    }
                    Some(Ok(Delta::ToolUseArguments { text, .. })) => came(text.len()),
                    Some(Ok(Delta::ToolUseBegan { .. })) => {}
                    Some(Ok(Delta::Usage(so_far))) => progress.change(|came| came.usage = so_far),
                    Some(Ok(Delta::Ended(reply))) => return Ok(reply),
                }
            }
        }
        .await;
        send(end(ended));
    }
}
