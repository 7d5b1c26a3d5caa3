//! Pins: the command or address of a server that the user approved, and the definitions of its tools and prompts that
//! the user reviewed. Stored in `pins.json`, so that a change is detected even if it happened while Drawbridge was not
//! running.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::Millis;
use domain::merge::merge_file_changes;
use policy::{Hash, ReviewState, canonical_json};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::name_index::NameIndex;
use super::{AppApproval, DefinitionChange, DefinitionDiff, display_title};

/// Maximum number of pinned definitions of one kind per server. Definitions beyond it remain new, so that their use
/// requires consent each time.
pub const MAX_PINNED_DEFINITIONS: usize = 5_000;
/// Maximum size of a definition that is stored completely, in bytes of canonical JSON. Of larger ones, the hash and the
/// beginning are stored.
pub const MAX_STORED_DEFINITION_BYTES: usize = 64 * 1024;
/// Maximum total size of the definitions that are stored for one server, in bytes. Of further definitions, only the
/// hash and the beginning are stored.
pub const MAX_STORED_DEFINITION_BYTES_PER_SERVER: usize = 4 * 1024 * 1024;
/// Length of the stored beginning of a definition that is not stored completely, in characters.
const STORED_DEFINITION_BEGINNING_CHARS: usize = 1_000;

/// Pins of all servers, by server name.
pub type Pins = BTreeMap<String, Arc<ServerPins>>;

/// Kind of a definition that the user reviews and that is then pinned: a tool's or a prompt's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefinitionKind {
    /// A tool of a server.
    Tool,
    /// A prompt of a server.
    Prompt,
}

impl DefinitionKind {
    /// Returns the name of the kind in the audit log.
    #[must_use]
    pub const fn audit_name(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Prompt => "prompt",
        }
    }
}

/// The pins of one server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerPins {
    /// Command or address that the user approved, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity: Option<PinnedServerIdentity>,
    /// Issuer of the tokens for the server, if the user has signed in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    /// Approved URLs that receive credentials and tokens, by the purpose of the endpoint.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub endpoints: BTreeMap<String, String>,
    /// Pinned tools by name.
    pub tools: BTreeMap<String, DefinitionPin>,
    /// Pinned prompts by name.
    pub prompts: BTreeMap<String, DefinitionPin>,
    /// Approved pages of apps by URI.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub apps: BTreeMap<String, AppApproval>,
}

/// The approved command of a server with the program that it resolves to, or its approved address.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PinnedServerIdentity {
    /// Hash of the command or address. The grant for starting the server applies to this hash.
    pub hash: Hash,
    /// Readable values that the hash covers, without values that are likely secrets.
    pub parts: Map<String, Value>,
    /// Time of the user's approval, in milliseconds since 1970.
    pub at: Millis,
}

/// A definition as reviewed by the user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DefinitionPin {
    /// Hash of the complete definition, as canonical JSON.
    pub hash: Hash,
    /// Hash of the server's command or address at the time of the review. `None` after the server has changed in
    /// another way, such as its token issuer, so that the definition must be reviewed again.
    #[serde(default, rename = "under", skip_serializing_if = "Option::is_none")]
    pub server_identity: Option<Hash>,
    /// Time of the review, in milliseconds since 1970.
    pub at: Millis,
    /// Complete definition, or `None` if it is too large.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<Value>,
    /// Beginning of the canonical JSON if the definition is too large, otherwise empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub head: String,
    /// Size of the definition, in bytes of canonical JSON.
    #[serde(default)]
    pub bytes: usize,
    /// Time at which a different definition was first seen, in milliseconds since 1970, or `None` if the definition is
    /// unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<Millis>,
}

impl ServerPins {
    /// Returns `true` if nothing is pinned.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns these pins after applying the changes from `before` to `now`, two versions of the stored file. Pins that
    /// only this process knows are retained.
    #[must_use]
    pub fn with_merged_changes(&self, before: &Self, now: &Self) -> Self {
        let mut pins = self.clone();
        if before.identity != now.identity {
            pins.identity.clone_from(&now.identity);
        }
        if before.issuer != now.issuer {
            pins.issuer.clone_from(&now.issuer);
        }
        if before.endpoints != now.endpoints {
            pins.endpoints.clone_from(&now.endpoints);
        }
        pins.tools = merge_file_changes(&self.tools, &before.tools, &now.tools);
        pins.prompts = merge_file_changes(&self.prompts, &before.prompts, &now.prompts);
        pins.apps = merge_file_changes(&self.apps, &before.apps, &now.apps);
        pins
    }

