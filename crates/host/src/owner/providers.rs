//! Model providers: reading, watching, changing and listing them.

use std::sync::Arc;

use credentials::providers::{
    MAX_MODEL_PROVIDERS, ModelList, ModelLists, ProviderError, ProvidersFile, StoredKeyProvider, UnconfirmedProvider,
};
use domain::StoreError;
use models::{Model, ModelError, ModelRef, ProviderSettings};
use ports::{Document, Documents};
use serde_json::Value;
use tokio::sync::oneshot;

use super::Owner;
use super::state::{DocumentReadResult, with_server_entry};
use crate::view::HostEvent;

/// The stored documents that describe the model providers, as read from disk.
struct ProviderDocuments {
    models: DocumentReadResult,
    lists: DocumentReadResult,
    confirmed: DocumentReadResult,
}

fn read_provider_documents(documents: &dyn Documents) -> ProviderDocuments {
    ProviderDocuments {
        models: documents.read(Document::Models),
        lists: documents.read(Document::ModelLists),
        confirmed: documents.read(Document::Confirmed),
    }
}

impl Owner {
    /// Reads the model providers again after another process changed their settings or their confirmed addresses.
    pub(crate) fn reload_providers(&mut self) {
        self.reload_providers_then(|_| ());
    }

    /// Reads the documents of the model providers after all submitted writes, applies them, and then calls `then`.
    fn reload_providers_then(&mut self, then: impl FnOnce(&mut Self) + Send + 'static) {
        self.run_on_writer_thread(read_provider_documents, move |owner, read| {
            match read {
                Ok(read) => owner.apply_providers(read),
                Err(cause) => tracing::error!(cause, "the providers could not be read again"),
            }
            then(owner);
        });
    }

    /// Reads the model providers from disk at startup, before the host accepts commands.
    pub(super) fn read_providers(&mut self) {
        let read = read_provider_documents(self.ports.documents.as_ref());
        self.apply_providers(read);
    }

    /// Applies the documents about the model providers. Has no effect if the settings or lists of models are invalid.
    fn apply_providers(&mut self, ProviderDocuments { models, lists, confirmed }: ProviderDocuments) {
        let (Ok(file), Ok(lists)) = (models.map(Option::unwrap_or_default), lists.map(Option::unwrap_or_default))
        else {
            return;
        };
        let file = if file.is_null() { Ok(ProvidersFile::default()) } else { serde_json::from_value(file) };
        let Ok(mut file) = file else {
            tracing::warn!("models.json can't be used; the providers stay as they were");
            return;
        };
        file.providers.retain(|settings| settings.check().is_ok());
        file.providers.truncate(MAX_MODEL_PROVIDERS);
        let lists: ModelLists = if self.documents.writer.has_pending_writes(Document::ModelLists) {
            self.models.providers.lists.clone()
        } else {
            serde_json::from_value(lists).unwrap_or_default()
        };
        let is_confirmed_anew = self.apply_confirmed_settings(confirmed, &file);
        self.enforce_confirmed_retention();
        file.default = self.documents.confirmed.default_model(&file);
        // The user may have confirmed the current addresses since the last read.
        let is_settled = |settings: &ProviderSettings| {
            let is_confirmed = self.documents.confirmed.check_address(settings).is_ok();
            self.models.providers.has_confirmation_state(&settings.id, is_confirmed)
        };
        let is_same = file == self.models.providers.file && lists == self.models.providers.lists;
        if !is_confirmed_anew && is_same && file.providers.iter().all(is_settled) {
            return;
        }
        let was = std::mem::replace(&mut self.models.providers.file, file);
        self.models.providers.lists = lists;
        for removed in &was.providers {
            if !self.models.providers.file.providers.iter().any(|settings| settings.id == removed.id) {
                self.models.registry.remove(&removed.id);
                self.models.providers.forget(&removed.id);
            }
        }
        for settings in self.models.providers.file.providers.clone() {
            let was_used = !self.models.providers.unconfirmed.contains_key(&settings.id);
            let is_used = self.documents.confirmed.check_address(&settings).is_ok();
            if was.providers.contains(&settings) && was_used == is_used {
                self.models.registry.set_models(&settings.id, self.models.providers.listed_models(&settings.id));
            } else {
                self.register_provider(settings);
            }
        }
        self.update_models_in_sampling_requests();
        self.events.emit(HostEvent::ModelsChanged);
    }

