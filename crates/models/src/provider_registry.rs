//! The configured providers and their known models.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{LossyConversion, Model, ModelError, ModelRef, ModelRequest, Provider, ReplyStream};

/// Configured providers with their models. A clone is a snapshot, which later changes of the original do not affect.
#[derive(Clone, Default)]
pub struct ProviderRegistry {
    providers: BTreeMap<String, RegisteredProvider>,
}

#[derive(Clone)]
struct RegisteredProvider {
    provider: Arc<dyn Provider>,
    models: Arc<[Model]>,
}

impl ProviderRegistry {
    /// Adds a provider and its models. Replaces the provider that has the same identifier.
    pub fn put(&mut self, id: impl Into<String>, provider: Arc<dyn Provider>, models: Vec<Model>) {
        self.providers.insert(id.into(), RegisteredProvider { provider, models: models.into() });
    }

    /// Removes the provider with this identifier.
    pub fn remove(&mut self, id: &str) {
        self.providers.remove(id);
    }

    /// Replaces the known models of the provider `id` by `models`, which the provider has listed. Does nothing if there
    /// is no such provider.
    pub fn set_models(&mut self, id: &str, models: Vec<Model>) {
        if let Some(entry) = self.providers.get_mut(id) {
            entry.models = models.into();
        }
    }

    /// Returns the identifiers of all configured providers.
    pub fn providers(&self) -> impl Iterator<Item = &str> {
        self.providers.keys().map(String::as_str)
    }

    /// Returns the provider with this identifier.
    ///
    /// # Errors
    ///
    /// Returns [`ModelError::NoProvider`] if no provider has this identifier.
    pub fn provider(&self, id: &str) -> Result<Arc<dyn Provider>, ModelError> {
        let entry = self.providers.get(id).ok_or_else(|| ModelError::NoProvider { id: id.to_owned() })?;
        Ok(Arc::clone(&entry.provider))
    }

    /// Returns the models that a provider listed last, without sending a request. Empty if the provider is unknown.
    #[must_use]
    pub fn known_models(&self, id: &str) -> &[Model] {
        self.providers.get(id).map_or(&[], |entry| &entry.models)
    }

    /// Returns the known models of all providers, grouped by provider.
    pub fn all_models(&self) -> impl Iterator<Item = (ModelRef, &Model)> {
        self.providers.iter().flat_map(|(id, entry)| {
            entry.models.iter().map(|model| (ModelRef { provider: id.clone(), model: model.id.clone() }, model))
        })
    }

    /// Returns the description of a model, or `None` if its provider did not list it.
    #[must_use]
    pub fn model(&self, model: &ModelRef) -> Option<&Model> {
        self.known_models(&model.provider).iter().find(|known| known.id == model.model)
    }

    /// Requests the current list of models from a provider.
    ///
    /// # Errors
    /// Returns [`ModelError::NoProvider`] if no provider has this identifier, and otherwise the errors of
    /// [`Provider::models`].
    pub async fn models(&self, id: &str) -> Result<Vec<Model>, ModelError> {
        self.provider(id)?.models().await
    }

    /// Returns the parts of this request that the provider of `model` does not support, with their conversions.
    ///
    /// # Errors
    /// Returns [`ModelError::NoProvider`] if no provider has this identifier.
    pub fn find_lossy_conversions(
        &self,
        model: &ModelRef,
        request: &ModelRequest,
    ) -> Result<Vec<LossyConversion>, ModelError> {
        Ok(self.provider(&model.provider)?.find_lossy_conversions(request))
    }

    /// Sends a request to a model, whose identifier replaces the one in the request.
    ///
    /// # Errors
    /// Returns [`ModelError::NoProvider`] if no provider has this identifier, and otherwise the errors of
    /// [`Provider::stream`].
    pub async fn stream(&self, model: &ModelRef, request: ModelRequest) -> Result<ReplyStream, ModelError> {
        self.provider(&model.provider)?.stream(ModelRequest { model: model.model.clone(), ..request }).await
    }
}
