//! Tools that a server now offers otherwise than the user reviewed them. It is kept beside what was reviewed, so that it is known as
//! well while the server does not run.

use std::collections::HashSet;
use std::path::Path;

use launches::parts::command_parts;
use offers::review::{Kind, Pin, ServerPins};
use policy::{Hash, Standing};
use ports::server_config::{ServerConfig, ServerTransport, config_hash};
use serde_json::{Map, Value, json};

use super::Owner;

/// The parts of a command that its configuration alone decides.
const CONFIGURED: [&str; 5] = ["command", "arguments", "variables", "folder", "sandbox"];

impl Owner {
    /// Notes which tools of a server are no longer as they were reviewed, or are so again.
    pub(super) fn note_changed_tools(&mut self, server: &str) {
        let (Some(record), Some(pins)) = (self.servers.records.get(server), self.reviews.pins.get(server)) else {
            return;
        };
        let mut seen = HashSet::new();
        let mut noted: Vec<(String, bool)> = Vec::new();
        for listed in &record.offer.catalog.tools {
            let name = listed.name();
            let Some(pin) = pins.of(Kind::Tool).get(name).filter(|_| seen.insert(name)) else { continue };
            let is_changed = listed.read().is_ok_and(|tool| Hash::of(&json!(tool)) != pin.hash);
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

    /// Whether the user has seen a tool as it is, as far as that is known while its server does not run.
    pub(super) fn standing_unseen(&self, server: &str, tool: &str) -> Standing {
        let (Some(record), Some(pins)) = (self.servers.records.get(server), self.reviews.pins.get(server)) else {
            return Standing::New;
        };
        match pins.of(Kind::Tool).get(tool) {
            None => Standing::New,
            Some(pin) if pin.changed.is_some() => Standing::Changed,
            Some(pin) if is_of_another(pin, pins, &self.launches.as_approved(server, &record.config)) => {
                Standing::Changed
            }
            Some(_) => Standing::Reviewed,
        }
    }
}

/// Whether a definition was seen of another server than the one that is configured now.
fn is_of_another(pin: &Pin, pins: &ServerPins, config: &ServerConfig) -> bool {
    let Some(identity) = &pins.identity else { return true };
    if pin.under.as_ref() != Some(&identity.hash) {
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
            CONFIGURED.iter().any(is_other)
        }
    }
}
