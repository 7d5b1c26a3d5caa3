//! What the user has seen of each server: pinned when it is approved or reviewed, kept in `pins.json`, and compared with what
//! is there now.

use credentials::sign_in::SignInEndpoint;
use launches::parts::{address_parts, command_parts};
use mcp_proto::types::Tool;
use offers::review::{Kind, PinnedIdentity, Pins, ServerPins};
use policy::{Hash, Standing};
use ports::Document;
use ports::server_config::ServerTransport;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::Owner;
use super::audit::Decided;
use super::state::{ReviewError, ShownDefinition, endpoint_parts, entries};
use crate::view::HostEvent;

impl Owner {
    /// A server is started, or connected to, as it was approved: that is what the user has seen of it.
    pub(super) fn pin_identity(&mut self, server: &str, approved: &Hash) {
        let Some(record) = self.servers.records.get_mut(server) else { return };
        record.offer.identity = Some(approved.clone());
        record.offer.unreviewed = Default::default();
        let parts = match &record.config.transport {
            ServerTransport::Stdio(config) => {
                let Some((program, _)) = &record.launch.found else { return };
                let command = record.launch.command.as_ref().unwrap_or(config);
                command_parts(command, program, record.launch.files.as_ref(), record.launch.package.as_ref())
            }
            ServerTransport::Http(config) => address_parts(config),
        };
        let pinned = self.reviews.pins.get(server).and_then(|pins| pins.identity.as_ref());
        if pinned.is_none_or(|pinned| pinned.hash != *approved || pinned.parts != parts) {
            let identity = PinnedIdentity { hash: approved.clone(), parts, at: self.now() };
            self.change_pins(server, self.is_of_a_person(), move |pins| pins.pin_identity(identity.clone()));
        }
    }

    /// A call of a tool was approved: the user has seen its definition.
    pub(super) fn pin_tool(&mut self, server: &str, tool: &Tool) {
        self.pin(server, Kind::Tool, &tool.name, &json!(tool));
    }

    /// Who issues the tokens for a server was approved.
    pub(super) fn pin_issuer(&mut self, server: &str, issuer: &str) {
        if self.reviews.pins.get(server).and_then(|pins| pins.issuer.as_deref()) != Some(issuer) {
            let issuer = issuer.to_owned();
            self.change_pins(server, self.is_of_a_person(), move |pins| pins.pin_issuer(&issuer));
        }
    }

    /// Where the credentials and tokens of a sign-in go was approved.
    pub(super) fn pin_endpoints(&mut self, server: &str, endpoints: &[SignInEndpoint]) {
        let endpoints = endpoint_parts(endpoints);
        if self.reviews.pins.get(server).is_none_or(|pins| pins.endpoints != endpoints) {
            let lasts = self.is_of_a_person();
            self.change_pins(server, lasts, move |pins| pins.endpoints.clone_from(&endpoints));
        }
    }

    /// Whether there was room.
    fn pin(&mut self, server: &str, kind: Kind, name: &str, definition: &Value) -> bool {
        let identity = self.servers.records.get(server).and_then(|record| record.offer.identity.clone());
        let hash = Hash::of(definition);
        if let Some(pins) = self.reviews.pins.get(server)
            && pins.standing(kind, name, &hash, identity.as_ref()) == Standing::Reviewed
        {
            return true;
        }
        let (at, lasts) = (self.now(), self.is_of_a_person());
        let (name, definition) = (name.to_owned(), definition.clone());
        self.change_pins(server, lasts, move |pins| pins.pin(kind, &name, &definition, identity.as_ref(), at))
    }

    /// Whether what is approved was seen by a person. What a script answers holds while the script runs.
    fn is_of_a_person(&self) -> bool {
        self.options.decides == "user"
    }

