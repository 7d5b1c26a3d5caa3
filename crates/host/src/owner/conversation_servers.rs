//! Data about servers for conversations with models.

use host_state::ServerForModel;

use super::Owner;
use crate::view::ServerState;

impl Owner {
    /// Returns the data about these servers that a model may receive, in the given order.
    pub(crate) fn servers_for_model(&self, names: &[String]) -> Vec<ServerForModel> {
        let of = |name: &String| {
            let record = self.servers.records.get(name);
            ServerForModel {
                server: name.clone(),
                reviewed: self.server_review(name),
                is_ready: record.is_some_and(|record| record.state == ServerState::Ready),
                instructions: record.and_then(|record| record.session.facts.as_ref()?.instructions.clone()),
                roots: self.accessible_roots(name).unwrap_or_default(),
            }
        };
        names.iter().map(of).collect()
    }
}
