//! Resources that were read or are watched, and the log level of a server. Callers: `handle/calls.rs` and `Owner::on_news`.

use domain::Millis;
use mcp_proto::session::CacheHint;
use mcp_proto::types::{LogLevel, ResourceContents};
use offers::reads::Read;
use ports::server_config::config_hash;
use tokio::time::Instant;

use crate::owner::Owner;
use crate::view::{HostEvent, ServerState};

impl Owner {
    /// What a resource said, if that is still fresh.
    pub(crate) fn fresh_read(&mut self, server: &str, uri: &str) -> Option<Read> {
        let record = self.servers.records.get(server).filter(|record| record.state == ServerState::Ready)?;
        self.calls.reads.fresh(server, &config_hash(&record.config), uri, Instant::now())
    }

    /// Keeps what a resource said for as long as its server allows. Gives until when.
    pub(crate) fn keep_read(
        &mut self,
        server: &str,
        uri: &str,
        contents: &[ResourceContents],
        hint: Option<CacheHint>,
    ) -> Option<Millis> {
        let record = self.servers.records.get(server).filter(|record| record.state == ServerState::Ready)?;
        self.calls.reads.keep(server, config_hash(&record.config), uri, (contents, hint?), (self.now(), Instant::now()))
    }

    /// A change of a resource is told if the user watches it, or one above it.
    pub(in crate::owner) fn on_resource_updated(&mut self, server: String, uri: String) {
        self.calls.reads.changed(&server, &uri);
        let Some(record) = self.servers.records.get(&server) else { return };
        if record.session.subscriptions.iter().any(|watched| uri.starts_with(watched.as_str())) {
            self.events.emit(HostEvent::ResourceUpdated { server, uri });
        }
    }

    pub(crate) fn subscribed(&mut self, server: &str, uri: String, on: bool) {
        if let Some(record) = self.servers.records.get_mut(server) {
            record.session.subscriptions.retain(|other| *other != uri);
            if on {
                record.session.subscriptions.push(uri);
            }
        }
        self.emit_server(server);
    }

    pub(crate) fn log_level_set(&mut self, server: &str, level: LogLevel) {
        if let Some(record) = self.servers.records.get_mut(server) {
            record.session.log_level = Some(level);
        }
        self.emit_server(server);
    }
}
