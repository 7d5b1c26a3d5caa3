//! The model providers: their settings, their listed models, and the reasons why some are not used. Used by
//! `host/src/owner/providers.rs` and `host/src/handle/providers.rs`.

use std::collections::BTreeMap;

use credentials::providers::{
    MAX_MODEL_PROVIDERS, ModelLists, ProviderError, ProviderView, ProvidersFile, ProvidersView,
};
use models::{Model, ModelError, ModelRef, ProviderSettings};

/// The model providers: their settings and models, as last read, and the errors of their requests.
#[derive(Default)]
pub struct ProviderTable {
    /// Content of the file `models.json`, which contains the settings of the providers.
    pub file: ProvidersFile,
    /// Models that each provider last listed, by provider id.
    pub lists: ModelLists,
    /// Error of the latest request for the list of models of each provider, by provider id. Providers whose latest
    /// request succeeded have no entry.
    pub problems: BTreeMap<String, ModelError>,
    /// Providers that are not used because their address was changed outside of Drawbridge, by provider id.
    pub unconfirmed: BTreeMap<String, ProviderSettings>,
    /// Unconfirmed providers for which an audit entry exists, with the settings in that entry, by id.
    pub noted: BTreeMap<String, ProviderSettings>,
}

impl ProviderTable {
    /// Returns the models that a provider last listed. Empty if it has not listed any.
    pub fn listed_models(&self, id: &str) -> Vec<Model> {
        self.lists.get(id).map(|listed| listed.models.clone()).unwrap_or_default()
    }

    /// Returns the settings of a provider.
    ///
    /// # Errors
    ///
    /// Returns [`ProviderError::NotFound`] if no provider has this id.
    pub fn settings_of(&self, id: &str) -> Result<ProviderSettings, ProviderError> {
        let found = self.file.providers.iter().find(|settings| settings.id == id);
        found.cloned().ok_or_else(|| ProviderError::NotFound(id.to_owned()))
    }

    /// Returns the default model of new conversations, if the user chose one.
    pub fn default_model(&self) -> Option<ModelRef> {
        self.file.default.clone()
    }

    /// Checks that a provider can be added or changed.
    ///
    /// # Errors
    ///
    /// Returns the [`ProviderError`] of invalid settings, or [`ProviderError::TooMany`] if there are too many
    /// providers.
    pub fn check_provider_settings(&self, settings: &ProviderSettings) -> Result<(), ProviderError> {
        settings.check()?;
        let is_new = !self.file.providers.iter().any(|own| own.id == settings.id);
        if is_new && self.file.providers.len() >= MAX_MODEL_PROVIDERS { Err(ProviderError::TooMany) } else { Ok(()) }
    }

    /// Returns `true` if this table already treats the provider as confirmed (if `is_confirmed` is set) or as
    /// unconfirmed (if not).
    pub fn has_confirmation_state(&self, id: &str, is_confirmed: bool) -> bool {
        self.unconfirmed.contains_key(id) != is_confirmed
    }

    /// Drops the request error and the unconfirmed settings of a provider that the user removed.
    pub fn forget(&mut self, id: &str) {
        self.problems.remove(id);
        self.unconfirmed.remove(id);
    }

    /// Marks a provider as unconfirmed. Returns `true` if the caller has to write an audit entry, since none with these
    /// settings exists. `is_known` tells if the confirmed address could be determined.
    pub fn record_unconfirmed_provider(&mut self, settings: &ProviderSettings, is_known: bool) -> bool {
        self.unconfirmed.insert(settings.id.clone(), settings.clone());
        is_known && self.noted.insert(settings.id.clone(), settings.clone()).as_ref() != Some(settings)
    }

    /// Records that the user confirmed a provider's address, so that the provider can be used.
    pub fn record_confirmed_provider(&mut self, id: &str) {
        self.unconfirmed.remove(id);
        self.noted.remove(id);
    }

    /// Returns the view of all providers.
    pub fn view(&self) -> ProvidersView {
        let providers = self.file.providers.iter().map(|settings| {
            let listed = self.lists.get(&settings.id);
            ProviderView {
                settings: settings.clone(),
                models: listed.map(|listed| listed.models.clone()).unwrap_or_default(),
                listed_at: listed.map(|listed| listed.at),
                problem: self.problems.get(&settings.id).cloned(),
            }
        });
        ProvidersView { providers: providers.collect(), default: self.file.default.clone() }
    }
}

#[cfg(test)]
mod tests {
    use models::ProviderKind;

    use super::*;

    fn settings(id: &str) -> ProviderSettings {
        ProviderSettings {
            id: id.to_owned(),
            name: id.to_owned(),
            kind: ProviderKind::OpenAi,
            url: "https://api.example".parse().expect("a URL"),
            conversions: Default::default(),
            silence_seconds: None,
        }
    }

    #[test]
    fn number_of_providers_is_bounded_and_each_can_be_changed() {
        let mut table = ProviderTable::default();
        for n in 0..MAX_MODEL_PROVIDERS {
            assert!(
                table.check_provider_settings(&settings(&format!("p{n}"))).is_ok(),
                "there is room for provider {n}"
            );
            table.file.providers.push(settings(&format!("p{n}")));
        }
        assert!(
            matches!(table.check_provider_settings(&settings("more")), Err(ProviderError::TooMany)),
            "the number of providers is limited"
        );
        assert!(table.check_provider_settings(&settings("p0")).is_ok(), "an existing provider can be changed");
    }

    #[test]
    fn unconfirmed_address_is_recorded_once() {
        let mut table = ProviderTable::default();
        assert!(
            !table.record_unconfirmed_provider(&settings("p"), false),
            "nothing is recorded while the keychain is unavailable"
        );
        assert!(
            table.record_unconfirmed_provider(&settings("p"), true),
            "the change is recorded once the keychain is available"
        );
        assert!(!table.record_unconfirmed_provider(&settings("p"), true), "the change is recorded once");
        assert!(!table.has_confirmation_state("p", true), "a confirmed provider is not settled while it is unused");
        table.record_confirmed_provider("p");
        assert!(table.has_confirmation_state("p", true), "a confirmed provider that is used is settled");
        assert!(table.record_unconfirmed_provider(&settings("p"), true), "a later change is recorded again");
    }
}