    /// Registers a provider with its current settings. The key is read on the next request to the provider.
    fn register_provider(&mut self, settings: ProviderSettings) {
        let (id, models) = (settings.id.clone(), self.models.providers.listed_models(&settings.id));
        self.models.providers.problems.remove(&id);
        if let Err(was) = self.documents.confirmed.check_address(&settings) {
            let (now, kind) = (settings.url.to_string(), settings.kind);
            // If the keychain is unavailable, it is unknown if the address was changed, so no change is recorded.
            if self.models.providers.record_unconfirmed_provider(&settings, self.documents.confirmed.is_known()) {
                self.audit_unconfirmed_provider(&settings, was.as_deref());
            }
            let problem = ModelError::Unconfirmed { was, now };
            self.models.providers.problems.insert(id.clone(), problem.clone());
            return self.models.registry.put(id, Arc::new(UnconfirmedProvider { kind, problem }), models);
        }
        self.models.providers.record_confirmed_provider(&id);
        match StoredKeyProvider::new(settings, Arc::clone(&self.ports.secrets)) {
            Ok(provider) => self.models.registry.put(id, Arc::new(provider), models),
            Err(error) => {
                self.models.providers.problems.insert(id, error);
            }
        }
    }

    /// Changes the providers in the settings file, applies the result, and sends the reply.
    fn change_providers(
        &mut self,
        change: impl Fn(&mut ProvidersFile) + Send + 'static,
        reply: oneshot::Sender<Result<(), ProviderError>>,
    ) {
        let change = move |stored: Option<Value>| {
            let file = stored.clone().map_or_else(|| Ok(ProvidersFile::default()), serde_json::from_value);
            let changed = file.and_then(|mut file| {
                change(&mut file);
                serde_json::to_value(file)
            });
            match changed {
                Ok(value) => (value, None),
                Err(error) => (stored.unwrap_or_default(), Some(error.to_string())),
            }
        };
        self.change_document(Document::Models, change, move |owner, written| {
            let problem = match written {
                Ok(None) => return owner.reload_providers_then(|_| drop(reply.send(Ok(())))),
                Ok(Some(cause)) => {
                    let path = owner.ports.documents.path().join(Document::Models.file_name()).display().to_string();
                    StoreError { path, cause: format!("it can't be used: {cause}; correct it or move it away") }
                }
                Err(error) => error,
            };
            // The caller may have stopped waiting.
            let _ = reply.send(Err(problem.into()));
        });
    }

    /// Adds a provider, or replaces the settings of the provider with the same id.
    pub(crate) fn set_provider(
        &mut self,
        settings: ProviderSettings,
        reply: oneshot::Sender<Result<(), ProviderError>>,
    ) {
        if let Err(error) = self.models.providers.check_provider_settings(&settings) {
            let _ = reply.send(Err(error));
            return;
        }
        // The stored list of models is dropped if the address or the protocol changes.
        let was = self.models.providers.settings_of(&settings.id).ok();
        if was.is_some_and(|was| was.origin() != settings.origin() || was.kind != settings.kind) {
            self.remove_model_list(&settings.id);
        }
        self.confirm_provider(&settings.clone(), move |owner, confirmed| match confirmed {
            Ok(()) => {
                let change =
                    move |file: &mut ProvidersFile| match file.providers.iter_mut().find(|own| own.id == settings.id) {
                        Some(own) => *own = settings.clone(),
                        None => file.providers.push(settings.clone()),
                    };
                owner.change_providers(change, reply);
            }
            Err(error) => drop(reply.send(Err(error.into()))),
        });
    }

