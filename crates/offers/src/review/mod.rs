//! What a user should see before something of a server is used: whether they have seen it as it is now, what is different,
//! what else has such a name, and what in it looks made to mislead a model. Pure; who keeps what is in `host/src/owner/pins.rs`.

mod diff;
mod flags;
mod folded;
mod letters;
mod links;
mod names;
mod parts;
mod phrases;
mod pins;
mod results;
mod visible;
mod words;

pub use diff::{Change, Diff, MAX_CHANGES};
pub use flags::{Flag, FlagReason, flags_of_definition, flags_of_name, flags_of_text, is_styled};
pub use foreign::is_hidden;
pub use names::{LookAlike, MAX_LOOK_ALIKES, NameKeys, Names};
pub use parts::{as_json, raw_result_parts};
pub use parts::{bytes_part, content_part, contents_part, result_parts};
pub use pins::{Kind, MAX_DEFINITION, MAX_KEPT, MAX_PINS, Pin, PinnedIdentity, Pins, ServerPins};
pub use results::flags_of_result;
pub use visible::{shown, shown_part, shown_schema};
pub use words::{Piece, changed_words};

use std::collections::HashMap;
use std::sync::Arc;

use mcp_proto::types::{Prompt, Tool};
use policy::{Hash, Standing};
use ports::server_config::{ServerConfig, definition_hash};
use serde_json::{Value, json};

use crate::catalog::{Catalog, List};

/// What is worth a second look about one thing of a server.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Marks {
    /// Whether the user has seen its definition as it is now; none where nothing is defined.
    pub standing: Option<Standing>,
    /// Whether the server said that the list changed in which it stands, and that was not read again since.
    pub outdated: bool,
    /// What is different from what the user saw.
    pub diff: Option<Box<Diff>>,
    /// What else has such a name; at most [`MAX_LOOK_ALIKES`].
    pub look_alikes: Vec<LookAlike>,
    /// What in it looks made to mislead a model.
    pub flags: Vec<Flag>,
}

/// One server's definitions beside what the user saw of them, and the names that others use. A copy: it can be looked through
/// without holding anything up.
#[derive(Debug, Clone)]
pub struct ServerReview {
    /// The server.
    pub server: String,
    /// Its settings.
    pub config: Arc<ServerConfig>,
    /// The lists that it offers now.
    pub catalog: Arc<Catalog>,
    /// The definitions that the user has seen.
    pub pins: Arc<ServerPins>,
    /// Over what was started or connected to.
    pub identity: Option<Hash>,
    /// What standing approvals of its tools rest on.
    pub granted: HashMap<String, Hash>,
    /// The names of what other servers offer, or were seen to offer, by kind.
    pub others: Vec<(String, KindNames)>,
}

impl ServerReview {
    /// A server's definitions beside what the user saw of them. Nothing is approved, and there is no other server.
    #[must_use]
    pub fn new(server: &str, config: ServerConfig, catalog: Catalog, pins: ServerPins, identity: Option<Hash>) -> Self {
        Self {
            server: server.to_owned(),
            config: Arc::new(config),
            catalog: Arc::new(catalog),
            pins: Arc::new(pins),
            identity,
            granted: HashMap::new(),
            others: Vec::new(),
        }
    }

    /// True if both have the same catalog, pins, identity and approvals, so that what was made of one holds for the other. Catalogs
    /// and pins are compared by their place in memory.
    #[must_use]
    pub fn rests_on_same(&self, other: &Self) -> bool {
        // Pins of a server without any are made anew each time.
        let same_pins = Arc::ptr_eq(&self.pins, &other.pins) || (self.pins.is_empty() && other.pins.is_empty());
        Arc::ptr_eq(&self.catalog, &other.catalog)
            && same_pins
            && (&self.identity, &self.granted) == (&other.identity, &other.granted)
    }

    /// What the server offers.
    #[must_use]
    pub const fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// What is kept of what the user saw.
    #[must_use]
    pub const fn pins(&self) -> &Arc<ServerPins> {
        &self.pins
    }

    /// The hash of a tool's definition, what is worth a second look about it, and whether calls are allowed by a standing
    /// approval.
    #[must_use]
    pub fn tool(&self, tool: &Tool) -> (Hash, Marks, bool) {
        let definition = json!(tool);
        let hash = Hash::of(&definition);
        let grant = self.granted.get(&tool.name);
        let granted = grant.is_some_and(|rests_on| *rests_on == definition_hash(&self.config, tool));
        let standing = self.pins.standing(Kind::Tool, &tool.name, &hash, self.identity.as_ref());
        let marks = self.marks(Kind::Tool, &tool.name, &definition, standing);
        let allowed = granted && standing == Standing::Reviewed && !marks.outdated;
        (hash, marks, allowed)
    }

