//! The providers of models: read, watched, changed, listed.

use std::sync::Arc;

use models::{Model, ModelError, ModelRef, ProviderSettings};

use super::Owner;
use crate::activity::now;
use crate::ports::{Document, StoreError};
use crate::providers::{
    Keyed, Listed, Lists, MAX_PROVIDERS, ProviderError, ProviderView, ProvidersFile, ProvidersView, UnconfirmedProvider,
};
use crate::view::HostEvent;

/// The providers as they were read last.
#[derive(Default)]
pub(crate) struct Providers {
    file: ProvidersFile,
    lists: Lists,
    /// Why providers did not answer, by id.
    problems: std::collections::BTreeMap<String, ModelError>,
    /// Those that are not used, as another program says where they are.
    unconfirmed: std::collections::BTreeMap<String, ProviderSettings>,
    /// Those of them that the audit log has, as they were then.
    noted: std::collections::BTreeMap<String, ProviderSettings>,
}

impl Owner {
    /// Reads the providers. A file that can't be used changes nothing.
    pub(crate) fn reload_providers(&mut self) {
        let read = |document| self.ports.documents.read(document).map(Option::unwrap_or_default);
        let (Ok(file), Ok(lists)) = (read(Document::Models), read(Document::ModelLists)) else { return };
        let file = if file.is_null() { Ok(ProvidersFile::default()) } else { serde_json::from_value(file) };
        let Ok(mut file) = file else {
            tracing::warn!("models.json can't be used; the providers stay as they were");
            return;
        };
        file.providers.retain(|settings| settings.check().is_ok());
        file.providers.truncate(MAX_PROVIDERS);
        let lists: Lists = serde_json::from_value(lists).unwrap_or_default();
        let is_confirmed_anew = self.reload_confirmed(&file);
        self.hold_to_confirmed_keeping();
        file.default = self.confirmed_default(&file);
        // The user may have confirmed what stands there already.
        let is_settled = |settings: &ProviderSettings| {
            self.providers.unconfirmed.contains_key(&settings.id) != self.confirmed_address(settings).is_ok()
        };
        let is_same = file == self.providers.file && lists == self.providers.lists;
        if !is_confirmed_anew && is_same && file.providers.iter().all(is_settled) {
            return;
        }
        let was = std::mem::replace(&mut self.providers.file, file);
        self.providers.lists = lists;
        for gone in &was.providers {
            if !self.providers.file.providers.iter().any(|settings| settings.id == gone.id) {
                self.models.remove(&gone.id);
                self.providers.problems.remove(&gone.id);
                self.providers.unconfirmed.remove(&gone.id);
            }
        }
        for settings in self.providers.file.providers.clone() {
            let was_used = !self.providers.unconfirmed.contains_key(&settings.id);
            let is_used = self.confirmed_address(&settings).is_ok();
            if was.providers.contains(&settings) && was_used == is_used {
                self.models.set_models(&settings.id, self.listed(&settings.id));
            } else {
                self.put_keyed(settings);
            }
        }
        self.look_again_at_models();
        self.emit(HostEvent::ModelsChanged);
    }

    fn listed(&self, id: &str) -> Vec<Model> {
        self.providers.lists.get(id).map(|listed| listed.models.clone()).unwrap_or_default()
    }

    /// Puts a provider in as it is set up now. Its key is read anew when it is needed.
    fn put_keyed(&mut self, settings: ProviderSettings) {
        let (id, models) = (settings.id.clone(), self.listed(&settings.id));
        self.providers.problems.remove(&id);
        if let Err(was) = self.confirmed_address(&settings) {
            let (now, kind) = (settings.url.to_string(), settings.kind);
            self.providers.unconfirmed.insert(id.clone(), settings.clone());
            // As long as the keychain does not answer, nobody is known to have changed anything.
            if self.knows_confirmed()
                && self.providers.noted.insert(id.clone(), settings.clone()).as_ref() != Some(&settings)
            {
                self.note_unconfirmed(&settings, was.as_deref());
            }
            let problem = ModelError::Unconfirmed { was, now };
            self.providers.problems.insert(id.clone(), problem.clone());
            return self.models.put(id, Arc::new(UnconfirmedProvider { kind, problem }), models);
        }
        self.providers.unconfirmed.remove(&id);
        self.providers.noted.remove(&id);
        match Keyed::new(settings, Arc::clone(&self.ports.secrets)) {
            Ok(provider) => self.models.put(id, Arc::new(provider), models),
            Err(error) => {
                self.providers.problems.insert(id, error);
            }
        }
    }

