//! Sampling: servers request replies of a model, within the limits that the user sets for each server. Disabled by
//! default. The user can edit each request before it is sent to a model, and each reply before it is sent to the
//! server, or reply without a model. A rule with a budget may allow requests without consent. Requests of a server's
//! apps have the same settings, limits and steps.

mod allowed_by_rule;
mod app_requests;
mod budget;
mod decisions;
mod model_request;
mod request;

use std::collections::BTreeSet;

use domain::StoreError;
use host_state::AuditedDecision;
use policy::{Hash, canonical_json};
use ports::Document;
use serde_json::{Map, Value, json};
use server_requests::sampling::{SamplingReport, SamplingSettings};
use tokio::sync::oneshot;

use super::state::{DocumentReadResult, Sampling, SamplingRecord};
use super::{Owner, ServerError};
use crate::HostClosed;
use crate::view::HostEvent;

/// Error of changing the sampling settings of a server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SamplingError {
    /// No server has this name.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// The settings or the audit entry can't be written. The settings remain unchanged.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The host has shut down.
    #[error(transparent)]
    Closed(#[from] HostClosed),
}

impl Owner {
    /// Returns the sampling budget of a server, and how much of it is used.
    pub(crate) fn sampling_report(&self, server: &str) -> Result<SamplingReport, ServerError> {
        let record = self.servers.records.get(server).ok_or_else(|| ServerError::NotFound(server.to_owned()))?;
        let (settings, spent) = (self.models.sampling.settings(server), self.models.sampling.spending(server));
        Ok(SamplingReport {
            within_hour: spent.usage_in_last_hour(self.now()),
            in_all: spent.in_all,
            last_use: spent.last_use,
            stopped: spent.current_reached_limit(&settings, self.now()).filter(|_| settings.on),
            is_outdated: record.session.connection.is_some()
                && record.session.sampling_offered != self.models.sampling.offered_capability(server),
            settings,
        })
    }

    /// Sets the sampling budget of a server, which receives the changed capability on its next start. Disabling takes
    /// effect immediately, even if the change can't be written. Enabling takes effect once it is written.
    pub(crate) fn set_sampling(
        &mut self,
        server: &str,
        settings: SamplingSettings,
        reply: oneshot::Sender<Result<(), SamplingError>>,
    ) {
        if !self.servers.records.contains_key(server) {
            // The caller may have stopped waiting, here and below.
            let _ = reply.send(Err(ServerError::NotFound(server.to_owned()).into()));
            return;
        }
        let settings = settings.clamped_to_bounds();
        self.models.sampling.last_change += 1;
        let (number, name) = (self.models.sampling.last_change, server.to_owned());
        if !settings.on {
            self.models.sampling.turned_off.insert(name.clone(), number);
            self.stop_sampling_by_rule(server);
        }
        let subject = canonical_json(&json!(settings));
        let hash = Hash::of_bytes(subject.as_bytes());
        let entry = AuditedDecision {
            server,
            kind: "sampling-settings",
            subject: &subject,
            decision: if settings.on { "allowed" } else { "denied" },
            by: self.options.decider_name,
            hash: hash.as_str(),
            ..AuditedDecision::default()
        };
        self.audit_then(entry, move |owner, written| {
            if let Err(error) = written {
                let _ = reply.send(Err(error.into()));
                return;
            }
            let now = settings.clone();
            owner.change_sampling_record(
                &name.clone(),
                move |stored| stored.settings.clone_from(&now),
                move |owner, written| {
                    let set = written.map(|()| owner.on_sampling_settings_written(name, settings, number));
                    let _ = reply.send(set.map_err(SamplingError::from));
                },
            );
        });
    }

    /// Applies new sampling settings of a server, after they were written to the file.
    fn on_sampling_settings_written(&mut self, server: String, settings: SamplingSettings, number: u64) {
        if self.models.sampling.turned_off.get(&server).is_some_and(|last| *last <= number) {
            self.models.sampling.turned_off.remove(&server);
        }
        if self.servers.records.contains_key(&server) {
            self.models.sampling.records.entry(server.clone()).or_default().settings = settings;
        }
        self.events.emit(HostEvent::SamplingChanged(server));
    }

