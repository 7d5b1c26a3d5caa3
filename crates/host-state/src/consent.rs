//! The queue of consent requests, and limits on the requests of servers.

mod decision;
mod payload_hashes;
mod pending_request;
mod request_content;
mod request_throttle;

pub use decision::DecisionError;
pub use decision::DecisionProgress;
pub use decision::DecisionReply;
pub use payload_hashes::{client_credentials_hash, read_request_hash, response_hash, sign_in_url_hash, url_hash};
pub use pending_request::{PendingRequest, RequestPurpose};
pub use request_content::{
    consent_kind, consent_payload_hash, consent_subject, originator_name, payload_text, refusal_error,
    refusal_response, sampling_subject, to_consent_body,
};
pub use request_throttle::{DENIALS_UNTIL_MUTE, RequestThrottle};

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

/// The queue of consent requests that wait for the user's decision.
#[derive(Default)]
pub struct ConsentQueue {
    /// Requests in the queue, oldest first.
    pub pending: Vec<PendingRequest>,
    /// Senders for the outcomes of decisions that are being executed, by consent request.
    pub answering: FxHashMap<ConsentRequestId, DecisionReply>,
    /// Counters of denied and automatically refused requests, by server. Only servers with a denied request have an
    /// entry.
    pub throttles: BTreeMap<String, RequestThrottle>,
}

impl ConsentQueue {
    /// Returns the index of the consent request with this id, if it is in the queue.
    pub fn position_of(&self, id: ConsentRequestId) -> Option<usize> {
        self.pending.iter().position(|pending| pending.view.id == id)
    }

    /// Records that the execution of a decision on a consent request has ended, so that the user can decide on the
    /// request again. Returns the index of the request if it is still in the queue.
    pub fn finish_execution(&mut self, id: ConsentRequestId) -> Option<usize> {
        let at = self.position_of(id)?;
        let pending = &mut self.pending[at];
        (pending.being_acted_on, pending.being_written) = (false, false);
        Some(at)
    }

    /// Records that the host has finished examining the files or paths of a consent request, which it does before it
    /// executes a decision. Returns the index of the request if it is still in the queue.
    pub fn finish_inspection(&mut self, id: ConsentRequestId) -> Option<usize> {
        let at = self.position_of(id)?;
        self.pending[at].being_looked_at = false;
        Some(at)
    }

    /// Removes and returns the consent requests for which `is_over` returns `true`, because no caller waits for a
    /// decision on them any more.
    pub fn remove_ended(&mut self, is_over: impl Fn(&PendingRequest) -> bool) -> Vec<PendingRequest> {
        let (over, left): (Vec<_>, Vec<_>) = std::mem::take(&mut self.pending).into_iter().partition(is_over);
        self.pending = left;
        over
    }

    /// Returns `true` if a request that a server sent during this call waits for the user's decision.
    pub fn waits_for_input(&self, call: &str) -> bool {
        let is_of = |pending: &PendingRequest| matches!(&pending.purpose, RequestPurpose::Request { call: Some(own), .. } if own == call);
        self.pending.iter().any(is_of)
    }

    /// Returns the counters of a server's denied requests, and creates them if they don't exist yet.
    pub fn throttle_of_server(&mut self, server: &str) -> &mut RequestThrottle {
        self.throttles.entry(server.to_owned()).or_default()
    }

    /// Sends the outcome of a decision to the caller that made it. Does nothing while the decision is still being
    /// executed.
    pub fn report_decision(&mut self, id: ConsentRequestId, acted: Result<DecisionProgress, DecisionError>) {
        let outcome = match acted {
            Ok(DecisionProgress::Later) => return,
            Ok(DecisionProgress::Done) => Ok(()),
            Err(error) => Err(error),
        };
        if let Some(reply) = self.answering.remove(&id) {
            // The caller may have stopped waiting.
            let _ = reply.send(outcome);
        }
    }

    /// Returns `true` if fewer than the maximum number of requests sent by this server are in the queue.
    pub fn has_capacity_for(&self, server: &str) -> bool {
        let own = |pending: &&PendingRequest| pending.view.server == server && pending.is_from_server();
        self.pending.iter().filter(own).count() < DEFAULT_MAX_CONSENT_REQUESTS
    }

    /// Validates the content that the user entered in a form, and returns the validation errors.
    ///
    /// # Errors
    ///
    /// Returns [`DecisionError::NotOpen`] if the request is no longer pending, and [`DecisionError::WrongKind`] if it
    /// has no valid form.
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

    /// Returns `true` if a consent request is pending, but doesn't belong to `conversation`, or belongs to no
    /// conversation.
    pub fn is_request_outside_conversation(&self, id: ConsentRequestId, conversation: Option<&str>) -> bool {
        let Some(at) = self.position_of(id) else { return false };
        let own = self.pending[at].view.origin.conversation();
        own.is_none() || own != conversation
    }

    /// Replaces the server's sampling request, and its state, in the consent request at index `at`.
    pub fn replace_sampling_request(
        &mut self,
        at: usize,
        new: Box<CreateMessageParams>,
        new_state: Box<SamplingState>,
    ) {
        if let ConsentRequestBody::Sampling { request, state, .. } = &mut self.pending[at].view.body {
            *request = new;
            *state = new_state;
        }
    }

    /// Checks that no model is replying to the sampling request at index `at`.
    ///
    /// # Errors
    ///
    /// Returns [`DecisionError::WrongKind`] if a model is replying.
    pub fn check_no_model_run(&self, at: usize) -> Result<(), DecisionError> {
        if self.pending[at].running.is_some() {
            return Err(DecisionError::WrongKind("a model answers it now; stop it first"));
        }
        Ok(())
    }

    /// Returns the index of a sampling request if the model run with this number is still replying to the request.
    pub fn position_of_model_run(&self, id: ConsentRequestId, number: u64) -> Option<usize> {
        let is_it = |run: &ModelRun| run.has_number(number);
        self.pending.iter().position(|p| p.view.id == id && p.running.as_ref().is_some_and(is_it))
    }
}

#[cfg(test)]
mod tests;
