//! The queue of consent requests: adds, changes and withdraws them. The user decides in `decisions.rs`.

mod withdrawal;

use domain::call::CallState;
use domain::consent_request::{ConsentRequestId, ConsentRequestOrigin, ConsentRequestOutcome};
use host_state::AuditedDecision;
use mcp_proto::session::{ClientResponse, ServerRequest, ServerRequestId};
use mcp_proto::types::ElicitParams;
use policy::{ApprovalScope, DecisionReason, PolicyAct, PolicyDecision};
use serde_json::Value;

use super::Owner;
use super::gate::{AuthorizedPayload, authorize_denial_response};
use super::path_links::unresolved_paths;
use super::state::{
    PendingRequest, RequestPurpose, Requester, consent_kind, consent_payload_hash, refusal_response, to_consent_body,
};
use crate::connection::{CallTicket, RunId};
use crate::view::{ConsentRequestBody, ConsentRequestView, HostEvent};

impl Owner {
    /// Adds a consent request to the end of the queue.
    pub(super) fn request_consent(
        &mut self,
        server: &str,
        origin: ConsentRequestOrigin,
        body: ConsentRequestBody,
        scopes: &'static [ApprovalScope],
        reason: DecisionReason,
        purpose: RequestPurpose,
    ) {
        self.request_consent_with_schema(server, origin, body, scopes, reason, purpose, (None, None));
    }

    /// Adds a consent request to the end of the queue, with the schema of its form and the number of its round, if any.
    #[expect(clippy::too_many_arguments, reason = "one place creates consent requests, from everything that they show")]
    pub(super) fn request_consent_with_schema(
        &mut self,
        server: &str,
        origin: ConsentRequestOrigin,
        body: ConsentRequestBody,
        scopes: &'static [ApprovalScope],
        reason: DecisionReason,
        purpose: RequestPurpose,
        (schema, round): (Option<Value>, Option<u32>),
    ) {
        let config = self.servers.records.get(server).map(|record| &record.config);
        let command_line = match &body {
            // The command line includes the version of the package.
            ConsentRequestBody::StartServer { config, .. } => config.command_line(),
            _ => config.map(|config| config.command_line()).unwrap_or_default(),
        };
        let transport = if config.is_some_and(|config| config.as_http().is_some()) { "http" } else { "stdio" };
        let marks = self.review_findings(server, &body);
        let view = ConsentRequestView {
            id: ConsentRequestId(self.events.next_unique_id()),
            hash: consent_payload_hash(server, &body, schema.as_ref()),
            server: server.to_owned(),
            command_line,
            transport,
            asked_at: self.now(),
            origin,
            round,
            body,
            scopes,
            reason: reason.name(),
            stricter_reason: reason.to_stricter_reason(),
            marks,
            call: purpose.call_shown_with_request().map(str::to_owned),
        };
        if self.settings.current.announce {
            self.ports.platform.announce(server, consent_kind(&view.body), Some(view.id));
        }
        let paths = self.servers.records.get(server).map(|record| unresolved_paths(&record.config)).unwrap_or_default();
        self.consent.pending.push(PendingRequest::new(view.clone(), purpose, schema, paths));
        self.events.emit(HostEvent::ConsentRequestChanged(Box::new(view)));
    }