    /// All providers.
    pub(crate) fn providers_view(&self) -> ProvidersView {
        let providers = self.providers.file.providers.iter().map(|settings| {
            let listed = self.providers.lists.get(&settings.id);
            ProviderView {
                settings: settings.clone(),
                models: listed.map(|listed| listed.models.clone()).unwrap_or_default(),
                listed_at: listed.map(|listed| listed.at),
                problem: self.providers.problems.get(&settings.id).cloned(),
            }
        });
        ProvidersView { providers: providers.collect(), default: self.providers.file.default.clone() }
    }

    /// The model that new conversations begin with.
    pub(crate) fn default_model(&self) -> Option<ModelRef> {
        self.providers.file.default.clone()
    }

    /// A provider's settings.
    pub(crate) fn provider_settings(&self, id: &str) -> Result<ProviderSettings, ProviderError> {
        let found = self.providers.file.providers.iter().find(|settings| settings.id == id);
        found.cloned().ok_or_else(|| ProviderError::NotFound(id.to_owned()))
    }

    fn change_providers(&mut self, mut change: impl FnMut(&mut ProvidersFile)) -> Result<(), StoreError> {
        let mut problem = None;
        self.ports.documents.update(Document::Models, &mut |kept| {
            let file = kept.clone().map_or_else(|| Ok(ProvidersFile::default()), serde_json::from_value);
            let changed = file.and_then(|mut file| {
                change(&mut file);
                serde_json::to_value(file)
            });
            match changed {
                Ok(value) => value,
                Err(error) => {
                    problem = Some(error.to_string());
                    kept.unwrap_or_default()
                }
            }
        })?;
        if let Some(cause) = problem {
            let path = self.ports.documents.path().join(Document::Models.file_name()).display().to_string();
            return Err(StoreError { path, cause: format!("it can't be used: {cause}; correct it or move it away") });
        }
        self.reload_providers();
        Ok(())
    }

    /// Adds a provider, or changes the one with that id.
    pub(crate) fn set_provider(&mut self, settings: ProviderSettings) -> Result<(), ProviderError> {
        settings.check()?;
        let providers = &self.providers.file.providers;
        let is_new = !providers.iter().any(|own| own.id == settings.id);
        if is_new && providers.len() >= MAX_PROVIDERS {
            return Err(ProviderError::TooMany);
        }
        // Another address is another provider: what was listed there is of no use.
        let was = self.provider_settings(&settings.id).ok();
        if was.is_some_and(|was| was.origin() != settings.origin() || was.kind != settings.kind) {
            self.keep_entry(Document::ModelLists, &settings.id, None)?;
        }
        self.confirm_provider(&settings)?;
        self.change_providers(|file| match file.providers.iter_mut().find(|own| own.id == settings.id) {
            Some(own) => *own = settings.clone(),
            None => file.providers.push(settings.clone()),
        })?;
        Ok(())
    }

    /// Takes a provider out.
    pub(crate) fn remove_provider(&mut self, id: &str) -> Result<(), ProviderError> {
        self.provider_settings(id)?;
        self.keep_entry(Document::ModelLists, id, None)?;
        self.unconfirm_provider(id)?;
        self.change_providers(|file| {
            file.providers.retain(|own| own.id != id);
            file.default = file.default.take().filter(|default| default.provider != id);
        })?;
        Ok(())
    }

    /// Sets the model that new conversations begin with.
    pub(crate) fn set_default_model(&mut self, model: Option<ModelRef>) -> Result<(), ProviderError> {
        if let Some(model) = &model {
            self.provider_settings(&model.provider)?;
        }
        self.confirm_default(model.as_ref())?;
        self.change_providers(|file| file.default.clone_from(&model))?;
        Ok(())
    }

    /// A provider's key is another one now.
    pub(crate) fn key_changed(&mut self, id: &str) {
        if let Ok(settings) = self.provider_settings(id) {
            self.put_keyed(settings);
            self.look_again_at_models();
            self.emit(HostEvent::ModelsChanged);
        }
    }

    /// What a provider, set up like this, lists now.
    pub(crate) fn on_listed(
        &mut self,
        settings: &ProviderSettings,
        listed: Result<Vec<Model>, ModelError>,
    ) -> Result<(), ProviderError> {
        // It may have been changed meanwhile.
        if self.provider_settings(&settings.id)? != *settings {
            return Ok(());
        }
        let result = match listed {
            Ok(models) => {
                self.providers.problems.remove(&settings.id);
                let listed = Listed { models: models.clone(), at: now() };
                self.keep_entry(Document::ModelLists, &settings.id, serde_json::to_value(&listed).ok())?;
                self.providers.lists.insert(settings.id.clone(), listed);
                self.models.set_models(&settings.id, models);
                Ok(())
            }
            Err(error) => {
                self.providers.problems.insert(settings.id.clone(), error.clone());
                Err(error.into())
            }
        };
        self.look_again_at_models();
        self.emit(HostEvent::ModelsChanged);
        result
    }
}
