//! Decisions about getting prompts and reading resources. The user requests these directly, so they are allowed unless
//! a rule or the preset requires otherwise.

use domain::call::{CallFailure, ServerCall};
use mcp_proto::session::ClientRequest;
use policy::{PolicyAct, PolicyDecision};
use serde_json::Map;

use super::Owner;
use super::audited_decision::AuditedDecision;
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
        let act = PolicyAct::ReadAtUsersWish { server, conversation: call.conversation.as_deref() };
        match self.permissions.policy.decide(&act, self.now()) {
            PolicyDecision::Allow { by } => {
                let body = read_body(call, request);
                let hash = consent_payload_hash(&body, None);
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
                Ok(CallDisposition::Write(Box::new(entry), SendPermit::by_rule(by, server, hash)))
            }
            PolicyDecision::Ask { rule, scopes, .. } => {
                Ok(CallDisposition::Ask((read_body(call, request), rule, scopes)))
            }
            PolicyDecision::Deny { by, .. } => {
                let body = read_body(call, request);
                self.audit_without_waiting(AuditedDecision {
                    server,
                    kind: consent_kind(&body),
                    subject: &call.name,
                    decision: "denied",
                    by: "policy",
                    hash: consent_payload_hash(&body, None).as_str(),
                    asker: origin.audit_name(),
                    rule: by.text(),
                    conversation: call.conversation.as_deref(),
                    ..AuditedDecision::default()
                });
                Err(CallFailure::Refused(format!("by {by}")))
            }
        }
    }
}

/// Creates the body of the consent request for getting a prompt or reading a resource.
fn read_body(call: &ServerCall, request: &ClientRequest) -> ConsentRequestBody {
    let arguments = match request {
        ClientRequest::GetPrompt { arguments, .. } => arguments.clone(),
        _ => Map::new(),
    };
    ConsentRequestBody::Read { kind: call.kind, name: call.name.clone(), arguments }
}