    /// Returns the pinned definitions of one kind, by name.
    #[must_use]
    pub const fn definitions(&self, kind: DefinitionKind) -> &BTreeMap<String, DefinitionPin> {
        match kind {
            DefinitionKind::Tool => &self.tools,
            DefinitionKind::Prompt => &self.prompts,
        }
    }

    const fn definitions_mut(&mut self, kind: DefinitionKind) -> &mut BTreeMap<String, DefinitionPin> {
        match kind {
            DefinitionKind::Tool => &mut self.tools,
            DefinitionKind::Prompt => &mut self.prompts,
        }
    }

    /// Returns the review state of a definition. The definition is reviewed only if both it and the server's command or
    /// address are unchanged.
    ///
    /// A grant for calls of the tool does not make it reviewed: the hash of such a grant covers the configured command,
    /// and not the program's file, so the grant remains valid if that file is replaced.
    #[must_use]
    pub fn review_state(&self, kind: DefinitionKind, name: &str, hash: &Hash, identity: Option<&Hash>) -> ReviewState {
        match self.definitions(kind).get(name) {
            Some(pin)
                if pin.hash == *hash && pin.server_identity.is_some() && pin.server_identity.as_ref() == identity =>
            {
                ReviewState::Reviewed
            }
            Some(_) => ReviewState::Changed,
            None => ReviewState::New,
        }
    }

    /// Returns an index of the pinned names and titles, for finding similar names.
    pub fn name_index(&self, kind: DefinitionKind) -> NameIndex {
        let titled = |(name, pin): (&'_ String, &'_ DefinitionPin)| {
            (name.clone(), pin.definition.as_ref().and_then(display_title).map(str::to_owned))
        };
        NameIndex::new(self.definitions(kind).iter().map(titled))
    }

    /// Returns the differences to the reviewed definition, or `None` if the definition is not reviewed or unchanged.
    #[must_use]
    pub fn diff(
        &self,
        kind: DefinitionKind,
        name: &str,
        definition: &Value,
        review_state: ReviewState,
    ) -> Option<DefinitionDiff> {
        let pin = self.definitions(kind).get(name).filter(|_| review_state == ReviewState::Changed)?;
        Some(pin.diff(definition))
    }

    /// Pins a definition as reviewed. Returns `false` if the maximum number of pins is reached.
    pub fn pin(
        &mut self,
        kind: DefinitionKind,
        name: &str,
        definition: &Value,
        identity: Option<&Hash>,
        at: Millis,
    ) -> bool {
        let stored_bytes: usize =
            self.tools.values().chain(self.prompts.values()).map(DefinitionPin::stored_bytes).sum();
        let of_kind = self.definitions_mut(kind);
        if of_kind.len() >= MAX_PINNED_DEFINITIONS && !of_kind.contains_key(name) {
            return false;
        }
        let text = canonical_json(definition);
        let is_whole = text.len() <= MAX_STORED_DEFINITION_BYTES
            && stored_bytes + text.len() <= MAX_STORED_DEFINITION_BYTES_PER_SERVER;
        let pin = DefinitionPin {
            hash: Hash::of_bytes(text.as_bytes()),
            server_identity: identity.cloned(),
            at,
            definition: is_whole.then(|| definition.clone()),
            head: if is_whole { String::new() } else { text.chars().take(STORED_DEFINITION_BEGINNING_CHARS).collect() },
            bytes: text.len(),
            changed: None,
        };
        of_kind.insert(name.to_owned(), pin);
        true
    }

    /// Pins the command or address of the server. Definitions that were reviewed for another one are then treated as
    /// changed by [`review_state`](Self::review_state), which compares the hashes.
    pub fn pin_command_or_address(&mut self, identity: PinnedServerIdentity) {
        self.identity = Some(identity);
    }

