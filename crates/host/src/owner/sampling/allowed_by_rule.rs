//! Sampling requests that a rule with a budget allows: a model replies, and the reply is sent without consent. The
//! audit log and the server's activity log contain it like any other.

use std::collections::BTreeSet;

use domain::StoreError;
use mcp_proto::session::{ClientResponse, ServerRequestId};
use mcp_proto::types::CreateMessageResult;
use models::{ModelRef, ModelRequest, ToolChoice};
use policy::{DecisionSource, Hash, PolicyAct, PolicyDecision, SamplingUse, UsedBy, canonical_json};
use serde_json::json;
use server_requests::sampling::conversion::{reply_to_result, tool_choice, uses_tool};
use server_requests::sampling::request_hash;
use supervision::activity::ActivityKind;

use super::Owner;
use super::model_request::AuthorizedModelRequest;
use super::request::SamplingRequest;
use crate::connection::RunId;
use crate::owner::DeferredTurn;
use crate::owner::audited_decision::AuditedDecision;
use crate::owner::gate::{AuthorizedPayload, SendPermit, authorize_allowed_response, authorize_denial};
use crate::owner::state::{
    ModelOutcome, ModelRun, RunProgress, UnaskedRequest, UsageReservation, refusal, sampling_subject,
};

impl Owner {
    /// Sends a request to its model as this rule allows, once its usage is reserved and the decision is recorded.
    /// Requests consent instead if there is no model, or the server's own limits don't allow it.
    pub(super) fn sample_by_rule(&mut self, request: SamplingRequest, by: DecisionSource) {
        let (server, of) = (request.server.clone(), request.of);
        let Some(choice) = request.state.model.clone() else { return self.request_consent_despite_rule(request) };
        let hash = request_hash(&request.params, &request.state);
        let departure = SendPermit::by_rule(by, &server, hash.clone());
        let Ok(asks) = departure.authorize_model_request(&server, &request.params, &request.state) else {
            return self.request_consent_despite_rule(request);
        };
        self.models.sampling.last_run += 1;
        let number = self.models.sampling.last_run;
        let unasked =
            UnaskedRequest { server: server.clone(), number, running: None, params: request.params.clone(), by };
        self.models.sampling.unasked.insert(of, unasked);
        self.reserve_usage(&server, &choice.model, &request.params.clone(), move |owner, reserved| match reserved {
            Ok(reservation) => owner.audit_sampling_by_rule(request, (number, by), (asks, hash), reservation),
            Err(_) if owner.models.sampling.is_unasked(of, number) => {
                owner.models.sampling.unasked.remove(&of);
                owner.request_consent_despite_rule(request);
            }
            Err(_) => {}
        });
    }

    fn audit_sampling_by_rule(
        &mut self,
        request: SamplingRequest,
        (number, by): (u64, DecisionSource),
        (asks, hash): (AuthorizedPayload<(ModelRef, ModelRequest)>, Hash),
        reservation: UsageReservation,
    ) {
        if !self.models.sampling.is_unasked(request.of, number) {
            return self.settle_unanswered(&reservation);
        }
        let subject = sampling_subject(&request.params, None, &request.state);
        let entry = self.make_audit_entry(AuditedDecision {
            server: &request.server,
            kind: "sampling",
            subject: &subject,
            decision: "allowed",
            by: "policy",
            hash: hash.as_str(),
            asker: "server",
            content: Some(canonical_json(&json!(request.params))),
            rule: by.text(),
            ..AuditedDecision::default()
        });
        self.audit_entry_then(entry, move |owner, written| {
            let is_wanted = owner.models.sampling.is_unasked(request.of, number);
            match written {
                Ok(()) if is_wanted => {
                    owner.note_use(by, &request.server, None, UsedBy::Server);
                    owner.run_model_by_rule(request.of, number, asks, reservation);
                }
                Ok(()) => {
                    owner.settle_unanswered(&reservation);
                    owner.audit_model_not_asked(&request.server, &subject, &hash);
                }
                Err(error) => {
                    tracing::error!(%error, "an audit entry could not be written");
                    owner.settle_unanswered(&reservation);
                    if is_wanted {
                        owner.models.sampling.unasked.remove(&request.of);
                        owner.request_consent_despite_rule(request);
                    }
                }
            }
        });
    }

    fn run_model_by_rule(
        &mut self,
        of: (RunId, ServerRequestId),
        number: u64,
        asks: AuthorizedPayload<(ModelRef, ModelRequest)>,
        reservation: UsageReservation,
    ) {
        let work = AuthorizedModelRequest { models: self.models.registry.clone(), asks };
        let end = move |ended: ModelOutcome| -> DeferredTurn {
            DeferredTurn::new(move |owner| owner.on_sampling_by_rule_end(of, number, ended))
        };
        let progress = RunProgress::default();
        let task = tokio::spawn(work.run(
            self.lifetime.back.clone(),
            progress.clone(),
            None::<fn(String) -> DeferredTurn>,
            end,
        ));
        if let Some(unasked) = self.models.sampling.unasked.get_mut(&of) {
            unasked.running = Some(ModelRun::new(number, reservation, progress, task.abort_handle()));
        }
    }

