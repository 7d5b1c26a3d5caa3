//! Records with the reviews which tools differ from their reviewed definitions, for the review states of servers that
//! are not running. For a running server, `tool_review_state` compares the definitions themselves.

use std::collections::HashSet;
use std::path::Path;

use launches::pinned_parts::command_parts;
use offers::review::{DefinitionKind, Pin, ServerPins};
use policy::{Hash, ReviewState};
use ports::server_config::{ServerConfig, ServerTransport, config_hash};
use serde_json::{Map, Value, json};

use super::Owner;

/// Names of those parts of a pinned command that depend only on the server's settings, not on files on the disk.
const CONFIGURED_COMMAND_PARTS: [&str; 5] = ["command", "arguments", "variables", "folder", "sandbox"];

impl Owner {
    /// Compares the listed tools of a server with their reviewed definitions, and records those that have changed or
    /// are unchanged again.
    pub(super) fn record_changed_tools(&mut self, server: &str) {
        let (Some(record), Some(pins)) = (self.servers.records.get(server), self.reviews.pins.get(server)) else {
            return;
        };
        let mut checked = HashSet::new();
        let mut noted: Vec<(String, bool)> = Vec::new();
        for listed in &record.offer.catalog.tools {
            let name = listed.name();
            let Some(pin) = pins.definitions(DefinitionKind::Tool).get(name).filter(|_| checked.insert(name)) else {
                continue;
            };
            let is_changed = listed.read().is_ok_and(|tool| Hash::of_json(&json!(tool)) != pin.hash);
            if is_changed != pin.changed.is_some() {
                noted.push((name.to_owned(), is_changed));
            }
        }
        if noted.is_empty() {
            return;
        }
        let at = self.now();
        self.change_pins(server, true, move |pins| {
            for (name, is_changed) in &noted {
                if let Some(pin) = pins.tools.get_mut(name) {
                    pin.changed = is_changed.then_some(at);
                }
            }
        });
    }

    /// Returns the review state of a tool of a server that is not running, according to the last recorded comparison.
    pub(super) fn offline_review_state(&self, server: &str, tool: &str) -> ReviewState {
        let (Some(record), Some(pins)) = (self.servers.records.get(server), self.reviews.pins.get(server)) else {
            return ReviewState::New;
        };
        match pins.definitions(DefinitionKind::Tool).get(tool) {
            None => ReviewState::New,
            Some(pin) if pin.changed.is_some() => ReviewState::Changed,
            Some(pin)
                if is_pin_of_other_server(pin, pins, &self.launches.with_approved_package(server, &record.config)) =>
            {
                ReviewState::Changed
            }
            Some(_) => ReviewState::Reviewed,
        }
    }
}

/// Returns `true` if the user reviewed the definition `pin` while the server had another command or address.
fn is_pin_of_other_server(pin: &Pin, pins: &ServerPins, config: &ServerConfig) -> bool {
    let Some(identity) = &pins.identity else { return true };
    if pin.server_identity.as_ref() != Some(&identity.hash) {
        return true;
    }
    match &config.transport {
        ServerTransport::Http(_) => identity.hash != config_hash(config),
        ServerTransport::Stdio(config) => {
            let now = command_parts(config, Path::new(""), None, None);
            let is_other = |part: &&str| {
                let of = |parts: &Map<String, Value>| parts.get(*part).filter(|value| !value.is_null()).cloned();
                of(&now) != of(&identity.parts)
            };
            CONFIGURED_COMMAND_PARTS.iter().any(is_other)
        }
    }
}
