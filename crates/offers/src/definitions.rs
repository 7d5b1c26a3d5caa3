//! Hashes of tool definitions, for calls. They are cached until the definition or the settings change, since computing
//! them takes longer than all other work for a call. Used by the owner in `host`.

use std::sync::{Arc, Weak};

use indexmap::IndexMap;
use mcp_apps::ToolMetadata;
use mcp_proto::jsonrpc::RawJson;
use mcp_proto::types::Tool;
use policy::{Hash, PartialHash, ReviewState, ToolClaims, canonical_json_object};
use ports::server_config::{ServerConfig, grant_hash};
use serde_json::{Map, Value, json};

use crate::catalog::ServerCatalog;

/// Key in a tool's `_meta` by which a server requires the user's consent for each call. Defined by Claude Code.
const REQUIRES_USER_INTERACTION_META_KEY: &str = "anthropic/requiresUserInteraction";

/// Hashes and properties that are derived from a tool's definition, cached for calls of the tool.
#[derive(Debug)]
pub struct DefinitionDigest {
    /// Hash of the definition together with the server's settings, as returned by [`grant_hash`]. Grants for the tool
    /// are bound to it.
    pub grant_hash: Hash,
    /// Annotations of the tool. Missing ones have the defaults of the specification.
    pub claims: ToolClaims,
    /// Set if the annotations contain `openWorldHint: true`, as opposed to the default.
    pub declares_open_world: bool,
    /// Set if the annotations declare that the tool only reads and does not interact with other systems, as
    /// [`declares_read_only`] defines it.
    pub read_only: bool,
    /// Set if the definition requires the user's consent for each call.
    pub asks_each_time: bool,
    /// MCP Apps metadata of the tool: the page that shows its results, and the callers that the server permits.
    pub metadata: ToolMetadata,
    /// Catalog that contains the definition, and the position in its list of tools, if the tool has an output schema.
    /// The schema is not copied, since it may be large and the catalog may be replaced.
    output_schema_place: Option<(Weak<ServerCatalog>, usize)>,
    /// Review state of the definition: reviewed by the user, changed, or new.
    pub review_state: ReviewState,
    /// Partially computed hash of a call, which covers the tool's definition so far. The canonical JSON of the
    /// arguments is added for each call.
    calls: PartialHash,
}

impl DefinitionDigest {
    /// Returns the hash of a call with these arguments, and the arguments as canonical JSON.
    pub fn call_hash(&self, arguments: &Map<String, Value>) -> (Hash, String) {
        let sent = canonical_json_object(arguments);
        (self.calls.finish_with(sent.as_bytes()), sent)
    }

    /// Returns the definition as received if it has an output schema and its catalog still exists. Does not copy it.
    pub fn definition_with_output_schema(&self) -> Option<RawJson> {
        let (catalog, position) = self.output_schema_place.as_ref()?;
        catalog.upgrade()?.tools.get(*position).map(|tool| tool.raw().clone())
    }
}

/// A cache of the definitions of one server's tools.
#[derive(Debug, Default)]
pub struct ToolDefinitionCache {
    /// Settings and catalog that the cached definitions were computed from. The weak reference allows the catalog to be
    /// dropped, but prevents its address from being reused.
    source: Option<(Arc<ServerConfig>, Weak<ServerCatalog>)>,
    known: IndexMap<String, DefinitionDigest>,
}