    fn on_sampling_by_rule_end(&mut self, of: (RunId, ServerRequestId), number: u64, ended: ModelOutcome) {
        if !self.models.sampling.is_unasked(of, number) {
            return;
        }
        let Some(unasked) = self.models.sampling.unasked.remove(&of) else { return };
        if let Some(running) = &unasked.running {
            self.settle_usage(running, &ended);
        }
        let (server, (run, request)) = (unasked.server.clone(), of);
        match self.sampling_by_rule_response(&unasked, ended) {
            Ok(answer) => {
                let hash = Hash::of_json(&json!({ "answer": answer }));
                let (subject, by) = (format!("answered by {}", answer.model), unasked.by);
                let entry = self.make_audit_entry(AuditedDecision {
                    server: &server,
                    kind: "sampling-answer",
                    subject: &subject,
                    decision: "allowed",
                    by: "policy",
                    hash: hash.as_str(),
                    asker: "server",
                    content: Some(canonical_json(&json!(answer))),
                    rule: unasked.by.text(),
                    ..AuditedDecision::default()
                });
                // Until the entry is written, the reply can be refused or withdrawn like the request.
                self.models.sampling.unasked.insert(of, UnaskedRequest { running: None, ..unasked });
                self.audit_entry_then(entry, move |owner, written| {
                    if !owner.models.sampling.is_unasked(of, number) {
                        return owner.audit_reply_not_sent(&server, &subject, &hash);
                    }
                    owner.models.sampling.unasked.remove(&of);
                    let refused = |error: StoreError| authorize_denial(refusal(error.to_string()));
                    let answer = authorize_allowed_response(by, ClientResponse::Sampling(Box::new(answer)));
                    owner.servers.send_response(&server, run, request, written.map_or_else(refused, |()| answer));
                });
            }
            Err(cause) => {
                if let Some(record) = self.servers.records.get(&server) {
                    record.note(ActivityKind::State, &format!("sampling failed: {cause}"));
                }
                // The provider's message is for the user only.
                self.servers.send_response(
                    &server,
                    run,
                    request,
                    authorize_denial(refusal("the model did not answer".to_owned())),
                );
            }
        }
    }

    /// Returns the reply to send, or the reason why it can't be sent.
    fn sampling_by_rule_response(
        &self,
        unasked: &UnaskedRequest,
        ended: ModelOutcome,
    ) -> Result<CreateMessageResult, String> {
        let reply = ended.map_err(|error| error.to_string())?;
        let answer = reply_to_result(&reply, &unasked.params).map_err(|unfit| unfit.to_string())?;
        if tool_choice(&unasked.params) == ToolChoice::Required && !uses_tool(&answer) {
            return Err("the server wants a tool to be used, and the model used none".to_owned());
        }
        self.servers.check_sampling_answer(&unasked.server, &answer).map_err(|error| error.to_string())?;
        Ok(answer)
    }

    /// Stops the models that reply to a server whose requests the user denies, or which may not sample any more, and
    /// notifies the server.
    pub(in crate::owner) fn stop_sampling_by_rule(&mut self, server: &str) {
        let own = self.models.sampling.unasked.iter().filter(|(_, unasked)| unasked.server == server);
        let own: Vec<(RunId, ServerRequestId)> = own.map(|(of, _)| *of).collect();
        for (run, request) in own {
            if let Some(unasked) = self.models.sampling.unasked.remove(&(run, request)) {
                self.audit_without_waiting(AuditedDecision {
                    server,
                    kind: "sampling-answer",
                    subject: "not wanted any more",
                    decision: "denied",
                    by: self.options.decides,
                    hash: Hash::of_json(&json!({ "request": unasked.params })).as_str(),
                    asker: "server",
                    ..AuditedDecision::default()
                });
            }
            let refusal = authorize_denial(refusal("the user rejected the request".to_owned()));
            self.servers.send_response(server, run, request, refusal);
        }
    }

    /// Stops requests that no rule allows any more. The remaining budget doesn't matter, since the usage was reserved
    /// at the start.
    pub(in crate::owner) fn end_disallowed_sampling(&mut self) {
        let servers: BTreeSet<String> =
            self.models.sampling.unasked.values().map(|unasked| unasked.server.clone()).collect();
        for server in servers {
            let act = PolicyAct::Sample { server: &server, would_use: SamplingUse::default() };
            if !matches!(self.permissions.policy.decide(&act, self.now()), PolicyDecision::Allow { .. }) {
                self.stop_sampling_by_rule(&server);
            }
        }
    }
}
