//! Sampling requests that a rule with a budget allows: a model replies, and the reply is sent to the server or its app
//! without consent. Both are recorded in the audit log and in the server's activity log.

use std::collections::BTreeSet;

use domain::StoreError;
use host_state::AuditedDecision;
use mcp_proto::session::ClientResponse;
use mcp_proto::types::CreateMessageResult;
use models::{ModelRef, ModelRequest, ToolChoice};
use policy::{DecisionSource, Hash, PolicyAct, PolicyDecision, SamplingUse, canonical_json};
use serde_json::json;
use server_requests::sampling::conversion::{contains_tool_use, reply_to_sampling_result, to_tool_choice};
use server_requests::sampling::sampling_request_hash;
use supervision::activity::ActivityKind;

use super::Owner;
use super::model_request::AuthorizedModelRequest;
use super::request::SamplingRequest;
use crate::owner::DeferredTurn;
use crate::owner::gate::{AuthorizedPayload, SendPermit, authorize_allowed_response, authorize_denial_response};
use crate::owner::state::{
    AutoApprovedRequest, ModelOutcome, ModelRun, Requester, SharedModelOutput, UsageReservation, refusal_error,
    sampling_subject,
};

impl Owner {
    /// Sends a sampling request that a rule allows to the chosen model, after its usage was reserved and the decision
    /// recorded. Requests consent instead if no model is available or the server's own limits are lower.
    pub(super) fn begin_sampling_by_rule(&mut self, request: SamplingRequest, by: DecisionSource) {
        let (server, of) = (request.server.clone(), request.of);
        let Some(choice) = request.state.model.clone() else { return self.request_consent_despite_rule(request) };
        let hash = sampling_request_hash(&request.params, &request.state);
        let permit = SendPermit::by_rule(by, &server, hash.clone());
        let Ok(payload) = permit.authorize_model_request(&server, &request.params, &request.state) else {
            return self.request_consent_despite_rule(request);
        };
        self.models.sampling.last_run += 1;
        let number = self.models.sampling.last_run;
        let params = request.params.clone();
        let conversation = self.conversation_of_request(of, request.call.as_deref());
        let auto_approved =
            AutoApprovedRequest { server: server.clone(), number, running: None, params, by, conversation };
        self.models.sampling.auto_approved.insert(of, auto_approved);
        let params = request.params.clone();
        self.reserve_budget(&server, of.originator(), &choice.model, &params, move |owner, reserved| match reserved {
            Ok(reservation) => owner.audit_sampling_by_rule(request, (number, by), (payload, hash), reservation),
            Err(_) if owner.models.sampling.is_auto_approved_run(of, number) => {
                owner.models.sampling.auto_approved.remove(&of);
                owner.request_consent_despite_rule(request);
            }
            Err(_) => {}
        });
    }

    fn audit_sampling_by_rule(
        &mut self,
        request: SamplingRequest,
        (number, by): (u64, DecisionSource),
        (payload, hash): (AuthorizedPayload<(ModelRef, ModelRequest)>, Hash),
        reservation: UsageReservation,
    ) {
        if !self.models.sampling.is_auto_approved_run(request.of, number) {
            return self.record_unanswered_reservation(&reservation);
        }
        let subject = sampling_subject(&request.params, None, &request.state);
        let conversation = self.conversation_of_request(request.of, request.call.as_deref());
        let entry = self.make_audit_entry(AuditedDecision {
            server: &request.server,
            kind: "sampling",
            subject: &subject,
            decision: "allowed",
            by: "policy",
            hash: hash.as_str(),
            asker: request.of.audit_name(),
            content: Some(canonical_json(&json!(request.params))),
            rule: by.text(),
            conversation: conversation.as_deref(),
            ..AuditedDecision::default()
        });
        self.audit_entry_then(entry, move |owner, written| {
            let is_current = owner.models.sampling.is_auto_approved_run(request.of, number);
            match written {
                Ok(()) if is_current => {
                    owner.record_use(by, &request.server, None, request.of.originator());
                    owner.run_model_by_rule(request.of, number, payload, reservation);
                }
                Ok(()) => {
                    owner.record_unanswered_reservation(&reservation);
                    owner.audit_unsent_sampling_request(&request.server, &subject, &hash, request.of);
                }
                Err(error) => {
                    tracing::error!(%error, "an audit entry could not be written");
                    owner.record_unanswered_reservation(&reservation);
                    if is_current {
                        owner.models.sampling.auto_approved.remove(&request.of);
                        owner.request_consent_despite_rule(request);
                    }
                }
            }
        });
    }

    fn run_model_by_rule(
        &mut self,
        of: Requester,
        number: u64,
        payload: AuthorizedPayload<(ModelRef, ModelRequest)>,
        reservation: UsageReservation,
    ) {
        let work = AuthorizedModelRequest { models: self.models.registry.clone(), payload };
        let end = move |ended: ModelOutcome| -> DeferredTurn {
            DeferredTurn::new(move |owner| owner.on_sampling_by_rule_end(of, number, ended))
        };
        let progress = SharedModelOutput::default();
        let task = tokio::spawn(work.run(
            self.lifetime.back.clone(),
            progress.clone(),
            None::<fn(String) -> DeferredTurn>,
            end,
        ));
        if let Some(auto_approved) = self.models.sampling.auto_approved.get_mut(&of) {
            auto_approved.running = Some(ModelRun::new(number, reservation, progress, task.abort_handle()));
        }
    }