    /// Whether the user has seen a tool's definition as it is now, and as far as the server has not said that it changed.
    #[must_use]
    pub fn standing(&self, tool: &Tool) -> Standing {
        let hash = Hash::of(&json!(tool));
        let standing = self.pins.standing(Kind::Tool, &tool.name, &hash, self.identity.as_ref());
        self.catalog.standing_now(List::Tools, standing)
    }

    /// The same for a prompt, which needs no approval.
    #[must_use]
    pub fn prompt(&self, prompt: &Prompt) -> (Hash, Marks) {
        let definition = json!(prompt);
        let hash = Hash::of(&definition);
        let standing = self.pins.standing(Kind::Prompt, &prompt.name, &hash, self.identity.as_ref());
        let marks = self.marks(Kind::Prompt, &prompt.name, &definition, standing);
        (hash, marks)
    }

    fn marks(&self, kind: Kind, name: &str, definition: &Value, standing: Standing) -> Marks {
        let of = |kind: Kind| self.others.iter().map(move |(server, names)| (server.as_str(), &*names[kind as usize]));
        let others: Vec<(&str, &Names)> = of(kind).collect();
        let own = (self.server.as_str(), self.catalog.names(kind));
        let foreign: Vec<&Names> = of(Kind::Tool).map(|(_, names)| names).collect();
        let list = if kind == Kind::Tool { List::Tools } else { List::Prompts };
        Marks {
            standing: Some(standing),
            outdated: self.catalog.is_outdated(list),
            diff: self.pins.diff(kind, name, definition, standing).map(Box::new),
            look_alikes: names::look_alikes((name, title_of(definition)), own, &others),
            flags: flags_of_definition(definition, &foreign),
        }
    }
}

/// The names of one server's tools and prompts.
pub type KindNames = [Arc<Names>; 2];

/// The name for people that is drawn in the place of a definition's name.
pub fn title_of(definition: &Value) -> Option<&str> {
    let of_claims = || definition.get("annotations").and_then(|claims| claims.get("title"));
    definition.get("title").or_else(of_claims).and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use mcp_proto::types::Listed;
    use ports::server_config::StdioConfig;

    use super::*;

    fn offering(tools: &[Tool]) -> Arc<Catalog> {
        Arc::new(Catalog { tools: tools.iter().map(Listed::from).collect(), ..Catalog::default() }.with_names())
    }

    #[test]
    fn a_tool_is_new_until_it_is_pinned_and_changed_when_it_is_another() {
        let tool = Tool { name: "send".into(), description: Some("Sends".into()), ..Tool::default() };
        let identity = Hash::of_bytes(b"the command");
        let mut reviewed = ServerReview {
            server: "post".into(),
            config: Arc::new(StdioConfig::default().into()),
            catalog: offering(std::slice::from_ref(&tool)),
            pins: Arc::default(),
            identity: Some(identity.clone()),
            granted: HashMap::new(),
            others: vec![("mail".into(), offering(&[Tool { name: "sеnd".into(), ..Tool::default() }]).names.clone())],
        };
        let (_, marks, allowed) = reviewed.tool(&tool);
        assert_eq!(marks.standing, Some(Standing::New), "nobody has seen it");
        assert!(!allowed, "and nothing allows it");
        let alike = LookAlike { server: "mail".into(), name: "sеnd".into(), same: false };
        assert_eq!(marks.look_alikes, [alike], "X06: the other server's tool with a Cyrillic letter is named");

        let mut pins = ServerPins::default();
        pins.pin(Kind::Tool, &tool.name, &json!(tool), Some(&identity), 1);
        reviewed.pins = Arc::new(pins);
        assert_eq!(reviewed.tool(&tool).1.standing, Some(Standing::Reviewed), "what was pinned is as it was");
        let other = Tool { description: Some("Sends, also to me".into()), ..tool.clone() };
        let marks = reviewed.tool(&other).1;
        assert_eq!(marks.standing, Some(Standing::Changed), "another description is another tool");
        let diff = marks.diff.expect("what is different is told");
        assert_eq!(diff.changes.len(), 1, "and nothing else: {diff:?}");
        assert_eq!(diff.changes[0].path, ["description"], "with its place");
    }
}
