//! Computes the review warnings that are displayed with consent requests, lists and servers, such as changed
//! definitions and look-alike names, from pinned definitions and from the catalogs of other servers.

use std::sync::Arc;

use launches::approvals::command_hash;
use launches::pinned_parts::{pinned_address_parts, pinned_command_parts};
use mcp_proto::types::Tool;
use offers::review::{DefinitionDiff, ReviewFindings, ServerReview};
use ports::server_config::address_hash;
use serde_json::json;

use super::Owner;
use super::state::RequestPurpose;
use crate::view::ConsentRequestBody;

impl Owner {
    /// Returns the definitions of a server with their review states.
    pub(crate) fn server_review(&self, server: &str) -> Option<ServerReview> {
        let record = self.servers.records.get(server)?;
        let others = self.servers.records.iter().filter(|(name, _)| *name != server);
        Some(ServerReview {
            server: server.to_owned(),
            config: Arc::clone(&record.config),
            catalog: Arc::clone(&record.offer.catalog),
            pins: self.reviews.pins_of(server),
            identity: record.offer.identity.clone(),
            granted: self.permissions.granted_tools(server, self.now()),
            others: others
                .map(|(name, other)| {
                    (
                        name.clone(),
                        self.reviews.definition_names(name, &other.offer, other.session.connection.is_some()),
                    )
                })
                .collect(),
        })
    }

    /// Returns the review warnings about the tool, prompt or server that a consent request is for.
    pub(super) fn review_findings(&self, server: &str, body: &ConsentRequestBody) -> ReviewFindings {
        let pins = self.reviews.pins.get(server);
        let diff = match body {
            ConsentRequestBody::Tool { tool, app, .. } => {
                let review = |reviewed: ServerReview| match app {
                    Some(_) => reviewed.review_app_tool(tool),
                    None => reviewed.review_tool(tool).1,
                };
                return self.server_review(server).map(review).unwrap_or_default();
            }
            ConsentRequestBody::Result { flags, .. } => {
                return ReviewFindings { flags: flags.clone(), ..ReviewFindings::default() };
            }
            ConsentRequestBody::StartServer { config, resolved, plan, files, package, .. } => {
                let package = package.as_deref();
                let hash = command_hash(config, resolved, plan.as_ref(), files, package);
                let parts = pinned_command_parts(config, resolved, Some(files), package);
                pins.and_then(|pins| pins.identity_diff(&hash, &parts))
            }
            ConsentRequestBody::ConnectServer { config, .. } => {
                pins.and_then(|pins| pins.identity_diff(&address_hash(config), &pinned_address_parts(config)))
            }
            ConsentRequestBody::SignIn { issuer, endpoints, authorization_url, .. } => {
                self.reviews.sign_in_diff(server, issuer, endpoints, authorization_url.is_some())
            }
            _ => None,
        };
        ReviewFindings { diff: diff.map(Box::new), ..ReviewFindings::default() }
    }

    /// Recomputes the review warnings in pending consent requests for calls of a server's tools, and the read-only
    /// tools that each request offers to allow together. Called when the tools or their reviews may have changed.
    pub(super) fn recompute_review_warnings(&mut self, server: &str) {
        for at in 0..self.consent.pending.len() {
            let pending = &self.consent.pending[at];
            if pending.view.server == server && matches!(pending.purpose, RequestPurpose::Call(_)) {
                let marks = self.review_findings(server, &pending.view.body);
                self.consent.pending[at].view.marks = marks;
                self.update_read_only_tools(at);
                self.emit_consent_request(at);
            }
        }
    }

    /// Recomputes which read-only tools the pending consent requests of a server offer to allow together.
    pub(super) fn refresh_offered_read_only_tools(&mut self, server: &str) {
        for at in 0..self.consent.pending.len() {
            if self.consent.pending[at].view.server == server && self.update_read_only_tools(at) {
                self.emit_consent_request(at);
            }
        }
    }

    /// Recomputes the review warnings of the consent request at index `at`, whose tool has changed since its definition
    /// `shown` was displayed.
    pub(super) fn update_review_warnings_of_changed_tool(&mut self, at: usize, shown: &Tool) {
        let view = &self.consent.pending[at].view;
        let mut marks = self.review_findings(&view.server, &view.body);
        // If the user never reviewed the tool, the definition is compared with the displayed one.
        if let (None, ConsentRequestBody::Tool { tool, .. }) = (&marks.diff, &view.body) {
            marks.diff = Some(Box::new(DefinitionDiff::between_definitions(&json!(shown), &json!(tool))));
        }
        self.consent.pending[at].view.marks = marks;
    }
}