    /// Handles a request of a server: denies it, adds a consent request, or responds directly, as the policy decides.
    pub(super) fn decide_server_request(
        &mut self,
        run: RunId,
        server: &str,
        request: ServerRequestId,
        ticket: Option<CallTicket>,
        server_request: ServerRequest,
    ) {
        let call = ticket.and_then(|ticket| self.calls.call_of_ticket(ticket));
        let requester = Requester::Server { run, request };
        let decision = self.permissions.policy.decide(&self.policy_act_of_request(server, &server_request), self.now());
        match (server_request, decision) {
            (ServerRequest::Sampling(params), decision) => {
                self.on_sampling_request(server, requester, call, params, decision);
            }
            (server_request, PolicyDecision::Deny { reason, .. }) => {
                let (body, schema) = to_consent_body(server_request);
                self.refuse_denied_request(server, (requester, call.as_deref()), (&body, schema.as_ref()), reason);
            }
            (server_request, PolicyDecision::Ask { reason, scopes, .. }) => {
                let origin = self.calls.consent_origin(call.as_deref());
                let round = call.as_deref().and_then(|call| self.calls.advance_input_round(call));
                if let Some(call) = &call {
                    self.set_call_state(call, CallState::AwaitingInput);
                }
                let purpose = RequestPurpose::Request { requester, call };
                let (body, schema) = to_consent_body(server_request);
                self.request_consent_with_schema(server, origin, body, scopes, reason, purpose, (schema, round));
            }
            (_, PolicyDecision::Allow { by }) => self.send_allowed_roots(server, (run, request), ticket, by),
        }
    }

    /// Converts a server's request to the act that the policy decides about.
    pub(super) fn policy_act_of_request<'a>(&self, server: &'a str, server_request: &ServerRequest) -> PolicyAct<'a> {
        match server_request {
            ServerRequest::Sampling(params) => self.sampling_act(server, params),
            ServerRequest::Elicitation(ElicitParams::Form { .. }) => PolicyAct::FillForm { server },
            ServerRequest::Elicitation(ElicitParams::Url { .. }) => PolicyAct::OpenUrl { server },
            ServerRequest::Roots => PolicyAct::ShareRoots { server, decided: self.are_roots_decided(server) },
        }
    }

    /// Returns the conversation of the app that sends a request, or of the call during which a server sends it.
    pub(super) fn conversation_of_request(&self, requester: Requester, call: Option<&str>) -> Option<String> {
        let of_app = self.models.sampling.conversation_of_app(requester);
        of_app.or_else(|| self.calls.records.get(call?)?.view.conversation.clone())
    }

    /// Refuses a request of a server or its app that the policy denies. `call` is the id of the call during which the
    /// server sent the request, if known.
    pub(super) fn refuse_denied_request(
        &mut self,
        server: &str,
        (requester, call): (Requester, Option<&str>),
        (body, schema): (&ConsentRequestBody, Option<&Value>),
        reason: DecisionReason,
    ) {
        let answer = refusal_response(body, ConsentRequestOutcome::Denied);
        if reason == DecisionReason::Muted {
            self.send_response(server, requester, authorize_denial_response(answer));
            return self.count_refused_while_muted(server);
        }
        self.refuse_automatically(server, (requester, call), (body, schema), reason.name(), answer);
    }

    /// Refuses a request of a server or its app without the user's involvement. `reason` is recorded in the audit log.
    pub(super) fn refuse_automatically(
        &mut self,
        server: &str,
        (requester, call): (Requester, Option<&str>),
        (body, schema): (&ConsentRequestBody, Option<&Value>),
        reason: &str,
        answer: ClientResponse,
    ) {
        let hash = consent_payload_hash(server, body, schema);
        let conversation = self.conversation_of_request(requester, call);
        // The entry has no content, so that a server that repeats requests can't displace many other entries.
        let entry = AuditedDecision {
            server,
            kind: consent_kind(body),
            subject: reason,
            decision: "denied",
            scope: None,
            by: "policy",
            hash: hash.as_str(),
            asker: requester.audit_name(),
            conversation: conversation.as_deref(),
            ..AuditedDecision::default()
        };
        self.audit_without_waiting(entry);
        self.send_response(server, requester, authorize_denial_response(answer));
    }

    /// Sends the response to a request of a server or its app. Drops the response if nobody waits for it any more.
    pub(super) fn send_response(
        &mut self,
        server: &str,
        requester: Requester,
        answer: AuthorizedPayload<ClientResponse>,
    ) {
        match requester {
            Requester::Server { run, request } => self.servers.send_response(server, run, request, answer),
            Requester::App { .. } => self.send_response_to_app(server, requester, answer, None),
        }
    }
}
