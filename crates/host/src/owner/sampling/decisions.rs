//! The user's decisions on a sampling request: let a model reply, reply without a model, repeat, go back, stop, and
//! send.

use mcp_proto::types::CreateMessageResult;
use server_requests::sampling::{ModelAnswerState, empty_sampling_result, previously_approved_hash};

use super::Owner;
use crate::owner::gate::Approval;
use crate::owner::state::{DecisionError, DecisionProgress};
use crate::view::ConsentRequestBody;

impl Owner {
    /// Accepts a sampling request: the chosen model replies or, if no model is available, the user.
    pub(in crate::owner) fn accept_sampling(
        &mut self,
        at: usize,
        approval: Approval,
    ) -> Result<DecisionProgress, DecisionError> {
        self.consent.check_no_model_run(at)?;
        let ConsentRequestBody::Sampling { state, .. } = &self.consent.pending[at].view.body else {
            return Ok(DecisionProgress::Done);
        };
        match &state.model {
            Some(_) => self.send_to_model(at, approval),
            None => self.begin_manual_reply(at).map(|()| DecisionProgress::Done),
        }
    }

    /// Lets the user reply without a model: adds to the consent request, which stays in the queue, an empty reply that
    /// the user can edit. No audit entry is written, since nothing is sent yet.
    pub(in crate::owner) fn begin_manual_reply(&mut self, at: usize) -> Result<(), DecisionError> {
        self.consent.check_no_model_run(at)?;
        let shown = self.consent.pending[at].clone_without_run();
        let ConsentRequestBody::Sampling { request, response: None, .. } = &shown.view.body else {
            return Err(DecisionError::WrongKind("it is answered already"));
        };
        self.count_user_written_reply(&shown.view.server, request);
        self.set_model_reply(at, Some(empty_sampling_result()), ModelAnswerState::No);
        Ok(())
    }

    /// Sends a sampling request to the same model again. This requires that an identical request was approved and sent
    /// before: a reply written by the user is not an approval to send anything to a model.
    pub(in crate::owner) fn repeat_model_request(
        &mut self,
        at: usize,
        approval: Approval,
    ) -> Result<DecisionProgress, DecisionError> {
        let ConsentRequestBody::Sampling { request, response: Some(_), state } = &self.consent.pending[at].view.body
        else {
            return Err(DecisionError::WrongKind("there is no answer yet"));
        };
        if previously_approved_hash(request, state).is_none() {
            return Err(DecisionError::WrongKind("this was not sent to a model; go back to the request"));
        }
        self.send_to_model(at, approval)
    }

    /// Drops the model's reply, and displays the sampling request again.
    pub(in crate::owner) fn return_to_sampling_request(&mut self, at: usize) -> Result<(), DecisionError> {
        self.consent.check_no_model_run(at)?;
        if !matches!(self.consent.pending[at].view.body, ConsentRequestBody::Sampling { .. }) {
            return Err(DecisionError::WrongKind("it has only one step"));
        }
        self.set_model_reply(at, None, ModelAnswerState::No);
        Ok(())
    }

    /// Sets or removes the model's reply in a consent request for sampling.
    pub(super) fn set_model_reply(&mut self, at: usize, new: Option<CreateMessageResult>, run: ModelAnswerState) {
        if let ConsentRequestBody::Sampling { response, state, .. } = &mut self.consent.pending[at].view.body {
            *response = new.map(Box::new);
            state.run = run;
        }
        self.emit_consent_request(at);
    }
}
