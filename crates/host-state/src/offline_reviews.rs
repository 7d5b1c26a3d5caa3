//! Review states of the tools of servers that are not running, according to the recorded reviews. Called by
//! `host/src/owner/offline_review_states.rs`.

use std::path::Path;

use launches::pinned_parts::pinned_command_parts;
use offers::review::{DefinitionKind, DefinitionPin, ServerPins};
use policy::ReviewState;
use ports::server_config::{ServerConfig, ServerTransport, config_hash};
use serde_json::{Map, Value};

/// Names of those parts of a pinned command that depend only on the server's settings, not on files on the disk.
const CONFIGURED_COMMAND_PARTS: [&str; 5] = ["command", "arguments", "variables", "folder", "sandbox"];

/// Returns the review state of a tool according to the last recorded comparison with its reviewed definition. `config`
/// are the server's settings today, with the approved package.
#[must_use]
pub fn offline_review_state(pins: &ServerPins, tool: &str, config: &ServerConfig) -> ReviewState {
    match pins.definitions(DefinitionKind::Tool).get(tool) {
        None => ReviewState::New,
        Some(pin) if pin.changed.is_some() || is_pin_of_other_server(pin, pins, config) => ReviewState::Changed,
        Some(_) => ReviewState::Reviewed,
    }
}

/// Returns `true` if the user reviewed the definition `pin` while the server had another command or address.
fn is_pin_of_other_server(pin: &DefinitionPin, pins: &ServerPins, config: &ServerConfig) -> bool {
    let Some(identity) = &pins.identity else { return true };
    if pin.server_identity.as_ref() != Some(&identity.hash) {
        return true;
    }
    match &config.transport {
        ServerTransport::Http(_) => identity.hash != config_hash(config),
        ServerTransport::Stdio(config) => {
            let now = pinned_command_parts(config, Path::new(""), None, None);
            let is_other = |part: &&str| {
                let of = |parts: &Map<String, Value>| parts.get(*part).filter(|value| !value.is_null()).cloned();
                of(&now) != of(&identity.parts)
            };
            CONFIGURED_COMMAND_PARTS.iter().any(is_other)
        }
    }
}
