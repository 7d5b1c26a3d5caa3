//! What is worth a second look, for questions, lists and servers: worked out from what is pinned, and from what the other
//! servers offer.

use std::collections::HashMap;
use std::sync::Arc;

use credentials::sign_in::SignInEndpoint;
use mcp_proto::types::Tool;
use offers::review::{
    Diff, Flag, Kind, KindNames, LookAlike, MAX_LOOK_ALIKES, Marks, NameKeys, Reviewed, ServerPins, flags_of_name,
    flags_of_text,
};
use policy::{Grants, Hash, Scope, Subject};
use ports::server_config::address_hash;
use ports::time::now;
use serde_json::{Map, json};

use super::approvals::command_hash;
use super::pins::{address_parts, command_parts, endpoint_parts};
use super::questions::For;
use super::{Owner, ServerRecord};
use crate::view::QuestionBody;

/// What a server says of itself at its opening, looked through once.
#[derive(Debug, Default)]
pub(crate) struct Said {
    /// What its name looks like.
    name: Option<(String, NameKeys)>,
    /// What in its instructions and its description of itself looks made to mislead.
    flags: Vec<Flag>,
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
            granted: granted(self.permissions.policy.grants(), server),
            others: others.map(|(name, other)| (name.clone(), self.names_of(name, other))).collect(),
        })
    }

    /// The names of what a server offers; while that is not known, of what the user saw of it.
    fn names_of(&self, server: &str, record: &ServerRecord) -> KindNames {
        if record.session.connection.is_some() && record.offer.catalog.is_read {
            return record.offer.catalog.names.clone();
        }
        let Some(pins) = self.reviews.pins.get(server) else { return KindNames::default() };
        let names = || [Kind::Tool, Kind::Prompt].map(|kind| Arc::new(pins.names(kind)));
        record.offer.pinned_names.get_or_init(names).clone()
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

    /// Looks through what a server says of itself.
    pub(super) fn look_at_claims(&mut self, server: &str) {
        let Some(facts) = self.servers.records.get(server).and_then(|record| record.session.facts.as_ref()) else {
            return;
        };
        let mut flags = flags_of_text(facts.instructions.as_deref().unwrap_or_default(), &[]);
        let claims = facts.server.as_ref();
        let texts = claims.map(|claims| [Some(&claims.name), claims.title.as_ref(), claims.description.as_ref()]);
        for text in texts.into_iter().flatten().flatten() {
            flags.extend(flags_of_text(text, &[]));
        }
        flags.extend(claims.into_iter().flat_map(|claims| flags_of_name(&claims.name)));
        flags.extend(flags_of_name(server));
        let name = claims.map(|claims| (claims.name.clone(), NameKeys::of(&claims.name)));
        if let Some(record) = self.servers.records.get_mut(server) {
            record.offer.said = Said { name, flags };
        }
    }

    /// What is worth a second look about a server itself.
    pub(super) fn marks_of_server(&self, server: &str, record: &ServerRecord) -> Marks {
        let Some((name, keys)) = record.offer.said.name.as_ref().filter(|_| record.session.facts.is_some()) else {
            return Marks::default();
        };
        let others = self.servers.records.iter().filter(|(other, _)| *other != server);
        let found = others.filter_map(|(label, other)| {
            let claimed =
                other.offer.said.name.as_ref().filter(|(_, claimed)| keys.meet(claimed)).map(|(name, _)| name.as_str());
            let like = claimed.or_else(|| keys.meet(&NameKeys::of(label)).then_some(label))?;
            Some(LookAlike { server: label.clone(), name: like.to_owned(), same: like == name })
        });
        Marks {
            look_alikes: found.take(MAX_LOOK_ALIKES).collect(),
            flags: record.offer.said.flags.clone(),
            ..Marks::default()
        }
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
fn granted(grants: &Grants, server: &str) -> HashMap<String, Hash> {
    let at = now();
    let of_all = grants.iter().filter(|grant| grant.server == server && grant.scope != Scope::Conversation);
    of_all
        .filter(|grant| !grant.has_expired(at))
        .filter_map(|grant| match &grant.subject {
            Subject::Tool(tool) => Some((tool.clone(), grant.rests_on.clone())),
            Subject::Command => None,
        })
        .collect()
}
