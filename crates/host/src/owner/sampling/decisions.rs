//! The user's decisions on a sampling request: reply by a model or by hand, repeat, go back, stop, and send.

use mcp_proto::types::CreateMessageResult;
use server_requests::sampling::{ModelAnswerState, empty_response, previously_approved_hash};

use super::Owner;
use crate::owner::gate::Approval;
use crate::owner::state::{AnswerProgress, DecisionError};
use crate::view::ConsentRequestBody;

impl Owner {
    /// Accepts a request: the chosen model replies or, without one, the user.
    pub(in crate::owner) fn accept_sampling(
        &mut self,
        at: usize,
        approval: Approval,
    ) -> Result<AnswerProgress, DecisionError> {
        self.consent.is_not_running(at)?;
        let ConsentRequestBody::Sampling { state, .. } = &self.consent.pending[at].view.body else {
            return Ok(AnswerProgress::Done);
        };
        match &state.model {
            Some(_) => self.ask_model(at, approval),
            None => self.begin_manual_reply(at).map(|()| AnswerProgress::Done),
        }
    }

    /// Starts a reply by hand. The request stays in the queue, with an empty reply to edit. Nothing is sent by this, so
    /// nothing is recorded before the reply is sent.
    pub(in crate::owner) fn begin_manual_reply(&mut self, at: usize) -> Result<(), DecisionError> {
        self.consent.is_not_running(at)?;
        let shown = self.consent.pending[at].copy();
        let ConsentRequestBody::Sampling { request, response: None, .. } = &shown.view.body else {
            return Err(DecisionError::WrongKind("it is answered already"));
        };
        self.count_manual_reply(&shown.view.server, request);
        self.set_model_reply(at, Some(empty_response()), ModelAnswerState::No);
        Ok(())
    }

    /// Repeats the request to the same model. Only an identical request that was approved and sent before can be
    /// repeated: a reply written by the user is no approval to contact a model.
    pub(in crate::owner) fn repeat_model_request(
        &mut self,
        at: usize,
        approval: Approval,
    ) -> Result<AnswerProgress, DecisionError> {
        let ConsentRequestBody::Sampling { request, response: Some(_), state } = &self.consent.pending[at].view.body
        else {
            return Err(DecisionError::WrongKind("there is no answer yet"));
        };
        if previously_approved_hash(request, state).is_none() {
            return Err(DecisionError::WrongKind("this was not sent to a model; go back to the request"));
        }
        self.ask_model(at, approval)
    }

    /// Goes back to the request, and drops the reply.
    pub(in crate::owner) fn return_to_request(&mut self, at: usize) -> Result<(), DecisionError> {
        self.consent.is_not_running(at)?;
        if !matches!(self.consent.pending[at].view.body, ConsentRequestBody::Sampling { .. }) {
            return Err(DecisionError::WrongKind("it has only one step"));
        }
        self.set_model_reply(at, None, ModelAnswerState::No);
        Ok(())
    }

    /// Sets or clears the reply in a consent request.
    pub(super) fn set_model_reply(&mut self, at: usize, new: Option<CreateMessageResult>, run: ModelAnswerState) {
        if let ConsentRequestBody::Sampling { response, state, .. } = &mut self.consent.pending[at].view.body {
            *response = new.map(Box::new);
            state.run = run;
        }
        self.emit_consent_request(at);
    }
}
