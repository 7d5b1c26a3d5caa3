//! Hashes of the definitions of tools that were called, kept while nothing that they rest on changes: to make them takes
//! longer than all else in a call.

use std::collections::HashMap;
use std::sync::Arc;

use mcp_proto::types::Tool;
use policy::Hash;
use serde_json::{Map, Value, json};

use super::approvals::config_hash;
use crate::catalog::Catalog;
use crate::server_config::ServerConfig;

/// What one tool's definition hashes to.
#[derive(Debug, Clone)]
pub(super) struct Definition {
    /// By itself.
    pub(super) tool: Hash,
    /// With the command of its server: what a standing approval rests on.
    pub(super) approval: Hash,
}

/// The definitions of one server's tools.
#[derive(Debug, Default)]
pub(crate) struct Definitions {
    /// What they rest on.
    of: Option<(ServerConfig, Arc<Catalog>)>,
    known: HashMap<String, Definition>,
}

impl Definitions {
    /// The definition of a tool as it stands in the catalog now; none if there is no such tool or it can't be read.
    pub(super) fn get(&mut self, config: &ServerConfig, catalog: &Arc<Catalog>, tool: &str) -> Option<&Definition> {
        let holds = |(own, list): &(ServerConfig, Arc<Catalog>)| Arc::ptr_eq(list, catalog) && own == config;
        if !self.of.as_ref().is_some_and(holds) {
            self.known.clear();
            self.of = Some((config.clone(), Arc::clone(catalog)));
        }
        if !self.known.contains_key(tool) {
            let definition = catalog.tool(tool)?;
            let hashes = Definition { tool: tool_hash(&definition), approval: definition_hash(config, &definition) };
            self.known.insert(tool.to_owned(), hashes);
        }
        self.known.get(tool)
    }
}

/// Over a tool's whole definition.
pub(super) fn tool_hash(tool: &Tool) -> Hash {
    Hash::of(&json!(tool))
}

/// What a standing approval of a tool rests on: its whole definition, and the command of the server that offers it.
#[must_use]
pub fn definition_hash(config: &ServerConfig, tool: &Tool) -> Hash {
    Hash::of(&json!({ "command": config_hash(config), "definition": tool }))
}

/// Over what a tool call sends, and to which definition of the tool, by its hash.
pub(super) fn call_hash(tool: &Hash, arguments: &Map<String, Value>) -> Hash {
    Hash::of(&json!({ "definition": tool, "arguments": arguments }))
}