    /// Pins the issuer of the server's tokens. If it differs from the pinned one, all definitions have to be reviewed
    /// again.
    pub fn pin_issuer(&mut self, issuer: &str) {
        if self.issuer.as_deref().is_some_and(|before| before != issuer) {
            for pin in self.tools.values_mut().chain(self.prompts.values_mut()) {
                pin.server_identity = None;
            }
        }
        self.issuer = Some(issuer.to_owned());
    }

    /// Returns the differences to the approved command or address, or `None` if it is unchanged or none was approved.
    #[must_use]
    pub fn identity_diff(&self, hash: &Hash, parts: &Map<String, Value>) -> Option<DefinitionDiff> {
        let pinned = self.identity.as_ref().filter(|pinned| pinned.hash != *hash)?;
        let diff = DefinitionDiff::between(&pinned.parts.clone().into(), &parts.clone().into());
        Some(DefinitionDiff { server_changed: true, ..diff })
    }
}

impl DefinitionPin {
    /// Returns the number of stored bytes of the definition.
    const fn stored_bytes(&self) -> usize {
        if self.definition.is_some() { self.bytes } else { 0 }
    }

    fn diff(&self, now: &Value) -> DefinitionDiff {
        if self.hash == Hash::of_json(now) {
            return DefinitionDiff { server_changed: true, ..DefinitionDiff::default() };
        }
        match &self.definition {
            Some(pinned) => DefinitionDiff::between_definitions(pinned, now),
            None => {
                let (before, after) = (Some(self.head.clone()), Some(canonical_json(now)));
                DefinitionDiff {
                    is_truncated: true,
                    changes: vec![DefinitionChange { path: Vec::new(), before, after }],
                    ..DefinitionDiff::default()
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn hash(text: &str) -> Hash {
        Hash::of_bytes(text.as_bytes())
    }

    #[test]
    fn any_change_of_a_definition_or_its_server_requires_a_review() {
        let (mut pins, tool) = (ServerPins::default(), json!({"name": "a", "annotations": {"readOnlyHint": false}}));
        let server = hash("npx a");
        let review_state = |pins: &ServerPins, tool: &Value, server: &Hash| {
            pins.review_state(DefinitionKind::Tool, "a", &Hash::of_json(tool), Some(server))
        };
        assert_eq!(review_state(&pins, &tool, &server), ReviewState::New, "a definition without a pin is new");
        assert!(
            pins.pin(DefinitionKind::Tool, "a", &tool, Some(&server), 1),
            "the maximum number of pins is not reached"
        );
        assert_eq!(review_state(&pins, &tool, &server), ReviewState::Reviewed, "the pinned definition is reviewed");
        let flipped = json!({"name": "a", "annotations": {"readOnlyHint": true}});
        assert_eq!(
            review_state(&pins, &flipped, &server),
            ReviewState::Changed,
            "X04: annotations are part of the definition"
        );
        let diff = pins.diff(DefinitionKind::Tool, "a", &flipped, ReviewState::Changed).map(|diff| diff.changes);
        assert_eq!(diff.map(|changes| changes.len()), Some(1), "X04: the changed annotation is listed");
        assert_eq!(
            review_state(&pins, &tool, &hash("npx b")),
            ReviewState::Changed,
            "a definition of a server with another command is changed"
        );
        let diff = pins.diff(DefinitionKind::Tool, "a", &tool, ReviewState::Changed);
        assert!(
            diff.is_some_and(|diff| diff.server_changed && diff.changes.is_empty()),
            "the difference is the server, not the definition"
        );
        pins.pin_issuer("https://one.example");
        assert_eq!(
            review_state(&pins, &tool, &server),
            ReviewState::Reviewed,
            "the first issuer doesn't change the review state"
        );
        pins.pin_issuer("https://two.example");
        assert_eq!(review_state(&pins, &tool, &server), ReviewState::Changed, "another issuer requires new reviews");
    }

    #[test]
    fn pins_are_bounded_and_changes_of_large_definitions_detected() {
        let mut pins = ServerPins::default();
        let large = |c: &str| json!({"name": "a", "description": c.repeat(MAX_STORED_DEFINITION_BYTES)});
        assert!(pins.pin(DefinitionKind::Tool, "a", &large("x"), None, 1), "a large definition can be pinned");
        let pin = &pins.tools["a"];
        assert!(
            pin.definition.is_none() && pin.head.len() == STORED_DEFINITION_BEGINNING_CHARS,
            "only the beginning of a large definition is stored"
        );
        let diff = pins.diff(DefinitionKind::Tool, "a", &large("y"), ReviewState::Changed).unwrap_or_default();
        assert!(
            diff.is_truncated && diff.changes.len() == 1,
            "a change of a large definition is detected by its hash: {}",
            diff.changes.len()
        );
        for n in 1..MAX_PINNED_DEFINITIONS {
            assert!(
                pins.pin(DefinitionKind::Tool, &n.to_string(), &json!(n), None, 1),
                "the maximum number of pins is not reached at {n}"
            );
        }
        assert!(!pins.pin(DefinitionKind::Tool, "one more", &json!({}), None, 1), "the number of pins is limited");
        assert!(pins.pin(DefinitionKind::Tool, "a", &json!({}), None, 1), "a pinned definition can be replaced");
    }

    #[test]
    fn sign_in_endpoints_changed_by_another_process_are_merged() {
        let with = |token: &str| ServerPins {
            endpoints: [("endpoint.token".to_owned(), token.to_owned())].into(),
            ..ServerPins::default()
        };
        let (own, before, now) =
            (with("https://one.example/"), with("https://one.example/"), with("https://two.example/"));
        assert_eq!(
            own.with_merged_changes(&before, &now).endpoints,
            now.endpoints,
            "endpoints approved by the other process are applied"
        );
        let held_here = with("https://three.example/");
        assert_eq!(
            held_here.with_merged_changes(&before, &before),
            held_here,
            "without external changes the pins remain unchanged"
        );
        let nothing = ServerPins::default();
        assert!(
            own.with_merged_changes(&before, &nothing).endpoints.is_empty(),
            "endpoints removed by the other process are removed"
        );
    }

    #[test]
    fn server_identity_changed_by_another_process_is_merged() {
        let with = |word: &str| ServerPins {
            identity: Some(PinnedServerIdentity { hash: hash(word), parts: Map::new(), at: 1 }),
            issuer: Some(format!("https://{word}.example")),
            ..ServerPins::default()
        };
        let (own, before, now) = (with("here"), with("one"), with("two"));
        assert_eq!(own.with_merged_changes(&before, &now), now, "an identity approved by the other process is applied");
        assert_eq!(
            own.with_merged_changes(&before, &before),
            own,
            "without external changes the pins remain unchanged"
        );
    }

    #[test]
    fn changed_server_identity_is_reported() {
        let parts = |command: &str| Map::from_iter([("command".to_owned(), json!(command))]);
        let mut pins = ServerPins::default();
        assert!(
            pins.identity_diff(&hash("npx a"), &parts("npx a")).is_none(),
            "without an approved identity there is no difference"
        );
        pins.pin_command_or_address(PinnedServerIdentity { hash: hash("npx a"), parts: parts("npx a"), at: 1 });
        assert!(!pins.is_empty(), "the identity is stored");
        assert!(
            pins.identity_diff(&hash("npx a"), &parts("npx a")).is_none(),
            "an unchanged identity has no difference"
        );
        let diff = pins.identity_diff(&hash("npx b"), &parts("npx b")).unwrap_or_default();
        assert!(diff.server_changed, "the difference states that the server changed");
        assert_eq!(diff.changes.len(), 1, "only the changed part is listed");
    }

    #[test]
    fn server_pins_round_trip_through_json() {
        let mut pins = ServerPins::default();
        pins.pin(DefinitionKind::Prompt, "greet", &json!({"name": "greet"}), Some(&hash("x")), 7);
        pins.pin_command_or_address(PinnedServerIdentity { hash: hash("x"), parts: Map::new(), at: 7 });
        let read: Result<ServerPins, _> = serde_json::to_value(&pins).and_then(serde_json::from_value);
        assert_eq!(read.ok().as_ref(), Some(&pins), "the pins are equal after serialization");
        assert!(
            serde_json::from_value::<ServerPins>(json!({})).is_ok_and(|pins| pins.is_empty()),
            "an empty object has no pins"
        );
    }
}
