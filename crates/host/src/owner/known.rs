//! What was found out of servers, remembered so that the next start tries it first: the transport of remote ones, and the
//! revision.

use mcp_proto::Revision;
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
    /// Over its configuration: another address or command under the same name is another server.
    config: Hash,
    /// None for a local server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    transport: Option<TransportFound>,
    revision: Revision,
}

impl Owner {
    /// What was found of a remote server the last time.
    pub(super) fn known_server(&self, name: &str) -> Option<KnownServer> {
        let known = self.remembered(name)?;
        Some(KnownServer { transport: known.transport?, revision: known.revision })
    }

    /// The revision that a local server spoke the last time. An old one that does not answer to the probe is spared the
    /// wait for it.
    pub(super) fn known_revision(&self, name: &str) -> Option<Revision> {
        self.remembered(name).filter(|known| known.transport.is_none()).map(|known| known.revision)
    }

    fn remembered(&self, name: &str) -> Option<&Remembered> {
        let (known, record) = (self.known.get(name)?, self.servers.get(name)?);
        Some(known).filter(|known| known.config == config_hash(&record.config))
    }

    pub(super) fn on_connected(&mut self, run: RunId, name: &str, transport: TransportFound, how: String) {
        if let Some(record) = self.current(name, run) {
            record.connected = Some(Connected { transport, how });
        }
        self.emit_server(name);
    }

    /// Remembers how a server that is ready was reached, and what it speaks.
    pub(super) fn remember(&mut self, name: &str) {
        let Some(record) = self.servers.get(name) else { return };
        let Some(facts) = &record.facts else { return };
        let transport = record.connected.as_ref().map(|connected| connected.transport);
        let now = Remembered { config: config_hash(&record.config), transport, revision: facts.revision };
        if self.known.get(name) == Some(&now) {
            return;
        }
        let value = serde_json::to_value(&now).ok();
        self.known.insert(name.to_owned(), now);
        if let Err(error) = self.keep_entry(Document::Servers, name, value) {
            tracing::warn!(%error, "what was found of a server could not be written down");
        }
    }

    /// A local server did not become ready. Perhaps it is another one by now: the next start finds out anew.
    pub(super) fn doubt_known(&mut self, name: &str) {
        if self.known_revision(name).is_some() {
            self.forget_known(name);
        }
    }

    pub(super) fn forget_known(&mut self, name: &str) {
        if self.known.remove(name).is_some()
            && let Err(error) = self.keep_entry(Document::Servers, name, None)
        {
            tracing::warn!(%error, "what was found of a server could not be taken out");
        }
    }
}