    fn on_sampling_by_rule_end(&mut self, of: Requester, number: u64, ended: ModelOutcome) {
        if !self.models.sampling.is_auto_approved_run(of, number) {
            return;
        }
        let Some(auto_approved) = self.models.sampling.auto_approved.remove(&of) else { return };
        if let Some(running) = &auto_approved.running {
            self.record_final_sampling_usage(running, &ended);
        }
        let server = auto_approved.server.clone();
        match self.sampling_by_rule_response(of, &auto_approved, ended) {
            Ok(answer) => {
                let hash = Hash::of_json(&json!({ "answer": answer }));
                let (subject, by) = (format!("answered by {}", answer.model), auto_approved.by);
                let entry = self.make_audit_entry(AuditedDecision {
                    server: &server,
                    kind: "sampling-answer",
                    subject: &subject,
                    decision: "allowed",
                    by: "policy",
                    hash: hash.as_str(),
                    asker: of.audit_name(),
                    content: Some(canonical_json(&json!(answer))),
                    rule: auto_approved.by.text(),
                    conversation: auto_approved.conversation.as_deref(),
                    ..AuditedDecision::default()
                });
                // While the audit entry is being written, the reply can be refused or withdrawn like the request.
                self.models.sampling.auto_approved.insert(of, AutoApprovedRequest { running: None, ..auto_approved });
                self.audit_entry_then(entry, move |owner, written| {
                    if !owner.models.sampling.is_auto_approved_run(of, number) {
                        return owner.audit_unsent_model_reply(&server, &subject, &hash, of);
                    }
                    owner.models.sampling.auto_approved.remove(&of);
                    let refused = |error: StoreError| authorize_denial_response(refusal_error(error.to_string()));
                    let answer = authorize_allowed_response(by, ClientResponse::Sampling(Box::new(answer)));
                    owner.send_response(&server, of, written.map_or_else(refused, |()| answer));
                });
            }
            Err(cause) => {
                if let Some(record) = self.servers.records.get(&server) {
                    record.log_activity_line(ActivityKind::State, &format!("sampling failed: {cause}"));
                }
                // The provider's error message is shown to the user only, not sent to the server.
                let refusal = authorize_denial_response(refusal_error("the model did not answer".to_owned()));
                self.send_response(&server, of, refusal);
            }
        }
    }

    /// Converts a model's reply to the response to the server or its app.
    ///
    /// # Errors
    ///
    /// Returns the reason if the reply can't be sent.
    fn sampling_by_rule_response(
        &self,
        of: Requester,
        auto_approved: &AutoApprovedRequest,
        ended: ModelOutcome,
    ) -> Result<CreateMessageResult, String> {
        let reply = ended.map_err(|error| error.to_string())?;
        let answer = reply_to_sampling_result(&reply, &auto_approved.params).map_err(|unfit| unfit.to_string())?;
        if to_tool_choice(&auto_approved.params) == ToolChoice::Required && !contains_tool_use(&answer) {
            return Err("the server requires the use of a tool, and the model used none".to_owned());
        }
        let AutoApprovedRequest { server, params, .. } = auto_approved;
        self.check_sampling_answer(of, server, params, &answer).map_err(|error| error.to_string())?;
        Ok(answer)
    }

    /// Stops the models that reply to requests of a server and its apps, because the user denied its requests or
    /// disabled its sampling, and sends error responses.
    pub(in crate::owner) fn stop_sampling_by_rule(&mut self, server: &str) {
        let own = self.models.sampling.auto_approved.iter().filter(|(_, auto_approved)| auto_approved.server == server);
        let own: Vec<Requester> = own.map(|(of, _)| *of).collect();
        for of in own {
            if let Some(auto_approved) = self.models.sampling.auto_approved.remove(&of) {
                self.audit_without_waiting(AuditedDecision {
                    server,
                    kind: "sampling-answer",
                    subject: "no longer requested",
                    decision: "denied",
                    by: self.options.decider_name,
                    hash: Hash::of_json(&json!({ "request": auto_approved.params })).as_str(),
                    asker: of.audit_name(),
                    conversation: auto_approved.conversation.as_deref(),
                    ..AuditedDecision::default()
                });
            }
            let refusal = authorize_denial_response(refusal_error("the user rejected the request".to_owned()));
            self.send_response(server, of, refusal);
        }
    }

    /// Stops the models for sampling requests that no rule allows any more. The remaining budget is not checked again,
    /// since the usage was reserved at the start.
    pub(in crate::owner) fn end_disallowed_sampling(&mut self) {
        let servers: BTreeSet<String> =
            self.models.sampling.auto_approved.values().map(|auto_approved| auto_approved.server.clone()).collect();
        for server in servers {
            let act = PolicyAct::Sample { server: &server, would_use: SamplingUse::default() };
            if !matches!(self.permissions.policy.decide(&act, self.now()), PolicyDecision::Allow { .. }) {
                self.stop_sampling_by_rule(&server);
            }
        }
    }
}
