//! Confirmation of settings in files that other programs can edit: the addresses of model providers, and the retention
//! of the audit log. A change of such a file takes effect only after the user has confirmed it in Drawbridge.

use credentials::providers::ProvidersFile;
use domain::StoreError;
use host_state::AuditedDecision;
use models::{ModelRef, ProviderSettings};
use policy::{Hash, canonical_json};
use ports::{Document, DocumentMacState};
use serde_json::{Value, json};

use super::Owner;
use super::state::{
    AuditRetentionSetting, ConfirmedSettingsFile, ConfirmedSettingsRead, DocumentReadResult, ProviderAddress,
};
use crate::view::AppSettings;

impl Owner {
    /// Applies the content of the file with the confirmed settings. If nothing was ever confirmed, the current settings
    /// are treated as confirmed. Returns `true` if the confirmed settings changed.
    pub(super) fn apply_confirmed_settings(&mut self, read: DocumentReadResult, file: &ProvidersFile) -> bool {
        self.report_untrusted_settings_files();
        if self.documents.confirmed.file.is_some() && self.documents.writer.has_pending_writes(Document::Confirmed) {
            // The content was read before the user's latest confirmation was written. The file is read again after that
            // write.
            return false;
        }
        let next = match self.documents.confirmed.read(read, &self.ports.documents.mac_state()) {
            ConfirmedSettingsRead::Known(confirmed) => Some(confirmed),
            ConfirmedSettingsRead::Unknown => None,
            ConfirmedSettingsRead::Adopts => Some(self.adopt_current_settings(file)),
        };
        self.documents.confirmed.replace(next)
    }

    /// Treats the current providers and retention as confirmed, and stores them in the file of confirmed settings.
    fn adopt_current_settings(&mut self, file: &ProvidersFile) -> ConfirmedSettingsFile {
        let adopted = ConfirmedSettingsFile::from_current(file, &self.settings.current);
        // If no provider is configured, the file is written on the first confirmation.
        let is_needed = !adopted.providers.is_empty() || self.ports.documents.mac_state() == DocumentMacState::Ready;
        if is_needed {
            let stored = adopted.clone();
            self.change_confirmed_settings(
                move |own| own.clone_from(&stored),
                |_, written| {
                    if let Err(error) = written {
                        tracing::error!(%error, "the current settings could not be stored as confirmed");
                    }
                },
            );
        }
        adopted
    }

    /// Applies `change` to the file of confirmed settings, and calls `then` with the result of the write.
    fn change_confirmed_settings(
        &mut self,
        change: impl Fn(&mut ConfirmedSettingsFile) + Send + 'static,
        then: impl FnOnce(&mut Self, Result<(), StoreError>) + Send + 'static,
    ) {
        let own = self.documents.confirmed.file.clone().unwrap_or_default();
        let change = move |stored: Option<Value>| {
            let stored = stored.and_then(|stored| serde_json::from_value(stored).ok());
            let mut changed: ConfirmedSettingsFile = stored.unwrap_or_else(|| own.clone());
            change(&mut changed);
            (json!(changed), changed)
        };
        self.change_document(Document::Confirmed, change, move |owner, written| {
            let written = written.map(|changed| owner.documents.confirmed.file = Some(changed));
            then(owner, written);
        });
    }

    /// Confirms the address that the user set for a provider: writes an audit entry, and then stores the address.
    pub(super) fn confirm_provider(
        &mut self,
        settings: &ProviderSettings,
        then: impl FnOnce(&mut Self, Result<(), StoreError>) + Send + 'static,
    ) {
        let (id, now) = (settings.id.clone(), ProviderAddress::from_settings(settings));
        let was = self.documents.confirmed.confirmed_address(&id).cloned();
        if self.documents.confirmed.is_address_up_to_date(&id, Some(&now)) {
            return then(self, Ok(()));
        }
        let then = self.count_pending_provider_change(then);
        self.audit_provider(&settings.id, was.as_ref(), Some(&now.clone()), "allowed", move |owner, written| {
            match written {
                Ok(()) => owner.change_confirmed_settings(
                    move |stored| {
                        stored.providers.insert(id.clone(), now.clone());
                    },
                    then,
                ),
                Err(error) => then(owner, Err(error)),
            }
        });
    }

