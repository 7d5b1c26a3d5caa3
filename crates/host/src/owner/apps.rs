//! Approvals of apps: pages that a server provides for the results of its tools (MCP Apps), and the decision whether an
//! app may receive the arguments of a call before the call is decided. Used by `handle/apps.rs`.

use host_state::AuditedDecision;
use mcp_apps::SandboxGrants;
use offers::catalog::CatalogListKind;
use offers::review::{AppApproval, approve_app};
use policy::{Hash, PolicyAct, ResolvedPaths, canonical_json};
use serde_json::{Map, json};
use tokio::sync::oneshot;

use super::Owner;
use super::state::{CallOrigin, ReviewError, tool_review_state};
use super::tool_filter::tool_filter_refusal;
use crate::view::{HostEvent, ServerState};

/// Value of the field `kind` in audit entries about pages of apps.
const APP_PAGE_AUDIT_KIND: &str = "app";

impl Owner {
    /// Stores the user's approval of an app's page, and the access that the page gets. The audit entry is written
    /// first. `sources` are the origins that the page may use, as the user saw them.
    pub(crate) fn approve_app(
        &mut self,
        server: &str,
        uri: &str,
        hash: &str,
        (grants, sources): (SandboxGrants, Vec<String>),
        reply: oneshot::Sender<Result<(), ReviewError>>,
    ) {
        if !self.servers.records.contains_key(server) {
            // The caller may have stopped waiting, here and below.
            let _ = reply.send(Err(ReviewError::NotFound(server.to_owned())));
            return;
        }
        let subject = canonical_json(&json!({ "grants": grants, "sources": sources, "uri": uri }));
        let decided = AuditedDecision {
            server,
            kind: APP_PAGE_AUDIT_KIND,
            subject: &subject,
            decision: "allowed",
            by: self.options.decider_name,
            hash,
            ..AuditedDecision::default()
        };
        let approval = AppApproval { hash: hash.to_owned(), grants, at: self.now() };
        let (server, uri) = (server.to_owned(), uri.to_owned());
        self.audit_then(decided, move |owner, written| {
            if written.is_err() {
                let _ = reply.send(Err(ReviewError::Audit));
                return;
            }
            let has_room =
                owner.change_pins(&server, true, move |pins| approve_app(&mut pins.apps, &uri, approval.clone()));
            owner.events.emit(HostEvent::CatalogChanged(server.clone()));
            let _ = reply.send(if has_room { Ok(()) } else { Err(ReviewError::Full(server)) });
        });
    }

    /// Removes the user's approval of an app's page. Returns `false` if the page has no approval.
    pub(crate) fn revoke_app(&mut self, server: &str, uri: &str) -> bool {
        if !self.reviews.pins.get(server).is_some_and(|pins| pins.apps.contains_key(uri)) {
            return false;
        }
        self.audit_without_waiting(AuditedDecision {
            server,
            kind: APP_PAGE_AUDIT_KIND,
            subject: uri,
            decision: "revoked",
            by: self.options.decider_name,
            ..AuditedDecision::default()
        });
        let page = uri.to_owned();
        self.change_pins(server, true, move |pins| drop(pins.apps.remove(&page)));
        self.events.emit(HostEvent::CatalogChanged(server.to_owned()));
        true
    }

    /// Returns `true` if `origin` may now call this tool without consent whatever the arguments are, so that a call of it
    /// can neither be denied nor require consent.
    ///
    /// Considers the same facts as the decision about a call (`calls/decision.rs`).
    pub(crate) fn allows_every_call_of_tool(&mut self, origin: &CallOrigin, server: &str, tool: &str) -> bool {
        let after_untrusted = self.follows_untrusted_content(origin, server);
        let now = self.now();
        let Some(record) = self.servers.records.get_mut(server) else { return false };
        if record.state != ServerState::Ready {
            return false;
        }
        let (pins, identity) = (&self.reviews.pins, record.offer.identity.as_ref());
        let review_state_of = |own: &Hash| tool_review_state(pins, server, tool, own, identity);
        let found = record.offer.definitions.get(&record.config, &record.offer.catalog, tool, review_state_of);
        let Some(definition) = found else { return false };
        if tool_filter_refusal(origin, &record.config.tools, tool, &definition.metadata).is_some() {
            return false;
        }
        let review_state =
            record.offer.catalog.treat_as_changed_if_outdated(CatalogListKind::Tools, definition.review_state);
        let arguments = Map::new();
        let act = PolicyAct::CallTool {
            server,
            tool,
            grant_hash: &definition.grant_hash,
            review_state,
            claims: definition.claims,
            asks_each_time: definition.asks_each_time,
            arguments: &arguments,
            paths: &ResolvedPaths::Elsewhere,
            after_untrusted,
            conversation: origin.conversation(),
        };
        self.permissions.policy.allows_any_arguments(&act, now)
    }
}
