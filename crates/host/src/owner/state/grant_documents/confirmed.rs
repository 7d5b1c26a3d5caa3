//! Settings that are edited by hand as well, as the user confirmed them: addresses of model providers, and the retention of the audit
//! log. Caller: `owner/confirmed.rs`.

use std::collections::BTreeMap;

use credentials::providers::ProvidersFile;
use models::{ModelRef, ProviderKind, ProviderSettings};
use ports::DocumentSeal;
use serde::{Deserialize, Serialize};
use url::Url;

use super::ReadDocument;
use crate::view::AppSettings;

/// `confirmed.json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(in crate::owner) struct ConfirmedFile {
    pub(in crate::owner) providers: BTreeMap<String, ProviderAddress>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::owner) default: Option<ModelRef>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::owner) keeping: Option<AuditRetentionSetting>,
}

/// The address that decides where requests and keys go.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::owner) struct ProviderAddress {
    kind: ProviderKind,
    url: Url,
}

/// The retention of the audit log.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(in crate::owner) struct AuditRetentionSetting {
    pub(in crate::owner) days: u32,
    pub(in crate::owner) megabytes: u32,
    pub(in crate::owner) contents: bool,
}

/// ConfirmedSettings settings, as they were read last.
#[derive(Debug, Default)]
pub(in crate::owner) struct ConfirmedSettings {
    /// None while it can't be said.
    pub(in crate::owner) file: Option<ConfirmedFile>,
    /// Set if what stands there counts as confirmed, as nothing was ever sealed before.
    pub(in crate::owner) adopts: bool,
    /// Changes of a provider that the user made and that `file` does not have yet: they wait for the audit log or the disk.
    pub(in crate::owner) pending_providers: usize,
}

impl ProviderAddress {
    pub(in crate::owner) fn of(settings: &ProviderSettings) -> Self {
        Self { kind: settings.kind, url: settings.url.clone() }
    }
}

impl AuditRetentionSetting {
    pub(in crate::owner) const fn of(settings: &AppSettings) -> Self {
        let AppSettings { audit_days, audit_megabytes, audit_contents, .. } = settings;
        Self { days: *audit_days, megabytes: *audit_megabytes, contents: *audit_contents }
    }
}

impl ConfirmedSettings {
    /// Returns true if it can be said what was confirmed.
    pub(in crate::owner) const fn is_known(&self) -> bool {
        self.file.is_some()
    }

    /// Where a provider was when the user confirmed it; an error if it is not there any more, or never was.
    pub(in crate::owner) fn check_address(&self, settings: &ProviderSettings) -> Result<(), Option<String>> {
        let known = self.file.as_ref().and_then(|file| file.providers.get(&settings.id));
        match known {
            Some(known) if *known == ProviderAddress::of(settings) => Ok(()),
            known => Err(known.map(|known| known.url.to_string())),
        }
    }

    /// The model that the user chose for new conversations; the file's, if nothing was confirmed.
    pub(in crate::owner) fn default_model(&self, file: &ProvidersFile) -> Option<ModelRef> {
        self.file.as_ref().and_then(|kept| kept.default.clone()).filter(|_| file.default.is_some())
    }

    /// The confirmed address of a provider.
    pub(in crate::owner) fn address_of(&self, id: &str) -> Option<&ProviderAddress> {
        self.file.as_ref().and_then(|file| file.providers.get(id))
    }

    /// Returns true if nothing is to be written for a provider whose confirmed address is to be this one.
    pub(in crate::owner) fn is_settled(&self, id: &str, wanted: Option<&ProviderAddress>) -> bool {
        self.pending_providers == 0 && self.address_of(id) == wanted
    }

    /// The outcome of reading the file, with the state of the seal over documents.
    pub(in crate::owner) fn read(&self, read: ReadDocument, seal: &DocumentSeal) -> ConfirmedRead {
        let kept = read.ok().flatten().map(serde_json::from_value::<ConfirmedFile>);
        match (kept, seal) {
            (Some(Ok(kept)), _) => ConfirmedRead::Known(kept),
            (_, DocumentSeal::Waiting | DocumentSeal::Unavailable { .. }) => ConfirmedRead::Unknown,
            (None, DocumentSeal::None { .. }) => ConfirmedRead::Adopts,
            (None, DocumentSeal::Sealed) if self.adopts => ConfirmedRead::Adopts,
            _ => ConfirmedRead::Known(ConfirmedFile::default()),
        }
    }

