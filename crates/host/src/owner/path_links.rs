//! Paths in the arguments of calls, for rules that match paths. Symbolic links in them are resolved outside of the
//! owner's turns, since a file system may not respond.

use std::collections::{BTreeSet, HashMap};

use policy::ResolvedPaths;
use ports::server_config::ServerConfig;
use serde_json::{Map, Value};

use super::Owner;

/// Resolves symbolic links in these paths. Paths that can't be resolved in time are missing in the result.
pub(super) async fn resolve_links(paths: BTreeSet<String>) -> ResolvedPaths {
    ResolvedPaths::Here(process::path_links::resolve_links(paths).await)
}

/// Returns the state of a call's paths before links are resolved: none resolved, or, for a remote server, paths that
/// don't refer to this computer.
pub(super) fn unresolved_paths(config: &ServerConfig) -> ResolvedPaths {
    if config.as_stdio().is_none() { ResolvedPaths::Elsewhere } else { ResolvedPaths::Here(HashMap::new()) }
}

impl Owner {
    /// Returns the paths in a tool call's arguments that rules compare. Empty for a remote server, whose paths don't
    /// refer to this computer.
    pub(super) fn paths_in_call(&self, server: &str, tool: &str, arguments: &Map<String, Value>) -> BTreeSet<String> {
        let is_local = self.servers.records.get(server).is_some_and(|record| record.config.as_stdio().is_some());
        if !is_local {
            return BTreeSet::new();
        }
        self.permissions.policy.paths_in_call(server, tool, arguments).into_iter().map(str::to_owned).collect()
    }
}
