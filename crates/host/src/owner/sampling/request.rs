//! Handles sampling requests of servers and their apps: checks if they are allowed, chooses the model, and creates the
//! consent request.

use domain::call::CallState;
use mcp_proto::types::CreateMessageParams;
use models::ModelRef;
use policy::{ApprovalScope, DecisionReason, PolicyAct, PolicyDecision};
use server_requests::sampling::conversion;
use server_requests::sampling::{ModelAnswerState, ModelChoice, ModelChoiceReason, SamplingState};
use supervision::activity::ActivityKind;

use super::Owner;
use crate::owner::state::{DecisionError, RequestPurpose, Requester};
use crate::view::ConsentRequestBody;

/// Possible scopes of an approval of a sampling request: each request requires a new approval.
const SAMPLING_APPROVAL_SCOPES: &[ApprovalScope] = &[ApprovalScope::Once];

/// A sampling request of a server or its app that is being handled.
pub(super) struct SamplingRequest {
    pub(super) server: String,
    pub(super) of: Requester,
    /// Id of the call during which the server sent the request, if known.
    pub(super) call: Option<String>,
    pub(super) params: Box<CreateMessageParams>,
    pub(super) state: SamplingState,
}

impl Owner {
    /// Converts a sampling request of a server or its app to the act that the policy decides about.
    pub(in crate::owner) fn sampling_act<'a>(&self, server: &'a str, params: &CreateMessageParams) -> PolicyAct<'a> {
        let (sampling, now) = (&self.models.sampling, self.now());
        let tokens = sampling.max_total_tokens(server, params, now);
        PolicyAct::Sample { server, would_use: sampling.projected_usage(server, tokens, now) }
    }

    /// Handles a sampling request about which the policy has decided: refuses it, or chooses a model and requests
    /// consent if required.
    pub(in crate::owner) fn on_sampling_request(
        &mut self,
        server: &str,
        of: Requester,
        call: Option<String>,
        mut params: Box<CreateMessageParams>,
        decision: PolicyDecision,
    ) {
        let allowed_by = match decision {
            PolicyDecision::Deny { reason, .. } => {
                let body = ConsentRequestBody::Sampling { request: params, response: None, state: Box::default() };
                return self.refuse_denied_request(server, (of, call.as_deref()), (&body, None), reason);
            }
            PolicyDecision::Allow { .. } if self.models.sampling.is_app_that_reaches_other_hosts(of) => {
                Err((DecisionReason::AfterUntrusted, SAMPLING_APPROVAL_SCOPES))
            }
            PolicyDecision::Allow { by } => Ok(by),
            PolicyDecision::Ask { reason, scopes, .. } => Err((reason, scopes)),
        };
        if let Err((reason, answer)) = self.models.sampling.check_sampling_allowed(server, &params, self.now()) {
            if let Some(record) = self.servers.records.get(server) {
                record.log_activity_line(ActivityKind::State, &format!("sampling was refused: {reason}"));
            }
            let body = ConsentRequestBody::Sampling { request: params, response: None, state: Box::default() };
            return self.refuse_automatically(server, (of, call.as_deref()), (&body, None), &reason, answer);
        }
        let wanted_tokens = params.max_tokens;
        params.max_tokens = self.models.sampling.max_reply_tokens(server, &params, self.now());
        let mut state = SamplingState { wanted_tokens, ..SamplingState::default() };
        if let Some((model, by)) = self.models.choose_sampling_model(server, &params) {
            self.models.store_chosen_model(&mut state, model, by, &params);
        }
        let request = SamplingRequest { server: server.to_owned(), of, call, params, state };
        match allowed_by {
            Ok(by) => self.begin_sampling_by_rule(request, by),
            Err((reason, scopes)) => self.request_sampling_consent(request, reason, scopes),
        }
    }

    /// Requests the user's consent although a rule allows the request, because no model is available or the server's
    /// own limit is lower than that of the rule.
    pub(super) fn request_consent_despite_rule(&mut self, request: SamplingRequest) {
        self.request_sampling_consent(request, DecisionReason::SamplingAsks, SAMPLING_APPROVAL_SCOPES);
    }

    fn request_sampling_consent(
        &mut self,
        request: SamplingRequest,
        reason: DecisionReason,
        scopes: &'static [ApprovalScope],
    ) {
        let SamplingRequest { server, of, call, params, state } = request;
        let app = self.models.sampling.requesting_app(of).cloned();
        let origin = app.unwrap_or_else(|| self.calls.consent_origin(call.as_deref()));
        let round = call.as_deref().and_then(|call| self.calls.advance_input_round(call));
        if let Some(call) = &call {
            self.set_call_state(call, CallState::AwaitingInput);
        }
        let purpose = RequestPurpose::Request { requester: of, call };
        let body = ConsentRequestBody::Sampling { request: params, response: None, state: Box::new(state) };
        self.request_consent_with_schema(&server, origin, body, scopes, reason, purpose, (None, round));
    }

    /// Updates pending sampling requests after the model providers have changed. If the chosen model is no longer
    /// available, another one is chosen and displayed.
    pub(in crate::owner) fn update_models_in_sampling_requests(&mut self) {
        for at in 0..self.consent.pending.len() {
            let pending = &self.consent.pending[at];
            let ConsentRequestBody::Sampling { request, state, .. } = &pending.view.body else { continue };
            if pending.running.is_some() {
                continue;
            }
            let (server, request, mut new) = (pending.view.server.clone(), request.clone(), state.clone());
            let own_model = new.model.take().filter(|own| self.models.registry.provider(&own.model.provider).is_ok());
            let chosen = own_model
                .map(|own| (own.model, own.by))
                .or_else(|| self.models.choose_sampling_model(&server, &request));
            new.losses.clear();
            if let Some((model, by)) = chosen {
                self.models.store_chosen_model(&mut new, model, by, &request);
            }
            if let ConsentRequestBody::Sampling { state, .. } = &mut self.consent.pending[at].view.body
                && *state != new
            {
                *state = new;
                self.emit_consent_request(at);
            }
        }
    }

    /// Applies the user's edit of the sampling request. The maximum number of tokens can't exceed the one that the
    /// server requested.
    pub(in crate::owner) fn edit_sampling_request(
        &mut self,
        at: usize,
        mut new: Box<CreateMessageParams>,
    ) -> Result<(), DecisionError> {
        self.consent.check_no_model_run(at)?;
        conversion::check_sampling_request(&new).map_err(DecisionError::Unfit)?;
        let ConsentRequestBody::Sampling { request, state, .. } = &self.consent.pending[at].view.body else {
            return Ok(());
        };
        new.max_tokens = new.max_tokens.clamp(1, state.wanted_tokens.max(1));
        new.tools.clone_from(&request.tools);
        new.tool_choice.clone_from(&request.tool_choice);
        let mut state = state.clone();
        if let Some(ModelChoice { model, by, .. }) = state.model.take() {
            self.models.store_chosen_model(&mut state, model, by, &new);
        }
        self.consent.replace_sampling_request(at, new, state);
        Ok(())
    }

    /// Applies the user's choice of another model for a pending sampling request.
    pub(in crate::owner) fn change_sampling_model(&mut self, at: usize, model: ModelRef) -> Result<(), DecisionError> {
        self.consent.check_no_model_run(at)?;
        self.models.registry.provider(&model.provider).map_err(|error| DecisionError::Model(error.to_string()))?;
        let ConsentRequestBody::Sampling { request, state, .. } = &self.consent.pending[at].view.body else {
            return Ok(());
        };
        let (request, mut state) = (request.clone(), state.clone());
        state.run = ModelAnswerState::No;
        self.models.store_chosen_model(&mut state, model, ModelChoiceReason::User, &request);
        self.consent.replace_sampling_request(at, request, state);
        Ok(())
    }
}