impl ToolDefinitionCache {
    /// Returns the current definition of a tool, or `None` if the tool doesn't exist or can't be parsed.
    ///
    /// `review_state_of` returns the review state of a definition with the given hash.
    pub fn get(
        &mut self,
        config: &Arc<ServerConfig>,
        catalog: &Arc<ServerCatalog>,
        tool: &str,
        review_state_of: impl FnOnce(&Hash) -> ReviewState,
    ) -> Option<&DefinitionDigest> {
        // Settings and catalogs are replaced rather than modified, so equal addresses mean equal contents.
        let holds = |(own, list): &(_, Weak<ServerCatalog>)| {
            Arc::ptr_eq(own, config) && std::ptr::eq(list.as_ptr(), Arc::as_ptr(catalog))
        };
        if !self.source.as_ref().is_some_and(holds) {
            self.known.clear();
            self.source = Some((Arc::clone(config), Arc::downgrade(catalog)));
        }
        let at = match self.known.get_index_of(tool) {
            Some(at) => at,
            None => {
                let (position, entry) = catalog.tools.iter().enumerate().find(|(_, entry)| entry.name() == tool)?;
                let read = entry.read().ok()?;
                let (grant_hash, own) = (grant_hash(config, &read), Hash::of_json(&json!(read)));
                let review_state = review_state_of(&own);
                let declares_open_world = read.annotations.as_ref().and_then(|own| own.open_world_hint) == Some(true);
                let (claims, calls) = (tool_claims(&read), call_hash_prefix(&own));
                let (read_only, asks_each_time) = (declares_read_only(&read), requires_consent_each_call(&read));
                let metadata = ToolMetadata::read(read.meta.as_ref());
                let output_schema_place = read.output_schema.is_some().then(|| (Arc::downgrade(catalog), position));
                let definition = DefinitionDigest {
                    grant_hash,
                    claims,
                    declares_open_world,
                    read_only,
                    asks_each_time,
                    metadata,
                    output_schema_place,
                    review_state,
                    calls,
                };
                self.known.insert_full(tool.to_owned(), definition).0
            }
        };
        Some(&self.known[at])
    }
}

/// Returns the annotations of a tool. Missing annotations have the defaults of the specification.
pub fn tool_claims(tool: &Tool) -> ToolClaims {
    let default = ToolClaims::default();
    tool.annotations.as_ref().map_or(default, |own| ToolClaims {
        read_only: own.read_only_hint.unwrap_or(default.read_only),
        destructive: own.destructive_hint.unwrap_or(default.destructive),
        idempotent: own.idempotent_hint.unwrap_or(default.idempotent),
        open_world: own.open_world_hint.unwrap_or(default.open_world),
    })
}

/// Returns `true` if a tool's annotations declare that it only reads and does not interact with other systems, to which
/// the arguments of a call could be passed on. A missing `openWorldHint` means `true`, so it has to be `false`.
pub fn declares_read_only(tool: &Tool) -> bool {
    tool.annotations
        .as_ref()
        .is_some_and(|own| hints_declare_read_only(own.read_only_hint, own.destructive_hint, own.open_world_hint))
}

/// Returns `true` if a stored definition of a tool has annotations for which [`declares_read_only`] returns `true`.
/// Does not parse the other members of the definition.
pub fn definition_declares_read_only(definition: &Value) -> bool {
    let hint = |name: &str| definition["annotations"][name].as_bool();
    hints_declare_read_only(hint("readOnlyHint"), hint("destructiveHint"), hint("openWorldHint"))
}

/// Returns `true` if these annotations declare a tool that only reads and does not interact with other systems.
/// `destructiveHint` has no meaning for a read-only tool, but a server that sets it to `true` contradicts itself, so
/// the result is `false`.
fn hints_declare_read_only(read_only: Option<bool>, destructive: Option<bool>, open_world: Option<bool>) -> bool {
    read_only == Some(true) && destructive != Some(true) && open_world == Some(false)
}

/// Returns `true` if a tool's definition requires the user's consent for each call. Values other than `true` have no
/// effect.
pub fn requires_consent_each_call(tool: &Tool) -> bool {
    tool.meta.as_ref().and_then(|meta| meta.get(REQUIRES_USER_INTERACTION_META_KEY)) == Some(&Value::Bool(true))
}

/// Returns `true` if the user can repeat an approved call of a tool without another consent request. The definition must
/// not require consent for each call, and its annotations must contain neither `destructiveHint: true` nor
/// `openWorldHint: true`.
///
/// A tool that declares nothing is repeatable, although the specification's defaults are `true`, since a claim of a
/// server may only make a decision stricter, and most tools declare nothing.
pub fn allows_call_repetition(tool: &Tool) -> bool {
    let hints = tool.annotations.as_ref();
    let has_effects = hints.is_some_and(|own| own.destructive_hint == Some(true) || own.open_world_hint == Some(true));
    !has_effects && !requires_consent_each_call(tool)
}

/// Returns the hash of a tool call, which covers the tool's definition and the arguments.
pub fn call_hash(tool: &Tool, arguments: &Map<String, Value>) -> Hash {
    call_hash_prefix(&Hash::of_json(&json!(tool))).finish_with(canonical_json_object(arguments).as_bytes())
}

