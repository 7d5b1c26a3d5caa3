//! Decisions about getting prompts and reading resources. What the user requests directly is allowed unless a rule or
//! the preset requires otherwise. An app may read the resources that its server lists.

use domain::call::{CallFailure, ServerCall};
use host_state::AuditedDecision;
use mcp_proto::session::ClientRequest;
use policy::{PolicyAct, PolicyDecision};
use serde_json::Map;

use super::Owner;
use super::calls::CallDisposition;
use super::gate::SendPermit;
use super::state::{CallOrigin, consent_kind, consent_payload_hash, payload_text};
use crate::view::ConsentRequestBody;

impl Owner {
    /// Decides about getting a prompt or reading a resource.
    pub(super) fn decide_read(
        &mut self,
        call: &ServerCall,
        origin: &CallOrigin,
        request: &ClientRequest,
    ) -> Result<CallDisposition, CallFailure> {
        let server = call.server.as_str();
        let needs_no_consent = self.servers.may_read_without_consent(server, origin, request);
        let act = PolicyAct::Read { needs_no_consent, server, conversation: call.conversation.as_deref() };
        match self.permissions.policy.decide(&act, self.now()) {
            PolicyDecision::Allow { by } => {
                let body = read_consent_body(call, request);
                let hash = consent_payload_hash(server, &body, None);
                let decided = AuditedDecision {
                    server,
                    kind: consent_kind(&body),
                    subject: &call.name,
                    decision: "allowed",
                    by: "policy",
                    hash: hash.as_str(),
                    asker: origin.audit_name(),
                    content: payload_text(&body),
                    rule: by.text(),
                    conversation: call.conversation.as_deref(),
                    ..AuditedDecision::default()
                };
                let entry = self.make_audit_entry(decided);
                Ok(CallDisposition::Allow(Box::new(entry), SendPermit::by_rule(by, server, hash)))
            }
            PolicyDecision::Ask { reason, scopes, .. } => {
                Ok(CallDisposition::Ask((read_consent_body(call, request), reason, scopes)))
            }
            PolicyDecision::Deny { by, .. } => {
                let body = read_consent_body(call, request);
                self.audit_without_waiting(AuditedDecision {
                    server,
                    kind: consent_kind(&body),
                    subject: &call.name,
                    decision: "denied",
                    by: "policy",
                    hash: consent_payload_hash(server, &body, None).as_str(),
                    asker: origin.audit_name(),
                    rule: by.text(),
                    conversation: call.conversation.as_deref(),
                    ..AuditedDecision::default()
                });
                Err(CallFailure::denied_by_rule(by.text()))
            }
        }
    }
}

impl Owner {
    /// Returns `true` if reading a resource for this originator needs the user's decision.
    pub(crate) fn asks_before_read(&self, server: &str, origin: &CallOrigin, uri: String) -> bool {
        let request = ClientRequest::ReadResource { uri };
        let needs_no_consent = self.servers.may_read_without_consent(server, origin, &request);
        let act = PolicyAct::Read { needs_no_consent, server, conversation: origin.conversation() };
        matches!(self.permissions.policy.decide(&act, self.now()), PolicyDecision::Ask { .. })
    }
}

/// Creates the body of the consent request for getting a prompt or reading a resource.
fn read_consent_body(call: &ServerCall, request: &ClientRequest) -> ConsentRequestBody {
    let arguments = match request {
        ClientRequest::GetPrompt { arguments, .. } => arguments.clone(),
        _ => Map::new(),
    };
    ConsentRequestBody::Read { kind: call.kind, name: call.name.clone(), arguments }
}
