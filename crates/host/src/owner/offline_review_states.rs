//! Records with the reviews which tools differ from their reviewed definitions, for the review states of servers that
//! are not running. For a running server, `tool_review_state` compares the definitions themselves.

use std::collections::HashSet;

use host_state::offline_review_state;
use offers::review::DefinitionKind;
use policy::{Hash, ReviewState};
use serde_json::json;

use super::Owner;

impl Owner {
    /// Compares the listed tools of a server with their reviewed definitions, and records those that have changed or
    /// are unchanged again.
    pub(super) fn record_tools_that_differ_from_pins(&mut self, server: &str) {
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
        offline_review_state(pins, tool, &self.launches.with_approved_package(server, &record.config))
    }
}
