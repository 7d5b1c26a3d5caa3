//! The providers of models: how they are set up, what they list, and why some are not used. Callers: `owner/providers.rs` and
//! `handle/providers.rs`.

use std::collections::BTreeMap;

use credentials::providers::{Lists, MAX_PROVIDERS, ProviderError, ProviderView, ProvidersFile, ProvidersView};
use models::{Model, ModelError, ModelRef, ProviderSettings};

/// The providers as they were read last.
#[derive(Default)]
pub(crate) struct ProviderTable {
    pub(in crate::owner) file: ProvidersFile,
    pub(in crate::owner) lists: Lists,
    /// The errors of providers that did not answer, by id.
    pub(in crate::owner) problems: BTreeMap<String, ModelError>,
    /// Those that are not used, as another program says where they are.
    pub(in crate::owner) unconfirmed: BTreeMap<String, ProviderSettings>,
    /// Those of them that the audit log has, as they were then.
    pub(in crate::owner) noted: BTreeMap<String, ProviderSettings>,
}

impl ProviderTable {
    /// The models that a provider listed.
    pub(in crate::owner) fn listed(&self, id: &str) -> Vec<Model> {
        self.lists.get(id).map(|listed| listed.models.clone()).unwrap_or_default()
    }

    /// The settings of a provider.
    pub(crate) fn settings_of(&self, id: &str) -> Result<ProviderSettings, ProviderError> {
        let found = self.file.providers.iter().find(|settings| settings.id == id);
        found.cloned().ok_or_else(|| ProviderError::NotFound(id.to_owned()))
    }

    /// The model that new conversations begin with.
    pub(crate) fn default_model(&self) -> Option<ModelRef> {
        self.file.default.clone()
    }

    /// Returns an error if a provider can't be set up so.
    pub(in crate::owner) fn may_set(&self, settings: &ProviderSettings) -> Result<(), ProviderError> {
        settings.check()?;
        let is_new = !self.file.providers.iter().any(|own| own.id == settings.id);
        if is_new && self.file.providers.len() >= MAX_PROVIDERS { Err(ProviderError::TooMany) } else { Ok(()) }
    }

    /// Returns true if the provider is used just if its address is confirmed.
    pub(in crate::owner) fn is_settled(&self, id: &str, is_confirmed: bool) -> bool {
        self.unconfirmed.contains_key(id) != is_confirmed
    }

    /// Forgets what is known of a provider that was taken out.
    pub(in crate::owner) fn forget(&mut self, id: &str) {
        self.problems.remove(id);
        self.unconfirmed.remove(id);
    }

    /// A provider is not used, as another program says where it is. Returns true if the audit log does not have that yet.
    pub(in crate::owner) fn set_unconfirmed(&mut self, settings: &ProviderSettings, is_known: bool) -> bool {
        self.unconfirmed.insert(settings.id.clone(), settings.clone());
        is_known && self.noted.insert(settings.id.clone(), settings.clone()).as_ref() != Some(settings)
    }

    /// A provider is used as it is set up.
    pub(in crate::owner) fn set_confirmed(&mut self, id: &str) {
        self.unconfirmed.remove(id);
        self.noted.remove(id);
    }

    /// All providers.
    pub(crate) fn view(&self) -> ProvidersView {
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
    fn there_is_room_for_so_many_providers_and_each_can_be_changed() {
        let mut table = ProviderTable::default();
        for n in 0..MAX_PROVIDERS {
            assert!(table.may_set(&settings(&format!("p{n}"))).is_ok(), "there is room for provider {n}");
            table.file.providers.push(settings(&format!("p{n}")));
        }
        assert!(matches!(table.may_set(&settings("more")), Err(ProviderError::TooMany)), "one more is too many");
        assert!(table.may_set(&settings("p0")).is_ok(), "one of them can still be changed");
    }

    #[test]
    fn another_address_is_written_down_once() {
        let mut table = ProviderTable::default();
        assert!(!table.set_unconfirmed(&settings("p"), false), "while the keychain is silent nobody is accused");
        assert!(table.set_unconfirmed(&settings("p"), true), "then it is written down");
        assert!(!table.set_unconfirmed(&settings("p"), true), "once");
        assert!(!table.is_settled("p", true), "once the user confirms it, it is to be used");
        table.set_confirmed("p");
        assert!(table.is_settled("p", true), "and then it is");
        assert!(table.set_unconfirmed(&settings("p"), true), "a change after that is another one");
    }
}
