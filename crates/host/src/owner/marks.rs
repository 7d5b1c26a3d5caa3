//! What is worth a second look, for questions, lists and servers: worked out from what is pinned, and from what the other
//! servers offer.

use std::collections::HashMap;
use std::sync::Arc;

use credentials::sign_in::SignInEndpoint;
use domain::Millis;
use launches::approvals::command_hash;
use launches::parts::{address_parts, command_parts};
use mcp_proto::types::Tool;
use offers::review::{Diff, Flag, Marks, NameKeys, Reviewed, ServerPins};
use policy::{Grants, Hash, Scope, Subject};
use ports::server_config::address_hash;
use serde_json::{Map, json};

use super::Owner;
use super::pins::endpoint_parts;
use super::questions::For;
use crate::view::QuestionBody;

/// What a server says of itself at its opening, looked through once.
#[derive(Debug, Default)]
pub(crate) struct Said {
    /// What its name looks like.
    pub(in crate::owner) name: Option<(String, NameKeys)>,
    /// What in its instructions and its description of itself looks made to mislead.
    pub(in crate::owner) flags: Vec<Flag>,
}

impl Owner {
    /// One server's definitions beside what the user saw of them.
    pub(crate) fn reviewed(&self, server: &str) -> Option<Reviewed> {
        let record = self.servers.records.get(server)?;
        let others = self.servers.records.iter().filter(|(name, _)| *name != server);
        Some(Reviewed {
            server: server.to_owned(),
            config: Arc::clone(&record.config),
            catalog: Arc::clone(&record.offer.catalog),
            pins: self.reviews.pins.get(server).cloned().unwrap_or_default(),
            identity: record.offer.identity.clone(),
            granted: granted(self.permissions.policy.grants(), server, self.now()),
            others: others.map(|(name, other)| (name.clone(), self.reviews.names_of(name, other))).collect(),
        })
    }

    /// What is worth a second look about what a question is about.
    pub(super) fn marks_of(&self, server: &str, body: &QuestionBody) -> Marks {
        let pins = self.reviews.pins.get(server);
        let diff = match body {
            QuestionBody::Tool { tool, .. } => {
                return self.reviewed(server).map(|reviewed| reviewed.tool(tool).1).unwrap_or_default();
            }
            QuestionBody::Result { flags, .. } => return Marks { flags: flags.clone(), ..Marks::default() },
            QuestionBody::StartServer { config, resolved, plan, files, package, .. } => {
                let package = package.as_deref();
                let hash = command_hash(config, resolved, plan.as_ref(), files, package);
                let parts = command_parts(config, resolved, Some(files), package);
                pins.and_then(|pins| pins.identity_diff(&hash, &parts))
            }
            QuestionBody::ConnectServer { config, .. } => {
                pins.and_then(|pins| pins.identity_diff(&address_hash(config), &address_parts(config)))
            }
            QuestionBody::SignIn { issuer, endpoints, authorization_url, .. } => {
                pins.and_then(|pins| sign_in_diff(pins, issuer, endpoints, authorization_url.is_some()))
            }
            _ => None,
        };
        Marks { diff: diff.map(Box::new), ..Marks::default() }
    }

    /// What a call's question tells of its tool may be otherwise now.
    pub(super) fn mark_questions_again(&mut self, server: &str) {
        for at in 0..self.consent.pending.len() {
            let pending = &self.consent.pending[at];
            if pending.view.server == server && matches!(pending.what_for, For::Call(_)) {
                let marks = self.marks_of(server, &pending.view.body);
                self.consent.pending[at].view.marks = marks;
                self.changed(at);
            }
        }
    }

    /// The tool that a question is about is another one now than was shown.
    pub(super) fn mark_changed(&mut self, at: usize, shown: &Tool) {
        let view = &self.consent.pending[at].view;
        let mut marks = self.marks_of(&view.server, &view.body);
        // One that nobody had approved is compared with what was shown.
        if let (None, QuestionBody::Tool { tool, .. }) = (&marks.diff, &view.body) {
            marks.diff = Some(Box::new(Diff::of_definitions(&json!(shown), &json!(tool))));
        }
        self.consent.pending[at].view.marks = marks;
    }
}

/// The difference in where a sign-in goes. Where no page is opened, the issuer is one of the settings.
fn sign_in_diff(pins: &ServerPins, issuer: &str, endpoints: &[SignInEndpoint], opens_page: bool) -> Option<Diff> {
    let (mut before, mut now) = (Map::new(), Map::new());
    if let Some(pinned) = pins.issuer.as_ref().filter(|_| opens_page) {
        before.insert("issuer".to_owned(), json!(pinned));
        now.insert("issuer".to_owned(), json!(issuer));
    }
    if !pins.endpoints.is_empty() {
        before.extend(pins.endpoints.iter().map(|(name, url)| (name.clone(), json!(url))));
        now.extend(endpoint_parts(endpoints).into_iter().map(|(name, url)| (name, json!(url))));
    }
    let diff = Diff::between(&before.into(), &now.into());
    (!diff.is_empty()).then_some(Diff { server_changed: true, ..diff })
}

/// On what the standing approvals of a server's tools rest, but those of one conversation.
fn granted(grants: &Grants, server: &str, at: Millis) -> HashMap<String, Hash> {
    let of_all = grants.iter().filter(|grant| grant.server == server && grant.scope != Scope::Conversation);
    of_all
        .filter(|grant| !grant.has_expired(at))
        .filter_map(|grant| match &grant.subject {
            Subject::Tool(tool) => Some((tool.clone(), grant.rests_on.clone())),
            Subject::Command => None,
        })
        .collect()
}
