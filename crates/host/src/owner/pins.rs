//! The user's reviews of definitions (tools, prompts, commands and addresses). On approval or review the definition is
//! pinned: its hash is stored in `pins.json`, and compared with the current definition later.

use credentials::sign_in::SignInEndpoint;
use host_state::AuditedDecision;
use launches::pinned_parts::{pinned_address_parts, pinned_command_parts};
use mcp_proto::types::Tool;
use offers::review::{DefinitionKind, PinnedServerIdentity, ServerPins};
use policy::{Hash, ReviewState};
use ports::Document;
use ports::server_config::ServerTransport;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::Owner;
use super::state::{DefinitionShownToUser, ReviewError, endpoints_by_purpose, entries_by_server};
use crate::view::HostEvent;

impl Owner {
    /// Pins the approved command or address of a server that is about to be started or connected to.
    pub(super) fn pin_command_or_address(&mut self, server: &str, approved: &Hash) {
        let Some(record) = self.servers.records.get_mut(server) else { return };
        record.offer.identity = Some(approved.clone());
        record.offer.unreviewed = Default::default();
        let parts = match &record.config.transport {
            ServerTransport::Stdio(config) => {
                let Some((program, _)) = &record.launch.found else { return };
                let command = record.launch.command.as_ref().unwrap_or(config);
                pinned_command_parts(command, program, record.launch.files.as_ref(), record.launch.package.as_ref())
            }
            ServerTransport::Http(config) => pinned_address_parts(config),
        };
        let pinned = self.reviews.pins.get(server).and_then(|pins| pins.identity.as_ref());
        if pinned.is_none_or(|pinned| pinned.hash != *approved || pinned.parts != parts) {
            let identity = PinnedServerIdentity { hash: approved.clone(), parts, at: self.now() };
            self.change_pins(server, self.is_decided_by_person(), move |pins| {
                pins.pin_command_or_address(identity.clone())
            });
        }
    }

    /// Pins the definition of a tool whose call was approved.
    pub(super) fn pin_tool(&mut self, server: &str, tool: &Tool) {
        self.pin_definition(server, DefinitionKind::Tool, &tool.name, &json!(tool));
    }

    /// Pins the approved issuer (authorization server) of a server's tokens.
    pub(super) fn pin_issuer(&mut self, server: &str, issuer: &str) {
        if self.reviews.pins.get(server).and_then(|pins| pins.issuer.as_deref()) != Some(issuer) {
            let issuer = issuer.to_owned();
            self.change_pins(server, self.is_decided_by_person(), move |pins| pins.pin_issuer(&issuer));
        }
    }

    /// Pins the approved endpoints that receive the credentials and tokens of a server's sign-in.
    pub(super) fn pin_endpoints(&mut self, server: &str, endpoints: &[SignInEndpoint]) {
        let endpoints = endpoints_by_purpose(endpoints);
        if self.reviews.pins.get(server).is_none_or(|pins| pins.endpoints != endpoints) {
            let lasts = self.is_decided_by_person();
            self.change_pins(server, lasts, move |pins| pins.endpoints.clone_from(&endpoints));
        }
    }

    /// Pins the definition of a tool or prompt. Returns `false` if the server has the maximum number of pins.
    fn pin_definition(&mut self, server: &str, kind: DefinitionKind, name: &str, definition: &Value) -> bool {
        let identity = self.servers.records.get(server).and_then(|record| record.offer.identity.clone());
        let hash = Hash::of_json(definition);
        if let Some(pins) = self.reviews.pins.get(server)
            && pins.review_state(kind, name, &hash, identity.as_ref()) == ReviewState::Reviewed
        {
            return true;
        }
        let (at, lasts) = (self.now(), self.is_decided_by_person());
        let (name, definition) = (name.to_owned(), definition.clone());
        self.change_pins(server, lasts, move |pins| pins.pin(kind, &name, &definition, identity.as_ref(), at))
    }

    /// Returns `true` if a person decides on consent requests. If an answers file does, approvals are not stored.
    fn is_decided_by_person(&self) -> bool {
        self.options.decider_name == "user"
    }

