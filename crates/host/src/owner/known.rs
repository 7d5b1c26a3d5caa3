//! What was found out of servers, remembered so that the next start tries it first: the transport of remote ones, and the
//! revision.

use domain::Millis;
use mcp_proto::Revision;
use mcp_transport::driver::TransportFound;
use mcp_transport::http::KnownServer;
use policy::Hash;
use ports::Document;
use ports::server_config::config_hash;
use serde::{Deserialize, Serialize};

use super::Owner;
use crate::connection::RunId;
use crate::view::Connected;

/// How long it is believed. A server that has learned a newer revision meanwhile often still answers as before, and only
/// finding out anew shows it. In milliseconds.
const BELIEVED: Millis = 7 * 24 * 60 * 60 * 1000;

/// What was found of one server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Remembered {
    /// Over its configuration: another address or command under the same name is another server.
    config: Hash,
    /// None for a local server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    transport: Option<TransportFound>,
    revision: Revision,
    /// When.
    #[serde(default)]
    found: Millis,
}

impl Remembered {
    fn is_believed(&self, now: Millis) -> bool {
        now.saturating_sub(self.found) < BELIEVED
    }

    fn says_the_same(&self, other: &Self) -> bool {
        (&self.config, self.transport, self.revision) == (&other.config, other.transport, other.revision)
    }
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
        let (known, record) = (self.launches.known.get(name)?, self.servers.records.get(name)?);
        Some(known).filter(|known| known.config == config_hash(&record.config) && known.is_believed(self.now()))
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
        let found = Remembered { config, transport, revision: facts.revision, found: now };
        // What was only tried first, and is still so, was not found out anew.
        if self.launches.known.get(name).is_some_and(|known| known.is_believed(now) && known.says_the_same(&found)) {
            return;
        }
        let value = serde_json::to_value(&found).ok();
        self.launches.known.insert(name.to_owned(), found);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_is_believed_for_a_week() {
        let found =
            |found| Remembered { config: Hash::of_bytes(b"x"), transport: None, revision: Revision::NEWEST, found };
        let now = 2 * BELIEVED;
        assert!(found(now).is_believed(now), "just found");
        assert!(found(now - BELIEVED + 1).is_believed(now), "not yet a week ago");
        assert!(!found(now - BELIEVED).is_believed(now), "a week ago");
        assert!(!found(0).is_believed(now), "at a time that nobody knows");
        assert!(found(1).says_the_same(&found(2)), "whenever it was found");
    }
}