    /// Changes what is kept of a server, here and, if it lasts, in the file. What else is in the file stays: another host (the app beside a
    /// terminal) may have written it.
    pub(super) fn change_pins<T>(
        &mut self,
        server: &str,
        lasts: bool,
        mut change: impl FnMut(&mut ServerPins) -> T + Send + 'static,
    ) -> T {
        let changed = self.reviews.change(server, &mut change);
        self.definitions_seen_changed(server);
        if !lasts {
            return changed;
        }
        let server = server.to_owned();
        let failure = "pins could not be written; they hold until Drawbridge ends";
        self.write_later(Document::Pins, failure, move |kept| {
            let mut kept = entries(kept);
            let own = kept.get_mut(&server).and_then(|own| serde_json::from_value(own.take()).ok());
            let mut own: ServerPins = own.unwrap_or_default();
            change(&mut own);
            if let Ok(own) = serde_json::to_value(&own) {
                kept.insert(server.clone(), own);
            }
            kept.into()
        });
        changed
    }

    /// Other definitions of a server count as seen: what was worked out from them is worked out anew.
    pub(super) fn definitions_seen_changed(&mut self, server: &str) {
        let mut told = None;
        if let Some(record) = self.servers.records.get_mut(server) {
            record.offer.definitions = Default::default();
            record.offer.pinned_names = Default::default();
            told = record.offer.unreviewed.take();
        }
        self.permissions.judgement += 1;
        let now = self.servers.records.get(server).map(|record| self.reviews.unreviewed(server, record));
        if told.is_some() && told != now {
            self.emit_server(server);
        }
    }

    pub(super) fn forget_pins(&mut self, server: &str) {
        if self.reviews.pins.remove(server).is_some() {
            self.write_entry_later(Document::Pins, "the pins of a removed server could not be removed", server, None);
        }
    }

    /// The user has looked at these definitions: they are pinned, if all are as they were shown.
    pub(crate) fn review(
        &mut self,
        server: &str,
        seen: &[ShownDefinition],
        reply: oneshot::Sender<Result<(), ReviewError>>,
    ) {
        let definitions = match self.servers.as_shown(server, seen) {
            Ok(definitions) => definitions,
            Err(error) => {
                // Whoever asked may have gone away, here and below.
                let _ = reply.send(Err(error));
                return;
            }
        };
        let words: Vec<String> = seen.iter().map(|seen| format!("{} {}", seen.kind.words(), seen.name)).collect();
        let (subject, hash) = (words.join(", "), Hash::of(&json!(definitions)));
        let decided = Decided {
            server,
            kind: "review",
            subject: &subject,
            decision: "allowed",
            by: self.options.decides,
            hash: hash.as_str(),
            ..Decided::default()
        };
        let (identity, at) =
            (self.servers.records.get(server).and_then(|record| record.offer.identity.clone()), self.now());
        let reviewed: Vec<(Kind, String, Value)> =
            seen.iter().zip(definitions).map(|(seen, definition)| (seen.kind, seen.name.clone(), definition)).collect();
        let server = server.to_owned();
        self.audit(decided, move |owner, written| {
            if written.is_err() {
                let _ = reply.send(Err(ReviewError::Audit));
                return;
            }
            // Whoever says this means it, also in a script.
            let has_room = owner.change_pins(&server, true, move |pins| {
                reviewed.iter().all(|(kind, name, definition)| pins.pin(*kind, name, definition, identity.as_ref(), at))
            });
            owner.mark_questions_again(&server);
            owner.events.emit(HostEvent::CatalogChanged(server.clone()));
            let _ = reply.send(if has_room { Ok(()) } else { Err(ReviewError::Full(server)) });
        });
    }

    /// What is kept of what the user saw.
    pub(crate) const fn pins(&self) -> &Pins {
        &self.reviews.pins
    }

    /// The hash of a prompt as it is now, and whether the user has seen it so; none if there is no such prompt.
    pub(super) fn prompt_now(&self, server: &str, prompt: &str) -> Option<(Hash, Standing)> {
        let record = self.servers.records.get(server)?;
        let hash = Hash::of(&json!(record.offer.catalog.prompt(prompt)?));
        let standing = self.reviews.of(server).standing(Kind::Prompt, prompt, &hash, record.offer.identity.as_ref());
        Some((hash, standing))
    }

    /// The user gets a prompt: they have seen its definition.
    pub(super) fn pin_prompt(&mut self, server: &str, prompt: &str) {
        let definition = self.servers.records.get(server).and_then(|record| record.offer.catalog.prompt(prompt));
        if let Some(definition) = definition {
            self.pin(server, Kind::Prompt, prompt, &json!(definition));
        }
    }
}
