//! Approval of a tool call together with the other tools that their server declares to be read-only. Each tool gets a
//! grant of its own, which rests on its reviewed definition, so a new or changed tool is not covered.

use std::sync::Arc;

use domain::consent_request::ConsentRequestId;
use host_state::AuditedDecision;
use mcp_proto::types::Tool;
use offers::definitions::{DefinitionDigest, declares_read_only, definition_declares_read_only};
use policy::{ApprovalScope, GrantSubject, Hash, ReviewState};
use ports::server_config::grant_hash;

use super::approvals::ApprovalDuration;
use crate::owner::Owner;
use crate::owner::gate::{Approval, OutgoingPayload};
use crate::owner::state::{DecisionError, DecisionProgress, RequestPurpose};
use crate::view::ConsentRequestBody;

/// Maximum number of read-only tools that one approval can allow together.
const MAX_READ_ONLY_TOOLS: usize = 32;
/// Maximum number of other tools whose definitions are compared with the reviewed ones for one list of read-only tools.
const MAX_COMPARED_TOOLS: usize = 64;
/// Maximum total size of the definitions that are compared to determine one list of read-only tools, in bytes of JSON.
/// Cached definitions count, too, so that the list does not depend on the cache.
const MAX_COMPARED_DEFINITION_BYTES: usize = 256 * 1024;

impl Owner {
    /// Returns the tools that can be allowed together with a call of `called`: this one first, then others whose
    /// current definition is reviewed. Empty if the called tool is not declared read-only, or there is no other one.
    pub(in crate::owner) fn read_only_tools(&mut self, server: &str, called: &Tool) -> Vec<String> {
        let (Some(record), Some(pins)) = (self.servers.records.get(server), self.reviews.pins.get(server)) else {
            return Vec::new();
        };
        if !declares_read_only(called) {
            return Vec::new();
        }
        // The reviewed definition is parsed already. A current definition that differs from it is not eligible anyway.
        let (catalog, pins) = (Arc::clone(&record.offer.catalog), Arc::clone(pins));
        let identity = record.offer.identity.clone();
        let is_pinned = |name: &str| {
            let pin = pins.tools.get(name).filter(|pin| pin.changed.is_none() && pin.server_identity == identity);
            pin.and_then(|pin| pin.definition.as_ref()).is_some_and(definition_declares_read_only)
        };
        let candidates = catalog.tools.iter().filter(|entry| entry.name() != called.name && is_pinned(entry.name()));
        let (mut tools, mut bytes) = (vec![called.name.clone()], 0);
        for entry in candidates.take(MAX_COMPARED_TOOLS) {
            bytes += entry.raw().get().len();
            if tools.len() >= MAX_READ_ONLY_TOOLS || bytes > MAX_COMPARED_DEFINITION_BYTES {
                break;
            }
            let definition = self.current_tool_definition(server, entry.name());
            let is_eligible = |own: &DefinitionDigest| {
                own.review_state == ReviewState::Reviewed && own.read_only && !own.asks_each_time
            };
            // A server may list a name twice, of which only the first entry counts.
            if definition.is_some_and(is_eligible) && !tools.iter().any(|name| name == entry.name()) {
                tools.push(entry.name().to_owned());
            }
        }
        if tools.len() > 1 { tools } else { Vec::new() }
    }

    /// Updates the list of read-only tools in a pending consent request, after definitions of its server may have
    /// changed. Returns `true` if the list changed.
    pub(in crate::owner) fn update_read_only_tools(&mut self, at: usize) -> bool {
        let view = &self.consent.pending[at].view;
        let ConsentRequestBody::Tool { tool, read_only, .. } = &view.body else { return false };
        if !view.scopes.contains(&ApprovalScope::Always) {
            return false;
        }
        let (server, tool, before) = (view.server.clone(), tool.clone(), read_only.clone());
        let now = self.read_only_tools(&server, &tool);
        if now == before {
            return false;
        }
        if let ConsentRequestBody::Tool { read_only, .. } = &mut self.consent.pending[at].view.body {
            *read_only = now;
        }
        true
    }

    /// Approves a tool call, and adds a permanent grant for each of the given read-only tools.
    pub(super) fn approve_read_only_tools(
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
            return Err(DecisionError::WrongKind("an approval can't be valid for that long here"));
        }
        let (tool, arguments, server) = (tool.clone(), arguments.clone(), pending.view.server.clone());
        let outgoing = OutgoingPayload::displayed(pending);
        let offered = self.read_only_tools(&server, &tool);
        if !tools.contains(&tool.name) || !tools.iter().all(|name| offered.contains(name)) {
            if self.update_read_only_tools(at) {
                self.emit_consent_request(at);
            }
            return Err(DecisionError::Stale);
        }
        self.audit_approval_and_remove(approval, ApprovalScope::Always, outgoing, move |owner, pending, permit| {
            // Definitions may have changed while the entry was written.
            let offered = owner.read_only_tools(&server, &tool);
            let others: Vec<_> =
                offered.into_iter().filter(|name| *name != tool.name && tools.contains(name)).collect();
            let acted = owner.grant_read_only_tools(pending.view.id, &server, &tool, others);
            if let RequestPurpose::Call(call) = pending.purpose {
                owner.send_approved_call(&call, arguments, permit);
            }
            Ok(acted)
        })
    }

    /// Adds grants for the called tool and for others with reviewed definitions, and writes them together.
    fn grant_read_only_tools(
        &mut self,
        answered: ConsentRequestId,
        server: &str,
        called: &Tool,
        others: Vec<String>,
    ) -> DecisionProgress {
        let always = ApprovalDuration { scope: ApprovalScope::Always, conversation: None, expires_at: None };
        let mut granted = Vec::new();
        for other in others {
            let current = self.current_tool_definition(server, &other).map(|own| own.grant_hash.clone());
            let Some(rests_on) = current else { continue };
            let subject = GrantSubject::Tool(other.clone());
            if let Some(id) = self.insert_grant(server, subject.clone(), rests_on.clone(), &always, other.clone()) {
                self.audit_read_only_grant(server, &other, &rests_on);
                granted.push((id, subject));
            }
        }
        self.pin_tool(server, called);
        if let Some(record) = self.servers.records.get(server) {
            let (rests_on, subject) = (grant_hash(&record.config, called), GrantSubject::Tool(called.name.clone()));
            let id = self.insert_grant(server, subject.clone(), rests_on, &always, called.name.clone());
            granted.extend(id.map(|id| (id, subject)));
        }
        self.write_new_grants(answered, server, granted)
    }

    fn audit_read_only_grant(&mut self, server: &str, tool: &str, rests_on: &Hash) {
        self.audit_without_waiting(AuditedDecision {
            server,
            kind: "read-only-tool",
            subject: tool,
            decision: "allowed",
            scope: Some(ApprovalScope::Always),
            by: self.options.decider_name,
            hash: rests_on.as_str(),
            ..AuditedDecision::default()
        });
    }
}
