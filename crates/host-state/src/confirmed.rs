//! Settings that only the user may change in Drawbridge, although they are in files that other programs can edit: the
//! addresses of model providers, and the retention of the audit log. This module stores the confirmed values. Used by
//! `host/src/owner/confirmed_settings.rs`.

use std::collections::BTreeMap;

use credentials::providers::ProvidersFile;
use models::{ModelRef, ProviderKind, ProviderSettings};
use ports::DocumentMacState;
use serde::{Deserialize, Serialize};
use url::Url;

use super::DocumentReadResult;
use crate::view::AppSettings;

/// Content of the file `confirmed.json`, which stores the confirmed values.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ConfirmedSettingsFile {
    /// Confirmed addresses of model providers, by provider id.
    pub providers: BTreeMap<String, ProviderAddress>,
    /// Confirmed default model of new conversations, or `None` if none was chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<ModelRef>,
    /// Confirmed retention of the audit log, or `None` if the user never changed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keeping: Option<AuditRetentionSetting>,
}

/// The address of a model provider, which receives requests and keys.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProviderAddress {
    kind: ProviderKind,
    url: Url,
}

/// Retention settings of the audit log.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AuditRetentionSetting {
    /// Number of days for which entries are retained, or 0 for no limit.
    pub days: u32,
    /// Maximum size of the audit log in megabytes, or 0 for no limit.
    pub megabytes: u32,
    /// Set to store payloads in the audit log, and not only their hashes.
    pub contents: bool,
}

/// The confirmed settings, as last read from `confirmed.json`.
#[derive(Debug, Default)]
pub struct ConfirmedSettings {
    /// Content of the file `confirmed.json`, or `None` if the confirmed settings can't be determined.
    pub file: Option<ConfirmedSettingsFile>,
    /// Set if the current settings are treated as confirmed, because no document ever had a MAC when the host
    /// started.
    pub adopts: bool,
    /// Number of the user's changes of providers that are not contained in `file` yet, because they wait for the audit
    /// log or the disk.
    pub pending_providers: usize,
}

impl ProviderAddress {
    /// Returns the address that the settings of a provider contain.
    pub fn from_settings(settings: &ProviderSettings) -> Self {
        Self { kind: settings.kind, url: settings.url.clone() }
    }
}

impl AuditRetentionSetting {
    /// Returns the retention of the audit log that Drawbridge's settings contain.
    pub const fn from_settings(settings: &AppSettings) -> Self {
        let AppSettings { audit_days, audit_megabytes, audit_contents, .. } = settings;
        Self { days: *audit_days, megabytes: *audit_megabytes, contents: *audit_contents }
    }
}

impl ConfirmedSettings {
    /// Returns `true` if the confirmed settings could be determined.
    pub const fn is_known(&self) -> bool {
        self.file.is_some()
    }

    /// Checks that the address in a provider's settings is the confirmed one.
    ///
    /// # Errors
    ///
    /// Returns the confirmed address if it differs, or `None` if none was confirmed.
    pub fn check_address(&self, settings: &ProviderSettings) -> Result<(), Option<String>> {
        let known = self.file.as_ref().and_then(|file| file.providers.get(&settings.id));
        match known {
            Some(known) if *known == ProviderAddress::from_settings(settings) => Ok(()),
            known => Err(known.map(|known| known.url.to_string())),
        }
    }

    /// Returns the confirmed default model of new conversations, or `None` if no model was confirmed or the settings
    /// contain none.
    pub fn default_model(&self, file: &ProvidersFile) -> Option<ModelRef> {
        self.file.as_ref().and_then(|confirmed| confirmed.default.clone()).filter(|_| file.default.is_some())
    }

    /// Returns the address that the user confirmed for a provider, or `None` if no address was confirmed.
    pub fn confirmed_address(&self, id: &str) -> Option<&ProviderAddress> {
        self.file.as_ref().and_then(|file| file.providers.get(id))
    }

    /// Returns `true` if the confirmed address of a provider is already equal to `address` and no change is being
    /// written, so that the caller need not write anything.
    pub fn is_address_up_to_date(&self, id: &str, address: Option<&ProviderAddress>) -> bool {
        self.pending_providers == 0 && self.confirmed_address(id) == address
    }

