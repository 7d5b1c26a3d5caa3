//! Where servers were installed from: kept in a document of its own, since other programs read `mcp.json`, too. It decides nothing, so it is not
//! sealed.

use std::collections::{BTreeMap, BTreeSet};

use ports::Document;
use ports::server_config::{FilledIn, Installed, ServerConfig, ServerOrigin};
use serde_json::json;
use tokio::sync::oneshot;

use super::Owner;
use super::state::{InstallRecord, ReadDocument, ServerError};

impl Owner {
    /// What is known of the installation of a server.
    pub(super) fn installed(&self, name: &str, config: &ServerConfig) -> Option<Installed> {
        self.launches.origins.get(name).map(|record| record.compared_with(config))
    }

    /// Keeps where a server was installed from, as it is set up now.
    pub(crate) fn set_origin(
        &mut self,
        name: &str,
        origin: ServerOrigin,
        filled_in: FilledIn,
    ) -> Result<(), ServerError> {
        let record = self.servers.records.get(name).ok_or_else(|| ServerError::NotFound(name.to_owned()))?;
        let record = InstallRecord::new(origin, filled_in, &record.config);
        self.launches.origins.insert(name.to_owned(), record);
        self.keep_origin(name);
        self.emit_server(name);
        Ok(())
    }

    pub(super) fn rename_origin(&mut self, was: &str, name: &str) {
        if let Some(record) = self.launches.origins.remove(was) {
            self.launches.origins.insert(name.to_owned(), record);
            self.keep_origin(was);
            self.keep_origin(name);
        }
    }

    pub(super) fn forget_origin(&mut self, name: &str) {
        if self.launches.origins.remove(name).is_some() {
            self.keep_origin(name);
        }
    }

    fn keep_origin(&mut self, name: &str) {
        let value = self.launches.origins.get(name).and_then(|record| serde_json::to_value(record).ok());
        self.write_entry_later(Document::Origins, "the origin of a server could not be written", name, value);
    }

    /// Reads the settings and the origins again, and tells when that is done.
    pub(crate) fn reload_installed(&mut self, reply: oneshot::Sender<()>) {
        self.reload_servers();
        self.reload_origins();
        self.on_disk(
            |_| (),
            move |_, _| {
                // Whoever asked may have gone away.
                let _ = reply.send(());
            },
        );
    }

    /// Another program of ours installed or removed a server.
    pub(crate) fn reload_origins(&mut self) {
        self.reload_document(Document::Origins, Self::on_origins_read);
    }

    fn on_origins_read(&mut self, read: ReadDocument) {
        let Some(now) = self.usable::<BTreeMap<String, InstallRecord>>(read, json!({})) else { return };
        let before = std::mem::replace(&mut self.launches.origins, now);
        let now = &self.launches.origins;
        let servers: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
        let changed = servers.into_iter().filter(|name| before.get(*name) != now.get(*name)).cloned();
        for server in changed.collect::<Vec<_>>() {
            self.emit_server(&server);
        }
    }
}
