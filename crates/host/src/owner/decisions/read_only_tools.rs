//! Approval of a tool call together with the other tools that their server declares to be read-only. Each tool gets a grant
//! of its own, which rests on its reviewed definition, so a new or changed tool is not covered.

use std::sync::Arc;

use mcp_proto::types::Tool;
use policy::{ApprovalScope, Grant, GrantId, GrantSubject, Hash, ReviewState};
use ports::server_config::definition_hash;

use super::approvals::ApprovalDuration;
use crate::owner::Owner;
use crate::owner::audited_decision::AuditedDecision;
use crate::owner::gate::{Approval, OutgoingPayload};
use crate::owner::state::{DecisionError, DecisionProgress, RequestPurpose};
use crate::view::ConsentRequestBody;

/// Maximum number of tools that can be allowed together.
const MAX_TOOLS: usize = 32;
/// Maximum number of listed tools that are examined for one consent request.
const MAX_EXAMINED: usize = 500;

impl Owner {
    /// Returns the tools that can be allowed together with a call of `called`: this one first, then others whose
    /// current definition is reviewed. Empty if the called tool is not declared read-only, or there is no other one.
    pub(in crate::owner) fn read_only_tools(&mut self, server: &str, called: &Tool) -> Vec<String> {
        let catalog = self.servers.records.get(server).map(|record| Arc::clone(&record.offer.catalog));
        let Some(catalog) = catalog.filter(|_| only_reads(called)) else { return Vec::new() };
        let listed = catalog.tools.iter().take(MAX_EXAMINED).filter_map(|entry| entry.read().ok());
        let mut tools = vec![called.name.clone()];
        for tool in listed.filter(|tool| tool.name != called.name && only_reads(tool)) {
            let definition = self.current_definition(server, &tool.name);
            if definition.is_some_and(|own| own.standing == ReviewState::Reviewed && !own.asks_each_time) {
                tools.push(tool.name);
            }
        }
        tools.truncate(MAX_TOOLS);
        if tools.len() > 1 { tools } else { Vec::new() }
    }

    /// Approves a tool call, and grants later calls of these tools.
    pub(super) fn approve_read_only(
        &mut self,
        at: usize,
        approval: Approval,
        tools: Vec<String>,
    ) -> Result<DecisionProgress, DecisionError> {
        let pending = &self.consent.pending[at];
        let ConsentRequestBody::Tool { tool, arguments, .. } = &pending.view.body else {
            return Err(DecisionError::WrongKind("it is not a call of a tool"));
        };
        if !pending.view.scopes.contains(&ApprovalScope::Always) {
            return Err(DecisionError::WrongKind("an approval can't hold that long here"));
        }
        let (tool, arguments, server) = (tool.clone(), arguments.clone(), pending.view.server.clone());
        let leaving = OutgoingPayload::displayed(pending);
        let offered = self.read_only_tools(&server, &tool);
        if !tools.contains(&tool.name) || !tools.iter().all(|name| offered.contains(name)) {
            return Err(DecisionError::Stale);
        }
        self.permit_and_remove(approval, ApprovalScope::Always, leaving, move |owner, pending, departure| {
            // Definitions may have changed while the entry was written.
            let offered = owner.read_only_tools(&server, &tool);
            for other in tools.iter().filter(|name| **name != tool.name && offered.contains(name)) {
                owner.grant_read_only(&server, other);
            }
            owner.pin_tool(&server, &tool);
            let mut acted = DecisionProgress::Done;
            if let Some(record) = owner.servers.records.get(&server) {
                let definition = definition_hash(&record.config, &tool);
                let subject = GrantSubject::Tool(tool.name.clone());
                let always = ApprovalDuration { scope: ApprovalScope::Always, conversation: None, expires_at: None };
                // Written after the others, so the decision is reported once all grants are in the file.
                acted = owner.add_grant(&pending.view, subject, definition, always, tool.name);
            }
            if let RequestPurpose::Call(call) = pending.purpose {
                owner.send_approved(&call, arguments, departure);
            }
            Ok(acted)
        })
    }

    /// Adds a grant for a tool with a reviewed definition, and records it in the audit log.
    fn grant_read_only(&mut self, server: &str, tool: &str) {
        let Some(rests_on) = self.current_definition(server, tool).map(|own| own.approval.clone()) else { return };
        let subject = GrantSubject::Tool(tool.to_owned());
        let grant = Grant {
            id: GrantId::default(),
            server: server.to_owned(),
            subject: subject.clone(),
            rests_on: rests_on.clone(),
            scope: ApprovalScope::Always,
            conversation: None,
            since: self.now(),
            expires_at: None,
            words: tool.to_owned(),
            last_use: None,
        };
        let id = match self.permissions.policy.grants_mut().add(grant) {
            Ok(id) => id,
            Err(error) => return tracing::warn!(%error, "a read-only tool is not allowed"),
        };
        self.audit_read_only(server, tool, &rests_on);
        self.write_grants(server, Some(&subject), move |owner, kept| {
            if let Err(error) = kept {
                owner.permissions.policy.grants_mut().limit_to_session(id);
                tracing::error!(%error, "the grant could not be written; it is effective until Drawbridge exits");
            }
        });
    }

    fn audit_read_only(&mut self, server: &str, tool: &str, rests_on: &Hash) {
        self.audit_without_waiting(AuditedDecision {
            server,
            kind: "read-only-tool",
            subject: tool,
            decision: "allowed",
            scope: Some(ApprovalScope::Always),
            by: self.options.decides,
            hash: rests_on.as_str(),
            ..AuditedDecision::default()
        });
    }
}

/// Returns `true` if the server declares that a tool only reads, and neither that it destroys data nor that it interacts
/// with external systems, to which the arguments of a call could be passed on.
fn only_reads(tool: &Tool) -> bool {
    tool.annotations.as_ref().is_some_and(|own| {
        own.read_only_hint == Some(true) && own.destructive_hint != Some(true) && own.open_world_hint != Some(true)
    })
}