    /// Removes a provider and its list of models.
    pub(crate) fn remove_provider(&mut self, id: &str, reply: oneshot::Sender<Result<(), ProviderError>>) {
        if let Err(error) = self.models.providers.settings_of(id) {
            let _ = reply.send(Err(error));
            return;
        }
        self.remove_model_list(id);
        let own = id.to_owned();
        self.unconfirm_provider(id, move |owner, unconfirmed| match unconfirmed {
            Ok(()) => {
                let change = move |file: &mut ProvidersFile| {
                    file.providers.retain(|provider| provider.id != own);
                    file.default = file.default.take().filter(|default| default.provider != own);
                };
                owner.change_providers(change, reply);
            }
            Err(error) => drop(reply.send(Err(error.into()))),
        });
    }

    /// Sets the default model of new conversations.
    pub(crate) fn set_default_model(
        &mut self,
        model: Option<ModelRef>,
        reply: oneshot::Sender<Result<(), ProviderError>>,
    ) {
        if let Some(Err(error)) = model.as_ref().map(|model| self.models.providers.settings_of(&model.provider)) {
            let _ = reply.send(Err(error));
            return;
        }
        self.confirm_default_model(model.clone(), move |owner, confirmed| match confirmed {
            Ok(()) => owner.change_providers(move |file| file.default.clone_from(&model), reply),
            Err(error) => drop(reply.send(Err(error.into()))),
        });
    }

    /// Stores or (`None`) deletes the list of a provider's models, effective immediately. Calls `then` after the write.
    fn store_model_list(
        &mut self,
        id: &str,
        listed: Option<ModelList>,
        then: impl FnOnce(&mut Self, Result<(), StoreError>) + Send + 'static,
    ) {
        let value = listed.as_ref().and_then(|listed| serde_json::to_value(listed).ok());
        match listed {
            Some(listed) => self.models.providers.lists.insert(id.to_owned(), listed),
            None => self.models.providers.lists.remove(id),
        };
        let id = id.to_owned();
        let change = move |stored: Option<Value>| (with_server_entry(stored, &id, value.as_ref()), ());
        self.change_document(Document::ModelLists, change, then);
    }

    fn remove_model_list(&mut self, id: &str) {
        self.store_model_list(id, None, |_, written| {
            if let Err(error) = written {
                tracing::error!(%error, "the models of a provider could not be removed");
            }
        });
    }

    /// Handles a change of a provider's API key, so that the next request to the provider reads the key again.
    pub(crate) fn on_provider_key_changed(&mut self, id: &str) {
        if let Ok(settings) = self.models.providers.settings_of(id) {
            self.register_provider(settings);
            self.update_models_in_sampling_requests();
            self.events.emit(HostEvent::ModelsChanged);
        }
    }

    /// Stores the list of models, or the error, that a provider returned. The request was made with these provider
    /// settings, and the result is dropped if they have changed.
    pub(crate) fn on_models_listed(
        &mut self,
        settings: &ProviderSettings,
        listed: Result<Vec<Model>, ModelError>,
        reply: oneshot::Sender<Result<(), ProviderError>>,
    ) {
        // The provider may have been changed or removed since the request.
        let now = self.models.providers.settings_of(&settings.id);
        if !now.as_ref().is_ok_and(|now| now == settings) {
            let _ = reply.send(now.map(drop));
            return;
        }
        match listed {
            Ok(models) => {
                self.models.providers.problems.remove(&settings.id);
                let listed = ModelList { models: models.clone(), at: self.now() };
                self.store_model_list(&settings.id, Some(listed), |_, written| {
                    // The caller may have stopped waiting.
                    let _ = reply.send(written.map_err(ProviderError::from));
                });
                self.models.registry.set_models(&settings.id, models);
            }
            Err(error) => {
                self.models.providers.problems.insert(settings.id.clone(), error.clone());
                let _ = reply.send(Err(error.into()));
            }
        }
        self.update_models_in_sampling_requests();
        self.events.emit(HostEvent::ModelsChanged);
    }
}
