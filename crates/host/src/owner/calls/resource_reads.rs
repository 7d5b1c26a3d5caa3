//! Cached resources, subscriptions, and the log level of a server. Used by `handle/calls.rs` and
//! `Owner::on_connection_event`.

use domain::Millis;
use mcp_proto::session::CacheHint;
use mcp_proto::types::{LogLevel, ResourceContents};
use offers::resource_cache::ResourceReadResult;
use ports::server_config::config_hash;
use tokio::time::Instant;

use crate::owner::Owner;
use crate::view::{HostEvent, ServerState};

impl Owner {
    /// Returns the contents of a resource from the cache, if they are still fresh.
    pub(crate) fn cached_resource_read(&mut self, server: &str, uri: &str) -> Option<ResourceReadResult> {
        let record = self.servers.records.get(server).filter(|record| record.state == ServerState::Ready)?;
        self.calls.reads.get_fresh(server, &config_hash(&record.config), uri, Instant::now())
    }

    /// Caches the contents of a resource as long as the server allows. Returns their expiry if they were cached.
    pub(crate) fn cache_resource_read(
        &mut self,
        server: &str,
        uri: &str,
        contents: &[ResourceContents],
        hint: Option<CacheHint>,
    ) -> Option<Millis> {
        let record = self.servers.records.get(server).filter(|record| record.state == ServerState::Ready)?;
        self.calls.reads.insert(
            server,
            config_hash(&record.config),
            uri,
            (contents, hint?),
            (self.now(), Instant::now()),
        )
    }

    /// Emits an event for a changed resource if the user subscribed to its URI or to that of a parent resource.
    pub(in crate::owner) fn on_resource_updated(&mut self, server: String, uri: String) {
        self.calls.reads.remove_changed(&server, &uri);
        let Some(record) = self.servers.records.get(&server) else { return };
        if record.session.subscriptions.iter().any(|watched| uri.starts_with(watched.as_str())) {
            self.events.emit(HostEvent::ResourceUpdated { server, uri });
        }
    }

    pub(crate) fn on_subscribed(&mut self, server: &str, uri: String, on: bool) {
        if let Some(record) = self.servers.records.get_mut(server) {
            record.session.subscriptions.retain(|other| *other != uri);
            if on {
                record.session.subscriptions.push(uri);
            }
        }
        self.emit_server_change(server);
    }

    pub(crate) fn on_log_level_set(&mut self, server: &str, level: LogLevel) {
        if let Some(record) = self.servers.records.get_mut(server) {
            record.session.log_level = Some(level);
        }
        self.emit_server_change(server);
    }
}
