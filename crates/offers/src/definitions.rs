//! Hashes of the definitions of tools that were called. They stay until something that they rest on changes, since they cost more than
//! the rest of a call. Caller: the owner of `host`.

use std::sync::{Arc, Weak};

use indexmap::IndexMap;
use mcp_proto::types::Tool;
use policy::{Claims, Hash, HashBegun, Standing, canonical_object};
use ports::server_config::{ServerConfig, definition_hash};
use serde_json::{Map, Value, json};

use crate::catalog::Catalog;

/// What one tool's definition hashes to.
#[derive(Debug)]
pub struct Definition {
    /// With the command of its server: what a standing approval rests on.
    pub approval: Hash,
    /// What its server says of it.
    pub claims: Claims,
    /// Whether its server says itself that it reaches an open world.
    pub says_open_world: bool,
    /// Whether the user has seen it.
    pub standing: Standing,
    /// By itself: what the hash of each call begins with.
    calls: HashBegun,
}

impl Definition {
    /// Over what a call sends, and to which definition; and what it sends.
    pub fn call_hash(&self, arguments: &Map<String, Value>) -> (Hash, String) {
        let sent = canonical_object(arguments);
        (self.calls.then(sent.as_bytes()), sent)
    }
}

/// The definitions of one server's tools.
#[derive(Debug, Default)]
pub struct Definitions {
    /// What they rest on. The catalog may go: its place is not used again as long as it is known here.
    of: Option<(Arc<ServerConfig>, Weak<Catalog>)>,
    known: IndexMap<String, Definition>,
}

impl Definitions {
    /// The definition of a tool as it stands in the catalog now; none if there is no such tool or it can't be read. `seen`
    /// tells whether the user has seen it, by its own hash.
    pub fn get(
        &mut self,
        config: &Arc<ServerConfig>,
        catalog: &Arc<Catalog>,
        tool: &str,
        seen: impl FnOnce(&Hash) -> Standing,
    ) -> Option<&Definition> {
        // Both are replaced when they change, so that the same place means the same contents.
        let holds = |(own, list): &(_, Weak<Catalog>)| {
            Arc::ptr_eq(own, config) && std::ptr::eq(list.as_ptr(), Arc::as_ptr(catalog))
        };
        if !self.of.as_ref().is_some_and(holds) {
            self.known.clear();
            self.of = Some((Arc::clone(config), Arc::downgrade(catalog)));
        }
        let at = match self.known.get_index_of(tool) {
            Some(at) => at,
            None => {
                let read = catalog.tool(tool)?;
                let (approval, own) = (definition_hash(config, &read), Hash::of(&json!(read)));
                let standing = seen(&own);
                let says_open_world = read.annotations.as_ref().and_then(|own| own.open_world_hint) == Some(true);
                let (claims, calls) = (claims_of(&read), calls_of(&own));
                let definition = Definition { approval, claims, says_open_world, standing, calls };
                self.known.insert_full(tool.to_owned(), definition).0
            }
        };
        Some(&self.known[at])
    }
}

/// What a server says of a tool; where it says nothing, what the specification says in its place.
pub fn claims_of(tool: &Tool) -> Claims {
    let default = Claims::default();
    tool.annotations.as_ref().map_or(default, |own| Claims {
        read_only: own.read_only_hint.unwrap_or(default.read_only),
        destructive: own.destructive_hint.unwrap_or(default.destructive),
        idempotent: own.idempotent_hint.unwrap_or(default.idempotent),
        open_world: own.open_world_hint.unwrap_or(default.open_world),
    })
}

/// Over what a tool call sends, and to which definition of the tool.
pub fn call_hash(tool: &Tool, arguments: &Map<String, Value>) -> Hash {
    calls_of(&Hash::of(&json!(tool))).then(canonical_object(arguments).as_bytes())
}

/// The hash of a tool's whole definition, with which the hash of a call begins. It has always the same length, so that no
/// other definition and arguments can be read out of the same bytes.
fn calls_of(tool: &Hash) -> HashBegun {
    HashBegun::with(tool.as_str().as_bytes())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use mcp_proto::types::{Listed, ToolAnnotations};
    use ports::server_config::StdioConfig;

    use super::*;

    fn config(command: &str) -> Arc<ServerConfig> {
        Arc::new(StdioConfig { command: command.to_owned(), ..StdioConfig::default() }.into())
    }

    fn catalog(description: &str) -> Arc<Catalog> {
        let tool = Tool { name: "echo".to_owned(), description: Some(description.to_owned()), ..Tool::default() };
        Arc::new(Catalog { tools: vec![Listed::from(&tool)], ..Catalog::default() })
    }

    #[test]
    fn what_is_kept_is_void_when_the_command_or_the_definition_changes() {
        let (mut definitions, arguments) = (Definitions::default(), Map::new());
        let mut hashes = |config: &Arc<ServerConfig>, catalog: &Arc<Catalog>| {
            let definition = definitions.get(config, catalog, "echo", |_| Standing::New).unwrap();
            assert_eq!(
                definition.call_hash(&arguments).0,
                call_hash(&catalog.tool("echo").unwrap(), &arguments),
                "what is kept of a definition gives the hash that is shown in a question"
            );
            (definition.approval.clone(), definition.call_hash(&arguments).0)
        };
        let (command, tools) = (config("one"), catalog("says it again"));
        let before = hashes(&command, &tools);
        assert_eq!(hashes(&command, &tools), before, "it is the same as long as nothing changes");
        let (approval, call) = hashes(&config("two"), &tools);
        assert!(approval != before.0 && call == before.1, "an approval rests on the command as well");
        let (approval, call) = hashes(&command, &catalog("sends it away"));
        assert!(approval != before.0 && call != before.1, "and both on the definition");
        assert_eq!(hashes(&command, &tools), before, "back again, it is as before");
        let gone = definitions.get(&command, &Arc::default(), "echo", |_| Standing::New);
        assert!(gone.is_none(), "a tool that is gone has no definition");
    }

    #[test]
    fn only_a_tool_that_says_so_reaches_an_open_world_by_its_own_word() {
        for (hint, says) in [(None, false), (Some(false), false), (Some(true), true)] {
            let annotations = Some(ToolAnnotations { open_world_hint: hint, ..ToolAnnotations::default() });
            let tool = Tool { name: "echo".to_owned(), annotations, ..Tool::default() };
            let catalog = Arc::new(Catalog { tools: vec![Listed::from(&tool)], ..Catalog::default() });
            let mut definitions = Definitions::default();
            let definition = definitions.get(&config("one"), &catalog, "echo", |_| Standing::New).unwrap();
            assert_eq!(definition.says_open_world, says, "{hint:?}");
        }
    }

    #[test]
    fn other_arguments_are_another_call() {
        let tool = Tool { name: "echo".to_owned(), ..Tool::default() };
        let hash = |arguments: Value| call_hash(&tool, arguments.as_object().unwrap());
        assert_eq!(hash(json!({"a": 1, "b": 2})), hash(json!({"b": 2, "a": 1})), "the order of keys does not matter");
        for other in [json!({}), json!({"a": 1}), json!({"a": 1, "b": "2"}), json!({"a": 1, "b": 2, "c": null})] {
            assert_ne!(hash(other.clone()), hash(json!({"a": 1, "b": 2})), "{other} is something else to approve");
        }
    }
}
