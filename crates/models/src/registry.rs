//! The providers that the user has, and the models that are known of each.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{Deltas, Loss, Model, ModelError, ModelRef, Provider, Request};

/// The providers that the user has. A clone is a snapshot: the one who owns it changes it, others ask through clones.
#[derive(Clone, Default)]
pub struct Registry {
    providers: BTreeMap<String, Entry>,
}

#[derive(Clone)]
struct Entry {
    provider: Arc<dyn Provider>,
    models: Arc<[Model]>,
}

impl Registry {
    /// Adds a provider, or replaces the one with that id. `models` are those that are known of it.
    pub fn put(&mut self, id: impl Into<String>, provider: Arc<dyn Provider>, models: Vec<Model>) {
        self.providers.insert(id.into(), Entry { provider, models: models.into() });
    }

    /// Takes a provider out.
    pub fn remove(&mut self, id: &str) {
        self.providers.remove(id);
    }

    /// Says what models a provider has, as it listed them.
    pub fn set_models(&mut self, id: &str, models: Vec<Model>) {
        if let Some(entry) = self.providers.get_mut(id) {
            entry.models = models.into();
        }
    }

    /// The ids of the providers.
    pub fn providers(&self) -> impl Iterator<Item = &str> {
        self.providers.keys().map(String::as_str)
    }

    /// A provider.
    ///
    /// # Errors
    /// If there is none of this id.
    pub fn provider(&self, id: &str) -> Result<Arc<dyn Provider>, ModelError> {
        let entry = self.providers.get(id).ok_or_else(|| ModelError::NoProvider { id: id.to_owned() })?;
        Ok(Arc::clone(&entry.provider))
    }

    /// The models that are known of a provider, as it listed them last. Nothing is asked for.
    #[must_use]
    pub fn known(&self, id: &str) -> &[Model] {
        self.providers.get(id).map_or(&[], |entry| &entry.models)
    }

    /// All models that are known, provider by provider.
    pub fn all(&self) -> impl Iterator<Item = (ModelRef, &Model)> {
        self.providers.iter().flat_map(|(id, entry)| {
            entry.models.iter().map(|model| (ModelRef { provider: id.clone(), model: model.id.clone() }, model))
        })
    }

    /// What is known of a model.
    #[must_use]
    pub fn model(&self, model: &ModelRef) -> Option<&Model> {
        self.known(&model.provider).iter().find(|known| known.id == model.model)
    }

    /// Asks a provider for its models.
    ///
    /// # Errors
    /// If there is no such provider, or it does not answer with a list.
    pub async fn models(&self, id: &str) -> Result<Vec<Model>, ModelError> {
        self.provider(id)?.models().await
    }

    /// What in this request the model's provider can't carry as it is, and what will be done about it.
    ///
    /// # Errors
    /// If there is no such provider.
    pub fn cannot_carry(&self, model: &ModelRef, request: &Request) -> Result<Vec<Loss>, ModelError> {
        Ok(self.provider(&model.provider)?.cannot_carry(request))
    }

    /// Asks a model. The request's own `model` is replaced.
    ///
    /// # Errors
    /// If there is no such provider, the request can't be sent, or the provider refuses it.
    pub async fn stream(&self, model: &ModelRef, request: Request) -> Result<Deltas, ModelError> {
        self.provider(&model.provider)?.stream(Request { model: model.model.clone(), ..request }).await
    }
}
