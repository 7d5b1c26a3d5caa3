//! Origins of installed servers. They are stored in their own document, since other programs read `mcp.json` too. No
//! decision depends on them, so the document has no MAC.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::StoreError;
use ports::Document;
use ports::server_config::{FilledInputs, ServerConfig, ServerOrigin};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::Owner;
use super::state::{DocumentReadResult, InstallRecord, ServerError, with_server_entry};

impl Owner {
    /// Writes the installation record of a server before the server is added to the settings. If `expected` is given
    /// and the stored record differs from it at the time of the write, nothing is written and the reply is `false`.
    pub(crate) fn record_install_origin(
        &mut self,
        name: String,
        (origin, filled_in, config): (ServerOrigin, FilledInputs, &ServerConfig),
        expected: Option<(ServerOrigin, ServerConfig)>,
        reply: oneshot::Sender<Result<bool, StoreError>>,
    ) {
        let record = InstallRecord::new(origin, filled_in, config);
        let (entry, bundles) = (name.clone(), self.launches.own_files.bundles_folder());
        let change = move |stored: Option<Value>| {
            let is_now = expected.as_ref().map(|(_, config)| config);
            let read = |stored: &Value| serde_json::from_value::<InstallRecord>(stored.get(&entry)?.clone()).ok();
            let before = stored.as_ref().and_then(read).and_then(|before| before.valid_record(is_now, &bundles));
            if expected.as_ref().is_some_and(|(origin, _)| before.as_ref().map(InstallRecord::origin) != Some(origin)) {
                return (stored.unwrap_or_else(|| json!({})), None);
            }
            let pending = record.clone().into_pending(before);
            (with_server_entry(stored, &entry, serde_json::to_value(&pending).ok().as_ref()), Some(pending))
        };
        self.change_document(Document::Origins, change, move |owner, written| {
            let begun = written.map(|pending| {
                let is_begun = pending.is_some();
                owner.launches.origins.extend(pending.map(|pending| (name, pending)));
                is_begun
            });
            // The caller may have stopped waiting.
            let _ = reply.send(begun);
        });
    }

    /// Completes or discards the pending installation record of a server, depending on the server's current settings.
    pub(crate) fn resolve_pending_install_record(&mut self, name: &str) {
        if !self.launches.origins.get(name).is_some_and(InstallRecord::is_pending) {
            return;
        }
        let config = self.servers.records.get(name).map(|record| Arc::clone(&record.config));
        match self.launches.install_record(name, config.as_deref()) {
            Some(settled) => _ = self.launches.origins.insert(name.to_owned(), settled),
            None => _ = self.launches.origins.remove(name),
        }
        self.store_install_record(name);
        self.emit_server_change(name);
    }

    /// Completes or discards all installation records that a killed process left pending.
    pub(crate) fn resolve_pending_install_records(&mut self) {
        let pending = self.launches.origins.iter().filter(|(_, record)| record.is_pending());
        for name in pending.map(|(name, _)| name.clone()).collect::<Vec<_>>() {
            self.resolve_pending_install_record(&name);
        }
    }

    /// Writes the installation record of a server: the origin, and the server's current settings.
    pub(crate) fn write_new_install_record(
        &mut self,
        name: &str,
        origin: ServerOrigin,
        filled_in: FilledInputs,
    ) -> Result<(), ServerError> {
        let record = self.servers.records.get(name).ok_or_else(|| ServerError::NotFound(name.to_owned()))?;
        let record = InstallRecord::new(origin, filled_in, &record.config);
        self.launches.origins.insert(name.to_owned(), record);
        self.store_install_record(name);
        self.emit_server_change(name);
        Ok(())
    }

    pub(super) fn rename_install_record(&mut self, was: &str, name: &str) {
        if let Some(record) = self.launches.origins.remove(was) {
            self.launches.origins.insert(name.to_owned(), record);
            self.store_install_record(was);
            self.store_install_record(name);
        }
    }

    /// Deletes the installation record of an earlier server that had the name of the new server `name`.
    pub(super) fn forget_former_install_record(&mut self, name: &str) {
        if !self.launches.origins.get(name).is_some_and(InstallRecord::is_pending) {
            self.forget_install_record(name);
        }
    }

    pub(super) fn forget_install_record(&mut self, name: &str) {
        if self.launches.origins.remove(name).is_some() {
            self.store_install_record(name);
        }
    }

    fn store_install_record(&mut self, name: &str) {
        let value = self.launches.origins.get(name).and_then(|record| serde_json::to_value(record).ok());
        self.write_entry_later(Document::Origins, "the origin of a server could not be written", name, value);
    }

    /// Reads the servers' settings and the installation records again, and replies when both are done.
    pub(crate) fn reload_install_records_and_reply(&mut self, reply: oneshot::Sender<()>) {
        self.reload_servers();
        self.reload_install_records();
        self.run_on_writer_thread(
            |_| (),
            move |_, _| {
                // The caller may have stopped waiting.
                let _ = reply.send(());
            },
        );
    }

    /// Reads the installation records again after another instance of Drawbridge installed or removed a server.
    pub(crate) fn reload_install_records(&mut self) {
        self.reload_document(Document::Origins, Self::on_install_records_read);
    }

    fn on_install_records_read(&mut self, read: DocumentReadResult) {
        let Some(now) = self.parse_document::<BTreeMap<String, InstallRecord>>(read, json!({})) else { return };
        let before = std::mem::replace(&mut self.launches.origins, now);
        let now = &self.launches.origins;
        let servers: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
        let changed = servers.into_iter().filter(|name| before.get(*name) != now.get(*name)).cloned();
        for server in changed.collect::<Vec<_>>() {
            self.emit_server_change(&server);
        }
    }
}
