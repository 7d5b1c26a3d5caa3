//! The providers of models: read, watched, changed, listed.

use std::sync::Arc;

use models::{Model, ModelError, ModelRef, ProviderSettings};

use super::Owner;
use crate::activity::now;
use crate::ports::{Document, StoreError};
use crate::providers::{
    Keyed, Listed, Lists, MAX_PROVIDERS, ProviderError, ProviderView, ProvidersFile, ProvidersView,
};
use crate::view::HostEvent;

/// The providers as they were read last.
#[derive(Default)]
pub(crate) struct Providers {
    file: ProvidersFile,
    lists: Lists,
    /// Why providers did not answer, by id.
    problems: std::collections::BTreeMap<String, ModelError>,
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
        if file == self.providers.file && lists == self.providers.lists {
            return;
        }
        let was = std::mem::replace(&mut self.providers.file, file);
        self.providers.lists = lists;
        for gone in &was.providers {
            if !self.providers.file.providers.iter().any(|settings| settings.id == gone.id) {
                self.models.remove(&gone.id);
                self.providers.problems.remove(&gone.id);
            }
        }
        for settings in self.providers.file.providers.clone() {
            if was.providers.contains(&settings) {
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
