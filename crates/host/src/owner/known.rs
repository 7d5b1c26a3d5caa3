//! What was found out of remote servers, remembered so that the next start tries it first.

use mcp_transport::http::{KnownServer, TransportFound};
use policy::Hash;
use serde::{Deserialize, Serialize};

use super::Owner;
use super::approvals::config_hash;
use crate::connection::RunId;
use crate::ports::Document;
use crate::view::Connected;

/// What was found of one server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Remembered {
    /// Over its configuration: another address under the same name is another server.
    config: Hash,
    #[serde(flatten)]
    found: KnownServer,
}

impl Owner {
    /// What was found of a server the last time.
    pub(super) fn known_server(&self, name: &str) -> Option<KnownServer> {
        let (known, record) = (self.known.get(name)?, self.servers.get(name)?);
        (known.config == config_hash(&record.config)).then_some(known.found)
    }

    pub(super) fn on_connected(&mut self, run: RunId, name: &str, transport: TransportFound, how: String) {
        if let Some(record) = self.current(name, run) {
            record.connected = Some(Connected { transport, how });
        }
        self.emit_server(name);
    }

    /// Remembers how a server that is ready was reached.
    pub(super) fn remember(&mut self, name: &str) {
        let Some(record) = self.servers.get(name) else { return };
        let (Some(connected), Some(facts)) = (&record.connected, &record.facts) else { return };
        let found = KnownServer { transport: connected.transport, revision: facts.revision };
        let now = Remembered { config: config_hash(&record.config), found };
        if self.known.get(name) == Some(&now) {
            return;
        }
        let value = serde_json::to_value(&now).ok();
        self.known.insert(name.to_owned(), now);
        if let Err(error) = self.keep_entry(Document::Servers, name, value) {
            tracing::warn!(%error, "what was found of a server could not be written down");
        }
    }

    pub(super) fn forget_known(&mut self, name: &str) {
        if self.known.remove(name).is_some()
            && let Err(error) = self.keep_entry(Document::Servers, name, None)
        {
            tracing::warn!(%error, "what was found of a removed server could not be taken out");
        }
    }
}