    /// Deletes the confirmed address of a provider that the user removed. Writes an audit entry first.
    pub(super) fn unconfirm_provider(
        &mut self,
        id: &str,
        then: impl FnOnce(&mut Self, Result<(), StoreError>) + Send + 'static,
    ) {
        let was = self.documents.confirmed.confirmed_address(id).cloned();
        if self.documents.confirmed.is_address_up_to_date(id, None) {
            return then(self, Ok(()));
        }
        let own = id.to_owned();
        let then = self.count_pending_provider_change(then);
        self.audit_provider(id, was.as_ref(), None, "denied", move |owner, written| match written {
            Ok(()) => owner.change_confirmed_settings(
                move |stored| {
                    stored.providers.remove(&own);
                    stored.default = stored.default.take().filter(|default| default.provider != own);
                },
                then,
            ),
            Err(error) => then(owner, Err(error)),
        });
    }

    /// Increments the number of pending changes of providers. The returned closure decrements it and calls `then`.
    fn count_pending_provider_change(
        &mut self,
        then: impl FnOnce(&mut Self, Result<(), StoreError>) + Send + 'static,
    ) -> impl FnOnce(&mut Self, Result<(), StoreError>) + Send + 'static {
        self.documents.confirmed.pending_providers += 1;
        move |owner, changed| {
            owner.documents.confirmed.pending_providers -= 1;
            then(owner, changed);
        }
    }

    /// Stores the user's choice of the default model in the file of confirmed settings.
    pub(super) fn confirm_default_model(
        &mut self,
        model: Option<ModelRef>,
        then: impl FnOnce(&mut Self, Result<(), StoreError>) + Send + 'static,
    ) {
        self.change_confirmed_settings(move |stored| stored.default.clone_from(&model), then);
    }

    fn audit_provider(
        &mut self,
        id: &str,
        was: Option<&ProviderAddress>,
        now: Option<&ProviderAddress>,
        decision: &'static str,
        then: impl FnOnce(&mut Self, Result<(), StoreError>) + Send + 'static,
    ) {
        let subject = canonical_json(&json!({ "provider": id, "was": was, "now": now }));
        let (hash, by) = (Hash::of_bytes(subject.as_bytes()), self.options.decider_name);
        let entry = AuditedDecision {
            kind: "provider",
            subject: &subject,
            decision,
            by,
            hash: hash.as_str(),
            ..AuditedDecision::default()
        };
        self.audit_then(entry, then);
    }

    /// Records in the audit log that a provider is not used because its address was changed outside of Drawbridge.
    pub(super) fn audit_unconfirmed_provider(&mut self, settings: &ProviderSettings, was: Option<&str>) {
        let subject = canonical_json(&json!({ "provider": settings.id, "was": was, "now": settings.url }));
        let hash = Hash::of_bytes(subject.as_bytes());
        let (kind, by, asker) = ("provider", "another program", "file");
        self.audit_without_waiting(AuditedDecision {
            kind,
            subject: &subject,
            decision: "denied",
            by,
            asker,
            hash: hash.as_str(),
            ..AuditedDecision::default()
        });
    }

    /// Stores the user's setting of the audit log's retention in the file of confirmed settings.
    pub(super) fn confirm_audit_retention(
        &mut self,
        settings: &AppSettings,
        then: impl FnOnce(&mut Self, Result<(), StoreError>) + Send + 'static,
    ) {
        let keeping = AuditRetentionSetting::from_settings(settings);
        self.change_confirmed_settings(move |stored| stored.keeping = Some(keeping), then);
    }

    /// Applies the confirmed retention of the audit log, if the settings file contains a different one.
    pub(super) fn enforce_confirmed_retention(&mut self) {
        let confirmed = self.documents.confirmed.retention();
        let has_mac = self.ports.documents.mac_state() == DocumentMacState::Ready;
        if let Some(keeping) = confirmed
            .filter(|keeping| has_mac && *keeping != AuditRetentionSetting::from_settings(&self.settings.current))
        {
            keeping.apply(&mut self.settings.current);
        }
    }
}