    /// Reads the sampling budgets and the usage of all servers again after another process changed them.
    pub(crate) fn reload_sampling(&mut self) {
        self.reload_document(Document::Sampling, Self::on_sampling_read);
    }

    fn on_sampling_read(&mut self, read: DocumentReadResult) {
        self.report_untrusted_settings_files();
        let Ok(stored) = read else { return };
        let Ok(stored) = serde_json::from_value(stored.unwrap_or_else(|| json!({}))) else {
            tracing::warn!("sampling.json can't be used; the sampling budgets stay unchanged");
            return;
        };
        let was = std::mem::replace(&mut self.models.sampling.records, Sampling::from_documents(stored).records);
        let servers: BTreeSet<String> = was.keys().chain(self.models.sampling.records.keys()).cloned().collect();
        for server in servers {
            let now = self.models.sampling.records.get(&server);
            if was.get(&server) == now {
                continue;
            }
            if now.is_none_or(|stored| !stored.settings.on) {
                self.stop_sampling_by_rule(&server);
            }
            self.events.emit(HostEvent::SamplingChanged(server));
        }
    }

    /// Changes a server's sampling record in the file, and calls `then` with the value that `change` returned.
    fn change_sampling_record<T: Send + 'static>(
        &mut self,
        server: &str,
        change: impl Fn(&mut SamplingRecord) -> T + Send + 'static,
        then: impl FnOnce(&mut Self, Result<T, StoreError>) + Send + 'static,
    ) {
        let own = self.models.sampling.records.get(server).cloned().unwrap_or_default();
        self.change_sampling_record_from(own, server, change, then);
    }

    /// Changes a server's stored sampling record. If the file has none, `change` is applied to `own`.
    fn change_sampling_record_from<T: Send + 'static>(
        &mut self,
        own: SamplingRecord,
        server: &str,
        change: impl Fn(&mut SamplingRecord) -> T + Send + 'static,
        then: impl FnOnce(&mut Self, Result<T, StoreError>) + Send + 'static,
    ) {
        let (name, server) = (server.to_owned(), server.to_owned());
        let change = move |stored: Option<Value>| {
            let mut all: Map<_, _> = stored.and_then(|stored| serde_json::from_value(stored).ok()).unwrap_or_default();
            let read = all.get(&name).and_then(|stored| serde_json::from_value(stored.clone()).ok());
            let mut now: SamplingRecord = read.unwrap_or_else(|| own.clone());
            let given = change(&mut now);
            all.insert(name.clone(), json!(now));
            (all.into(), (now, given))
        };
        self.change_document(Document::Sampling, change, move |owner, written| {
            let given = written.map(|(now, given)| {
                // If another write is pending, the file doesn't include the usage that was counted since.
                if !owner.documents.writer.has_pending_writes(Document::Sampling)
                    && owner.servers.records.contains_key(&server)
                {
                    owner.models.sampling.records.insert(server, now);
                }
                given
            });
            then(owner, given);
        });
    }

    pub(super) fn rename_sampling_record(&mut self, was: &str, name: &str) {
        if let Some(number) = self.models.sampling.turned_off.remove(was) {
            self.models.sampling.turned_off.insert(name.to_owned(), number);
        }
        if let Some(record) = self.models.sampling.records.remove(was) {
            let failure = "the sampling settings could not be moved; they are effective until Drawbridge exits";
            for (name, record) in [(was, None), (name, Some(json!(record)))] {
                self.write_entry_later(Document::Sampling, failure, name, record);
            }
            self.models.sampling.records.insert(name.to_owned(), record);
        }
    }

    pub(super) fn forget_sampling_record(&mut self, server: &str) {
        self.models.sampling.turned_off.remove(server);
        if self.models.sampling.records.remove(server).is_some() {
            let failure = "the sampling settings of a removed server could not be removed";
            self.write_entry_later(Document::Sampling, failure, server, None);
        }
    }
}