/// Returns the partial hash of a call, which covers only `tool`, the hash of the tool's definition.
///
/// This prefix has a fixed length, so that no other pair of definition and arguments yields the same bytes.
fn call_hash_prefix(tool: &Hash) -> PartialHash {
    PartialHash::from_prefix(tool.as_str().as_bytes())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use mcp_proto::types::{ListEntry, ToolAnnotations};
    use ports::server_config::StdioConfig;

    use super::*;

    fn config_with_command(command: &str) -> Arc<ServerConfig> {
        Arc::new(StdioConfig { command: command.to_owned(), ..StdioConfig::default() }.into())
    }

    fn catalog_with_tool_description(description: &str) -> Arc<ServerCatalog> {
        let tool = Tool { name: "echo".to_owned(), description: Some(description.to_owned()), ..Tool::default() };
        Arc::new(ServerCatalog { tools: vec![ListEntry::from(&tool)], ..ServerCatalog::default() })
    }

    #[test]
    fn hashes_change_with_the_command_or_the_definition() {
        let (mut definitions, arguments) = (ToolDefinitionCache::default(), Map::new());
        let mut hashes = |config: &Arc<ServerConfig>, catalog: &Arc<ServerCatalog>| {
            let definition = definitions.get(config, catalog, "echo", |_| ReviewState::New).unwrap();
            assert_eq!(
                definition.call_hash(&arguments).0,
                call_hash(&catalog.tool("echo").unwrap(), &arguments),
                "the cached definition yields the hash in a consent request"
            );
            (definition.grant_hash.clone(), definition.call_hash(&arguments).0)
        };
        let (command, tools) = (config_with_command("one"), catalog_with_tool_description("says it again"));
        let before = hashes(&command, &tools);
        assert_eq!(hashes(&command, &tools), before, "equal inputs yield equal hashes");
        let (grant, call) = hashes(&config_with_command("two"), &tools);
        assert!(grant != before.0 && call == before.1, "only the grant hash depends on the command");
        let (grant, call) = hashes(&command, &catalog_with_tool_description("sends it away"));
        assert!(grant != before.0 && call != before.1, "both hashes depend on the definition");
        assert_eq!(hashes(&command, &tools), before, "the previous inputs yield the previous hashes");
        let removed = definitions.get(&command, &Arc::default(), "echo", |_| ReviewState::New);
        assert!(removed.is_none(), "a removed tool has no definition");
    }

    #[test]
    fn output_schema_is_read_from_the_catalog_while_it_exists() {
        let tool = |name: &str, output_schema| Tool { name: name.to_owned(), output_schema, ..Tool::default() };
        let with_schema = tool("count", Some(json!({"type": "object"})));
        let tools = [tool("echo", None), with_schema.clone()].iter().map(ListEntry::from).collect();
        let catalog = Arc::new(ServerCatalog { tools, ..ServerCatalog::default() });
        let (config, mut definitions) = (config_with_command("one"), ToolDefinitionCache::default());
        let echo = definitions.get(&config, &catalog, "echo", |_| ReviewState::New).unwrap();
        assert_eq!(echo.definition_with_output_schema(), None, "the tool has no output schema");
        let count = definitions.get(&config, &catalog, "count", |_| ReviewState::New).unwrap();
        let found = count.definition_with_output_schema().unwrap();
        assert_eq!(found.parse::<Tool>().unwrap().output_schema, with_schema.output_schema);
        drop(catalog);
        assert_eq!(count.definition_with_output_schema(), None, "the cache has no copy");
    }

    #[test]
    fn only_an_explicit_hint_marks_a_tool_as_open_world() {
        for (hint, is_open_world) in [(None, false), (Some(false), false), (Some(true), true)] {
            let annotations = Some(ToolAnnotations { open_world_hint: hint, ..ToolAnnotations::default() });
            let tool = Tool { name: "echo".to_owned(), annotations, ..Tool::default() };
            let catalog = Arc::new(ServerCatalog { tools: vec![ListEntry::from(&tool)], ..ServerCatalog::default() });
            let mut definitions = ToolDefinitionCache::default();
            let definition =
                definitions.get(&config_with_command("one"), &catalog, "echo", |_| ReviewState::New).unwrap();
            assert_eq!(definition.declares_open_world, is_open_world, "{hint:?}");
        }
    }

    #[test]
    fn only_closed_read_only_tools_are_declared_read_only() {
        let cases = [
            (json!({"readOnlyHint": true, "openWorldHint": false}), true),
            (json!({"readOnlyHint": true, "openWorldHint": false, "destructiveHint": false}), true),
            (json!({"readOnlyHint": true, "openWorldHint": false, "destructiveHint": true}), false),
            (json!({"readOnlyHint": true}), false),
            (json!({"readOnlyHint": true, "openWorldHint": true}), false),
            (json!({"readOnlyHint": false, "openWorldHint": false}), false),
            (json!({"openWorldHint": false}), false),
        ];
        for (annotations, expected) in cases {
            let raw = json!({"name": "read", "inputSchema": {}, "annotations": annotations});
            let tool: Tool = serde_json::from_value(raw).unwrap();
            assert_eq!(declares_read_only(&tool), expected, "{annotations}");
            assert_eq!(definition_declares_read_only(&json!(tool)), expected, "as stored: {annotations}");
        }
        assert!(!definition_declares_read_only(&json!({"name": "read"})), "without annotations");
    }

    #[test]
    fn only_the_exact_metadata_value_makes_a_tool_always_ask() {
        let key = "anthropic/requiresUserInteraction";
        let cases = [
            (json!({"name": "pay", "inputSchema": {}}), false),
            (json!({"name": "pay", "inputSchema": {}, "_meta": {}}), false),
            (json!({"name": "pay", "inputSchema": {}, "_meta": {key: true}}), true),
            (json!({"name": "pay", "inputSchema": {}, "_meta": {key: false}}), false),
            (json!({"name": "pay", "inputSchema": {}, "_meta": {key: "true"}}), false),
            (json!({"name": "pay", "inputSchema": {}, "_meta": {key: 1}}), false),
            (json!({"name": "pay", "inputSchema": {}, "_meta": {"requiresUserInteraction": true}}), false),
            (json!({"name": "pay", "inputSchema": {}, "annotations": {key: true}}), false),
        ];
        for (raw, always_asks) in cases {
            let tool: Tool = serde_json::from_value(raw.clone()).unwrap();
            let catalog = Arc::new(ServerCatalog { tools: vec![ListEntry::from(&tool)], ..ServerCatalog::default() });
            let mut definitions = ToolDefinitionCache::default();
            let definition =
                definitions.get(&config_with_command("one"), &catalog, "pay", |_| ReviewState::New).unwrap();
            assert_eq!(definition.asks_each_time, always_asks, "{raw}");
        }
    }

    #[test]
    fn call_with_declared_effects_is_not_repeatable() {
        let always_asks = json!({"anthropic/requiresUserInteraction": true});
        let cases = [
            (json!({}), json!({}), true),
            (json!({"readOnlyHint": true, "openWorldHint": false}), json!({}), true),
            (json!({"destructiveHint": false, "openWorldHint": false}), json!({}), true),
            (json!({"destructiveHint": true}), json!({}), false),
            (json!({"readOnlyHint": true, "destructiveHint": true}), json!({}), false),
            (json!({"openWorldHint": true}), json!({}), false),
            (json!({"readOnlyHint": true, "openWorldHint": true}), json!({}), false),
            (json!({}), always_asks, false),
        ];
        for (annotations, meta, expected) in cases {
            let raw = json!({"name": "t", "inputSchema": {}, "annotations": annotations, "_meta": meta});
            let tool: Tool = serde_json::from_value(raw.clone()).unwrap();
            assert_eq!(allows_call_repetition(&tool), expected, "{raw}");
        }
    }

    #[test]
    fn call_hash_depends_on_the_arguments() {
        let tool = Tool { name: "echo".to_owned(), ..Tool::default() };
        let hash = |arguments: Value| call_hash(&tool, arguments.as_object().unwrap());
        assert_eq!(
            hash(json!({"a": 1, "b": 2})),
            hash(json!({"b": 2, "a": 1})),
            "the order of keys doesn't change the hash"
        );
        for other in [json!({}), json!({"a": 1}), json!({"a": 1, "b": "2"}), json!({"a": 1, "b": 2, "c": null})] {
            assert_ne!(hash(other.clone()), hash(json!({"a": 1, "b": 2})), "{other} has a different hash");
        }
    }
}