    /// Takes over what the file holds. Returns true if it is another than before.
    pub(in crate::owner) fn replace(&mut self, next: Option<ConfirmedFile>) -> bool {
        self.adopts = false;
        let is_other = self.file != next;
        self.file = next;
        is_other
    }

    /// The confirmed retention of the audit log; `None` while it can't be said. Without a word of the user's it is that of a new
    /// installation: a file that was removed shortens nothing.
    pub(in crate::owner) fn keeping(&self) -> Option<AuditRetentionSetting> {
        let unchanged = || AuditRetentionSetting::of(&AppSettings::default());
        self.file.as_ref().map(|file| file.keeping.unwrap_or_else(unchanged))
    }
}

/// The outcome of reading the confirmed settings.
#[derive(Debug, PartialEq)]
pub(in crate::owner) enum ConfirmedRead {
    /// These were confirmed.
    Known(ConfirmedFile),
    /// Nobody can say what was confirmed.
    Unknown,
    /// Nothing was ever confirmed: what stands in the settings counts as confirmed.
    Adopts,
}

impl ConfirmedFile {
    /// The present settings, as confirmed.
    pub(in crate::owner) fn adopted(file: &ProvidersFile, settings: &AppSettings) -> Self {
        Self {
            providers: file.providers.iter().map(|own| (own.id.clone(), ProviderAddress::of(own))).collect(),
            default: file.default.clone(),
            keeping: Some(AuditRetentionSetting::of(settings)),
        }
    }
}

impl AuditRetentionSetting {
    /// Puts this into the settings.
    pub(in crate::owner) const fn apply(self, settings: &mut AppSettings) {
        let Self { days, megabytes, contents } = self;
        (settings.audit_days, settings.audit_megabytes, settings.audit_contents) = (days, megabytes, contents);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn with_adoption(adopts: bool) -> ConfirmedSettings {
        ConfirmedSettings { adopts, ..ConfirmedSettings::default() }
    }

    #[test]
    fn a_file_that_was_removed_confirms_nothing() {
        let confirmed = with_adoption(false);
        let none = || ConfirmedRead::Known(ConfirmedFile::default());
        assert_eq!(confirmed.read(Ok(None), &DocumentSeal::Sealed), none(), "there was one, and nothing of it counts");
        let adopting = with_adoption(true);
        assert_eq!(adopting.read(Ok(None), &DocumentSeal::Sealed), ConfirmedRead::Adopts, "there never was one");
        assert_eq!(adopting.read(Ok(Some(json!(1))), &DocumentSeal::Sealed), none(), "one that can't be read is none");
    }

    #[test]
    fn nothing_is_adopted_while_the_keychain_does_not_answer() {
        let confirmed = with_adoption(true);
        assert_eq!(confirmed.read(Ok(None), &DocumentSeal::Waiting), ConfirmedRead::Unknown);
    }

    #[test]
    fn the_retention_stays_that_of_a_new_installation_without_a_word_of_the_user() {
        let mut confirmed = ConfirmedSettings::default();
        assert_eq!(confirmed.keeping(), None, "it can't be said");
        assert!(confirmed.replace(Some(ConfirmedFile::default())), "the file was read");
        let settings = AppSettings { audit_days: 1, ..AppSettings::default() };
        let mut held = settings.clone();
        confirmed.keeping().expect("it is known").apply(&mut held);
        assert_eq!(held, AppSettings::default(), "a file that was removed shortens nothing");
        assert!(confirmed.replace(Some(ConfirmedFile::adopted(&ProvidersFile::default(), &settings))));
        confirmed.keeping().expect("it is known").apply(&mut held);
        assert_eq!(held, settings, "what was confirmed holds");
    }
}