    /// Changes the pins of a server in memory and, if `lasts` is `true`, also in the file. Pins of other servers in the
    /// file are retained, since another process may have written them, such as the app while the command line runs.
    pub(super) fn change_pins<T>(
        &mut self,
        server: &str,
        lasts: bool,
        mut change: impl FnMut(&mut ServerPins) -> T + Send + 'static,
    ) -> T {
        let changed = self.reviews.change_pins(server, &mut change);
        self.on_reviewed_definitions_changed(server);
        if !lasts {
            return changed;
        }
        let server = server.to_owned();
        let failure = "pins could not be written; they are effective until Drawbridge exits";
        self.write_later(Document::Pins, failure, move |stored| {
            let mut stored = entries_by_server(stored);
            let own = stored.get_mut(&server).and_then(|own| serde_json::from_value(own.take()).ok());
            let mut own: ServerPins = own.unwrap_or_default();
            change(&mut own);
            if let Ok(own) = serde_json::to_value(&own) {
                stored.insert(server.clone(), own);
            }
            stored.into()
        });
        changed
    }

    /// Discards values computed from a server's pins, after they have changed. Emits an event if the number of
    /// unreviewed definitions changed.
    pub(super) fn on_reviewed_definitions_changed(&mut self, server: &str) {
        let mut unreported = None;
        if let Some(record) = self.servers.records.get_mut(server) {
            record.offer.definitions = Default::default();
            record.offer.pinned_names = Default::default();
            unreported = record.offer.unreviewed.take();
        }
        self.permissions.version += 1;
        let now = self.servers.records.get(server).map(|record| self.reviews.count_unreviewed(server, &record.offer));
        if unreported.is_some() && unreported != now {
            self.emit_server_change(server);
        }
    }

    pub(super) fn forget_pins(&mut self, server: &str) {
        if self.reviews.pins.remove(server).is_some() {
            self.write_entry_later(Document::Pins, "the pins of a removed server could not be removed", server, None);
        }
    }

    /// Pins the definitions that the user reviewed, if each of them is equal to the displayed one.
    pub(crate) fn mark_definitions_reviewed(
        &mut self,
        server: &str,
        displayed: &[DefinitionShownToUser],
        reply: oneshot::Sender<Result<(), ReviewError>>,
    ) {
        let definitions = match self.servers.check_displayed_definitions(server, displayed) {
            Ok(definitions) => definitions,
            Err(error) => {
                // The caller may have stopped waiting, here and below.
                let _ = reply.send(Err(error));
                return;
            }
        };
        let words: Vec<String> =
            displayed.iter().map(|displayed| format!("{} {}", displayed.kind.audit_name(), displayed.name)).collect();
        let (subject, hash) = (words.join(", "), Hash::of_json(&json!(definitions)));
        let decided = AuditedDecision {
            server,
            kind: "review",
            subject: &subject,
            decision: "allowed",
            by: self.options.decider_name,
            hash: hash.as_str(),
            ..AuditedDecision::default()
        };
        let (identity, at) =
            (self.servers.records.get(server).and_then(|record| record.offer.identity.clone()), self.now());
        let reviewed: Vec<(DefinitionKind, String, Value)> = displayed
            .iter()
            .zip(definitions)
            .map(|(displayed, definition)| (displayed.kind, displayed.name.clone(), definition))
            .collect();
        let server = server.to_owned();
        self.audit_then(decided, move |owner, written| {
            if written.is_err() {
                let _ = reply.send(Err(ReviewError::Audit));
                return;
            }
            // An explicit review is always stored, even if it was made by a script.
            let has_room = owner.change_pins(&server, true, move |pins| {
                reviewed.iter().all(|(kind, name, definition)| pins.pin(*kind, name, definition, identity.as_ref(), at))
            });
            owner.recompute_review_warnings(&server);
            owner.events.emit(HostEvent::CatalogChanged(server.clone()));
            let _ = reply.send(if has_room { Ok(()) } else { Err(ReviewError::Full(server)) });
        });
    }

    /// Returns the hash of a prompt's current definition and its review state, or `None` if the prompt is not listed.
    pub(super) fn current_prompt(&self, server: &str, prompt: &str) -> Option<(Hash, ReviewState)> {
        let record = self.servers.records.get(server)?;
        let hash = Hash::of_json(&json!(record.offer.catalog.prompt(prompt)?));
        let review_state = self.reviews.pins_of(server).review_state(
            DefinitionKind::Prompt,
            prompt,
            &hash,
            record.offer.identity.as_ref(),
        );
        Some((hash, review_state))
    }

    /// Pins the current definition of a prompt, when the user gets that prompt.
    pub(super) fn pin_prompt(&mut self, server: &str, prompt: &str) {
        let definition = self.servers.records.get(server).and_then(|record| record.offer.catalog.prompt(prompt));
        if let Some(definition) = definition {
            self.pin_definition(server, DefinitionKind::Prompt, prompt, &json!(definition));
        }
    }
}