    /// Interprets the result of reading `confirmed.json`. The meaning of a missing file depends on the state of the
    /// documents' MACs: for instance, if another program removed the file, no setting is confirmed.
    pub fn read(&self, read: DocumentReadResult, macs: &DocumentMacState) -> ConfirmedSettingsRead {
        let stored = read.ok().flatten().map(serde_json::from_value::<ConfirmedSettingsFile>);
        match (stored, macs) {
            (Some(Ok(stored)), _) => ConfirmedSettingsRead::Known(stored),
            (_, DocumentMacState::Waiting | DocumentMacState::Unavailable { .. }) => ConfirmedSettingsRead::Unknown,
            (None, DocumentMacState::None { .. }) => ConfirmedSettingsRead::Adopts,
            (None, DocumentMacState::Ready) if self.adopts => ConfirmedSettingsRead::Adopts,
            _ => ConfirmedSettingsRead::Known(ConfirmedSettingsFile::default()),
        }
    }

    /// Replaces the confirmed settings. Returns `true` if the new settings differ from the previous ones.
    pub fn replace(&mut self, next: Option<ConfirmedSettingsFile>) -> bool {
        self.adopts = false;
        let is_other = self.file != next;
        self.file = next;
        is_other
    }

    /// Returns the confirmed retention of the audit log, or `None` while it is unknown. If the user never confirmed
    /// one, returns the default retention, so that deleting the file doesn't shorten the log.
    pub fn retention(&self) -> Option<AuditRetentionSetting> {
        let unchanged = || AuditRetentionSetting::from_settings(&AppSettings::default());
        self.file.as_ref().map(|file| file.keeping.unwrap_or_else(unchanged))
    }
}

/// Result of interpreting the content of `confirmed.json`.
#[derive(Debug, PartialEq)]
pub enum ConfirmedSettingsRead {
    /// The settings that the user has confirmed.
    Known(ConfirmedSettingsFile),
    /// The confirmed settings can't be determined.
    Unknown,
    /// Nothing was ever confirmed, so the current settings are treated as confirmed.
    Adopts,
}

impl ConfirmedSettingsFile {
    /// Creates the content of `confirmed.json` from the current settings of the providers and the app.
    pub fn from_current(file: &ProvidersFile, settings: &AppSettings) -> Self {
        Self {
            providers: file.providers.iter().map(|own| (own.id.clone(), ProviderAddress::from_settings(own))).collect(),
            default: file.default.clone(),
            keeping: Some(AuditRetentionSetting::from_settings(settings)),
        }
    }
}

impl AuditRetentionSetting {
    /// Overwrites the retention in the settings of the app with this one.
    pub const fn apply(self, settings: &mut AppSettings) {
        let Self { days, megabytes, contents } = self;
        (settings.audit_days, settings.audit_megabytes, settings.audit_contents) = (days, megabytes, contents);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn confirmed_settings_with_adoption(adopts: bool) -> ConfirmedSettings {
        ConfirmedSettings { adopts, ..ConfirmedSettings::default() }
    }

    #[test]
    fn removed_confirmation_document_confirms_no_settings() {
        let confirmed = confirmed_settings_with_adoption(false);
        let none = || ConfirmedSettingsRead::Known(ConfirmedSettingsFile::default());
        assert_eq!(confirmed.read(Ok(None), &DocumentMacState::Ready), none(), "a removed file confirms nothing");
        let adopting = confirmed_settings_with_adoption(true);
        assert_eq!(
            adopting.read(Ok(None), &DocumentMacState::Ready),
            ConfirmedSettingsRead::Adopts,
            "the settings are adopted if there never was a file"
        );
        assert_eq!(
            adopting.read(Ok(Some(json!(1))), &DocumentMacState::Ready),
            none(),
            "an invalid file confirms nothing"
        );
    }

    #[test]
    fn current_settings_are_not_adopted_while_the_keychain_is_unavailable() {
        let confirmed = confirmed_settings_with_adoption(true);
        assert_eq!(confirmed.read(Ok(None), &DocumentMacState::Waiting), ConfirmedSettingsRead::Unknown);
    }

    #[test]
    fn unconfirmed_retention_is_the_default() {
        let mut confirmed = ConfirmedSettings::default();
        assert_eq!(confirmed.retention(), None, "the retention is unknown before the file is read");
        assert!(confirmed.replace(Some(ConfirmedSettingsFile::default())), "reading the file changes the settings");
        let settings = AppSettings { audit_days: 1, ..AppSettings::default() };
        let mut held = settings.clone();
        confirmed.retention().expect("the retention is known").apply(&mut held);
        assert_eq!(held, AppSettings::default(), "a removed file doesn't shorten the retention");
        assert!(confirmed.replace(Some(ConfirmedSettingsFile::from_current(&ProvidersFile::default(), &settings))));
        confirmed.retention().expect("the retention is known").apply(&mut held);
        assert_eq!(held, settings, "the confirmed retention is applied");
    }
}
