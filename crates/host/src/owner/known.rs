//! What was found out of servers, remembered so that the next start tries it first: the transport of remote ones, and the
//! revision.
//!
//! `servers.json` has it under the hash of the server's settings, and it is only tried first: it is found anew when it fails, and after a
//! week, as a server that has learned a newer revision often still answers as before. So a legacy local server that does not answer the
//! probe costs that wait once a week.

use mcp_proto::Revision;
use mcp_transport::driver::TransportFound;
use mcp_transport::http::KnownServer;
use ports::Document;
use ports::server_config::config_hash;

use super::Owner;
use super::state::KnownSession;
use crate::connection::RunId;
use crate::view::Connected;

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

    fn remembered(&self, name: &str) -> Option<&KnownSession> {
        let record = self.servers.records.get(name)?;
        self.launches.known(name, || config_hash(&record.config), self.now())
    }

    pub(super) fn on_connected(&mut self, run: RunId, name: &str, transport: TransportFound, how: String) {
        if let Some(record) = self.servers.current(name, run) {
            record.session.connected = Some(Connected { transport, how });
        }
        self.emit_server(name);
    }

    /// Remembers how a server that is ready was reached, and what it speaks.
    pub(super) fn remember(&mut self, name: &str) {
        let Some(record) = self.servers.records.get(name) else { return };
        let Some(facts) = &record.session.facts else { return };
        let transport = record.session.connected.as_ref().map(|connected| connected.transport);
        // A local server that speaks what the user chose was not asked what else it speaks.
        if transport.is_none() && record.config.revision.is_some() {
            return;
        }
        let config = config_hash(&record.config);
        let now = self.now();
        let found = KnownSession { config, transport, revision: facts.revision, found: now };
        let value = serde_json::to_value(&found).ok();
        if !self.launches.remember(name, found, now) {
            return;
        }
        self.write_entry_later(Document::Servers, "the facts of a server could not be written", name, value);
    }

    /// A local server did not become ready. Perhaps it is another one by now: the next start finds out anew.
    pub(super) fn doubt_known(&mut self, name: &str) {
        if self.known_revision(name).is_some() {
            self.forget_known(name);
        }
    }

    pub(super) fn forget_known(&mut self, name: &str) {
        if self.launches.known.remove(name).is_some() {
            self.write_entry_later(Document::Servers, "the facts of a server could not be removed", name, None);
        }
    }
}
