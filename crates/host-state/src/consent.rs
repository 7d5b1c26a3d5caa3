//! The queue of consent requests, and the limits on servers' requests.

mod decision;
mod pending_request;
mod request_content;
mod request_throttle;

pub use decision::AnswerProgress;
pub use decision::DecisionError;
pub use decision::DecisionReply;
pub use pending_request::{PendingRequest, RequestPurpose};
pub use request_content::{
    asker_of, body_of, content_of, hash_of, kind_of, refusal, refusal_response, sampling_subject, subject_of,
};
pub use request_throttle::{REFUSALS, RequestThrottle};

use std::collections::BTreeMap;

use domain::consent_request::ConsentRequestId;
use mcp_proto::types::CreateMessageParams;
use rustc_hash::FxHashMap;
use serde_json::{Map, Value};
use server_requests::form::FormProblem;
use server_requests::sampling::SamplingState;
use supervision::limits::DEFAULT_MAX_CONSENT_REQUESTS;

use super::ModelRun;
use crate::view::ConsentRequestBody;

/// The consent requests that wait for the user.
#[derive(Default)]
pub struct ConsentQueue {
    /// Requests in the queue, oldest first.
    pub pending: Vec<PendingRequest>,
    /// Receivers of the outcomes of approvals that are being executed.
    pub answering: FxHashMap<ConsentRequestId, DecisionReply>,
    /// Denials by server name. Contains only servers with a denied request.
    pub throttles: BTreeMap<String, RequestThrottle>,
}

impl ConsentQueue {
    /// Returns the index of a request.
    pub fn position(&self, id: ConsentRequestId) -> Option<usize> {
        self.pending.iter().position(|pending| pending.view.id == id)
    }

    /// Marks a request as no longer being acted on, and returns its index if it is still in the queue.
    pub fn release(&mut self, id: ConsentRequestId) -> Option<usize> {
        let at = self.position(id)?;
        let pending = &mut self.pending[at];
        (pending.being_acted_on, pending.being_written) = (false, false);
        Some(at)
    }

    /// Marks the examination of a request's files or paths as done, and returns its index if it is still in the queue.
    pub fn inspected_position(&mut self, id: ConsentRequestId) -> Option<usize> {
        let at = self.position(id)?;
        self.pending[at].being_looked_at = false;
        Some(at)
    }

    /// Removes and returns the requests that require no decision any more.
    pub fn take_ended(&mut self, is_over: impl Fn(&PendingRequest) -> bool) -> Vec<PendingRequest> {
        let (over, left): (Vec<_>, Vec<_>) = std::mem::take(&mut self.pending).into_iter().partition(is_over);
        self.pending = left;
        over
    }

    /// Returns `true` if a request that the server sent during this call waits for a decision.
    pub fn waits_for_input(&self, call: &str) -> bool {
        let is_of = |pending: &PendingRequest| matches!(&pending.purpose, RequestPurpose::Request { call: Some(own), .. } if own == call);
        self.pending.iter().any(is_of)
    }

    /// Returns the denial counters of a server.
    pub fn throttle(&mut self, server: &str) -> &mut RequestThrottle {
        self.throttles.entry(server.to_owned()).or_default()
    }

    /// Sends the outcome of a decision, unless it is still being executed.
    pub fn report_decision(&mut self, id: ConsentRequestId, acted: Result<AnswerProgress, DecisionError>) {
        let outcome = match acted {
            Ok(AnswerProgress::Later) => return,
            Ok(AnswerProgress::Done) => Ok(()),
            Err(error) => Err(error),
        };
        if let Some(reply) = self.answering.remove(&id) {
            // The receiver may have gone.
            let _ = reply.send(outcome);
        }
    }

    /// Returns `true` if there is room for another request of this server in the queue.
    pub fn may_ask_more(&self, server: &str) -> bool {
        let own = |pending: &&PendingRequest| pending.view.server == server && pending.is_asked_by_server();
        self.pending.iter().filter(own).count() < DEFAULT_MAX_CONSENT_REQUESTS
    }

    /// Returns the validation errors of a form's content.
    ///
    /// # Errors
    ///
    /// Returns [`DecisionError::NotOpen`] if the request is no longer pending, and [`DecisionError::WrongKind`] if it has
    /// no valid form.
    pub fn check_form(
        &self,
        id: ConsentRequestId,
        content: &Map<String, Value>,
    ) -> Result<Vec<FormProblem>, DecisionError> {
        let pending = self.pending.iter().find(|pending| pending.view.id == id).ok_or(DecisionError::NotOpen)?;
        match &pending.view.body {
            ConsentRequestBody::Form { form: Ok(form), .. } => Ok(form.validation_problems(content)),
            _ => Err(DecisionError::WrongKind("it is not a form")),
        }
    }

    /// Replaces the sampling request in the consent request at this index.
    pub fn put_request(&mut self, at: usize, new: Box<CreateMessageParams>, new_state: Box<SamplingState>) {
        if let ConsentRequestBody::Sampling { request, state, .. } = &mut self.pending[at].view.body {
            *request = new;
            *state = new_state;
        }
    }

    /// Returns an error if a model is replying to the request at this index.
    pub fn is_not_running(&self, at: usize) -> Result<(), DecisionError> {
        if self.pending[at].running.is_some() {
            return Err(DecisionError::WrongKind("a model answers it now; stop it first"));
        }
        Ok(())
    }

    /// Returns the index of the request that this run of a model replies to.
    pub fn running_at(&self, id: ConsentRequestId, number: u64) -> Option<usize> {
        let is_it = |run: &ModelRun| run.is(number);
        self.pending.iter().position(|p| p.view.id == id && p.running.as_ref().is_some_and(is_it))
    }
}

#[cfg(test)]
mod tests;
