//! Transport and protocol revision of each server's last session, which are tried first on the next start.
//!
//! `servers.json` stores them under the hash of the server's settings. They are detected again if they fail, and after
//! a week, since an updated server often still accepts the old revision. A server of an older revision that doesn't
//! respond to the probe for newer revisions therefore delays its start by that timeout only once a week.

use mcp_proto::Revision;
use mcp_transport::driver::DetectedTransport;
use mcp_transport::http::KnownServerConnection;
use ports::Document;
use ports::server_config::config_hash;

use super::Owner;
use super::state::LastSessionFacts;
use crate::connection::RunId;
use crate::view::RemoteConnection;

impl Owner {
    /// Returns the transport and protocol revision of a remote server's last session, if they are known.
    pub(super) fn last_known_connection(&self, name: &str) -> Option<KnownServerConnection> {
        let known = self.last_session_facts(name)?;
        Some(KnownServerConnection { transport: known.transport?, revision: known.revision })
    }

    /// Returns the last revision of a local server, so that a server that doesn't respond to the probe for newer
    /// revisions starts without waiting for its timeout.
    pub(super) fn last_known_revision(&self, name: &str) -> Option<Revision> {
        self.last_session_facts(name).filter(|known| known.transport.is_none()).map(|known| known.revision)
    }

    fn last_session_facts(&self, name: &str) -> Option<&LastSessionFacts> {
        let record = self.servers.records.get(name)?;
        self.launches.last_session_facts(name, || config_hash(&record.config), self.now())
    }

    pub(super) fn on_connected(&mut self, run: RunId, name: &str, transport: DetectedTransport, how: String) {
        if let Some(record) = self.servers.record_of_run(name, run) {
            record.session.connected = Some(RemoteConnection { transport, how });
        }
        self.emit_server_change(name);
    }

    /// Stores the transport and revision of a server that has become ready.
    pub(super) fn store_last_session_facts(&mut self, name: &str) {
        let Some(record) = self.servers.records.get(name) else { return };
        let Some(facts) = &record.session.facts else { return };
        let transport = record.session.connected.as_ref().map(|connected| connected.transport);
        // If the revision is set in the settings, the server was not probed for others.
        if transport.is_none() && record.config.revision.is_some() {
            return;
        }
        let config = config_hash(&record.config);
        let now = self.now();
        let found = LastSessionFacts { config, transport, revision: facts.revision, found: now };
        let value = serde_json::to_value(&found).ok();
        if !self.launches.store_session_facts(name, found, now) {
            return;
        }
        self.write_entry_later(Document::Servers, "the facts of a server could not be written", name, value);
    }

    /// Discards the known revision of a local server that did not become ready, since the server may have changed. The
    /// revision is detected again on the next start.
    pub(super) fn discard_facts_of_unready_server(&mut self, name: &str) {
        if self.last_known_revision(name).is_some() {
            self.remove_last_session_facts(name);
        }
    }

    pub(super) fn remove_last_session_facts(&mut self, name: &str) {
        if self.launches.known.remove(name).is_some() {
            self.write_entry_later(Document::Servers, "the facts of a server could not be removed", name, None);
        }
    }
}
